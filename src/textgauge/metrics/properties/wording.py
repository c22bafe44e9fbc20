"""How varied the wording of a corpus is: new words, distinct n-grams, compression, runs of words that come again."""

from __future__ import annotations

import math
import zlib
from functools import partial

import numpy as np

from textgauge.core.arrays import Ints
from textgauge.data import Corpus
from textgauge.encode.tokenizers import Tokens, hold_letters
from textgauge.metrics.numerics.ngram_counts import number_ngrams
from textgauge.metrics.properties.base import (
    TOKENIZER,
    Interval,
    MeasuredCorpus,
    PropertyValue,
    count_interval,
    declare,
    share,
)


def count_new_terms(tokens: Tokens, known: Tokens) -> tuple[Ints, Ints]:
    """Return the number of texts that hold each term that another corpus does not have, the most frequent first.

    And how many new terms each text is the only one to hold. Both corpora have one vocabulary; signs without letter or
    digit are no terms.

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> tokens = get_tokenizer("words").encode(["a red cat!", "a cat", "a dog"])
    >>> [found.tolist() for found in count_new_terms(tokens.take(np.arange(2)), tokens.take(np.arange(2, 3)))]
    [[2, 1], [1, 0]]
    """
    rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
    fresh = ~np.isin(tokens.ids, known.ids)
    size = len(tokens.vocabulary)
    held = np.unique(rows[fresh] * size + tokens.ids[fresh])
    terms, place, texts = np.unique(held % size, return_inverse=True, return_counts=True)
    worded = hold_letters([tokens.vocabulary[term] for term in terms.tolist()])
    single = worded[place] & (texts[place] == 1)
    return -np.sort(-texts[worded]), np.bincount((held // size)[single], minlength=len(tokens))


def compute_unknown_share(corpus: Corpus, known: Corpus) -> float:
    """Share of the words of a corpus that are not in another one of its pool; NaN where there are no words."""
    words = corpus.tokens(TOKENIZER).ids
    return float((~np.isin(words, known.tokens(TOKENIZER).ids)).mean()) if len(words) else math.nan


def compute_vocab_interval(texts: Ints, alone: Ints, *, level: float = 0.95) -> Interval:
    """Interval of the number of new terms, for fresh corpora of as many texts.

    The variance is Σ aᵢ(aᵢ − 1) + c·Σ aᵢ − (Σ aᵢ)²/n, where text i alone holds aᵢ terms: what leaving it out changes;
    c ≤ 1 is for terms that come one by one, as forms in `texts`. Simulated coverage of 95 % intervals, on review
    sentences: 0.93 to 0.95.
    """
    n, held = len(alone), alone.astype(np.float64)
    once, twice = float(held.sum()), int(np.count_nonzero(texts == 2))
    slope = 2 * twice / once if once else 0.0
    shrink = -math.expm1(-slope) / slope if slope else 1.0
    variance = float(held @ held) - (1.0 - shrink) * once - once**2 / max(n, 1)
    return count_interval(float(len(texts)), variance, n=n, level=level)


@declare(
    "vocab",
    "number of distinct words, without those of train",
    bounds=(0.0, math.inf),
    needs=("tokens",),
    backend=TOKENIZER,
    depends_on_size=True,
)
def _measure_vocab(measured: MeasuredCorpus, level: float) -> PropertyValue:
    known = measured.corpus.take(np.arange(0)) if measured.train is None else measured.train.corpus
    texts, alone = count_new_terms(measured.corpus.tokens(TOKENIZER), known.tokens(TOKENIZER))
    return PropertyValue(float(len(texts)), *compute_vocab_interval(texts, alone, level=level))


RUN = 4  # words of a template
COMMON, FEWEST = 0.01, 3  # a template is held by this share of the texts, and by so many of them
_SHRINKS = "no interval: the value depends on the number of texts"


def compute_distinct_share(tokens: Tokens, n: int) -> float:
    """Different n-grams over all n-grams; NaN where there are none."""
    *_, (gram, _) = number_ngrams(tokens, n)
    return (int(gram.max()) + 1) / len(gram) if len(gram) else math.nan


def compute_compression_ratio(texts: tuple[str, ...]) -> float:
    """Bytes of all texts over their bytes once compressed by DEFLATE at level 9: larger is more repetitive.

    Texts are in the order of their content, since compression looks back 32 kB.
    """
    whole = "\n".join(sorted(texts)).encode("utf-8", "replace")
    return len(whole) / len(zlib.compress(whole, 9)) if whole else math.nan


def find_templates(measured: MeasuredCorpus) -> tuple[Ints, Ints, Ints]:
    """Return runs of four words that many texts hold, the most frequent first.

    The number of texts that hold each, the place of its first occurrence among all tokens, and for each text the number
    of its most frequent one, −1 where it has none.
    """
    tokens = measured.corpus.tokens(TOKENIZER)
    *_, (gram, starts) = number_ngrams(tokens, RUN)
    owner = np.searchsorted(tokens.offsets, starts, side="right") - 1
    held = np.divmod(np.unique(gram * max(len(tokens), 1) + owner), max(len(tokens), 1))
    texts = np.bincount(held[0])
    common = np.flatnonzero(texts >= max(FEWEST, COMMON * len(tokens)))
    common = common[np.argsort(-texts[common], kind="stable")]
    rank = np.full(len(texts), len(common), dtype=np.int64)
    rank[common] = np.arange(len(common))
    best = np.full(len(tokens), len(common), dtype=np.int64)
    np.minimum.at(best, held[1], rank[held[0]])
    first = starts[np.unique(gram, return_index=True)[1][common]] if len(common) else np.empty(0, dtype=np.int64)
    return texts[common], first, np.where(best < len(common), best, -1)


_declare = partial(declare, needs=("tokens",), backend=TOKENIZER, alone=True)


def _declare_distinct(n: int, what: str) -> None:
    @_declare(f"distinct_{n}", f"distinct {what}, as a share of all", better="higher", no_interval=_SHRINKS)
    def measure(measured: MeasuredCorpus, _: float) -> PropertyValue:
        return PropertyValue(compute_distinct_share(measured.corpus.tokens(TOKENIZER), n))


for _n, _what in enumerate(("words", "pairs of words", "runs of three words"), 1):
    _declare_distinct(_n, _what)


@declare(
    "compression",
    "size of the texts divided by their compressed size; larger is more repetitive",
    better="lower",
    bounds=(0.0, math.inf),
    backend="zlib(level=9)",
    no_interval=_SHRINKS,
    alone=True,
)
def _measure_compression(measured: MeasuredCorpus, _: float) -> PropertyValue:
    return PropertyValue(compute_compression_ratio(tuple(measured.corpus.texts)))


@_declare(
    "templates",
    f"share of texts with a run of {RUN} words that at least {100 * COMMON:g} % of the texts contain",
    better="lower",
    by_group=True,
)
def _measure_templates(measured: MeasuredCorpus, level: float) -> PropertyValue:
    return share(measured.derive(find_templates)[2] >= 0, *measured.units, level=level)
