"""Is the number of texts that `recommend` asks for right? Found directly, on texts that it has not seen.

    python -m benchmarks.power [--reference banking77] [--candidate clinc150] [--effects 0.3,0.1] [--effort thorough]
                               [--tests 200] [--permutations 999] [--metrics energy,pr,mauve,fid,irpr]

Each corpus is cut into random halves. `recommend` predicts on the first ones. On the second ones
permutation tests of samples give the power at sizes that bracket the wanted one, found by steps of a quarter and then
by halving; a probit line in log n through those near it gives the size at which the power is 80 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge import get_metric
from textgauge.bench import Sources
from textgauge.bench.power import Contaminated, is_rejected
from textgauge.bench.recommend import recommend
from textgauge.data import Corpus, load_texts
from textgauge.metrics import CorpusMetric

Floats = NDArray[np.float64]
Curve = dict[int, tuple[int, int]]  # by texts a side: rejections, tests

POWER, SEED = 0.8, 9
STEP, WALKED, NEAR = 1.25, 8, 1.6
HEADER = "| metric | contamination | predicted n | direct n | ratio | power by n |\n|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Direct:
    """The texts a side at which the power is as wanted, its 95 % interval, and the powers it rests on."""

    count: float
    low: float
    high: float
    curve: Mapping[int, tuple[int, int]]


def halves(spec: str) -> tuple[list[str], list[str]]:
    """The different texts of a data set, in two random halves."""
    texts = sorted(set(load_texts(spec).texts))
    order = np.random.default_rng(SEED).permutation(len(texts))
    first, second = np.array_split(order, 2)
    return [texts[row] for row in first], [texts[row] for row in second]


def direct(hits: Callable[[int], int], start: int, *, most: int, tests: int) -> Direct:
    """Bracket the size with the wanted power from a first guess, halve the bracket, and draw a line near it."""
    curve: Curve = {}

    def reaches(n: int) -> bool:
        curve[n] = (hits(n), tests)
        return curve[n][0] >= POWER * tests

    n = min(start, most)
    up = not reaches(n)
    for _ in range(WALKED):
        before, n = n, min(round(n * STEP) if up else round(n / STEP), most)
        if n in curve or reaches(n) == up:
            break
    middle = round(np.sqrt(before * n))
    if middle not in curve:
        reaches(middle)
    near = {n: found for n, found in curve.items() if 1 / NEAR <= n / middle <= NEAR}
    return Direct(*_on_line(near), curve)


def _on_line(curve: Curve) -> tuple[float, float, float]:
    """Where probit(power) = a + b·log n is as wanted, by most likely a and b; the interval by the delta method."""
    from scipy.optimize import minimize
    from scipy.special import log_ndtr, ndtri

    x = np.log(np.array(list(curve), dtype=np.float64))
    hits, tests = np.array(list(curve.values()), dtype=np.float64).T
    centre = x.mean()

    def loss(line: Floats) -> float:
        z = line[0] + line[1] * (x - centre)
        return -float(hits @ log_ndtr(z) + (tests - hits) @ log_ndtr(-z))

    found = minimize(loss, np.array([0.8, 1.5]), method="BFGS")
    a, b = found.x
    place = (ndtri(POWER) - a) / b
    slope = np.array([-1.0 / b, -place / b])
    error = float(np.sqrt(slope @ found.hess_inv @ slope))
    return tuple(float(np.exp(centre + place + side * 1.96 * error)) for side in (0, -1, 1))  # type: ignore[return-value]


def hits_of(metric: CorpusMetric, samples: Contaminated, tests: int, permutations: int) -> Callable[[int], int]:
    """How many of so many tests reject, as a function of the texts a side."""

    def hits(n: int) -> int:
        return sum(
            is_rejected(metric, samples.sample(n, number), permutations=permutations, seed=number)
            for number in range(tests)
        )

    return hits


def rows(chosen: argparse.Namespace, effect: float) -> Iterator[str]:
    """One line per metric, as soon as it is known."""
    reference, candidate = halves(chosen.reference), halves(chosen.candidate)
    answer = recommend(
        reference=reference[0], candidate=candidate[0], metrics=chosen.metrics, effort=chosen.effort, effect=effect
    )
    held_out = Sources("held out", {"a": Corpus.of(reference[1]), "b": Corpus.of(candidate[1])})
    samples = Contaminated(held_out, effect, SEED)
    needed = {row.metric: row for row in answer.power}
    for name in chosen.metrics.split(","):
        if name not in needed or np.isnan(needed[name].count):
            yield f"| {name} | {effect:.0%} | none by {chosen.effort} effort | | | |"
            continue
        hits = hits_of(get_metric(name), samples, chosen.tests, chosen.permutations)
        row = needed[name]
        found = direct(hits, round(row.count), most=samples.most, tests=chosen.tests)
        powers = ", ".join(f"{n:,}: {hit / tests:.2f}" for n, (hit, tests) in sorted(found.curve.items()))
        yield (
            f"| {name} | {effect:.0%} | {row.count:,.0f} ({row.low:,.0f}–{row.high:,.0f}) "
            f"| {found.count:,.0f} ({found.low:,.0f}–{found.high:,.0f}) | {row.count / found.count:.2f} | {powers} |"
        )


def main() -> None:
    """Print a Markdown table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--reference", default="banking77")
    options.add_argument("--candidate", default="clinc150")
    options.add_argument("--metrics", default="energy,pr,mauve,fid,irpr")
    options.add_argument("--effects", default="0.3,0.1")
    options.add_argument("--effort", default="thorough")
    options.add_argument("--tests", type=int, default=200)
    options.add_argument("--permutations", type=int, default=999)
    chosen = options.parse_args()
    print(HEADER, flush=True)
    for effect in map(float, chosen.effects.split(",")):
        for line in rows(chosen, effect):
            print(line, flush=True)


if __name__ == "__main__":
    main()
