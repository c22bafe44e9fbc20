"""Kour et al. 2022: known-similarity corpora, size, imbalance and time of eight metrics; the suite and the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product, starmap
from typing import Any, Literal

import numpy as np

from textgauge.bench import (
    Group,
    Ksc,
    Metrics,
    Observations,
    Plan,
    Results,
    Size,
    Speed,
    Verdicts,
    make_plans,
    read_two,
)
from textgauge.core import Floats, MissingExtra, ResourceError, Row
from textgauge.metrics import get_corpus_metrics, get_metric
from textgauge.stats import is_ahead
from textgauge_papers.kour2022_ifc import IfcEvidence, ifc_claims, ifc_plans
from textgauge_papers.kour2022_tables import KOUR_METRICS, OUR_DATA, UNPADDED, VARIANT_METRICS, judge_as, rows
from textgauge_papers.ledger import (
    NOT_RUN,
    UNKNOWN,
    Claim,
    Finding,
    MeasuredDifference,
    about,
    above,
    above_all,
    all_hold,
    estimate_mean,
    judge_order,
    ledger,
    on_side,
    sort_failures_first,
    subtract_paired,
    welch,
)
from textgauge_papers.paper import Paper, PaperFigure, Request, load_published

MEASURES = ("accuracy", "weighted_accuracy", "monotonicity", "separability", "linearity")
_AS = {"definition": "metrics and measures as defined", "paper": "metrics and measures as in the authors' code"}
_MIXTURES = Ksc(n=100, repetitions=5, draw="disjoint")
_OVER_ALL = "the 95 % interval over repetitions of its paired difference with every other metric is above 0"


def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Compute the tables of Kour et al. 2022: two pairs of sources, k of 7 and 12, size and imbalance, time."""
    return _plans(metrics or KOUR_METRICS, "definition", seed)


def plans(request: Request) -> list[Plan]:
    """Return the suite with the metrics of every variant."""
    found = [plan for variant in request.variants for plan in _plans(VARIANT_METRICS[variant], variant, request.seed)]
    try:
        return [*found, *ifc_plans(None, request.seed)]
    except (MissingExtra, ResourceError):  # the ledger says what its claims lack
        return found


def _plans(metrics: str | Sequence[Any], variant: str, seed: int) -> list[Plan]:
    """Mixtures in the order of the variant, size and time."""
    order: Literal["definition", "paper"] = "paper" if variant == "paper" else "definition"
    data = [read_two("clinc150", "banking77"), read_two("atis", "nfcats")]
    mixtures = [replace(_MIXTURES, k=k, order=order) for k in (7, 12)]
    found = make_plans([*mixtures, Size(), Speed(repetitions=3)], data, metrics, seed)
    return found + (make_plans(mixtures, data[:1], UNPADDED, seed) if variant == "paper" else [])


@dataclass(frozen=True, eq=False)
class KourEvidence:
    """What a run gives: measures by variant, sources, k and metric, and the distances of samples of many sizes.

    `unpadded` is CHI as in the authors' code but for its padding, by sources and k.
    """

    measures: Mapping[tuple[str, str, int | None], Mapping[str, Verdicts]]
    samples: Mapping[str, Mapping[str, Observations]]
    unpadded: Mapping[tuple[str, int], Verdicts] = field(default_factory=dict)

    def gap(self, place: tuple[str, str, int | None], first: str, second: str, measure: str) -> MeasuredDifference:
        """Return first less second of two metrics in one measure."""
        found = self.measures.get(place, {})
        if first not in found or second not in found:
            return UNKNOWN
        return subtract_paired(found[first][measure], found[second][measure])


def claims(request: Request) -> list[Claim[KourEvidence]]:
    """Return all claims of the paper that the ledger has, for each variant, pair of sources and k."""
    places = list(product(request.variants, OUR_DATA.items(), (7, 12)))
    highest = [_highest(variant, *at) for variant in request.variants for at in _places()]
    return [
        *about("best metric by each measure of mixtures", *highest),
        *about("weighted accuracy is below accuracy", *(_weighted(v, *pair, k) for v, pair, k in places)),
        *about("MAUVE ≻ DC ≻ PR ∼ FID (figure 4)", *(c for v, pair, k in places for c in _radar(v, *pair, k))),
        *about("most metrics need about 1,000 texts", *(_settling(*pair) for pair in OUR_DATA.items())),
        *about("effect of imbalance", *(c for pair in OUR_DATA.items() for c in _imbalance(*pair))),
        *about("order of T(d)", *(_throughput(*pair) for pair in OUR_DATA.items())),
        *about("CHI is published with padding", *starmap(_padding, product((7, 12), ("separability", "linearity")))),
    ]


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """Return the ledger."""
    measures: dict[tuple[str, str, int | None], dict[str, Verdicts]] = {}
    for variant in request.variants:
        for group, metric, verdicts in judge_as(results, variant, VARIANT_METRICS[variant]):
            if group.data in OUR_DATA.values():
                place = variant, group.data, _kind(group)
                measures.setdefault(place, {})[get_metric(metric).name.upper()] = verdicts
    unpadded = {
        (group.data, group.protocol.k): verdicts
        for group, _, verdicts in judge_as(results, "paper", UNPADDED)
        if isinstance(group.protocol, Ksc)
    }
    keys = {metric.key: metric.name.upper() for metric in get_corpus_metrics(KOUR_METRICS)}
    samples = {
        group.data: {keys[key]: found for key, found in group.complete.items() if key in keys}
        for group in results.groups()
        if group.protocol == Size()
    }
    learned = IfcEvidence.of(results, keys)
    found = KourEvidence(measures, samples, unpadded)
    return sort_failures_first([*ledger(claims(request), found), *ledger(ifc_claims(), learned)])


def _kind(group: Group) -> int | None:
    """k of mixtures; −1 for time, None for sizes."""
    return -1 if group.protocol.name == Speed.name else getattr(group.protocol, "k", None)


def _places() -> Iterator[tuple[tuple[str, str], str, int, str]]:
    measures = ("accuracy", "monotonicity", "separability", "linearity")
    return ((t, o, k, measure) for (t, o), k, measure in product(OUR_DATA.items(), (7, 12), measures))


def _printed(theirs: tuple[str, str], k: int | None, measure: str) -> dict[str, float]:
    return {
        row["metric"]: row["value"]
        for row in load_published("kour2022_table3").iter_rows(named=True)
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
        gaps = {name: subtract_paired(item["accuracy"], item["weighted_accuracy"]) for name, item in found.items()}
        return all_hold({name: above("A", "A_w", gap) for name, gap in gaps.items()})

    plain, weighted = (_printed(theirs, k, measure) for measure in ("accuracy", "weighted_accuracy"))
    count = f"{sum(plain[name] > weighted[name] for name in plain)} of {len(plain)} metrics"
    claim = f"weighted accuracy is below accuracy for every metric on {', '.join(theirs)} at k = {k}"
    criterion = "for each metric the 95 % interval of A − A_w over repetitions is above 0"
    return Claim(claim, count, ours, criterion, test, _deviations(variant, theirs))


def _radar(variant: str, theirs: tuple[str, str], ours: str, k: int) -> Iterator[Claim[KourEvidence]]:
    measures = MEASURES

    def gap(evidence: KourEvidence, first: str, second: str) -> MeasuredDifference:
        found = evidence.measures.get((variant, ours, k), {})
        if first not in found or second not in found:
            return UNKNOWN
        means = [np.mean([found[name][m].values for m in measures], axis=0) for name in (first, second)]
        return estimate_mean(means[0] - means[1])

    for first, second in (("MAUVE", "DC"), ("DC", "PR"), ("DC", "FID")):
        printed = [np.mean([_printed(theirs, k, m)[name] for m in measures]) for name in (first, second)]
        if printed[0] <= printed[1]:
            continue  # the figure is of other sources: the table does not say so here

        def test(evidence: KourEvidence, first: str = first, second: str = second) -> Finding:
            return above(first, second, gap(evidence, first, second))

        claim = f"{first} is above {second} over the measures of mixtures on {', '.join(theirs)} at k = {k}"
        criterion = "95 % interval over repetitions of the difference of their means over five measures is above 0"
        shown = f"{printed[0]:.3f} and {printed[1]:.3f}"
        yield Claim(claim, shown, ours, criterion, test, _deviations(variant, theirs))

    def alike(evidence: KourEvidence) -> Finding:
        found = gap(evidence, "PR", "FID")
        said = above("PR", "FID", found)
        apart = is_ahead(found.low) or is_ahead(-found.high)
        return replace(said, holds=not apart, why="the interval is off 0" if apart else "") if found.known else said

    claim = f"PR and FID are alike over the measures of mixtures on {', '.join(theirs)} at k = {k}"
    criterion = "95 % interval over repetitions of the difference of their means over five measures includes 0"
    yield Claim(claim, "PR ∼ FID", ours, criterion, alike, _deviations(variant, theirs))


def _settling(theirs: tuple[str, str], ours: str) -> Claim[KourEvidence]:
    def test(evidence: KourEvidence) -> Finding:
        found = {name: _first_settled(observed) for name, observed in evidence.samples.get(ours, {}).items()}
        if not found:
            return Finding(None, why=NOT_RUN)
        still = [name for name, size in found.items() if size > 450]
        late = [name for name, size in found.items() if size > 1_050]
        shown = ", ".join(f"{name} {f'{size:g}' if size < np.inf else 'never'}" for name, size in found.items())
        holds = 2 * len(still) > len(found) and 2 * len(late) < len(found)
        return Finding(holds, f"settled from: {shown}", why=f"above 450: {len(still)}, above 1,050: {len(late)}")

    criterion = (
        "a metric is settled from the first size on from which the 95 % Welch interval of its deviation from large "
        "samples includes 0; more than half are not at 450 texts, fewer than half are not at 1,050"
    )
    claim = f"most metrics need about 1,000 texts on {', '.join(theirs)}"
    return Claim(claim, "figure 2", ours, criterion, test, _of_samples(theirs))


def _imbalance(theirs: tuple[str, str], ours: str) -> Iterator[Claim[KourEvidence]]:
    """Return metrics as defined, since the authors' code divides by the wrong size."""
    for name, word in (("CLASSIFIER", "under"), ("MAUVE", "under"), ("FID", "over")):

        def test(evidence: KourEvidence, name: str = name, below: bool = word == "under") -> Finding:
            observed = evidence.samples.get(ours, {}).get(name)
            gap = UNKNOWN if observed is None else _deviation(observed, "imbalance", 50)
            return on_side("50 against 2,850 texts − large samples", gap, below=below)

        claim = f"{name} {word}estimates the distance of unbalanced samples on {', '.join(theirs)}"
        rule = (
            "95 % Welch interval of the distance of 50 and 2,850 texts less that of large samples is on that side of 0"
        )
        yield Claim(claim, "figure 2", ours, rule, test, _of_samples(theirs))

    def diverges(evidence: KourEvidence) -> Finding:
        found = evidence.samples.get(ours, {})
        if "PR" not in found or "DC" not in found:
            return Finding(None, why=NOT_RUN)
        gap = estimate_mean(_relative_error(found["PR"]) - _relative_error(found["DC"]))
        return above("error of PR", "error of DC", gap)

    rule = "95 % interval over repetitions of the difference of their relative errors at 50 and 2,850 texts is above 0"
    claim = f"with imbalance PR diverges where DC converges on {', '.join(theirs)}"
    yield Claim(claim, "figure 2", ours, rule, diverges, _of_samples(theirs))


def _of_samples(theirs: tuple[str, str]) -> str:
    return "; ".join(["large samples of 3,000 texts for the whole corpora", *_other(theirs)])


def _padding(k: int, measure: str) -> Claim[KourEvidence]:
    """Return claims on what the authors' code does with CHI: both are of the same corpora."""
    theirs, ours = next(iter(OUR_DATA.items()))
    printed = _printed(theirs, k, measure)["CHI"]

    def test(evidence: KourEvidence) -> Finding:
        without, padded = evidence.unpadded.get((ours, k)), evidence.measures.get(("paper", ours, k), {}).get("CHI")
        if without is None or padded is None:
            return Finding(None, why=NOT_RUN)
        values = [np.array(item[measure].values) for item in (without, padded)]
        gap = estimate_mean(np.abs(values[0] - printed) - np.abs(values[1] - printed))
        found = above("distance without", "with padding", gap)
        return replace(found, ours=f"{values[0].mean():.2f} without, {values[1].mean():.2f} with padding")

    claim = f"padding=source brings CHI's {measure} nearer to the published on {', '.join(theirs)} at k = {k}"
    criterion = (
        "95 % interval over repetitions of the distance to the published value without padding less that with it is "
        "above 0"
    )
    return Claim(claim, f"{printed:g}", ours, criterion, test, _deviations("paper", theirs))


def _other(theirs: tuple[str, str]) -> list[str]:
    return ["other questions in place of Yahoo's"] if "yahoo" in theirs else []


def _first_settled(observed: Observations) -> float:
    """Return the first size from which on no deviation from large samples shows; infinity where there is none."""
    sizes = sorted(set(observed.of("kind", "size").columns["size_a"].tolist()))
    gaps = [_deviation(observed, "size", size) for size in sizes]
    shows = [is_ahead(gap.low) or is_ahead(-gap.high) for gap in gaps]
    last = max((place for place, seen in enumerate(shows) if seen), default=-1)
    return float(sizes[last + 1]) if last + 1 < len(sizes) else float("inf")


def _deviation(observed: Observations, kind: str, size: int) -> MeasuredDifference:
    """Distance of samples of a size less that of large samples, with Welch's interval."""
    return welch(observed.of("kind", kind).of("size_a", size).value, observed.of("kind", "asymptote").value)


def _relative_error(observed: Observations) -> Floats:
    """Return the value of each repetition, at 50 against 2,850 texts."""
    large = float(observed.of("kind", "asymptote").value.mean())
    found = observed.of("kind", "imbalance").of("size_a", 50)
    return np.abs(found.value[np.argsort(found.batch)] - large) / large


def _throughput(theirs: tuple[str, str], ours: str) -> Claim[KourEvidence]:
    def test(evidence: KourEvidence) -> Finding:
        found = evidence.measures.get(("definition", ours, -1), {})
        printed = _printed(theirs, 7, "time_100ops")
        if found.keys() != printed.keys():
            return Finding(None, why=NOT_RUN)
        return judge_order(list(printed.values()), [found[name]["throughput"].value for name in printed])

    shown = ", ".join(f"{name} {value:g}" for name, value in _printed(theirs, 7, "time_100ops").items())
    criterion = "exact one-sided permutation test of Spearman's ρ of our and the published throughput, p ≤ 0.05"
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
    PaperFigure(
        "6",
        "box",
        "Measures over repetitions. Boxes that overlap do not show that metrics are equal.",
        ("-k7", "-k12", "-size", "-speed"),
    ),
)
PAPER = Paper("kour2022", ("3",), ("definition", "paper"), plans, rows, ledger_rows, _FIGURES)
