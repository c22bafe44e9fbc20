"""Kour et al. 2022, table 3: each published number next to ours, and why they differ where that is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from textgauge.bench import Group, Results, Verdicts
from textgauge.core import Row, drop_nonfinite_values
from textgauge.metrics import get_corpus_metrics, get_metric
from textgauge.stats import spearman
from textgauge_papers.paper import Request, load_published, make_row

KOUR_METRICS = "chi,zipf,fid,pr,dc,mauve,classifier,irpr"
# The same eight as the authors' code has them.
KOUR_PAPER_METRICS = (
    "chi(df=paper,padding=source),zipf(ranks=paper,padding=source),fid,pr(ties=open),dc(ties=open),mauve,"
    "classifier(score=f1),irpr(compat=compcor)@angular"
)
UNPADDED = "chi(df=paper)"  # to tell what padding does
OUR_DATA = {("clinc150", "banking77"): "clinc150,banking77", ("atis", "yahoo"): "atis,nfcats"}
_OUR_MEASURE = {"time_100ops": "throughput"}
VARIANT_METRICS = {"definition": KOUR_METRICS, "paper": KOUR_PAPER_METRICS}
# How the authors' code judges: repeated judgements, ties wrong, r for R², imbalance not divided.
_PAPER = {"judgements": "paper", "ties": "wrong", "linearity": "r", "scale": "paper"}

# Why a number may differ: the reason, and the rows it is about.
_REASONS: tuple[tuple[str, dict[str, tuple[str, ...]]], ...] = (
    ("other questions in place of Yahoo's", {"source_b": ("yahoo",)}),
    ("another machine and other code", {"measure": ("time_100ops",)}),
    (
        "the paper's code lists judgements more than once and counts ties as wrong",
        {"variant": ("definition",), "measure": ("accuracy", "weighted_accuracy")},
    ),
    ("the paper prints r, not R²", {"variant": ("definition",), "measure": ("linearity",)}),
    (
        "the paper's code does not divide by the distance of large samples",
        {"variant": ("definition",), "measure": ("imbalance_robustness",)},
    ),
    (
        "the paper's code divides each sum by the other corpus's size",
        {"variant": ("definition",), "metric": ("IRPR",), "measure": ("imbalance_robustness",)},
    ),
    ("the paper's code counts padding", {"variant": ("definition",), "metric": ("CHI", "ZIPF")}),
)


def rows(results: Results, request: Request) -> list[Row]:
    """Return each published number next to ours, with the `reason` of their difference where one is known.

    `rank_correlation` is Spearman's between the published and our order of the metrics for that measure and data.
    """
    return [row for variant in request.variants for row in _rows(results, variant)]


def judge_as(results: Results, variant: str, metrics: str) -> Iterator[tuple[Group, str, Verdicts]]:
    """Yield verdicts on metrics, judged as a variant does, with the group and the metric that they are of."""
    keys = {metric.key for metric in get_corpus_metrics(metrics)}
    for group in results.groups(_PAPER if variant == "paper" else {}):
        if getattr(group.protocol, "order", variant) == variant:
            yield from ((group, metric, of) for metric, of in group.verdicts.items() if metric in keys)


def _rows(results: Results, variant: str) -> list[Row]:
    ours = _ours(judge_as(results, variant, VARIANT_METRICS[variant]))
    found = []
    for row in load_published("kour2022_table3").iter_rows(named=True):
        key = (row["source_a"], row["source_b"], row["k"], row["metric"], row["measure"])
        about = {name: row[name] for name in ("source_a", "source_b", "k", "metric", "measure")}
        mine = ours.get(key, float("nan"))
        found_row = make_row("3", {"variant": variant, **about}, row["value"], mine, "our data")
        found.append(found_row | {"reason": _reason(found_row)})
    return _with_rank_correlation(found)


def _reason(row: Row) -> str | None:
    """Return what is known to make the two numbers differ."""
    known = [said for said, about in _REASONS if all(row[name] in values for name, values in about.items())]
    return "; ".join(known) or None


def _ours(judged: Iterable[tuple[Group, str, Verdicts]]) -> dict[tuple[Any, ...], float]:
    found: dict[tuple[Any, ...], float] = {}
    theirs = {ours: name for name, ours in OUR_DATA.items()}
    measures = {ours: name for name, ours in _OUR_MEASURE.items()}
    for group, metric, verdicts in judged:
        if group.data not in theirs:
            continue
        k = getattr(group.protocol, "k", None)
        for verdict in verdicts.values():
            measure = measures.get(verdict.measure, verdict.measure)
            # Time does not depend on k; the paper prints it for both.
            for place in (7, 12) if measure == "time_100ops" else (k,):
                found[*theirs[group.data], place, get_metric(metric).name.upper(), measure] = verdict.value
    return found


def _with_rank_correlation(rows: list[Row]) -> list[Row]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["source_a"], row["source_b"], row["k"], row["measure"]), []).append(row)
    for members in groups.values():
        pairs = np.array([(row["published"], row["ours"]) for row in members if not np.isnan(row["ours"])])
        agreed = spearman(pairs[:, 0], pairs[:, 1]) if len(pairs) > 2 else float("nan")
        for row in members:
            row["rank_correlation"] = agreed
    return [drop_nonfinite_values(row) for row in rows]
