"""Single texts, as frames: all with their values, near copies, uncovered test texts, modes, the best ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from textgauge.arrays import Floats, Ints
from textgauge.data import Corpus
from textgauge.errors import InputError
from textgauge.metrics.properties.base import MeasuredCorpus, NearestMatches
from textgauge.metrics.properties.repetition import modes as modes_of
from textgauge.metrics.properties.trade_off import best_trade_offs

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
        "index": np.arange(n),
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
        raise InputError(f"SynSim lies between 0.5 and 1; {threshold} is no threshold for near copies")


def near_copies(measured: MeasuredCorpus, train: Corpus, threshold: float) -> pl.DataFrame:
    """Generated texts whose SynSim to a train text is the threshold or more, and that text."""
    import polars as pl

    schema = {"corpus": pl.String, "index": pl.Int64, "text": pl.String, "syntactic": pl.Float64, "train": pl.String}
    found = measured.syntactic
    if found is None:
        return pl.DataFrame(schema=schema)
    rows = np.flatnonzero(found.similarity >= threshold)
    columns = {
        "corpus": [measured.name] * len(rows),
        "index": rows,
        "text": texts_of(measured.corpus, rows),
        "syntactic": found.similarity[rows],
        "train": texts_of(train, found.index[rows]),
    }
    return pl.DataFrame(columns, schema=schema)


def uncovered(measured: MeasuredCorpus, test: Corpus | None, reach: float) -> pl.DataFrame:
    """Test texts whose similarity to the nearest generated text is below the reach, and that text."""
    import polars as pl

    schema = {"corpus": pl.String, "index": pl.Int64, "test": pl.String, "semantic": pl.Float64, "nearest": pl.String}
    found = measured.covered
    if found is None or test is None:
        return pl.DataFrame(schema=schema)
    rows = np.flatnonzero(found.similarity < reach)
    columns = {
        "corpus": [measured.name] * len(rows),
        "index": rows,
        "test": texts_of(test, rows),
        "semantic": found.similarity[rows],
        "nearest": texts_of(measured.corpus, found.index[rows]),
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
