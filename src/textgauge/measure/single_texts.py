"""Single texts behind a result: what `explain` keeps, `--atlas` writes and the page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textgauge.core.arrays import Embeddings, Floats
from textgauge.core.errors import InputError, TextgaugeError
from textgauge.data import Comparison, Corpus, Pairs
from textgauge.encode.tokenizers import replace_surrogates
from textgauge.measure.dependence import read_side_labels
from textgauge.metrics import CorpusMetric, PairScores

if TYPE_CHECKING:
    import polars as pl

    from textgauge.measure.explaining import Explanation

ADDS, TEXT = "contribution.", "text."  # before the name of a metric, and of a system


def list_compared_texts(
    comparison: Comparison,
    explanations: Mapping[str, Explanation],
    metrics: Sequence[CorpusMetric],
    *,
    sources: Sequence[Any],
    group: Any = None,
    column: str | None = None,
) -> pl.DataFrame:
    """Return one row per text of both corpora, those that contribute most to the first metric first.

    `source`, `index` and `text`; the `nearest` text of the other corpus with its `distance`; what the text adds to each
    metric, `contribution.METRIC`; its `label` and `group` where the sources have such columns; the longest `passage`
    that the other corpus has too; and its place in the plane of both corpora, `x` and `y`.
    """
    import polars as pl

    from textgauge.measure.lists import cut_longest_passages
    from textgauge.metrics.properties.repeats import find_copied_passages

    first = next(iter(explanations.values()))
    names = ("index", "text", "nearest", "nearest_index", "distance")
    columns: dict[str, Any] = {"source": first.texts["side"], **{name: first.texts[name] for name in names}}
    columns |= {f"{ADDS}{name}": one.texts["contribution"] for name, one in explanations.items()}
    if comparison.joint.pool.has_texts:
        named = {"label": "label", **({"group": group} if isinstance(group, str) else {})}
        for name, of in named.items():
            labels = [
                _look_up(source, of, column, side) for source, side in zip(sources, comparison.sides, strict=True)
            ]
            if any(labels):
                columns[name] = [label for side in labels for label in side]
        sides = (comparison.sides, comparison.sides[::-1])
        columns["passage"] = [
            cut for pair in sides for cut in cut_longest_passages(pair[0], find_copied_passages(*pair))
        ]
    embedder = next((metric.embedder for metric in metrics if not metric.reads_texts), None)
    if embedder is not None:
        columns["x"], columns["y"] = project(comparison.joint.embeddings(embedder), len(comparison.reference)).T
    strength = pl.col(next(name for name in columns if name.startswith(ADDS))).abs()
    frame = pl.DataFrame(columns, strict=False, infer_schema_length=None)
    return frame.sort(strength, descending=True, nulls_last=True, maintain_order=True)


def project(vectors: Embeddings, reference: int) -> Floats:
    """Return the two principal components of rows; the mean of those after the first `reference` is right and above.

    >>> project(np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]]), 2).round(2).tolist()
    [[-2.0, -0.5], [-2.0, 0.5], [2.0, -0.5], [2.0, 0.5]]
    """
    centred = np.asarray(vectors, dtype=np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    places = centred @ axes[:, :-3:-1]
    if places.shape[1] < 2:
        places = np.column_stack([places, np.zeros(len(places))])
    sides = places[reference:].mean(axis=0) - places[:reference].mean(axis=0)
    ends = np.where(np.abs(sides) > 1e-9 * np.abs(places).max(initial=1.0), sides, places[-1])
    return np.asarray(places * np.where(ends < 0, -1.0, 1.0))


def _look_up(source: Any, label: str, column: str | None, side: Corpus) -> list[str | None]:
    """Return the label of each text, None where it is blank; nothing where the source has no such column."""
    try:
        labels = read_side_labels(side, source, label, column, "corpus", blank=True)
    except (TextgaugeError, TypeError, ValueError):  # a list of texts, an array, a table without such a column
        return []
    return [replace_surrogates(one) if one.strip() else None for one in labels.tolist()]


def list_items(systems: Mapping[str, Pairs], scores: Mapping[str, Sequence[PairScores]]) -> pl.DataFrame:
    """Return one row per item: `index`, `reference`, the `text.SYSTEM` of each system, and its `METRIC.SYSTEM`."""
    import polars as pl

    first = next(iter(systems.values()))
    if not first.left.pool.has_texts:
        raise InputError("explain needs texts, but the pairs were given as embeddings")
    rows, ends = first.first_rows, np.append(first.first_rows[1:], len(first.items))
    right = list(map(replace_surrogates, first.right.texts))
    columns: dict[str, Any] = {
        "index": first.left.source_rows[rows],
        "reference": ["\n".join(right[start:end]) for start, end in zip(rows, ends, strict=True)],
    }
    for name, pairs in systems.items():
        texts = pairs.left.texts
        columns[f"{TEXT}{name}"] = [replace_surrogates(texts[row]) for row in rows]
    for metric, found in scores.items():
        columns |= {f"{metric}.{name}": one.values for name, one in zip(systems, found, strict=True)}
    return pl.DataFrame(columns, nan_to_null=True)


def sort_items(texts: Mapping[str, Sequence[Any]]) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Return the systems of a table of items, a baseline first, and the columns of their values by metric and system.

    >>> sort_items({"index": [], "reference": [], "text.a": [], "rouge1.f.a": []})
    (['a'], {'rouge1.f': {'a': 'rouge1.f.a'}})
    """
    systems = [name.removeprefix(TEXT) for name in texts if name.startswith(TEXT)]
    systems.sort(key=lambda name: name != "baseline")
    metrics: dict[str, dict[str, str]] = {}
    for name in texts:
        system = max((one for one in systems if name.endswith(f".{one}")), key=len, default="")
        if system and not name.startswith(TEXT):
            metrics.setdefault(name.removesuffix(f".{system}"), {})[system] = name
    return systems, metrics


def rank_changes(texts: pl.DataFrame, metric: str, *, larger: bool) -> pl.DataFrame:
    """Return items of a candidate and a baseline with their `change` by a metric, above 0 for better, worst first."""
    import polars as pl

    change = (pl.col(f"{metric}.candidate") - pl.col(f"{metric}.baseline")) * (1 if larger else -1)
    named = ("index", "reference", "text.baseline", "text.candidate")
    return texts.select(change.alias("change"), *named).drop_nulls("change").sort("change", maintain_order=True)
