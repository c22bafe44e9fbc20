"""Is the null range right at the actual sizes, and does `compare` call equal sources different too often?

    python -m benchmarks.null_range ranges [--simulations 200] [--sizes 200/200,1000/30,50/3000] [metric ...]
    python -m benchmarks.null_range family [--simulations 500] [--sizes 60/60,200/50] [--texts sample:banking,...]
    python -m benchmarks.null_range foreign [--simulations 100] [--sizes 120/120] [metric ...]

`ranges`: both corpora from the synthetic texts of `benchmarks.coverage`; all metrics see the same samples. Texts are
exchanged 39 times (`--exchanges`), so that the smallest and largest value are the ends of a 95 % range. `family`: the
metrics of `compare -m all`, fid and ahd on random samples of real texts, 199 exchanges; how often any metric is called
different. `foreign`: candidates of banking texts with a known share of travel texts; how often the interval of the
share holds it.

Each adds lines of JSON to a file of benchmarks/simulated (null_range, family, foreign), or to that of `--file`;
`python -m benchmarks.reliability` makes the tables. Null ranges simulated with several `--seed` are taken together.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import simulated
from benchmarks.coverage import SYNTHETIC, population
from textgauge import compare, get_metric, list_metrics
from textgauge.core.arrays import Floats
from textgauge.data import Comparison, Corpus, load_corpus, sample
from textgauge.measure.comparing import ALL_METRICS
from textgauge.measure.foreign_share import ForeignShare, estimate_share
from textgauge.metrics import CorpusMetric
from textgauge.stats.decisions import is_different
from textgauge.testing import drop_models

SIZES = ((200, 200), (1_000, 30), (50, 3_000))
PERMUTATIONS = 39
FAMILY_PERMUTATIONS = 199
FAMILY_METRICS = f"{ALL_METRICS},fid,ahd"


@dataclass(frozen=True)
class RangeCheck:
    """How values of equal sources lie to their null: ratio of means, mean effect, and the share inside the range.

    Texts of equal sources can be exchanged, so that the ratio is 1 and the effect 0 but for chance, of which
    `ratio_error` and `effect_error` are the standard errors.
    """

    metric: str
    n: int
    m: int
    runs: int
    exchanges: int
    seed: int
    ratio: float
    ratio_error: float
    effect: float
    effect_error: float
    inside: float


def check_ranges(
    names: Sequence[str], sizes: tuple[int, int], *, simulations: int, exchanges: int = PERMUTATIONS, seed: int = 0
) -> list[RangeCheck]:
    """Value over null mean, effect and coverage of the null range, for equal sources at these sizes."""
    pool = population(SYNTHETIC).pool
    metrics = [drop_models(get_metric(name)) for name in names]
    rng = np.random.default_rng([7, *sizes, seed])
    found = []
    for number in range(simulations):
        rows = rng.choice(pool.size, sum(sizes), replace=False)
        comparison = Comparison(*(Corpus(pool, part) for part in np.split(rows, sizes[:1])))
        nulls = [metric.null_values(comparison, permutations=exchanges, seed=number) for metric in metrics]
        found.append([(null.observed, null.mean, null.effect, *null.range) for null in nulls])
    columns = zip(names, np.swapaxes(np.array(found), 0, 1), strict=True)
    return [_check((name, *sizes, simulations, exchanges, seed), column) for name, column in columns]


def _check(place: tuple[str, int, int, int, int, int], column: Floats) -> RangeCheck:
    value, mean, effect, low, high = column.T
    inside, effect = float(((low <= value) & (value <= high)).mean()), np.nan_to_num(effect)
    ratio, root = float(value.mean() / mean.mean()), np.sqrt(len(value))
    ratio_error = float(np.std(value - ratio * mean) / root / abs(mean.mean()))
    return RangeCheck(*place, ratio, ratio_error, float(effect.mean()), float(effect.std() / root), inside)


def pooled(checks: Iterable[RangeCheck]) -> dict[tuple[str, int, int], RangeCheck]:
    """Simulations of the same metric and sizes as one."""
    found: dict[tuple[str, int, int], list[RangeCheck]] = defaultdict(list)
    for check in checks:
        found[check.metric, check.n, check.m].append(check)
    return {place: _pooled(some) for place, some in found.items()}


def _pooled(checks: Sequence[RangeCheck]) -> RangeCheck:
    if len(checks) == 1:
        return checks[0]
    runs = np.array([check.runs for check in checks])
    shares = runs / runs.sum()
    means = {name: float(shares @ [getattr(check, name) for check in checks]) for name in ("ratio", "effect", "inside")}
    errors = {
        name: float(np.linalg.norm(shares * [getattr(check, name) for check in checks]))
        for name in ("ratio_error", "effect_error")
    }
    return replace(checks[0], runs=int(runs.sum()), **means, **errors)


def range_table(checks: Iterable[RangeCheck]) -> str:
    """Markdown: a row per metric, value over null mean, coverage of the null range and runs at every pair of sizes."""
    found = pooled(checks)
    heads = [f"{n:,}/{m:,}: {what}" for n, m in SIZES for what in ("value ÷ null", "inside", "runs")]
    lines = [["metric", *heads], ["---"] * (1 + len(heads))]
    for name in sorted({metric for metric, _, _ in found}):
        signed = get_metric(name).bounds[0] < 0
        cells = [_cells(found.get((name, *sizes)), signed=signed) for sizes in SIZES]
        lines.append([name, *(part for cell in cells for part in cell)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(check: RangeCheck | None, *, signed: bool) -> tuple[str, str, str]:
    if check is None:
        return "", "", ""
    what = "effect " if signed else ""
    number, error = (check.effect, check.effect_error) if signed else (check.ratio, check.ratio_error)
    return f"{what}{number:.2f} ± {error:.2f}", f"{check.inside:.3f}", str(check.runs)


def family(texts: Corpus, *, metrics: str, sizes: tuple[int, int], simulations: int) -> Iterator[tuple[bool, bool]]:
    """For random samples of these texts: whether any metric rejects by adjusted and by raw p-values."""
    for seed in range(simulations):
        drawn = np.random.default_rng([seed, 11]).permutation(len(texts))[: sum(sizes)]
        report = compare(
            reference=texts.take(drawn[: sizes[0]]),
            candidate=texts.take(drawn[sizes[0] :]),
            metrics=metrics,
            test=True,
            permutations=FAMILY_PERMUTATIONS,
            seed=seed,
        )
        yield (
            any(is_different(score.p_adjusted) for score in report),
            any(is_different(score.p_value) for score in report),
        )


def family_error(texts: Corpus, *, metrics: str = FAMILY_METRICS, sizes: tuple[int, int], simulations: int) -> Floats:
    """Share of simulations with any false rejection, by adjusted and by raw p-values."""
    found = list(family(texts, metrics=metrics, sizes=sizes, simulations=simulations))
    return np.array(found, dtype=np.float64).mean(axis=0)


def shares_found(metric: CorpusMetric, share: float, *, n: int, simulations: int) -> list[ForeignShare]:
    """Estimates for candidates in which every text is a travel text with this chance, else a banking text."""
    both = Corpus.of([*sample("banking").texts, *sample("travel").texts])
    size, found = len(both) // 2, []
    for seed in range(simulations):
        rng = np.random.default_rng([seed, 5])
        own, others = rng.permutation(size), size + rng.permutation(size)
        count = int(rng.binomial(n, share))
        candidate = np.concatenate([own[n : 2 * n - count], others[:count]])
        comparison = Comparison(both.take(own[:n]), both.take(candidate))
        found.append(estimate_share(metric, comparison, both.take(others[n : 2 * n]), seed=seed))
    return found


def share_cells(names: Sequence[str], n: int, simulations: int) -> Iterator[dict[str, Any]]:
    """For each metric and share: mean and deviation of the estimate, coverage and width of the interval."""
    for name, share in product(names, (0.0, 0.05, 0.2, 0.5)):
        runs = shares_found(get_metric(name), share, n=n, simulations=simulations)
        estimate = np.array([run.share for run in runs])
        yield {
            "metric": name,
            "n": n,
            "share": share,
            "found": float(estimate.mean()),
            "deviation": float(estimate.std()),
            "covered": float(np.mean([run.low <= share <= run.high for run in runs])),
            "width": float(np.mean([run.high - run.low for run in runs])),
            "runs": simulations,
        }


def share_table(cells: Iterable[Mapping[str, Any]]) -> str:
    """Markdown: a row per metric and share."""
    head = "| metric | n | true share | found | covered | mean width | runs |\n|---|---|---|---|---|---|---|"
    row = "| {metric} | {n} | {share} | {found:.3f} ± {deviation:.3f} | {covered:.2f} | {width:.3f} | {runs} |"
    return "\n".join([head, *(row.format(**cell) for cell in cells)])


def family_cells(specs: Sequence[str], sizes: Sequence[tuple[int, int]], simulations: int) -> Iterator[dict[str, Any]]:
    """For each source of texts and pair of sizes: how often any metric is called different."""
    for spec, (n, m) in product(specs, sizes):
        adjusted, raw = family_error(load_corpus(spec, role="texts"), sizes=(n, m), simulations=simulations)
        yield {"texts": spec, "n": n, "m": m, "adjusted": float(adjusted), "raw": float(raw), "runs": simulations}


def family_table(cells: Iterable[Mapping[str, Any]]) -> str:
    """Markdown: a row per texts and sizes."""
    head = "| texts | sizes | adjusted | raw | runs |\n|---|---|---|---|---|"
    row = "| {texts} | {n}/{m} | {adjusted:.3f} | {raw:.3f} | {runs} |"
    return "\n".join([head, *(row.format(**cell) for cell in cells)])


def main() -> None:
    """Simulate."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("ranges", "family", "foreign"))
    options.add_argument("metrics", nargs="*")
    options.add_argument("--simulations", type=int, default=200)
    options.add_argument("--sizes")
    options.add_argument("--texts", default="sample:banking,sample:travel")
    options.add_argument("--exchanges", type=int, default=PERMUTATIONS)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--file", type=Path)
    chosen = options.parse_intermixed_args()
    file = chosen.file or simulated.file_of({"ranges": "null_range"}.get(chosen.what, chosen.what))
    sizes = chosen.sizes or {"ranges": "200/200,1000/30,50/3000", "family": "60/60,200/50"}.get(chosen.what, "120/120")
    pairs = [(int(n), int(m)) for n, m in (pair.split("/") for pair in sizes.split(","))]
    if chosen.what == "ranges":
        names = chosen.metrics or [metric.name for metric in list_metrics() if metric.scope == "corpus"]
        how = {"simulations": chosen.simulations, "exchanges": chosen.exchanges, "seed": chosen.seed}
        for pair in pairs:
            simulated.add(file, map(asdict, check_ranges(names, pair, **how)))
    elif chosen.what == "family":
        simulated.add(file, family_cells(chosen.texts.split(","), pairs, chosen.simulations))
    else:
        simulated.add(file, share_cells(chosen.metrics or ["energy"], pairs[0][0], chosen.simulations))


if __name__ == "__main__":
    main()
