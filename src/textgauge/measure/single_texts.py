"""Single texts behind a result: what `explain` keeps, `--atlas` writes and the page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textgauge.core.arrays import Embeddings, Floats
from textgauge.core.errors import InputError, TextgaugeError
from textgauge.core.progress import begin_step
from textgauge.data import Comparison, Corpus, Pairs
from textgauge.encode.tokenizers import replace_surrogates
from textgauge.measure.compare_report import CompareReport, find_separating_terms
from textgauge.measure.dependence import read_side_labels
from textgauge.metrics import CorpusMetric, PairScores

if TYPE_CHECKING:
    import polars as pl

    from textgauge.measure.candidates import Pairing
    from textgauge.measure.comparing import Asked

ADDS, TEXT = "contribution.", "text."  # before the name of a metric, and of a system


def explain_pairings(
    report: CompareReport, pairings: Sequence[Pairing], whole: Comparison, metrics: Sequence[CorpusMetric], asked: Asked
) -> CompareReport:
    """Return a report with what every text adds to its numbers, of one candidate, each of several, or each slice.

    Its `texts` have one row per text of what was compared, those that contribute most to the first metric first:
    `source`, `index` and `text`; of several candidates and of slices, `candidate` and `slice` say whose distance it is,
    so that a text of the reference has a row for each; the `nearest` text of the other corpus with its `distance`; what
    the text adds to each metric, `contribution.METRIC`; its `label` and `group` where the sources have such columns;
    the longest `passage` that the other corpus has too; and its place in the plane of all corpora, `x` and `y`.
    """
    import polars as pl

    from textgauge.measure.explaining import Explanation, explain_score
    from textgauge.measure.lists import cut_longest_passages
    from textgauge.metrics.properties.repeats import find_copied_passages

    explaining = {metric.key: metric for metric in metrics if metric.explains}
    embedder = next((metric.embedder for metric in metrics if not metric.reads_texts), None)
    plane = None if embedder is None else find_plane(whole.joint.embeddings(embedder), len(whole.reference))
    several = len({pairing.candidate for pairing in pairings}) > 1
    group = asked.given.get("group")
    labelled = {"label": "label", **({"group": group} if isinstance(group, str) else {})}
    every, frames = dict[Any, Explanation](), []
    for number, pairing in enumerate(pairings):
        begin_step("explaining", number, len(pairings))
        comparison, candidate = pairing.comparison, pairing.candidate or "candidate"
        terms = find_separating_terms(comparison) if report.candidates else report.terms
        columns: dict[str, Any] = {}
        for score in pairing.scores:
            if score.reason is not None or score.metric not in explaining:
                continue
            one = explain_score(explaining[score.metric], comparison, score, terms)
            named = {**pairing.slice, "metric": one.metric, "candidate": candidate}
            every[tuple(named[key] for key in report.keys) if report.candidates else one.metric] = one
            if not columns:
                columns["source"] = one.texts["side"].replace("candidate", candidate)
                columns |= {"slice": [pairing.slice["slice"]] * len(one.texts)} if pairing.slice else {}
                columns |= {"candidate": [candidate] * len(one.texts)} if several else {}
                columns |= {name: one.texts[name] for name in ("index", "text", "nearest", "nearest_index", "distance")}
            columns[f"{ADDS}{one.metric}"] = one.texts["contribution"]
        if not columns:
            continue
        if comparison.joint.pool.has_texts:
            own = list(zip((asked.sources["reference"], asked.sources[candidate]), comparison.sides, strict=True))
            for name, of in labelled.items() if not pairing.slice else ():
                labels = [_look_up(source, of, asked.column, side) for source, side in own]
                if any(labels):
                    columns[name] = [label for side in labels for label in side]
            sides = (comparison.sides, comparison.sides[::-1])
            columns["passage"] = [
                cut for pair in sides for cut in cut_longest_passages(pair[0], find_copied_passages(*pair))
            ]
        if embedder is not None and plane is not None:
            columns["x"], columns["y"] = ((comparison.joint.embeddings(embedder) - plane[0]) @ plane[1]).T
        frames.append(pl.DataFrame(columns, strict=False, infer_schema_length=None))
    if not frames:
        return replace(report, is_explained=True)
    frame = pl.concat(frames, how="diagonal_relaxed")
    strength = pl.col(next(name for name in frame.columns if name.startswith(ADDS))).abs()
    texts = frame.sort(strength, descending=True, nulls_last=True, maintain_order=True)
    return replace(report, explanations=every, texts=texts, is_explained=True)


def find_plane(vectors: Embeddings, reference: int) -> tuple[Floats, Floats]:
    """Return the mean of rows and two axes, their principal components, with rows after the first `reference` above.

    >>> mean, axes = find_plane(np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]]), 2)
    >>> mean.tolist(), axes.round(2).tolist()
    ([2.0, 0.5], [[1.0, 0.0], [0.0, 1.0]])
    """
    mean = np.asarray(np.mean(vectors, axis=0, dtype=np.float64))
    centred = np.asarray(vectors, dtype=np.float64) - mean
    axes = np.linalg.eigh(centred.T @ centred)[1][:, :-3:-1]
    if axes.shape[1] < 2:
        axes = np.column_stack([axes, np.zeros(len(axes))])
    places = centred @ axes
    sides = places[reference:].mean(axis=0) - places[:reference].mean(axis=0)
    ends = np.where(np.abs(sides) > 1e-9 * np.abs(places).max(initial=1.0), sides, places[-1])
    return mean, np.asarray(axes * np.where(ends < 0, -1.0, 1.0))


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
