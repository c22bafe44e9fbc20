"""Is the null range right at the actual sizes, and does `compare` call equal sources different too often?

    python -m benchmarks.null_range ranges [--simulations 500] [--seconds 10] [metric ...]
    python -m benchmarks.null_range family [--simulations 500] [--n 60]
    python -m benchmarks.null_range foreign [--simulations 100] [--n 200] [metric ...]

`ranges`: both corpora from one population of `benchmarks.calibration`, at several sizes; 39 exchanges of texts, whose
smallest and largest value are the ends of a 95 % range. A cell takes at most about `seconds` of CPU, so that slow
metrics are simulated less often. `family`: the default metrics of `compare` on random halves of built-in texts, 199
exchanges; how often any metric is called different. `foreign`: candidates of banking texts with a known share of
travel texts; how often the interval of the share of foreign texts holds it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.calibration import Floats, corpus
from textgauge import compare, get_metric, list_metrics
from textgauge.comparing import DEFAULT_METRICS
from textgauge.comparing.foreign_share import ForeignShare, foreign_share
from textgauge.data import Comparison, Corpus, sample
from textgauge.metrics import CorpusMetric
from textgauge.stats.decisions import different
from textgauge.testing import without_models

SIZES = ((200, 200), (1_000, 30), (50, 3_000))
PERMUTATIONS = 39
FAMILY_PERMUTATIONS = 199


@dataclass(frozen=True)
class RangeCheck:
    """How values of equal sources lie to their null: mean ratio (or mean effect), and the share inside the range."""

    simulations: int
    ratio: float
    effect: float
    inside: float


def check_range(metric: CorpusMetric, sizes: tuple[int, int], *, simulations: int, seconds: float) -> RangeCheck:
    """Value over null mean, effect and coverage of the null range, for equal sources at these sizes."""
    rng, started = np.random.default_rng(7), time.process_time()
    found: list[tuple[float, float, bool]] = []
    while len(found) < simulations and (len(found) < 5 or time.process_time() - started < seconds):
        sides = (corpus(metric, 0, 0.0, size, rng) for size in sizes)
        null = metric.null_values(Comparison(*sides), permutations=PERMUTATIONS, seed=len(found))
        low, high = null.range
        found.append((null.observed / null.mean, null.effect, low <= null.observed <= high))
    ratio, effect, inside = np.array(found, dtype=np.float64).T
    return RangeCheck(
        len(found),
        float(ratio.mean()),
        float(np.nanmean(effect)) if np.isfinite(effect).any() else 0.0,
        float(inside.mean()),
    )


def family(texts: Corpus, *, metrics: str, n: int, simulations: int) -> Iterator[tuple[bool, bool]]:
    """For random halves of 2n of these texts: whether any metric rejects by adjusted and by raw p-values."""
    for seed in range(simulations):
        drawn = np.random.default_rng([seed, 11]).permutation(len(texts))[: 2 * n]
        report = compare(
            reference=texts.take(drawn[:n]),
            candidate=texts.take(drawn[n:]),
            metrics=metrics,
            test=True,
            permutations=FAMILY_PERMUTATIONS,
            seed=seed,
        )
        yield any(different(score.p_adjusted) for score in report), any(different(score.p_value) for score in report)


def family_error(texts: Corpus, *, metrics: str = DEFAULT_METRICS, n: int, simulations: int) -> Floats:
    """Share of simulations with any false rejection, by adjusted and by raw p-values."""
    return np.array(list(family(texts, metrics=metrics, n=n, simulations=simulations)), dtype=np.float64).mean(axis=0)


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


def print_ranges(names: list[str], simulations: int, seconds: float) -> None:
    """A Markdown row per metric: value over null mean, and coverage of the null range, at every size."""
    heads = [f"{n:,}/{m:,}: {what}" for n, m in SIZES for what in ("value ÷ null", "inside", "runs")]
    print(f"| metric | {' | '.join(heads)} |\n|---{'|---' * len(heads)}|", flush=True)
    for name in names:
        metric = without_models(get_metric(name))
        checks = [check_range(metric, sizes, simulations=simulations, seconds=seconds) for sizes in SIZES]
        cells = [cell for check in checks for cell in _cells(metric, check)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _cells(metric: CorpusMetric, check: RangeCheck) -> tuple[str, str, str]:
    centre = f"effect {check.effect:.2f}" if metric.bounds[0] < 0 else f"{check.ratio:.2f}"
    return centre, f"{check.inside:.3f}", f"{check.simulations}"


def main() -> None:
    """Print the tables of docs/reliability.md."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=("ranges", "family", "foreign"))
    options.add_argument("metrics", nargs="*")
    options.add_argument("--simulations", type=int, default=500)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--n", type=int, default=60)
    chosen = options.parse_intermixed_args()
    if chosen.what == "ranges":
        corpora = [metric.name for metric in list_metrics() if metric.scope == "corpus"]
        print_ranges(chosen.metrics or corpora, chosen.simulations, chosen.seconds)
        return
    if chosen.what == "foreign":
        print_shares(chosen.metrics or ["energy", "pr", "jsd"], chosen.n, chosen.simulations)
        return
    print("| texts | n | adjusted | raw | runs |\n|---|---|---|---|---|", flush=True)
    for name in ("banking", "travel"):
        adjusted, raw = family_error(Corpus.of(sample(name).texts), n=chosen.n, simulations=chosen.simulations)
        print(f"| {name} | {chosen.n} | {adjusted:.3f} | {raw:.3f} | {chosen.simulations} |", flush=True)


if __name__ == "__main__":
    main()
