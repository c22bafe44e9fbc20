"""Single texts, as frames: all with their values, near copies, uncovered test texts, modes, the best ones."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.data import Corpus
from textgauge.metrics.properties.base import MeasuredCorpus, NearestMatches
from textgauge.metrics.properties.repetition import modes as modes_of

if TYPE_CHECKING:
    import polars as pl


def texts_of(corpus: Corpus, rows: Ints) -> list[str]:
    """The texts at these places."""
    texts = corpus.pool.texts
    return [texts[row] for row in corpus.index[rows].tolist()]


def per_text(
    measured: MeasuredCorpus, test: Corpus | None, train: MeasuredCorpus, ratings: Floats | None
) -> pl.DataFrame:
    """One row per text: its values, and the texts it is nearest to; null where a value does not exist."""
    import polars as pl

    n = len(measured.corpus)
    columns: dict[str, Any] = {
        "corpus": [measured.name] * n,
        "index": measured.corpus.source_rows,
        "text": list(measured.corpus.texts),
    }
    _, place, times = np.unique(measured.forms, return_inverse=True, return_counts=True)
    columns["unique"] = (times[place] == 1) & ~np.isin(measured.forms, train.forms)
    groups = measured.derive(modes_of)
    columns["mode_size"] = groups.sizes[groups.group]
    columns |= _nearest("semantic", "nearest_test", measured.semantic, test, n)
    columns |= _nearest("syntactic", "nearest_train", measured.syntactic, train.corpus, n)
    errors, words = (np.full(n, np.nan),) * 2 if measured.grammar is None else measured.grammar
    columns |= {"grammar_errors": errors, "words": words}
    columns["perplexity"] = perplexities(measured)
    if ratings is not None:
        columns["rating"] = ratings
    schema = {"nearest_test": pl.String, "nearest_train": pl.String}
    frame = pl.DataFrame(columns, schema_overrides=schema, nan_to_null=True)
    return frame.with_columns(pl.col("grammar_errors", "words").cast(pl.Int64))


def perplexities(measured: MeasuredCorpus) -> Floats:
    """exp(surprise per token) of each text; NaN where there is none."""
    logs = measured.text_values().get("plausibility")
    return np.full(len(measured.corpus), np.nan) if logs is None else np.exp(np.minimum(logs, 700.0))


def check_threshold(threshold: float) -> None:
    """Refuse a similarity that no text, or every text, has."""
    if not 0.5 < threshold <= 1.0:
        raise InputError(f"SynSim lies between 0.5 and 1; {threshold} is not a threshold for near copies")


def near_copies(measured: MeasuredCorpus, train: Corpus, threshold: float) -> pl.DataFrame:
    """Generated texts whose SynSim to a train text is the threshold or more, and that text."""
    found = measured.syntactic
    rows = np.flatnonzero([] if found is None else found.similarity >= threshold)
    return _matches(measured.name, found, rows, {"text": measured.corpus, "syntactic": None, "train": train})


def uncovered(measured: MeasuredCorpus, test: Corpus | None, reach: float) -> pl.DataFrame:
    """Test texts whose similarity to the nearest generated text is below the reach, and that text."""
    found = measured.covered
    rows = np.flatnonzero([] if found is None else found.similarity < reach)
    return _matches(measured.name, found, rows, {"test": test, "semantic": None, "nearest": measured.corpus})


def _matches(name: str, found: NearestMatches | None, rows: Ints, named: dict[str, Corpus | None]) -> pl.DataFrame:
    """Texts, the similarity to their nearest and that one: `named` has the columns with their corpora."""
    import polars as pl

    (first, queries), (value, _), (last, documents) = named.items()
    schema = {"corpus": pl.String, "index": pl.Int64, first: pl.String, value: pl.Float64, last: pl.String}
    if found is None or queries is None or documents is None:
        return pl.DataFrame(schema=schema)
    columns = {
        "corpus": [name] * len(rows),
        "index": queries.source_rows[rows],
        first: texts_of(queries, rows),
        value: found.similarity[rows],
        last: texts_of(documents, found.index[rows]),
    }
    return pl.DataFrame(columns, schema=schema)


def modes(measured: MeasuredCorpus, least: int) -> pl.DataFrame:
    """Groups of at least `least` equal or nearly equal texts, each with its most frequent text."""
    import polars as pl

    groups = measured.derive(modes_of)
    group, sizes = groups.group, groups.sizes
    large = np.flatnonzero(sizes >= least)
    forms, first = np.unique(measured.forms, return_index=True)  # group g is named after form g in this order
    different = np.bincount(group[first], minlength=len(forms))
    columns = {
        "corpus": [measured.name] * len(large),
        "texts": sizes[large],
        "share": sizes[large] / len(measured.corpus),
        "different": different[large],
        "example": texts_of(measured.corpus, first[large]),
    }
    kinds = (pl.String, pl.Int64, pl.Float64, pl.Int64, pl.String)
    return pl.DataFrame(columns, schema=dict(zip(columns, kinds, strict=True)))


def best(measured: MeasuredCorpus, n: int, *, plausible: bool) -> Ints:
    """The places of the n texts with the best trade-off, each form once; see `best_trade_offs`.

    Larger is better of nearness to test by meaning, distance from train by wording (1 − SynSim) and, with `plausible`,
    plausibility (less surprise per token).
    """
    values = measured.text_values()
    goods = [values.get("semantic"), None if "syntactic" not in values else 1.0 - values["syntactic"]]
    if plausible:
        goods.append(-values["plausibility"] if "plausibility" in values else None)
    if any(column is None for column in goods):
        return np.empty(0, dtype=np.int64)
    first = np.sort(np.unique(measured.forms, return_index=True)[1])
    order = first[np.argsort(measured.corpus.keys[first], kind="stable")]
    return order[best_trade_offs(np.column_stack([column[order] for column in goods if column is not None]), n)]


def _nearest(value: str, name: str, found: NearestMatches | None, corpus: Corpus | None, n: int) -> dict[str, Any]:
    if found is None or corpus is None:
        return {value: np.full(n, np.nan), name: [None] * n}
    return {value: found.similarity, name: texts_of(corpus, found.index)}


def best_trade_offs(goods: Floats, n: int) -> Ints:
    """The n rows with the best trade-off: Pareto front by front, within a front those nearest to the ideal point first.

    A front is what no row left is better than (as good in every column and better in one). The ideal point has the
    largest value of every column; distances are Euclidean after each column was scaled to 0 … 1. Rows with a missing
    value are left out; equal rows are in one front, the first first. Two or three columns.

    >>> best_trade_offs(np.array([[0.9, 0.1], [0.6, 0.6], [0.5, 0.5], [0.1, 0.9]]), 3).tolist()
    [1, 0, 3]
    """
    left = np.flatnonzero(np.isfinite(goods).all(axis=1))
    far = np.full(len(goods), np.inf)
    far[left] = _from_ideal(goods[left])
    left = left[np.lexsort((left, *(-goods[left].T[::-1])))]  # falling, the first column first
    chosen: list[Ints] = [left[:0]]
    while len(left) and sum(map(len, chosen)) < n:
        front = _front(goods[left])
        chosen.append(left[front][np.lexsort((left[front], far[left[front]]))])
        left = left[~front]
    return np.concatenate(chosen)[:n]


def _from_ideal(goods: Floats) -> Floats:
    if not len(goods):
        return np.empty(0)
    reach = np.ptp(goods, axis=0)
    gaps = (goods.max(axis=0) - goods) / np.where(reach > 0, reach, 1.0)
    return np.asarray(np.sqrt((gaps * gaps).sum(axis=1)))


def _front(falling: Floats) -> NDArray[np.bool_]:
    """Which rows, sorted by falling columns, nothing before them is better than."""
    same = np.concatenate([[False], (falling[1:] == falling[:-1]).all(axis=1)])
    heads = np.flatnonzero(~same)
    distinct = falling[heads]
    found = _front_of_two(distinct[:, 1]) if distinct.shape[1] == 2 else _front_of_three(distinct[:, 1:])
    return np.asarray(found[np.cumsum(~same) - 1])


def _front_of_two(second: Floats) -> NDArray[np.bool_]:
    before = np.concatenate([[-np.inf], np.maximum.accumulate(second)[:-1]])
    return np.asarray(second > before)


def _front_of_three(rest: Floats) -> NDArray[np.bool_]:
    """A staircase of the two other columns, rising in one and falling in the other; a row beneath it is beaten."""
    stairs: list[tuple[float, float]] = []
    found = np.zeros(len(rest), dtype=bool)
    for row, (y, z) in enumerate(rest.tolist()):
        place = bisect_left(stairs, (y, -np.inf))
        if place < len(stairs) and stairs[place][1] >= z:
            continue
        found[row] = True
        start = place
        while start and stairs[start - 1][1] <= z:
            start -= 1
        stop = place + 1 if place < len(stairs) and stairs[place][0] == y else place
        del stairs[start:stop]
        insort(stairs, (y, z))
    return found
