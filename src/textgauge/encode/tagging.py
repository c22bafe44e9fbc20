"""Parts of speech of English words: a linear-chain CRF, from the resource `pos-en`, run by python-crfsuite.

It gets 98.6 % of the tags of the English Web Treebank's dev and test parts right, but its vocabulary opens with the
first sentence of the former, so it was most likely trained on them: expect less elsewhere.
"""

from __future__ import annotations

import base64
import re
import string
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from textgauge.encode.tokenizers import _word_pattern, without_surrogates

NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})

_PUNCTUATION = frozenset(string.punctuation)
_NEIGHBOURS = (-2, -1, 1, 2)
_ENDS = frozenset(".?!")
_LONGEST = 200  # words: a text without full stops is cut, so that memory stays small
_CLITIC = re.compile(r"(?<=\w)(n't|'(?:s|re|ve|ll|d|m))$", re.IGNORECASE)


def sentence(text: str) -> list[str]:
    """Split a text into words and signs in their own case, as the tagger knows them: clitics are separate words.

    >>> sentence("The cat's paw didn’t hurt.")
    ['The', 'cat', "'s", 'paw', 'did', "n't", 'hurt', '.']
    """
    words = _word_pattern().findall(unicodedata.normalize("NFC", text).replace("’", "'"))
    return [part for word in words for part in (_CLITIC.split(word) if "'" in word else (word,)) if part]


def tag(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Give the Penn tag of every word of sentences that are split into words and signs, in their own case.

    Raises ResourceError where the model cannot be had.
    """
    tagger = _tagger()
    return [tagger.tag(features(sentence)) if sentence else [] for sentence in sentences]


def nouns(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Give the nouns of each sentence, proper ones too, in order."""
    tagged = zip(sentences, tag(sentences), strict=True)
    return [[word for word, mark in zip(words, marks, strict=True) if mark in NOUNS] for words, marks in tagged]


def nouns_of(text: str) -> Iterator[str]:
    """Give the nouns of a text, sentence by sentence."""
    for words in _sentences(sentence(text)):
        yield from nouns([words])[0]


def _sentences(words: list[str]) -> Iterator[list[str]]:
    start = 0
    for place, word in enumerate(words, start=1):
        if word in _ENDS or place - start == _LONGEST:
            yield words[start:place]
            start = place
    if start < len(words):
        yield words[start:]


def features(sentence: Sequence[str]) -> list[dict[str, float]]:
    """Describe every word as the model expects: itself, and the two words on either side.

    >>> sorted(features(["Hi"])[0])
    ['BOS', 'EOS', 'bias', 'len(word)', 'word.isdigit()', 'word.ispunctuation',
     'word:SGk=', 'word[-2:]:Hi', 'word[-3:]:Hi', 'word[:2]:Hi', 'word[:3]:Hi']
    """
    words = [without_surrogates(word) for word in sentence]
    rows = [dict(_word_features(word)) for word in words]
    for place, row in enumerate(rows):
        for step in _NEIGHBOURS:
            if 0 <= place + step < len(words):
                row.update(_word_features(words[place + step], f"{step:+d}:"))
    if rows:
        rows[0]["BOS"] = rows[-1]["EOS"] = 1.0
    return rows


@lru_cache(maxsize=1 << 15)
def _word_features(word: str, prefix: str = "") -> dict[str, float]:
    described = {
        "bias": 1.0,
        f"word:{base64.b64encode(word.encode()).decode()}": 1.0,
        "len(word)": float(len(word)),
        "word.ispunctuation": float(_PUNCTUATION.issuperset(word)),
        "word.isdigit()": float(word.isdigit()),
        f"word[:2]:{word[:2]}": 1.0,
        f"word[:3]:{word[:3]}": 1.0,
        f"word[-2:]:{word[-2:]}": 1.0,
        f"word[-3:]:{word[-3:]}": 1.0,
    }
    return {prefix + name: value for name, value in described.items()}


@cache
def _tagger() -> Any:
    from pycrfsuite import Tagger

    from textgauge.encode.resources import locate

    tagger = Tagger()
    tagger.open(str(locate("pos-en") / "model.crf"))
    return tagger
