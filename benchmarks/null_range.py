"""Is the null range right at the actual sizes, and does `compare` call equal sources different too often?

    python -m benchmarks.null_range ranges [--simulations 200] [--sizes 200/200,1000/30,50/3000] [metric ...]
    python -m benchmarks.null_range family [--simulations 500] [--sizes 60/60,200/50] [--texts sample:banking,...]
    python -m benchmarks.null_range foreign [--simulations 100] [--sizes 120/120] [metric ...]

`ranges`: both corpora from the synthetic texts of `benchmarks.coverage`, 39 exchanges of texts, whose smallest and
largest value are the ends of a 95 % range; all metrics see the same samples. `family`: the default metrics of
`compare`, fid and ahd on random samples of real texts, 199 exchanges; how often any metric is called different.
`foreign`: candidates of banking texts with a known share of travel texts; how often the interval of the share holds it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.coverage import SYNTHETIC, population
from textgauge import compare, get_metric, list_metrics
from textgauge.arrays import Floats
from textgauge.comparing import DEFAULT_METRICS
from textgauge.comparing.foreign_share import ForeignShare, foreign_share
from textgauge.data import Comparison, Corpus, load_corpus, sample
from textgauge.metrics import CorpusMetric
from textgauge.stats.decisions import different
from textgauge.testing import without_models

SIZES = ((200, 200), (1_000, 30), (50, 3_000))
PERMUTATIONS = 39
FAMILY_PERMUTATIONS = 199
FAMILY_METRICS = f"{DEFAULT_METRICS},fid,ahd"


@dataclass(frozen=True)
class RangeCheck:
    """How values of equal sources lie to their null: ratio of means, mean effect, and the share inside the range.

    Texts of equal sources can be exchanged, so that the ratio is 1 but for chance; `error` is its standard error.
    """

    simulations: int
    ratio: float
    error: float
    effect: float
    inside: float


def check_ranges(names: Sequence[str], sizes: tuple[int, int], *, simulations: int, seed: int = 0) -> list[RangeCheck]:
    """Value over null mean, effect and coverage of the null range, for equal sources at these sizes."""
    pool = population(SYNTHETIC).pool
    metrics = [without_models(get_metric(name)) for name in names]
    rng = np.random.default_rng([7, *sizes, seed])
    found = []
    for number in range(simulations):
        rows = rng.choice(pool.size, sum(sizes), replace=False)
        comparison = Comparison(*(Corpus(pool, part) for part in np.split(rows, sizes[:1])))
        nulls = [metric.null_values(comparison, permutations=PERMUTATIONS, seed=number) for metric in metrics]
        found.append([(null.observed, null.mean, null.effect, *null.range) for null in nulls])
    return [_check(np.array(column)) for column in np.swapaxes(found, 0, 1)]


def _check(column: Floats) -> RangeCheck:
    value, mean, effect, low, high = column.T
    inside = float(((low <= value) & (value <= high)).mean())
    ratio = float(value.mean() / mean.mean())
    error = float(np.std(value - ratio * mean) / np.sqrt(len(value)) / abs(mean.mean()))
    return RangeCheck(len(value), ratio, error, float(np.nan_to_num(effect).mean()), inside)


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
        yield any(different(score.p_adjusted) for score in report), any(different(score.p_value) for score in report)


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
        found.append(foreign_share(metric, comparison, both.take(others[n : 2 * n]), seed=seed))
    return found


def print_shares(names: list[str], n: int, simulations: int) -> None:
    """A Markdown row per metric and share: mean and deviation of the estimate, coverage and width of the interval."""
    print(
        "| metric | n | true share | found | covered | mean width | runs |\n|---|---|---|---|---|---|---|", flush=True
    )
    for name in names:
        for share in (0.0, 0.05, 0.2, 0.5):
            runs = shares_found(get_metric(name), share, n=n, simulations=simulations)
            estimate = np.array([run.share for run in runs])
            covered = np.mean([run.low <= share <= run.high for run in runs])
            width = np.mean([run.high - run.low for run in runs])
            print(
                f"| {name} | {n} | {share} | {estimate.mean():.3f} ± {estimate.std():.3f} "
                f"| {covered:.2f} | {width:.3f} | {simulations} |",
                flush=True,
            )


def print_ranges(names: list[str], sizes: list[tuple[int, int]], simulations: int) -> None:
    """A Markdown row per metric: value over null mean, and coverage of the null range, at every size."""
    checks = [check_ranges(names, pair, simulations=simulations) for pair in sizes]
    heads = [f"{n:,}/{m:,}: {what}" for n, m in sizes for what in ("value ÷ null", "inside")]
    print(f"| metric | {' | '.join(heads)} | runs |\n|---{'|---' * len(heads)}|---|")
    for name, *row in zip(names, *checks, strict=True):
        signed = get_metric(name).bounds[0] < 0
        cells = [cell for check in row for cell in _cells(check, signed=signed)]
        print(f"| {name} | {' | '.join(cells)} | {simulations} |")


def _cells(check: RangeCheck, *, signed: bool) -> tuple[str, str]:
    ratio = f"effect {check.effect:.2f}" if signed else f"{check.ratio:.2f} ± {check.error:.2f}"
    return ratio, f"{check.inside:.3f}"


def print_family(specs: list[str], sizes: list[tuple[int, int]], simulations: int) -> None:
    """A Markdown row per texts and sizes: how often any metric is called different."""
    print("| texts | sizes | adjusted | raw | runs |\n|---|---|---|---|---|", flush=True)
    for spec, (n, m) in product(specs, sizes):
        adjusted, raw = family_error(load_corpus(spec, role="texts"), sizes=(n, m), simulations=simulations)
        print(f"| {spec} | {n}/{m} | {adjusted:.3f} | {raw:.3f} | {simulations} |", flush=True)


def main() -> None:
    """Print the tables of docs/reliability.md."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("ranges", "family", "foreign"))
    options.add_argument("metrics", nargs="*")
    options.add_argument("--simulations", type=int, default=200)
    options.add_argument("--sizes")
    options.add_argument("--texts", default="sample:banking,sample:travel")
    chosen = options.parse_intermixed_args()
    sizes = chosen.sizes or {"ranges": "200/200,1000/30,50/3000", "family": "60/60,200/50"}.get(chosen.what, "120/120")
    pairs = [(int(n), int(m)) for n, m in (pair.split("/") for pair in sizes.split(","))]
    if chosen.what == "ranges":
        corpora = [metric.name for metric in list_metrics() if metric.scope == "corpus"]
        print_ranges(chosen.metrics or corpora, pairs, chosen.simulations)
    elif chosen.what == "family":
        print_family(chosen.texts.split(","), pairs, chosen.simulations)
    else:
        print_shares(chosen.metrics or ["energy", "mmd", "jsd"], pairs[0][0], chosen.simulations)


if __name__ == "__main__":
    main()
