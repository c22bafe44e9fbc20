"""How varied a corpus is in meaning: Vendi score, mean similarity of two texts, texts unlike all others."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.encode.grounds import unit_rows
from textgauge.metrics.corpus.vendi import left_out_vendi, vendi
from textgauge.metrics.properties.base import MeasuredCorpus, NearestMatches, PropertyValue, declare
from textgauge.metrics.properties.intervals import share, student
from textgauge.metrics.properties.nearest import nearest_meaning
from textgauge.stats.resampling import grouped, jackknife_variance

SAME = 0.95  # cosine from which two texts say the same (Abbas et al. 2023, SemDeDup)
_FEWEST, _GROUPS = 50, 30  # texts from which there is an interval, and groups that are left out in turn
FENCE = 1.5  # interquartile ranges below the lower quartile (Tukey)


def units(measured: MeasuredCorpus) -> Floats:
    """The vectors of the texts, of length one, in an order of their own."""
    return unit_rows(measured.corpus.canonical().embeddings(measured.embedder or ""))


def nearest_other(measured: MeasuredCorpus) -> NearestMatches:
    """The nearest other text of each text by meaning; equal texts count as one, which is searched among the others."""
    corpus = measured.corpus
    _, first, inverse = np.unique(corpus.keys, return_index=True, return_inverse=True)
    vectors = corpus.embeddings(measured.embedder or "")[first]
    found = nearest_meaning(vectors, vectors, within=True)
    return NearestMatches(first[found.index], found.similarity).take(inverse.reshape(-1))


def nearest_against(measured: MeasuredCorpus) -> NearestMatches:
    """The nearest of the texts it is checked against for each text, by meaning."""
    sides = [measured.corpus, measured.against or measured.corpus]
    return nearest_meaning(*(side.embeddings(measured.embedder or "") for side in sides))


def outlying(measured: MeasuredCorpus) -> NDArray[np.bool_]:
    """Which texts are farther from all others than the rest: 1.5 interquartile ranges below the lower quartile."""
    nearest = measured.derive(nearest_other).similarity
    if len(np.unique(measured.corpus.keys)) < 4:
        return np.zeros(len(nearest), dtype=bool)
    low, high = np.quantile(nearest, [0.25, 0.75])
    return np.asarray(nearest < low - FENCE * (high - low))


def _restated(measured: MeasuredCorpus, _: float) -> PropertyValue:
    near = measured.derive(nearest_other).similarity >= SAME
    inverse, times = np.unique(measured.corpus.keys, return_inverse=True, return_counts=True)[1:]
    return PropertyValue(float((near | (times[inverse] > 1)).mean()))


def _vendi(measured: MeasuredCorpus, level: float) -> PropertyValue:
    """The interval is the jackknife's over 30 groups of texts, of the logarithm.

    Simulated coverage of 95 % intervals, on 30 to 300 vectors of 64 and 384 dimensions: 0.92 to 0.98.
    """
    rows = measured.derive(units)
    value = vendi(rows)
    if len(rows) < _FEWEST:
        return PropertyValue(value)
    left_out = left_out_vendi(rows, grouped(len(rows), _GROUPS, 0))
    found = student(math.log(value), math.sqrt(jackknife_variance(left_out)), len(left_out) - 1, level)
    return PropertyValue(value, math.exp(found.low), math.exp(found.high))


def _self_similarity(measured: MeasuredCorpus, level: float) -> PropertyValue:
    """The mean over all pairs is a U-statistic; its interval is the jackknife's, which follows from the texts' means.

    Simulated coverage of 95 % intervals, on 100 to 1,000 vectors: 0.93 to 0.97; 0.90 to 0.92 on 30.
    """
    rows = measured.derive(units)
    n = len(rows)
    if n < 2:
        return PropertyValue()
    means = (rows @ rows.sum(axis=0) - np.einsum("ij,ij->i", rows, rows)) / (n - 1)
    value = float(means.mean())
    if n < _FEWEST:
        return PropertyValue(value)
    found = student(value, 2.0 * float(means.std(ddof=1)) / math.sqrt(n) * (n - 1) / (n - 2), n - 1, level)
    return PropertyValue(value, max(found.low, -1.0), min(found.high, 1.0))


_declare = partial(declare, needs=("embeddings",), backend="cosine@{embeddings}", alone=True)
_declare(
    "vendi",
    "Vendi score: the number of unrelated texts that would be as diverse in meaning",
    _vendi,
    better="higher",
    bounds=(1.0, math.inf),
)
_declare(
    "self_similarity",
    "mean cosine of two random texts of the corpus",
    _self_similarity,
    better="lower",
    bounds=(-1.0, 1.0),
)
_declare(
    "restated",
    f"share of texts with the meaning of another text (cosine {SAME:g} or more)",
    _restated,
    better="lower",
    no_interval="no interval: the share grows with the number of texts",
)
_declare(
    "shared_meaning",
    f"share of texts with the meaning of a text in the other file (cosine {SAME:g} or more)",
    lambda measured, level: share(measured.derive(nearest_against).similarity >= SAME, level=level),
    better="lower",
    needs=("embeddings", "against"),
)
_declare(
    "outliers",
    "share of texts unlike all others: unusually small cosine to the nearest text",
    lambda measured, _: PropertyValue(float(measured.derive(outlying).mean())),
    no_interval="no interval: which texts are outliers depends on all others",
)
