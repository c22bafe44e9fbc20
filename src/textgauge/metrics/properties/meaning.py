"""How varied, well written and covered a corpus is: its meaning, its grammar, its nearest texts in another corpus.

Of nearest texts, by meaning (cosine) and by wording (word edits):

    precision = mean over generated texts of the best similarity among the others, recall = the same exchanged,
    F1 = 2PR/(P + R)

The interval of a precision is for fresh generated texts and the same others, that of a recall and of `covered` for
fresh texts on both sides: texts that have the same one as nearest are not independent. That of F1 is for both.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.settings import split_into_blocks
from textgauge.data import Corpus
from textgauge.encode.tokenizers import Tokens
from textgauge.metrics.base import list_versions
from textgauge.metrics.corpus.diversity import compute_left_out_vendi, compute_vendi
from textgauge.metrics.numerics.moments import scale_to_units, to_unit
from textgauge.metrics.numerics.ngram_counts import find_best_rows
from textgauge.metrics.numerics.search import NearestMatches, find_best_matches
from textgauge.metrics.properties.base import (
    NEAR_COPY,
    NOT_FOR_TEST,
    NOT_FOR_TRAIN,
    TOKENIZER,
    Compute,
    MeasuredCorpus,
    PropertyValue,
    average_values,
    compute_standard_error,
    declare,
    share,
)
from textgauge.stats.resampling import compute_jackknife_variance, draw_left_out_groups

SAME = 0.95  # cosine from which two texts say the same (Abbas et al. 2023, SemDeDup)
_FEWEST, _GROUPS = 50, 30  # texts from which there is an interval, and groups that are left out in turn
FENCE = 1.5  # interquartile ranges below the lower quartile (Tukey)


def get_units(measured: MeasuredCorpus) -> Floats:
    """Return the vectors of the texts, of length one, in an order of their own."""
    return scale_to_units(measured.corpus.canonical().embeddings(measured.embedder or ""))


def match_meaning(queries: Corpus, documents: Corpus | None, embedder: str | None) -> NearestMatches:
    """Return the nearest document of each query by meaning, of equal ones the first; without documents another query.

    It is searched among the different texts of either side.
    """
    _, asking, inverse = np.unique(queries.keys, return_index=True, return_inverse=True)
    others, given = queries, asking
    if documents is not None:
        others, given = documents, np.sort(np.unique(documents.keys, return_index=True)[1])
    sides = (queries.take(asking), others.take(given))
    found = find_nearest_meaning(*(side.embeddings(embedder or "") for side in sides), within=documents is None)
    return NearestMatches(given[found.index], found.similarity).take(inverse)


def find_nearest(measured: MeasuredCorpus, others: Corpus | None) -> NearestMatches:
    """Return the nearest of other texts for each text by meaning, or of the other texts of the corpus."""
    return match_meaning(measured.corpus, others, measured.embedder)


def find_outlying(measured: MeasuredCorpus) -> NDArray[np.bool_]:
    """Which texts are farther from all others than the rest: 1.5 interquartile ranges below the lower quartile."""
    nearest = measured.derive(find_nearest, None).similarity
    if len(np.unique(measured.corpus.keys)) < 4:
        return np.zeros(len(nearest), dtype=bool)
    low, high = np.quantile(nearest, [0.25, 0.75])
    return np.asarray(nearest < low - FENCE * (high - low))


_declare = partial(declare, needs=("embeddings",), backend="cosine@{embeddings}", alone=True)
_ABOUT_VENDI = "Vendi score: the number of unrelated texts that would be as diverse in meaning"


@_declare("vendi", _ABOUT_VENDI, better="higher", bounds=(1.0, math.inf))
def _measure_vendi(measured: MeasuredCorpus, level: float) -> PropertyValue:
    """Return the value with the jackknife's interval over 30 groups of texts, of the logarithm.

    Simulated coverage of 95 % intervals, on 30 to 300 vectors of 64 and 384 dimensions: 0.92 to 0.98.
    """
    rows = measured.derive(get_units)
    value = compute_vendi(rows)
    if len(rows) < _FEWEST:
        return PropertyValue(value)
    left_out = compute_left_out_vendi(rows, draw_left_out_groups(len(rows), _GROUPS, 0))
    error = math.sqrt(compute_jackknife_variance(left_out))
    found = PropertyValue.of(math.log(value), error, len(left_out) - 1, level)
    return PropertyValue(value, math.exp(found.low), math.exp(found.high))


@_declare("self_similarity", "mean cosine of two random texts of the corpus", better="lower", bounds=(-1.0, 1.0))
def _measure_self_similarity(measured: MeasuredCorpus, level: float) -> PropertyValue:
    """Return the mean over all pairs, a U-statistic, with the jackknife's interval from the texts' means.

    Simulated coverage of 95 % intervals, on 100 to 1,000 vectors: 0.93 to 0.97; 0.90 to 0.92 on 30.
    """
    rows = measured.derive(get_units)
    n = len(rows)
    if n < 2:
        return PropertyValue()
    means = (rows @ rows.sum(axis=0) - np.einsum("ij,ij->i", rows, rows)) / (n - 1)
    value = float(means.mean())
    if n < _FEWEST:
        return PropertyValue(value)
    error = 2.0 * float(means.std(ddof=1)) / math.sqrt(n) * (n - 1) / (n - 2)
    found = PropertyValue.of(value, error, n - 1, level)
    return PropertyValue(value, max(found.low, -1.0), min(found.high, 1.0))


@_declare(
    "restated",
    f"share of texts with the meaning of another text (cosine {SAME:g} or more)",
    better="lower",
    no_interval="no interval: the share grows with the number of texts",
)
def _measure_restated(measured: MeasuredCorpus, _: float) -> PropertyValue:
    near = measured.derive(find_nearest, None).similarity >= SAME
    inverse, times = np.unique(measured.corpus.keys, return_inverse=True, return_counts=True)[1:]
    return PropertyValue(float((near | (times[inverse] > 1)).mean()))


@_declare(
    "shared_meaning",
    f"share of texts with the meaning of a text in the other file (cosine {SAME:g} or more)",
    better="lower",
    by_group=True,
    needs=("embeddings", "against"),
)
def _measure_shared_meaning(measured: MeasuredCorpus, level: float) -> PropertyValue:
    near = measured.derive(find_nearest, measured.against).similarity >= SAME
    return share(near, *measured.units, level=level)


@_declare(
    "outliers",
    "share of texts unlike all others: unusually small cosine to the nearest text",
    no_interval="no interval: which texts are outliers depends on all others",
)
def _measure_outliers(measured: MeasuredCorpus, _: float) -> PropertyValue:
    return PropertyValue(float(measured.derive(find_outlying).mean()))


def perplexity(surprise: Floats, tokens: Floats, *units: Ints, level: float = 0.95) -> PropertyValue:
    """exp(Σ surprise/Σ tokens), in nats: the perplexity of the whole corpus; the interval is that of a ratio of sums.

    >>> round(perplexity(np.log([4.0, 16.0]), np.array([1.0, 2.0])).value, 4)
    4.0
    """
    known = np.isfinite(surprise) & (tokens > 0)
    n, total = int(known.sum()), float(tokens[known].sum())
    if not n:
        return PropertyValue()
    rate = float(surprise[known].sum()) / total
    rest = surprise[known] - rate * tokens[known]
    error, freedom = compute_standard_error(rest, *(unit[known] for unit in units))
    found = PropertyValue.of(rate, error * n / total, freedom, level)
    return PropertyValue(*(math.exp(min(end, 700.0)) for end in (found.value, found.low, found.high)))


def compute_errors_per_word(measured: MeasuredCorpus) -> Floats:
    """Grammatical errors per word of each text; NaN for a text without words."""
    return _divide(measured.grammar)


def compute_surprise_per_token(measured: MeasuredCorpus) -> Floats:
    """Return the logarithm of the perplexity of each text; NaN for a text without tokens."""
    return _divide(measured.surprise)


def _divide(columns: Floats | None) -> Floats:
    """NaN where nothing was counted."""
    if columns is None:
        return np.empty(0)
    top, below = columns
    return np.asarray(np.divide(top, below, out=np.full(len(top), np.nan), where=below > 0))


_declare = partial(declare, better="lower", bounds=(0.0, math.inf), by_group=True)


@_declare(
    "grammar",
    "grammar errors per word, on average over the texts",
    needs=("grammar",),
    backend="{grammar}",
    per_text=compute_errors_per_word,
)
def _measure_grammar(measured: MeasuredCorpus, level: float) -> PropertyValue:
    found = average_values(compute_errors_per_word(measured), *measured.units, level=level)
    return replace(found, low=max(found.low, 0.0))


@_declare(
    "plausibility",
    "perplexity under the language model; smaller is more plausible",
    needs=("plausibility",),
    backend="{plausibility}",
    per_text=compute_surprise_per_token,
)
def _measure_plausibility(measured: MeasuredCorpus, level: float) -> PropertyValue:
    if measured.surprise is None:
        return PropertyValue()
    return perplexity(*measured.surprise, *measured.units, level=level)


Vectors = NDArray[np.floating[Any]]
Units = tuple[Ints, ...]

COVERED = 0.05  # train is as near or nearer to all but this share of the test texts
_CELLS = 1 << 23  # similarities held at a time: 32 MB
_ROUNDING = 4e-6  # a float32 product of unit vectors is nearer than this to the exact one


def find_nearest_meaning(queries: Vectors, documents: Vectors, *, within: bool = False) -> NearestMatches:
    """Find the document of highest cosine for each query, of equal ones the first; `within` a corpus another one.

    Products in float32 leave few candidates, which are compared in float64, so that neither blocks nor the other texts
    change a value. The cosine of a zero vector with any other is 0.

    >>> found = find_nearest_meaning(np.eye(3)[:2], np.array([[1.0, 1, 0], [0, 2, 0]]))
    >>> found.index.tolist(), found.similarity.round(4).tolist()
    ([0, 1], [0.7071, 1.0])
    """
    sought, given = (to_unit(side).astype(np.float32) for side in (queries, documents))
    index = np.zeros(len(sought), dtype=np.int64)
    similarity = np.zeros(len(sought))
    for block in split_into_blocks(len(sought), _CELLS, len(given)):
        products = sought[block] @ given.T
        if within and len(given) > 1:
            np.fill_diagonal(products[:, block.start :], -np.inf)
        rows, places = np.nonzero(products >= products.max(axis=1, keepdims=True) - _ROUNDING)
        values = _compute_cosines(queries[block], documents, rows, places)
        first = find_best_rows(values, rows, places)
        index[block], similarity[block] = places[first], values[first]
    return NearestMatches(index, similarity)


def find_nearest_wording(queries: Tokens, documents: Tokens) -> NearestMatches:
    """Return the document of highest SynSim = 1/(1 + d/max(|s|, |t|)) for each query, d the word edits between them.

    SynSim lies between 1/2 (nothing in common) and 1 (the same words, or no words at all). Source: Zwerdling et al.

    >>> from textgauge.encode.tokenizers import get_tokenizer
    >>> tokens = get_tokenizer("words").encode(["a b c d", "x", "a b c e"])
    >>> find_nearest_wording(tokens.take(np.arange(1)), tokens.take(np.arange(1, 3))).similarity.tolist()
    [0.8]
    """
    index, _, kept = find_best_matches(queries, documents)
    return NearestMatches(index, 1.0 / (2.0 - kept))


def f1(
    precision: Floats, recall: Floats, units: tuple[Units, Units] = ((), ()), *, level: float = 0.95
) -> PropertyValue:
    """Return the harmonic mean of both means, from the best similarities of either side; its variance to first order.

    `units` of either side are those of `compute_standard_error`. NaN where a side is empty, P or R is below 0, which a
    cosine may be, or both are 0.

    >>> f1(np.array([0.5, 0.5]), np.array([1.0, 1.0])).value
    0.6666
    """
    sides = [
        [column[np.isfinite(side[0])] for column in side] for side in ((precision, *units[0]), (recall, *units[1]))
    ]
    if not all(len(side[0]) for side in sides):
        return PropertyValue()
    p, r = (float(side[0].mean()) for side in sides)
    known = [compute_standard_error(*side) for side in sides]
    if min(p, r) < 0 or p + r == 0:
        return PropertyValue()
    errors = [2 * other**2 / (p + r) ** 2 * error for (error, _), other in zip(known, (r, p), strict=True)]
    parts = [error**4 / freedom for error, (_, freedom) in zip(errors, known, strict=True) if freedom > 0]
    freedom = math.hypot(*errors) ** 4 / sum(parts) if sum(parts) > 0 else 1.0  # Welch and Satterthwaite
    found = PropertyValue.of(2 * p * r / (p + r), math.hypot(*errors), freedom, level)
    return PropertyValue(found.value, max(found.low, 0.0), min(found.high, 1.0))


def _compute_cosines(left: Vectors, right: Vectors, rows: Ints, places: Ints) -> Floats:
    """Cosines of chosen pairs, some at a time."""
    values = np.zeros(len(rows))
    for part in split_into_blocks(len(rows), _CELLS, 4 * left.shape[1]):
        a, b = left[rows[part]].astype(np.float64), right[places[part]].astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b))
        np.divide(np.einsum("ij,ij->i", a, b), norms, out=values[part], where=norms > 0)
    return np.clip(values, -1.0, 1.0)


def _mean_of(side: str) -> Compute:
    """Return how to average the similarity of the nearest texts, such as `semantic`."""

    def compute(measured: MeasuredCorpus, level: float) -> PropertyValue:
        found: NearestMatches = getattr(measured, side)
        value = average_values(found.similarity, *found.units, level=level)
        return replace(value, high=min(value.high, 1.0))

    return compute


def _share_of(side: str, least: str) -> Compute:
    """Return how to measure the share of texts whose nearest one is as similar as a limit says."""

    def compute(measured: MeasuredCorpus, level: float) -> PropertyValue:
        found: NearestMatches = getattr(measured, side)
        return share(found.similarity >= getattr(measured, least), *found.units, level=level)

    return compute


def _declare_both_ways(kind: str, back: str, other: str, similarity: str, **shared: Any) -> None:
    """Precision, recall and F1 of one kind of similarity, such as `semantic` and `covered` on the way back."""
    about = f"{similarity} of a {{}} text to the nearest {{}} text, on average"

    def compare_texts(measured: MeasuredCorpus) -> Floats:
        return np.asarray(getattr(measured, kind).similarity)

    def compare_others(measured: MeasuredCorpus) -> tuple[Floats, Units]:
        found: NearestMatches = getattr(measured, back)
        return found.similarity, found.units

    told = about.format("generated", other), about.format(other, "generated")
    declare(f"{kind}_precision", told[0], per_text=compare_texts, text_name=kind, **shared)(_mean_of(kind))
    shared["depends_on_size"] = True
    declare(f"{kind}_recall", told[1], per_other=compare_others, version=2, **shared)(_mean_of(back))

    @declare(f"{kind}_f1", f"harmonic mean of {kind} precision and recall", version=3, **shared)
    def compute_f1(measured: MeasuredCorpus, level: float) -> PropertyValue:
        there, again = getattr(measured, kind), getattr(measured, back)
        return f1(there.similarity, again.similarity, (there.units, again.units), level=level)


_SEMANTIC: dict[str, Any] = {
    "better": "higher",
    "needs": ("embeddings", "test"),
    "undefined_for": NOT_FOR_TEST,
    "backend": "cosine@{embeddings}",
    "by_group": True,
}
_SYNTACTIC: dict[str, Any] = {
    "better": "lower",
    "needs": ("tokens", "train"),
    "undefined_for": NOT_FOR_TRAIN,
    "by_group": True,
    "backend": f"synsim@{TOKENIZER}({','.join(list_versions('rapidfuzz'))})",
}

_declare_both_ways("semantic", "covered", "test", "cosine", bounds=(-1.0, 1.0), **_SEMANTIC)
declare(
    "covered",
    f"share of test texts as near to a generated text as {100 * (1 - COVERED):g} % are to as many train texts",
    per_other=lambda measured: (1.0 * (measured.covered.similarity >= measured.reach), measured.covered.units),
    depends_on_size=True,
    version=2,
    **_SEMANTIC,
)(_share_of("covered", "reach"))
_declare_both_ways("syntactic", "echoed", "train", "similarity of wording", bounds=(0.5, 1.0), **_SYNTACTIC)
declare(
    "near_copies",
    f"share of generated texts worded like a train text (similarity {NEAR_COPY:g} or more, or as set)",
    **_SYNTACTIC,
)(_share_of("syntactic", "near_copy"))
