"""Kour et al. 2022: known-similarity corpora, size, imbalance and time of eight metrics; the suite and the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np

from textgauge.arrays import Floats
from textgauge.errors import MissingExtra, ResourceError
from textgauge.evaluate.inputs.sources import read_two
from textgauge.evaluate.plan import Plan, make_plans
from textgauge.evaluate.protocols import Ksc, Size, Speed
from textgauge.evaluate.protocols.base import Observations
from textgauge.evaluate.protocols.size import ASYMPTOTE, IMBALANCE, SIZE
from textgauge.evaluate.results import Judged, Results
from textgauge.evaluate.suites import Metrics, register_suite
from textgauge.metrics import get_corpus_metrics
from textgauge.naming import parse
from textgauge.papers.kour2022_ifc import IfcEvidence, ifc_claims, ifc_plans
from textgauge.papers.kour2022_tables import KOUR_METRICS, OUR_DATA, VARIANT_METRICS, judged_as, rows
from textgauge.papers.ledger import (
    NOT_RUN,
    Claim,
    Finding,
    MeasuredDifference,
    above,
    above_all,
    all_hold,
    by_test,
    failures_first,
    ledger,
    of_values,
    paired,
)
from textgauge.papers.paper import Paper, PaperFigure, Request, published
from textgauge.stats.correlation import spearman
from textgauge.stats.decisions import ahead
from textgauge.tabular import Row

_AS = {"definition": "metrics and measures as defined", "paper": "metrics and measures as in the authors' code"}
_OVER_ALL = "the 95 % interval over repetitions of its paired difference with every other metric is above 0"


@register_suite("kour2022")
def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """The tables of Kour et al. 2022: two pairs of sources, k of 7 and 12, size and imbalance, time."""
    return _plans(metrics or KOUR_METRICS, "definition", seed)


def plans(request: Request) -> list[Plan]:
    """The suite with the metrics of every variant."""
    found = [plan for variant in request.variants for plan in _plans(VARIANT_METRICS[variant], variant, request.seed)]
    try:
        return [*found, *ifc_plans(None, request.seed)]
    except (MissingExtra, ResourceError):  # the ledger says what its claims lack
        return found


def _plans(metrics: str | Sequence[Any], variant: str, seed: int) -> list[Plan]:
    """Mixtures in the order of the variant, size and time."""
    order: Literal["definition", "paper"] = "paper" if variant == "paper" else "definition"
    data = [read_two("clinc150", "banking77"), read_two("atis", "nfcats")]
    protocols = [Ksc(k=7, order=order), Ksc(k=12, order=order), Size(), Speed(repetitions=3)]
    return make_plans(protocols, data, metrics, seed)


@dataclass(frozen=True, eq=False)
class KourEvidence:
    """What a run gives: measures by variant, sources, k and metric, and the distances of samples of many sizes."""

    measures: Mapping[tuple[str, str, int | None], Mapping[str, Judged]]
    samples: Mapping[str, Mapping[str, Observations]]

    def gap(self, place: tuple[str, str, int | None], first: str, second: str, measure: str) -> MeasuredDifference:
        """First less second of two metrics in one measure."""
        found = self.measures.get(place, {})
        if first not in found or second not in found:
            return MeasuredDifference(np.nan, np.nan, np.nan)
        return paired(found[first].verdict(measure), found[second].verdict(measure))


def claims(request: Request) -> list[Claim[KourEvidence]]:
    """All claims of the paper that the ledger has, for each variant, pair of sources and k."""
    found = [_highest(variant, *at) for variant in request.variants for at in _places()]
    for variant, (theirs, ours), k in product(request.variants, OUR_DATA.items(), (7, 12)):
        found += [_weighted(variant, theirs, ours, k), *_radar(variant, theirs, ours, k)]
    for theirs, ours in OUR_DATA.items():
        found += [*_sizes(theirs, ours), _throughput(theirs, ours)]
    return found


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """The ledger."""
    measures: dict[tuple[str, str, int | None], dict[str, Judged]] = {}
    for variant in request.variants:
        for item in judged_as(results, variant):
            if item.data in OUR_DATA.values() and item.seed == request.seed:
                place = (variant, item.data, getattr(item.protocol, "k", None))
                measures.setdefault((*place[:2], _kind(item)), {})[parse(item.metric).name.upper()] = item
    keys = {metric.key: metric.name.upper() for metric in get_corpus_metrics(KOUR_METRICS)}
    samples = {
        group.data: {keys[key]: found for key, found in group.complete.items() if key in keys}
        for group in results.groups()
        if group.protocol.name == Size.name
    }
    learned = IfcEvidence.of(results, keys, request.seed)
    return failures_first([*ledger(claims(request), KourEvidence(measures, samples)), *ledger(ifc_claims(), learned)])


def _kind(item: Judged) -> int | None:
    """k of mixtures; −1 for time, None for sizes."""
    return -1 if item.protocol.name == Speed.name else getattr(item.protocol, "k", None)


def _places() -> Iterator[tuple[tuple[str, str], str, int, str]]:
    measures = ("accuracy", "monotonicity", "separability", "linearity")
    return ((t, o, k, measure) for (t, o), k, measure in product(OUR_DATA.items(), (7, 12), measures))


def _printed(theirs: tuple[str, str], k: int | None, measure: str) -> dict[str, float]:
    return {
        row["metric"]: row["value"]
        for row in published("kour2022_table3").iter_rows(named=True)
        if (row["source_a"], row["source_b"], row["k"], row["measure"]) == (*theirs, k, measure)
    }


def _deviations(variant: str, theirs: tuple[str, str]) -> str:
    said = [_AS[variant]] + (["other questions in place of Yahoo's"] if "yahoo" in theirs else [])
    return "; ".join(said)


def _highest(variant: str, theirs: tuple[str, str], ours: str, k: int, measure: str) -> Claim[KourEvidence]:
    printed = _printed(theirs, k, measure)
    best = max(printed, key=lambda name: printed[name])

    def test(evidence: KourEvidence) -> Finding:
        place = (variant, ours, k)
        return above_all(best, {n: evidence.gap(place, best, n, measure) for n in printed if n != best})

    claim = f"{best} has the highest {measure} of the eight on {', '.join(theirs)} at k = {k}"
    return Claim(claim, f"{printed[best]:g}", ours, _OVER_ALL, test, _deviations(variant, theirs))


def _weighted(variant: str, theirs: tuple[str, str], ours: str, k: int) -> Claim[KourEvidence]:
    def test(evidence: KourEvidence) -> Finding:
        found = evidence.measures.get((variant, ours, k), {})
        gaps = {
            name: paired(item.verdict("accuracy"), item.verdict("weighted_accuracy")) for name, item in found.items()
        }
        return all_hold({name: above("A", "A_w", gap) for name, gap in gaps.items()})

    plain, weighted = (_printed(theirs, k, measure) for measure in ("accuracy", "weighted_accuracy"))
    count = f"{sum(plain[name] > weighted[name] for name in plain)} of {len(plain)} metrics"
    claim = f"weighted accuracy is below accuracy for every metric on {', '.join(theirs)} at k = {k}"
    criterion = "for each metric the 95 % interval of A − A_w over repetitions is above 0"
    return Claim(claim, count, ours, criterion, test, _deviations(variant, theirs))


def _radar(variant: str, theirs: tuple[str, str], ours: str, k: int) -> Iterator[Claim[KourEvidence]]:
    measures = [measure.name for measure in Ksc.measures]

    def gap(evidence: KourEvidence, first: str, second: str) -> MeasuredDifference:
        found = evidence.measures.get((variant, ours, k), {})
        if first not in found or second not in found:
            return MeasuredDifference(np.nan, np.nan, np.nan)
        means = [np.mean([found[name].verdict(m).values for m in measures], axis=0) for name in (first, second)]
        return of_values(means[0] - means[1])

    for first, second in (("MAUVE", "DC"), ("DC", "PR"), ("DC", "FID")):
        printed = [np.mean([_printed(theirs, k, m)[name] for m in measures]) for name in (first, second)]
        if printed[0] <= printed[1]:
            continue  # the figure is of other sources: the table does not say so here

        def test(evidence: KourEvidence, first: str = first, second: str = second) -> Finding:
            return above(first, second, gap(evidence, first, second))

        claim = f"{first} is above {second} over the measures of mixtures on {', '.join(theirs)} at k = {k} (figure 4)"
        criterion = "95 % interval over repetitions of the difference of their means over five measures is above 0"
        shown = f"{printed[0]:.3f} and {printed[1]:.3f}"
        yield Claim(claim, shown, ours, criterion, test, _deviations(variant, theirs))


def _sizes(theirs: tuple[str, str], ours: str) -> Iterator[Claim[KourEvidence]]:
    """Claims on size and imbalance; metrics as defined, since the authors' code divides by the wrong size."""
    about = f"on {', '.join(theirs)}"
    deviation = "; ".join(filter(None, ["large samples of 3,000 texts for the whole corpora", *_other(theirs)]))

    def most(evidence: KourEvidence) -> Finding:
        found = {name: _first_settled(observed) for name, observed in evidence.samples.get(ours, {}).items()}
        if not found:
            return Finding(None, why=NOT_RUN)
        still = [name for name, size in found.items() if size > 450]
        late = [name for name, size in found.items() if size > 1_050]
        shown = ", ".join(f"{name} {size if size < np.inf else 'never'}" for name, size in found.items())
        holds = 2 * len(still) > len(found) and 2 * len(late) < len(found)
        return Finding(holds, f"settled from: {shown}", why=f"above 450: {len(still)}, above 1,050: {len(late)}")

    criterion = (
        "a metric is settled from the first size on from which the 95 % Welch interval of its deviation from large "
        "samples includes 0; more than half are not at 450 texts, fewer than half are not at 1,050"
    )
    yield Claim(f"most metrics need about 1,000 texts {about}", "figure 2", ours, criterion, most, deviation)
    for name, sign, word in (("CLASSIFIER", -1, "under"), ("MAUVE", -1, "under"), ("FID", 1, "over")):

        def test(evidence: KourEvidence, name: str = name, sign: int = sign) -> Finding:
            observed = evidence.samples.get(ours, {}).get(name)
            if observed is None:
                return Finding(None, why=NOT_RUN)
            gap = _deviation(observed, IMBALANCE, 50)
            way = MeasuredDifference(sign * gap.value, *sorted((sign * gap.low, sign * gap.high)))
            uneven, large = "50 against 2,850 texts", "large samples"
            return above(uneven, large, way) if sign > 0 else above(large, uneven, way)

        claim = f"{name} {word}estimates the distance of unbalanced samples {about}"
        rule = (
            "95 % Welch interval of the distance of 50 and 2,850 texts less that of large samples is on that side of 0"
        )
        yield Claim(claim, "figure 2", ours, rule, test, deviation)

    def diverges(evidence: KourEvidence) -> Finding:
        both = [evidence.samples.get(ours, {}).get(name) for name in ("PR", "DC")]
        if both[0] is None or both[1] is None:
            return Finding(None, why=NOT_RUN)
        pr, dc = (_relative_error(observed) for observed in both if observed is not None)
        return above("error of PR", "error of DC", of_values(pr - dc))

    rule = "95 % interval over repetitions of the difference of their relative errors at 50 and 2,850 texts is above 0"
    claim = f"with imbalance PR diverges where DC converges {about}"
    yield Claim(claim, "figure 2", ours, rule, diverges, deviation)


def _other(theirs: tuple[str, str]) -> list[str]:
    return ["other questions in place of Yahoo's"] if "yahoo" in theirs else []


def _first_settled(observed: Observations) -> float:
    """The first size from which on no deviation from large samples shows; infinity where there is none."""
    sizes = sorted(set(observed.of("kind", SIZE).columns["size_a"].tolist()))
    gaps = [_deviation(observed, SIZE, size) for size in sizes]
    shows = [ahead(gap.low) or ahead(-gap.high) for gap in gaps]
    last = max((place for place, seen in enumerate(shows) if seen), default=-1)
    return float(sizes[last + 1]) if last + 1 < len(sizes) else float("inf")


def _deviation(observed: Observations, kind: str, size: int) -> MeasuredDifference:
    """Distance of samples of a size less that of large samples, with Welch's interval."""
    from scipy.stats import ttest_ind

    small, large = observed.of("kind", kind).of("size_a", size).value, observed.of("kind", ASYMPTOTE).value
    value = float(small.mean() - large.mean())
    if np.ptp(small) == 0 and np.ptp(large) == 0:
        return MeasuredDifference(value, value, value)
    ends = ttest_ind(small, large, equal_var=False).confidence_interval(0.95)
    return MeasuredDifference(value, float(ends.low), float(ends.high))


def _relative_error(observed: Observations) -> Floats:
    """Of each repetition, at 50 against 2,850 texts."""
    large = float(observed.of("kind", ASYMPTOTE).value.mean())
    found = observed.of("kind", IMBALANCE).of("size_a", 50)
    return np.abs(found.value[np.argsort(found.batch)] - large) / large


def _throughput(theirs: tuple[str, str], ours: str) -> Claim[KourEvidence]:
    def test(evidence: KourEvidence) -> Finding:
        from scipy.stats import permutation_test

        found = evidence.measures.get(("definition", ours, -1), {})
        printed = _printed(theirs, 7, "time_100ops")
        if found.keys() != printed.keys():
            return Finding(None, why=NOT_RUN)
        own = np.array([found[name].verdict("throughput").value for name in printed])
        said = np.array(list(printed.values()))
        test_of_order = permutation_test(
            (own,), lambda x: spearman(x, said), permutation_type="pairings", alternative="greater", n_resamples=20_000
        )
        value, p = spearman(own, said), float(test_of_order.pvalue)
        return by_test(f"Spearman's ρ = {value:.2f}", p)

    shown = ", ".join(f"{name} {value:g}" for name, value in _printed(theirs, 7, "time_100ops").items())
    criterion = "one-sided permutation test of Spearman's ρ of our and the published throughput, p ≤ 0.05"
    claim = f"the order of T(d) on {', '.join(theirs)}"
    return Claim(claim, shown, ours, criterion, test, "; ".join(["another machine, other code", *_other(theirs)]))


_FIGURES = (
    PaperFigure("2-top", "distance", "How straight and how narrow each metric's distance rises with ℓ."),
    PaperFigure("2-middle", "size", "From which size on a metric is within its value for large samples."),
    PaperFigure("2-bottom", "imbalance", "Which way unequal sizes bend each metric."),
    PaperFigure("3", "tree", "Orange lines are judgements that the metric gets wrong; fewer is better.", ("-k7-",)),
    PaperFigure("4", "radar", "The fuller the shape, the better the metric by all measures together."),
    PaperFigure(
        "5", "steps", "Where points reach the dashed line, the metric does not see the generated texts any more."
    ),
    PaperFigure("6", "box", "Measures over repetitions. Boxes that overlap do not show that metrics are equal."),
)
PAPER = Paper("kour2022", ("3",), ("definition", "paper"), plans, rows, ledger_rows, _FIGURES)
