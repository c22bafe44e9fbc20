"""Metrics against each other on rated pairs, and what raters themselves reach: tables from a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.errors import InputError
from textgauge.evaluate.protocols import Agreement
from textgauge.evaluate.protocols.base import Observations
from textgauge.evaluate.results import cells_by_metric, observations, protocol_of
from textgauge.evaluate.store import Store
from textgauge.stats.annotators import krippendorff_alpha, leave_one_out
from textgauge.stats.correlation import Correlation, pearson, spearman
from textgauge.stats.kendall import kendall_b
from textgauge.stats.paired_tests import bootstrap_test, permutation_test, williams_test
from textgauge.stats.resampled_correlation import correlation_interval
from textgauge.tabular import plain_row

Floats = NDArray[np.float64]
Row = dict[str, Any]

CORRELATIONS: dict[str, Correlation] = {"pearson": pearson, "spearman": spearman, "kendall": kendall_b}
_KENDALL_PAIRS = 2_000  # every resample counts all pairs of rows anew: beyond this, a random part of the rows


@dataclass(frozen=True, eq=False)
class RatedRun:
    """What all metrics gave on the same rated pairs: `near` (larger is nearer), ratings and groups, row by row."""

    data: str
    near: dict[str, Floats] = field(default_factory=dict)
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)


def rated_runs(store: Store) -> list[RatedRun]:
    """The runs of a store on rated pairs, one for each data set; metrics whose cells are not all there are left out."""
    found: dict[str, RatedRun] = {}
    for manifest in store.manifests():
        if not isinstance(protocol_of(manifest["protocol"], {}), Agreement):
            continue
        data = manifest["data"]
        run = found.setdefault(data["fingerprint"], RatedRun(data["name"]))
        for metric, cells in cells_by_metric(manifest["cells"]).items():
            observed, missing = observations(store, cells)
            if not missing:
                run.near[metric] = -observed.value
                run.columns.update(_known(observed))
    return list(found.values())


def _known(observed: Observations) -> dict[str, NDArray[Any]]:
    return {name: column for name, column in observed.columns.items() if name != "reason" and "." not in name}


def contrast_rows(store: Store, *, correlation: str = "spearman", seed: int = 0) -> list[Row]:
    """One row for every two metrics on the same data: difference of correlations, interval, three tests.

    Pairs that either metric leaves undefined are left out for both. `p_bootstrap` and `p_permutation` are of the named
    correlation, resampled by item where there are items; `p_williams` is of Pearson's r.
    """
    if correlation not in CORRELATIONS:
        raise InputError(f"a correlation is one of {', '.join(CORRELATIONS)}, not {correlation!r}")
    rows = [row for run in _runs(store) for row in _contrasts(run, correlation, seed)]
    if not rows:
        raise InputError("tests need two metrics on the same rated pairs")
    return rows


def ceiling_rows(store: Store) -> list[Row]:
    """How far raters agree, for each data set with several ratings of a pair: the most a metric can be asked for."""
    rows = [plain_row(row) for run in _runs(store) for row in _ceilings(run)]
    if not rows:
        raise InputError("a ceiling needs several ratings of each pair: repeat --rating")
    return rows


def _runs(store: Store) -> list[RatedRun]:
    runs = rated_runs(store)
    if not runs:
        raise InputError(f"{store.folder} holds no run of agreement")
    return runs


def _contrasts(run: RatedRun, correlation: str, seed: int) -> Iterator[Row]:
    of, gold, item = CORRELATIONS[correlation], run.columns.get("rating"), run.columns.get("item")
    for first, second in combinations(run.near, 2):
        known = np.isfinite(run.near[first]) & np.isfinite(run.near[second])
        rows = _fewer(np.flatnonzero(known), correlation, seed)
        if gold is None or len(rows) < 2:
            continue
        y, a, b = (np.asarray(column[rows], dtype=np.float64) for column in (gold, run.near[first], run.near[second]))
        boot = bootstrap_test(of, y, a, b, seed=seed, cluster=None if item is None else item[rows])
        yield plain_row(
            {
                "data": run.data,
                "metric": first,
                "other": second,
                "measure": correlation,
                "value": of(y, a),
                "other_value": of(y, b),
                "difference": boot.difference,
                "low": boot.low,
                "high": boot.high,
                "p_bootstrap": boot.p,
                "p_permutation": permutation_test(of, y, a, b, trials=500, seed=seed).p,
                "p_williams": williams_test(pearson(y, a), pearson(y, b), pearson(a, b), len(rows)).p,
                "n": len(rows),
            }
        )


def _fewer(rows: NDArray[np.intp], correlation: str, seed: int) -> NDArray[np.intp]:
    if correlation != "kendall" or len(rows) <= _KENDALL_PAIRS:
        return rows
    return np.sort(np.random.default_rng([seed, 11]).permutation(rows)[:_KENDALL_PAIRS])


def _ceilings(run: RatedRun) -> Iterator[Row]:
    names = sorted(name for name in run.columns if name.startswith("rating_"))
    if len(names) < 2:
        return
    ratings = np.array([run.columns[name].astype(np.float64) for name in names])
    rated = np.isfinite(ratings)
    about = {"data": run.data, "raters": len(names), "n": int((rated.sum(axis=0) > 1).sum())}
    for scale in ("nominal", "ordinal", "interval"):
        yield {**about, "measure": f"krippendorff_alpha_{scale}", "value": krippendorff_alpha(ratings, scale=scale)}
    for name, of in CORRELATIONS.items():
        found = leave_one_out(of, ratings)
        known = found[~np.isnan(found)]
        row = {**about, "measure": f"leave_one_out_{name}", "value": float(known.mean()) if len(known) else np.nan}
        if name != "kendall" and len(known):
            row |= dict(zip(("low", "high"), _interval(of, ratings), strict=True))
        yield row


def _interval(of: Correlation, ratings: Floats) -> tuple[float, float]:
    """The mean over raters of the interval's ends: the pairs are the same, so that their errors go together."""
    rated = np.isfinite(ratings)
    ends = []
    for rater, one in enumerate(ratings):
        others = np.delete(np.where(rated, ratings, np.nan), rater, axis=0)
        count = np.isfinite(others).sum(axis=0)
        here = rated[rater] & (count > 0)
        mean = np.where(np.isfinite(others), others, 0.0).sum(axis=0)[here] / count[here]
        ends.append(correlation_interval(of, one[here], mean))
    low, high = np.mean(ends, axis=0).tolist()
    return low, high


def set_means(near: Floats, sets: NDArray[Any], labels: list[str]) -> Floats:
    """The mean of each set over the pairs that have a value; NaN where none has."""
    return np.array([_mean_of(near[(sets == label) & np.isfinite(near)], np.mean) for label in labels])


def set_deviations(near: Floats, sets: NDArray[Any], labels: list[str]) -> Floats:
    """The standard deviation of each set over the pairs that have a value."""
    return np.array([_mean_of(near[(sets == label) & np.isfinite(near)], np.std) for label in labels])


def _mean_of(values: Floats, of: Callable[[Floats], Any]) -> float:
    return float(of(values)) if len(values) else float("nan")
