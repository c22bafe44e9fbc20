"""Compare metrics with each other: on rated pairs, and on resampled measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import get_pair_groups
from textgauge.bench.protocols.base import Measure
from textgauge.bench.results import Group
from textgauge.core.arrays import Floats, average_known
from textgauge.core.errors import InputError
from textgauge.core.show import Row, drop_nonfinite, drop_nonfinite_values
from textgauge.stats.annotators import correlate_with_others, krippendorff_alpha
from textgauge.stats.correlation import Correlation, estimate_correlation_interval, pearson, spearman
from textgauge.stats.decisions import is_different
from textgauge.stats.orders import kendall_b
from textgauge.stats.paired_tests import run_bootstrap_test, run_permutation_test, run_williams_test
from textgauge.stats.rankings import compute_gap_p, compute_student_interval
from textgauge.stats.resampling import adjust_by_holm, compute_percentile_interval

SHOWN = ("metric", "other", "measure", "value", "other_value", "difference", "low", "high", "p_holm", "ahead")
CORRELATIONS: dict[str, Correlation] = {"pearson": pearson, "spearman": spearman, "kendall": kendall_b}
_KENDALL_PAIRS = 2_000  # every resample counts all pairs of rows again: beyond this, a random part of the rows
_LEVEL = 0.95


def select_rated_groups(groups: Sequence[Group]) -> list[Group]:
    """Return the groups of rated pairs, one for each data set; metrics of which results are missing are left out."""
    found: dict[str, Group] = {}
    for group in groups:
        if group.protocol.rated:
            before = found.get(group.fingerprint)
            observed = {**(before.observed if before else {}), **group.complete}
            found[group.fingerprint] = replace(before or group, observed=observed)
    return list(found.values())


def get_pair_columns(group: Group) -> dict[str, NDArray[Any]]:
    """Return what is known about the pairs of a group: ratings, sets, items."""
    columns = {name: column for seen in group.observed.values() for name, column in seen.columns.items()}
    return {name: column for name, column in columns.items() if name != "reason" and "." not in name}


def contrast_correlations(groups: Sequence[Group], *, correlation: str = "spearman", seed: int = 0) -> list[Row]:
    """Return one row for every two metrics on the same rated pairs: difference of correlations, interval, three tests.

    Pairs that either metric leaves undefined are left out for both. `p_bootstrap` and `p_permutation` are of the named
    correlation, resampled by group or item where these are named; `p_williams` is of Pearson's r and takes pairs as
    independent. `p_value` is Student's, with the width of the bootstrap interval as error and as many degrees of
    freedom as pairs (or groups) less one, so that it can be as small as several tests need; `p_holm` is adjusted for
    all rows of the data set, and `ahead` is the better metric where it is at most 0.05.
    """
    if correlation not in CORRELATIONS:
        raise InputError(f"a correlation is one of {', '.join(CORRELATIONS)}, not {correlation!r}")
    rows = [
        row
        for group in select_rated_groups(groups)
        for row in _adjust_rows(list(_contrast_correlations(group, correlation, seed)))
    ]
    if not rows:
        raise InputError("tests need two metrics on the same rated pairs")
    return rows


def measure_ceilings(groups: Sequence[Group]) -> list[Row]:
    """Return how far raters agree, for each data set with several ratings of a pair: the most a metric can reach."""
    rated = select_rated_groups(groups)
    if not rated:
        raise InputError("there is no run of agreement: a ceiling is of rated pairs")
    rows = [drop_nonfinite_values(row) for group in rated for row in _measure_ceilings(group)]
    if not rows:
        raise InputError("a ceiling needs several ratings of each pair")
    return rows


def contrast_measures(groups: Iterable[Group]) -> list[Row]:
    """One row for every two metrics of a run and every measure that has draws: difference, and its 95 % interval.

    Draws are of the same resamples, so their differences are paired. `ahead` is the metric at the better end of the
    measure (for a rise, the sooner one) where `p_holm`, Student's p adjusted for all rows of the measure, is at most
    0.05. A metric without a value has a `reason`, and no difference; metrics of which results are missing are left out.
    """
    rows: list[Row] = []
    for group in groups:
        finished = {metric: of for metric, of in group.verdicts.items() if of and not group.missing.get(metric)}
        drawn = {verdict.measure for of in finished.values() for verdict in of.values() if verdict.draws}
        for measure in (measure for measure in group.protocol.measures if measure.name in drawn):
            own = [_contrast_measure(measure, group, *two) for two in combinations(finished, 2)]
            rows += _adjust_rows(own, larger=measure.best == "larger")
    if not rows:
        raise InputError(
            "no two metrics of this run can be tested against each other: that needs two finished ones on rated pairs, "
            "tasks or perturbation; the ranks and ties of a leaderboard rest on such tests already"
        )
    return rows


def _contrast_correlations(group: Group, correlation: str, seed: int) -> Iterator[Row]:
    of, columns = CORRELATIONS[correlation], get_pair_columns(group)
    gold, labels = columns.get("rating"), get_pair_groups(columns)
    near = {metric: -seen.value for metric, seen in group.observed.items()}
    for first, second in combinations(near, 2):
        known = np.isfinite(near[first]) & np.isfinite(near[second])
        rows = np.flatnonzero(known)
        if correlation == "kendall" and len(rows) > _KENDALL_PAIRS:
            rows = np.sort(np.random.default_rng([seed, 11]).permutation(rows)[:_KENDALL_PAIRS])
        if gold is None or len(rows) < 2:
            continue
        y, a, b = (np.asarray(column[rows], dtype=np.float64) for column in (gold, near[first], near[second]))
        cluster = None if labels is None else labels[rows]
        units = len(rows) if cluster is None else len(np.unique(cluster))
        boot = run_bootstrap_test(of, y, a, b, seed=seed, cluster=cluster)
        error = (boot.high - boot.low) / 2 / compute_student_interval(0.0, 1.0, units - 1.0, _LEVEL)[1]
        yield drop_nonfinite_values(
            {
                "data": group.data,
                "metric": first,
                "other": second,
                "measure": correlation,
                "value": of(y, a),
                "other_value": of(y, b),
                "difference": boot.difference,
                "low": boot.low,
                "high": boot.high,
                "p_value": _compute_student_p(boot.difference, error, units),
                "p_bootstrap": boot.p,
                "p_permutation": run_permutation_test(of, y, a, b, trials=500, seed=seed, cluster=cluster).p,
                "p_williams": run_williams_test(pearson(y, a), pearson(y, b), pearson(a, b), len(rows)).p,
                "n": len(rows),
            }
        )


def _compute_student_p(gap: float, error: float, units: int) -> float:
    return float(compute_gap_p(*(np.array([number]) for number in (gap, error, units - 1.0)))[0])


def _adjust_rows(rows: list[Row], *, larger: bool = True) -> list[Row]:
    """Return the rows with Holm's correction of their p-values, and the metric that is ahead by it."""
    adjusted = adjust_by_holm(np.array([float("nan") if row["p_value"] is None else row["p_value"] for row in rows]))
    for row, p in zip(rows, adjusted.tolist(), strict=True):
        first = (row["difference"] or 0.0) > 0
        row["p_holm"] = drop_nonfinite(p)
        row["ahead"] = (row["metric"] if first == larger else row["other"]) if is_different(p) else None
    return rows


def _measure_ceilings(group: Group) -> Iterator[Row]:
    columns = get_pair_columns(group)
    names = sorted(name for name in columns if name.startswith("rating_"))
    if len(names) < 2:
        return
    ratings = np.array([columns[name].astype(np.float64) for name in names])
    rated = np.isfinite(ratings)
    about = {"data": group.data, "raters": len(names), "n": int((rated.sum(axis=0) > 1).sum())}
    for scale in ("nominal", "ordinal", "interval"):
        yield {**about, "measure": f"krippendorff_alpha_{scale}", "value": krippendorff_alpha(ratings, scale=scale)}
    for name, of in CORRELATIONS.items():
        found = correlate_with_others(of, ratings)
        known = found[~np.isnan(found)]
        row = {**about, "measure": f"leave_one_out_{name}", "value": float(known.mean()) if len(known) else np.nan}
        if name != "kendall" and len(known):
            row |= dict(zip(("low", "high"), _estimate_rater_interval(of, ratings), strict=True))
        yield row


def _estimate_rater_interval(of: Correlation, ratings: Floats) -> tuple[float, float]:
    """Return the mean over raters of the interval's ends: the pairs are the same, so that their errors go together."""
    ends = []
    for rater, one in enumerate(ratings):
        others = average_known(np.delete(ratings, rater, axis=0), axis=0)
        here = np.isfinite(one) & np.isfinite(others)
        ends.append(estimate_correlation_interval(of, one[here], others[here]))
    low, high = np.mean(ends, axis=0).tolist()
    return low, high


def _contrast_measure(measure: Measure, group: Group, first: str, second: str) -> Row:
    a, b = (group.verdicts[metric][measure.name] for metric in (first, second))
    units = min(a.units, b.units)
    low = high = p = float("nan")
    if a.draws and b.draws and units > 1:
        gaps = np.subtract(a.draws, b.draws)
        low, high = compute_percentile_interval(gaps, units, _LEVEL)
        error = float(np.nanstd(gaps)) * (units / (units - 1)) ** 0.5
        p = _compute_student_p(a.value - b.value, error, units)
    reasons = [f"{metric}: {of.reason}" for metric, of in ((first, a), (second, b)) if of.reason]
    return drop_nonfinite_values(
        {
            "data": group.data,
            "protocol": group.protocol.key,
            "seed": group.seed,
            "metric": first,
            "other": second,
            "measure": measure.name,
            "value": a.value,
            "other_value": b.value,
            "difference": a.value - b.value,
            "low": low,
            "high": high,
            "p_value": p,
            "n": units,
            "reason": "; ".join(reasons) or None,
        }
    )
