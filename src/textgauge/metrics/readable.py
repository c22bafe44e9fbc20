"""Whether an encoder or tokenizer can read the texts: scripts, and word pieces that it does not know.

A text of unknown pieces only looks like every other such text, so a distance of two of them is no evidence. Encoders
trained on English give vectors for other scripts that say little, and tokenizers that split at spaces leave a sentence
of a script without spaces in one piece.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.core.sizes import blocks
from textgauge.data import Corpus, Pool
from textgauge.data.storage import PARTITION
from textgauge.metrics.base import Metric

PIECES = "wordpiece"
UNREAD = "a text consists of word pieces that the encoder does not know"
# Shares from which a result carries a warning: of texts whose script is not read, of pieces that are unknown.
MOST_UNREAD = 0.1
MOST_UNKNOWN = 0.05

_PIECE_ENCODERS = frozenset({"minilm", "minilm-int8", "paraphrase-minilm", PIECES})
_ENGLISH = frozenset({"minilm", "minilm-int8", "paraphrase-minilm", "wordllama"})
_BETWEEN_SPACES = frozenset({"13a", "intl", "whitespace", "rouge", "rouge_score"})
_IDEOGRAPHS_APART = frozenset({"words", "alphanumeric", "zh"})
_WITHOUT_SPACES = frozenset({"HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"})
_CJK = frozenset({"CJK"})
_UNKNOWN_PIECE = "[UNK]"


def reader_of(metric: Metric) -> str:
    """The embedder, token encoder or tokenizer of a metric, without the prefix of whole texts."""
    return str(getattr(metric, "embedder", metric.on)).removeprefix("whole:")


def unknown_shares(pool: Pool) -> Floats:
    """The share of unknown word pieces of every text; 0 for a text without pieces. Remembered by the pool."""
    return pool.get_or_compute("unknown pieces", PIECES, lambda _: unknown_shares_of(pool.texts))  # type: ignore[no-any-return]


def unknown_shares_of(texts: Sequence[str]) -> Floats:
    """The share of unknown word pieces of each text."""
    from textgauge.encode.tokenizers import load_pieces, tokenizer

    shares = np.zeros(len(texts))
    others = [row for row, text in enumerate(texts) if not text.isascii()]  # letters and signs of ASCII are known
    for rows in (others[some] for some in blocks(len(others), PARTITION)):
        tokens = tokenizer(PIECES).encode([texts[row] for row in rows])
        unknown = np.append(0, np.cumsum(tokens.ids == load_pieces().token_to_id(_UNKNOWN_PIECE)))
        shares[rows] = np.diff(unknown[tokens.offsets]) / np.maximum(tokens.lengths, 1)
    return shares


def reads_pieces(metric: Metric) -> bool:
    """Whether the metric's encoder or tokenizer has word pieces that it may not know."""
    return reader_of(metric) in _PIECE_ENCODERS


def unread(corpus: Corpus, reader: str) -> NDArray[np.bool_]:
    """Tell the texts of which an encoder knows not one piece; none where the encoder has no unknown pieces."""
    if reader.removeprefix("whole:") not in _PIECE_ENCODERS or not corpus.pool.has_texts:
        return np.zeros(len(corpus), dtype=bool)
    return np.asarray(unknown_shares(corpus.pool)[corpus.index] == 1.0)


def scripts(pool: Pool) -> NDArray[np.str_]:
    """The script that most letters of each text have, empty where it has none. Remembered by the pool."""
    return pool.get_or_compute("script", "", lambda _: scripts_of(pool.texts))  # type: ignore[no-any-return]


def scripts_of(texts: Sequence[str]) -> NDArray[np.str_]:
    """The script that most letters of each text have, empty where it has none."""
    return np.array([_script(text) for text in texts], dtype=np.str_)


def _script(text: str) -> str:
    if text.isascii():
        return "LATIN"
    found = Counter(_letter_script(sign) for sign in text if sign.isalpha())
    if found["HIRAGANA"] + found["KATAKANA"]:  # Japanese is written with ideographs among them
        found["HIRAGANA"] += found.pop("CJK", 0)
    return found.most_common(1)[0][0] if found else ""


@cache
def _letter_script(sign: str) -> str:
    """The first word of a letter's Unicode name.

    >>> _letter_script("é"), _letter_script("ก"), _letter_script("好")
    ('LATIN', 'THAI', 'CJK')
    """
    return unicodedata.name(sign, "").partition(" ")[0].partition("-")[0]


def script_warnings(metric: Metric, corpus: Corpus) -> list[str]:
    """What the script of the texts does to a metric, each one sentence."""
    if not len(corpus):
        return []
    found, reader = scripts(corpus.pool)[corpus.index], reader_of(metric)
    if metric.needs == "tokens" and reader != PIECES:
        return _unsplit(metric, found)
    warnings = _foreign(reader, found) if reader in _ENGLISH else []
    if reader in _PIECE_ENCODERS and (share := float(unknown_shares(corpus.pool)[corpus.index].mean())) >= MOST_UNKNOWN:
        warnings.append(f"{share:.0%} of the word pieces of a text are unknown to {reader}, in the mean")
    return warnings


def _foreign(reader: str, found: NDArray[np.str_]) -> list[str]:
    count = int((~np.isin(found, ["LATIN", ""])).sum())
    if count < MOST_UNREAD * len(found):
        return []
    return [
        f"{count} of {len(found)} texts are not in Latin script, and {reader} was trained on English: "
        "use an encoder of their language, as st:MODEL"
    ]


def _unsplit(metric: Metric, found: NDArray[np.str_]) -> list[str]:
    unsplit = [*_WITHOUT_SPACES] if metric.on in _BETWEEN_SPACES | _IDEOGRAPHS_APART else []
    unsplit += [*_CJK] if metric.on in _BETWEEN_SPACES else []
    count = int(np.isin(found, unsplit).sum())
    if not count or count < MOST_UNREAD * len(found):
        return []
    return [
        f"{metric.on} splits at spaces, and {count} of {len(found)} texts are in a script without them: "
        f"use {metric.name}@char, or {metric.name}@zh for Chinese"
    ]
