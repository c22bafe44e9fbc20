"""What speaks against trusting a metric on these texts: scripts it cannot read, texts unlike those it learned from.

A text of unknown pieces only looks like every other such text, so a distance of two of them is no evidence. Encoders
trained on English give vectors for other scripts that say little, and tokenizers that split at spaces leave a sentence
of a script without spaces in one piece.
"""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError, ResourceError
from textgauge.core.settings import split_into_blocks
from textgauge.data import Comparison, Corpus, Pool
from textgauge.data.pool import PARTITION
from textgauge.encode.embedders import BUILT_IN, get_window
from textgauge.encode.tokenizers import get_tokenizer, load_pieces
from textgauge.metrics.base import Metric
from textgauge.metrics.numerics.moments import to_unit

if TYPE_CHECKING:
    from textgauge.metrics.corpus_metric import CorpusMetric

PIECES = "wordpiece"
UNREAD = "a text consists of word pieces that the encoder does not know"
# Shares from which a result carries a warning: of texts whose script is not read, of pieces that are unknown.
MOST_UNREAD = 0.1
MOST_UNKNOWN = 0.05
_FEW_TEXTS, _SIZE_RATIO, _LENGTH_RATIO, _REPEATED_SHARE = 50, 2.0, 1.5, 0.2  # that are warned of

_PIECE_ENCODERS = frozenset({*BUILT_IN, PIECES})
_ENGLISH = frozenset({*BUILT_IN, "wordllama"})
_BETWEEN_SPACES = frozenset({"13a", "intl", "whitespace", "rouge", "rouge_score"})
_IDEOGRAPHS_APART = frozenset({"words", "alphanumeric", "zh"})
_WITHOUT_SPACES = frozenset({"HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"})
_CJK = frozenset({"CJK"})
_UNKNOWN_PIECE = "[UNK]"
# Read by onnxruntime, without torch.
MULTILINGUAL = "--embedder onnx:sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2 (of the hub)"


def get_unknown_shares(pool: Pool) -> Floats:
    """Return the share of unknown word pieces of every text; 0 for a text without pieces. Remembered by the pool."""

    def compute(_: str) -> Floats:
        texts, shares = pool.texts, np.zeros(len(pool.texts))
        others = [row for row, text in enumerate(texts) if not text.isascii()]  # letters and signs of ASCII are known
        for rows in (others[some] for some in split_into_blocks(len(others), PARTITION)):
            tokens = get_tokenizer(PIECES).encode([texts[row] for row in rows])
            unknown = np.append(0, np.cumsum(tokens.ids == load_pieces().token_to_id(_UNKNOWN_PIECE)))
            shares[rows] = np.diff(unknown[tokens.offsets]) / np.maximum(tokens.lengths, 1)
        return shares

    return pool.get_or_compute("unknown pieces", PIECES, compute)


def find_unread(corpus: Corpus, reader: str) -> NDArray[np.bool_]:
    """Tell the texts of which an encoder knows not one piece; none where the encoder has no unknown pieces."""
    if reader.removeprefix("whole:") not in _PIECE_ENCODERS or not corpus.pool.has_texts:
        return np.zeros(len(corpus), dtype=bool)
    return np.asarray(get_unknown_shares(corpus.pool)[corpus.index] == 1.0)


def get_scripts(pool: Pool) -> NDArray[np.str_]:
    """Return the script that most letters of each text have, empty where it has none. Remembered by the pool."""
    return pool.get_or_compute(
        "script",
        "",
        lambda _: np.array(["LATIN" if text.isascii() else _detect_script(text) for text in pool.texts], dtype=np.str_),
    )


def _detect_script(text: str) -> str:
    found = Counter(_get_letter_script(sign) for sign in text if sign.isalpha())
    if found["HIRAGANA"] + found["KATAKANA"]:  # Japanese is written with ideographs among them
        found["HIRAGANA"] += found.pop("CJK", 0)
    return found.most_common(1)[0][0] if found else ""


@cache
def _get_letter_script(sign: str) -> str:
    """Return the first word of a letter's Unicode name.

    >>> _get_letter_script("é"), _get_letter_script("ก"), _get_letter_script("好")
    ('LATIN', 'THAI', 'CJK')
    """
    return unicodedata.name(sign, "").partition(" ")[0].partition("-")[0]


def find_reader(corpus: Corpus) -> str | None:
    """Return the tokenizer for texts that encoders of English cannot read: characters where words have no spaces.

    None where nine of ten texts are in Latin script.
    """
    scripts = get_scripts(corpus.pool)[corpus.index]
    if np.isin(scripts, ["LATIN", ""]).mean() > 1 - MOST_UNREAD:
        return None
    return "char" if np.isin(scripts, [*_WITHOUT_SPACES]).mean() >= MOST_UNREAD else "words"


def format_other_scripts(reader: str) -> str:
    """Return why metrics of tokens stand in for those of embeddings, and what would embed such texts."""
    tokens = "characters" if reader == "char" else "words"
    return f"the built-in encoders read English: {tokens} are compared; for meanings name {MULTILINGUAL}"


def list_script_warnings(metric: Metric, corpus: Corpus) -> list[str]:
    """Return what the script of the texts does to a metric, each one sentence."""
    if not len(corpus):
        return []
    found = get_scripts(corpus.pool)[corpus.index]
    reader = str(getattr(metric, "embedder", metric.on)).removeprefix("whole:")  # a token encoder, or a tokenizer
    if metric.needs == "tokens" and reader != PIECES:
        return _find_unsplit(metric, found)
    warnings, foreign = [], int((~np.isin(found, ["LATIN", ""])).sum())
    if reader in _ENGLISH and foreign >= MOST_UNREAD * len(found):
        warnings.append(
            f"{foreign} of {len(found)} texts are not in Latin script, and {reader} was trained on English: "
            f"name one of their language, such as {MULTILINGUAL}"
        )
    if (
        reader in _PIECE_ENCODERS
        and (share := float(get_unknown_shares(corpus.pool)[corpus.index].mean())) >= MOST_UNKNOWN
    ):
        warnings.append(f"{share:.0%} of the word pieces of a text are unknown to {reader}, in the mean")
    return warnings


def _find_unsplit(metric: Metric, found: NDArray[np.str_]) -> list[str]:
    unsplit = [*_WITHOUT_SPACES] if metric.on in _BETWEEN_SPACES | _IDEOGRAPHS_APART else []
    unsplit += [*_CJK] if metric.on in _BETWEEN_SPACES else []
    count = int(np.isin(found, unsplit).sum())
    if not count or count < MOST_UNREAD * len(found):
        return []
    return [
        f"{metric.on} splits at spaces, and {count} of {len(found)} texts are in a script without them: "
        f"use {metric.name}@char, or {metric.name}@zh for Chinese"
    ]


def count_words(comparison: Comparison) -> Ints:
    """Return the words between spaces of each text of a comparison, those of the reference first."""
    pool = comparison.joint.pool
    counts: Ints = pool.get_or_compute("words", "", lambda _: np.array([len(text.split()) for text in pool.texts], int))
    return counts[comparison.joint.index]


def find_confounds(comparison: Comparison, metrics: Sequence[CorpusMetric]) -> list[str]:
    """Return all warnings that apply to this comparison, each one sentence."""
    n, m = len(comparison.reference), len(comparison.candidate)
    found = []
    if min(n, m) < _FEW_TEXTS:
        found.append(f"few texts ({n} and {m}): small samples are far apart by chance; judge a value by its null range")
    if max(n, m) > _SIZE_RATIO * min(n, m):
        found.append(
            f"very different sizes ({n} and {m}): many metrics depend on size; judge a value by its null range"
        )
    if shared := len(np.intersect1d(comparison.reference.keys, comparison.candidate.keys)):
        found.append(f"{shared} different texts are in both corpora, which makes them look closer")
    for role, corpus in zip(("reference", "candidate"), comparison.sides, strict=True):
        repeated = len(corpus) - len(np.unique(corpus.keys))
        if repeated > _REPEATED_SHARE * len(corpus):
            found.append(f"{repeated} of the {len(corpus)} texts of the {role} repeat another one")
    for metric in metrics:  # fid grows by about a/n; at n = 100 in 384 dimensions that is most of it
        if metric.name == "fid" and getattr(metric, "correct", "") == "none":
            dimension = comparison.reference.embeddings(metric.embedder).shape[1]
            if comparison.smaller < 5 * dimension:
                found.append(
                    f"fid is strongly biased upwards with {comparison.smaller} texts in {dimension} dimensions: "
                    "judge it by its null range only, or use fid(correct=extrapolate)"
                )
            break
    pool = comparison.joint.pool
    if not pool.has_texts:
        return found
    words = count_words(comparison)
    means = [float(np.mean(side)) for side in np.split(words, [n])]
    if max(means) > _LENGTH_RATIO * max(min(means), 1.0):
        lengths = f"mean {means[0]:.1f} and {means[1]:.1f} words"
        found.append(f"very different lengths ({lengths}): part of the distance is length")
    for name in sorted({metric.embedder for metric in metrics if not metric.reads_texts}):
        # A word is a token at least: texts of more words than the window has tokens are surely not read whole.
        window = get_window(name)
        if window is not None and (count := int((words > window).sum())):
            found.append(
                f"{count} of {len(words)} texts are longer than {name} reads ({window} tokens): "
                f"use whole:{name} to embed the full text"
            )
    scripts = (text for metric in metrics for text in list_script_warnings(metric, comparison.joint))
    return [*found, *dict.fromkeys(scripts)]


EMBEDDER = "minilm"
MAX_TEXTS = 200  # kept in a file: 384 bytes each
_MAX_SCORED = 1_000  # different texts that are compared, of those that are scored
_TRIALS = 200
_FAR = 0.03  # beyond the null range's middle: a test part is at 0.01 from its train part, other domains at 0.07 to 0.28
_METRIC = "energy@given:cosine"


@dataclass(frozen=True, eq=False)
class TextSketch:
    """Unit embeddings of a random choice of texts as bytes, and how far their sources are from each other.

    `spread` is the largest energy distance of one source to the others; 0 where there is one source.
    """

    rows: NDArray[np.int8]
    spread: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return what a model file holds of it."""
        content = base64.b64encode(self.rows.tobytes()).decode()
        return {"embedder": EMBEDDER, "texts": len(self.rows), "spread": self.spread, "rows": content}

    def warning(self, texts: Corpus, seed: int = 0) -> str | None:
        """Warn where texts are outside the null range, and farther off than 0.03 and than the sources' spread."""
        try:
            rows = _draw_rows(texts, _MAX_SCORED, seed)
        except ResourceError:  # no encoder on this machine: nothing is known, and nothing is claimed
            return None
        value, low, high = compute_energy_and_null(self.rows, rows, seed)
        if value <= high or value - (low + high) / 2 <= max(_FAR, self.spread):
            return None
        return (
            f"the texts are far from those the metric was trained on: energy distance {value:.3f}, "
            f"{low:.3f} to {high:.3f} if same source"
        )


def make_sketch(texts: Corpus, sources: Ints, seed: int = 0) -> TextSketch | None:
    """Return a sketch of texts that come from these sources; None where there is no encoder on this machine."""
    try:
        parts = [
            _draw_rows(texts.take(np.flatnonzero(sources == label)), MAX_TEXTS, seed) for label in np.unique(sources)
        ]
    except ResourceError:
        return None
    spread = 0.0
    for place, part in enumerate(parts) if len(parts) > 1 else ():
        others = np.concatenate([other for number, other in enumerate(parts) if number != place])
        gap = to_unit(part.astype(np.float64)).mean(axis=0) - to_unit(others.astype(np.float64)).mean(axis=0)
        spread = max(spread, float(gap @ gap))
    # Rows of all parts by turns, so that each part is among the first MAX_TEXTS.
    order = sorted((row, place) for place, part in enumerate(parts) for row in range(len(part)))
    return TextSketch(np.stack([parts[place][row] for row, place in order[:MAX_TEXTS]]), spread)


def parse_sketch(content: Any) -> TextSketch | None:
    """Return the sketch of a model file; None where it has none, or one of another encoder."""
    if content is None or (isinstance(content, dict) and content.get("embedder") != EMBEDDER):
        return None
    cells = content if isinstance(content, dict) else {}
    texts, spread, rows = (cells.get(name) for name in ("texts", "spread", "rows"))
    if type(texts) is not int or not 1 <= texts <= MAX_TEXTS or not isinstance(spread, int | float):
        raise InputError(f"the sketch of the texts needs 1 to {MAX_TEXTS} rows and a spread")
    try:
        content_bytes = base64.b64decode(str(rows), validate=True)
    except (binascii.Error, ValueError):
        raise InputError("the rows of the sketch are no base64") from None
    if not content_bytes or len(content_bytes) % texts:
        raise InputError("the rows of the sketch have different lengths")
    return TextSketch(np.frombuffer(content_bytes, dtype=np.int8).reshape(texts, -1), float(spread))


def compute_energy_and_null(kept: NDArray[Any], rows: NDArray[Any], seed: int) -> tuple[float, float, float]:
    """Return the energy distance of two lots of vectors, and its 95 % range when they change sides at random."""
    from textgauge.metrics.registry import get_metric

    if kept.shape[1] != rows.shape[1]:
        return 0.0, 0.0, 0.0
    metric: Any = get_metric(_METRIC)
    sides = (to_unit(side.astype(np.float64)).astype(np.float32) for side in (kept, rows))
    comparison = Comparison(*(Corpus.of(embeddings=side) for side in sides))
    null = metric.null_values(comparison, permutations=_TRIALS, seed=seed)
    return null.observed, *null.range


def _draw_rows(texts: Corpus, most: int, seed: int) -> NDArray[np.int8]:
    """Embeddings of a random choice of the different texts, as bytes."""
    _, first = np.unique(texts.keys, return_index=True)
    chosen = np.random.default_rng([seed, 21]).permutation(first)[:most]
    rows = to_unit(Corpus.of([texts.pool.texts[row] for row in texts.index[chosen]]).embeddings(EMBEDDER))
    return np.rint(127.0 * rows / max(float(np.abs(rows).max()), 1e-9)).astype(np.int8)
