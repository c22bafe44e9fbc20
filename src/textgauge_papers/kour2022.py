"""Kour et al. 2022: known-similarity corpora, size, imbalance and time of eight metrics; the suite and the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import comb

import numpy as np

from textgauge.bench import Ksc, Metrics, Observations, Plan, Results, Size, Speed, Verdicts
from textgauge.core import Floats, Row
from textgauge.metrics import get_corpus_metrics, get_metric
from textgauge.stats import is_ahead, is_different
from textgauge_papers.kour2022_ifc import IfcEvidence, ifc_claims
from textgauge_papers.kour2022_tables import (
    KOUR_METRICS,
    MIXED,
    OUR_DATA,
    REPETITIONS,
    SEVEN,
    SIZED,
    VARIANT_METRICS,
    compute_classifier_pairs,
    judge_as,
    make_variant_plans,
    rows,
)
from textgauge_papers.ledger import (
    NOT_RUN,
    OPPOSITE,
    UNKNOWN,
    Claim,
    MeasuredDifference,
    Outcome,
    estimate_mean,
    judge_above,
    judge_above_all,
    judge_claims,
    judge_side,
    list_claims,
    look_up,
    sort_failures_first,
    subtract_paired,
    subtract_unpaired,
)
from textgauge_papers.paper import Paper, PaperFigure, Request, load_published

_WAY = {"definition": "as defined", "paper": "as in the authors' code"}
_AS = {
    "definition": "metrics and measures as defined, different texts",
    "paper": "metrics and measures as in the authors' code, but shares of mixtures rounded",
}
_BEST = ("accuracy", "monotonicity", "separability", "linearity")
_MARGIN = 0.015  # "differences below .015 are marked in bold": what the paper calls equal
_WHERE_ALIKE = 0.1  # of the published means over measures: elsewhere its table contradicts "PR ∼ FID"


def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Kour et al. 2022, their tables: two pairs of sources, k of 7 and 12, size and imbalance, time."""
    return make_variant_plans(metrics or KOUR_METRICS, "definition", seed, Ksc.repetitions)


def plans(request: Request) -> list[Plan]:
    """Return the suite with the metrics of every variant."""
    return [
        plan
        for variant in request.variants
        for plan in make_variant_plans(
            VARIANT_METRICS[variant], variant, request.seed, request.params.get("repetitions", REPETITIONS)
        )
    ]


Place = tuple[str, str, int | None]
"""Variant, our sources and k: None for sizes."""


@dataclass(frozen=True, eq=False)
class KourEvidence:
    """What a run gives: measures by place and metric, and the distances of samples of many sizes."""

    measures: Mapping[Place, Mapping[str, Verdicts]]
    samples: Mapping[tuple[str, str], Mapping[str, Observations]]

    def gap(self, place: Place, first: str, second: str, measure: str) -> MeasuredDifference:
        """Return first less second of two metrics in one measure."""
        own, other = look_up(self.measures.get(place, {}), first, second)
        return subtract_paired(own[measure], other[measure])

    def overall_gap(self, place: Place, first: str, second: str) -> MeasuredDifference:
        """Return first less second in the mean of seven measures: five of mixtures, two of samples."""
        parts = []
        for at, names in ((place, MIXED), ((*place[:2], None), SIZED)):
            own, other = look_up(self.measures.get(at, {}), first, second)
            if any(len(own[name].values) != len(other[name].values) for name in names):
                return UNKNOWN  # one of the two is not finished
            parts.append(np.sum([np.subtract(own[name].values, other[name].values) for name in names], axis=0))
        return subtract_unpaired(parts[0] / len(SEVEN), -parts[1] / len(SEVEN))

    def get_samples(self, variant: str, theirs: tuple[str, str], *metrics: str) -> list[Observations]:
        """Return the distances of samples by some metrics."""
        return look_up(self.samples.get((variant, OUR_DATA[theirs]), {}), *metrics)


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """Return the ledger."""
    measures: dict[Place, dict[str, Verdicts]] = {}
    samples: dict[tuple[str, str], dict[str, Observations]] = {}
    for variant in request.variants:
        for group, metric, verdicts in judge_as(results, variant, request.seed):
            if isinstance(group.protocol, Speed):
                continue
            name, k = get_metric(metric).name.upper(), getattr(group.protocol, "k", None)
            measures.setdefault((variant, group.data, k), {})[name] = verdicts
            if isinstance(group.protocol, Size) and metric in group.complete:
                samples.setdefault((variant, group.data), {})[name] = group.complete[metric]
    keys = {metric.key: metric.name.upper() for metric in get_corpus_metrics(KOUR_METRICS)}
    found = judge_claims(claims(request), KourEvidence(measures, samples))
    return sort_failures_first([*found, *judge_claims(ifc_claims(), IfcEvidence.of(results, keys))])


def claims(request: Request) -> list[Claim[KourEvidence]]:
    """Return all claims of the paper that the ledger has, for each variant, pair of sources and k."""
    places = list(product(request.variants, OUR_DATA, (7, 12)))
    found = []
    for measure, names in _NAMED_BEST.items():
        best = (_rank(*place, measure, 0) for place in places)
        found += list_claims(f"{names} among the best by {measure}", *best)
    seconds = (_rank(*place, measure, 1) for place in places for measure in _BEST)
    radar = (claim for place in places for claim in _radar(*place))
    variants, clinc = request.variants, next(iter(OUR_DATA))
    return [
        *found,
        *list_claims("CHI, DC and FID, at times MAUVE, follow the best", *seconds),
        *list_claims("weighted accuracy is typically below accuracy", *(_weighted(*place) for place in places)),
        *list_claims("MAUVE is above DC, DC above PR and FID (figure 4)", *radar),
        *list_claims("PR and FID are about equal (figure 4)", *(c for place in places for c in _alike(*place))),
        *list_claims("most metrics need about 1,000 texts", *(_settling(clinc, share) for share in (0.1, 0.05))),
        *list_claims(
            "with a growing reference CLASSIFIER and MAUVE underestimate, FID overestimates",
            *(c for variant in variants for pair in OUR_DATA for c in _imbalance(variant, pair)),
        ),
        *list_claims(
            "with a growing reference PR diverges where DC converges",
            *(_diverges(variant, pair) for variant in variants for pair in OUR_DATA),
        ),
        *list_claims("the order of T(d)", Claim("the order of T(d)", "table 3", "none", "none", why=_OTHER_CODE)),
    ]


_NAMED_BEST = {
    "accuracy": "MAUVE is",
    "monotonicity": "MAUVE, on atis CHI, is",
    "separability": "MAUVE or DC is",
    "linearity": "MAUVE is",
}
_OTHER_CODE = "it compares the code and the machine of the authors: ours is other code"


def _printed(theirs: tuple[str, str], k: int | None, measure: str) -> dict[str, float]:
    return {
        row["metric"]: row["value"]
        for row in load_published("kour2022_table3").iter_rows(named=True)
        if (row["source_a"], row["source_b"], row["k"], row["measure"]) == (*theirs, k, measure)
    }


def _average_printed(theirs: tuple[str, str], k: int, name: str) -> float:
    return float(np.mean([_printed(theirs, None if m in SIZED else k, m)[name] for m in SEVEN]))


def _make_claim(
    variant: str,
    theirs: tuple[str, str],
    claim: str,
    paper: str,
    criterion: str,
    test: Callable[[KourEvidence], Outcome],
) -> Claim[KourEvidence]:
    said = _AS[variant] + ("; other questions in place of Yahoo's" if "yahoo" in theirs else "")
    return Claim(claim, paper, OUR_DATA[theirs], criterion, test, said, way=_WAY[variant])


def _rank(variant: str, theirs: tuple[str, str], k: int, measure: str, place: int) -> Claim[KourEvidence]:
    """Return what is published as the best, or as the second, not counting the best."""
    printed = _printed(theirs, k, measure)
    ranked = sorted(printed, key=lambda name: -printed[name])
    own, others = ranked[place], ranked[place + 1 :]

    def test(evidence: KourEvidence) -> Outcome:
        at = (variant, OUR_DATA[theirs], k)
        return judge_above_all(own, {name: evidence.gap(at, own, name, measure) for name in others}, margin=_MARGIN)

    word = ("the highest", "the second highest")[place]
    rest = ("every other metric", "every metric but the published first")[place]
    claim = f"{own} has {word} {measure} of the eight on {', '.join(theirs)} at k = {k}"
    rule = f"the 95 % interval over repetitions of its paired difference with {rest} is above −{_MARGIN:g}"
    return _make_claim(variant, theirs, claim, f"{printed[own]:g}", rule, test)


def _weighted(variant: str, theirs: tuple[str, str], k: int) -> Claim[KourEvidence]:
    def test(evidence: KourEvidence) -> Outcome:
        (found,) = look_up(evidence.measures, (variant, OUR_DATA[theirs], k))
        below = [name for name, of in found.items() if of["weighted_accuracy"].value < of["accuracy"].value]
        p = sum(comb(len(found), count) for count in range(len(below), len(found) + 1)) / 2 ** len(found)
        why = "" if is_different(p) else f"not for {', '.join(sorted(found.keys() - set(below)))}"
        return Outcome(is_different(p), f"{len(below)} of {len(found)} metrics", f"p = {p:.3f}", why)

    plain, weighted = (_printed(theirs, k, measure) for measure in ("accuracy", "weighted_accuracy"))
    count = f"{sum(plain[name] > weighted[name] for name in plain)} of {len(plain)} metrics"
    claim = f"weighted accuracy is below accuracy on {', '.join(theirs)} at k = {k}"
    rule = "one-sided sign test over the eight metrics, p ≤ 0.05"
    return _make_claim(variant, theirs, claim, count, rule, test)


def _radar(variant: str, theirs: tuple[str, str], k: int) -> Iterator[Claim[KourEvidence]]:
    for first, second in (("MAUVE", "DC"), ("DC", "PR"), ("DC", "FID")):
        printed = [_average_printed(theirs, k, name) for name in (first, second)]
        if printed[0] <= printed[1]:
            continue  # the figure is of other sources: the table does not say so here

        def test(evidence: KourEvidence, first: str = first, second: str = second) -> Outcome:
            return judge_above(first, second, evidence.overall_gap((variant, OUR_DATA[theirs], k), first, second))

        claim = f"{first} is above {second} in the mean of seven measures on {', '.join(theirs)} at k = {k}"
        rule = "the 95 % interval over repetitions of the difference of their means over seven measures is above 0"
        yield _make_claim(variant, theirs, claim, f"{printed[0]:.3f} and {printed[1]:.3f}", rule, test)


def _alike(variant: str, theirs: tuple[str, str], k: int) -> Iterator[Claim[KourEvidence]]:
    printed = _average_printed(theirs, k, "PR") - _average_printed(theirs, k, "FID")
    if abs(printed) >= _WHERE_ALIKE:
        return

    def test(evidence: KourEvidence) -> Outcome:
        found = evidence.overall_gap((variant, OUR_DATA[theirs], k), "PR", "FID")
        if not found.known:
            return Outcome(None, why=NOT_RUN)
        count = len(evidence.measures[variant, OUR_DATA[theirs], k]["PR"]["accuracy"].values)
        reach = (found.high - found.low) / 2 * float(np.sqrt(1 + count / Ksc.repetitions))
        less = found.value - printed
        holds = not (is_ahead(less - reach) or is_ahead(-less - reach))
        ours = f"PR − FID = {found.value:+.3f}, {less:+.3f} off the published"
        return Outcome(holds, ours, f"{less - reach:+.3f} to {less + reach:+.3f}", "" if holds else OPPOSITE)

    claim = f"PR and FID differ as published in the mean of seven measures on {', '.join(theirs)} at k = {k}"
    rule = "the 95 % interval of our difference less the published one, with the error of 5 repetitions, includes 0"
    yield _make_claim(variant, theirs, claim, f"{printed:+.3f}", rule, test)


def _settling(theirs: tuple[str, str], share: float) -> Claim[KourEvidence]:
    def test(evidence: KourEvidence) -> Outcome:
        (samples,) = look_up(evidence.samples, ("definition", OUR_DATA[theirs]))
        found = {name: _first_within(observed, share) for name, observed in samples.items()}
        still = [name for name, size in found.items() if size > 450]
        late = [name for name, size in found.items() if size > 1_050]
        shown = ", ".join(f"{name} {f'{size:g}' if size < np.inf else 'never'}" for name, size in found.items())
        holds = 2 * len(still) > len(found) and 2 * len(late) < len(found)
        return Outcome(holds, f"within from: {shown}", why=f"above 450: {len(still)}, above 1,050: {len(late)}")

    rule = (
        f"a metric is there from the size on from which its mean distance is within {share:.0%} of that of large "
        "samples; more than half are not at 450 texts, fewer than half are not at 1,050"
    )
    claim = f"most metrics need about 1,000 texts to be within {share:.0%} on {', '.join(theirs)}"
    return Claim(claim, "figure 2", OUR_DATA[theirs], rule, test, _LARGE, way=f"within {share:.0%}")


_LARGE = "large samples of 3,000 texts for the whole corpora"


def _first_within(observed: Observations, share: float) -> float:
    """Return the first size from which on the mean distance stays within a share of large samples'; or infinity."""
    large = float(observed.of("kind", "asymptote").value.mean())
    sized = observed.of("kind", "size")
    sizes = np.unique(sized.columns["size_a"])
    off = [abs(float(sized.of("size_a", size).value.mean()) - large) > share * large for size in sizes.tolist()]
    last = max((place for place, away in enumerate(off) if away), default=-1)
    return float(sizes[last + 1]) if last + 1 < len(sizes) else float("inf")


def _imbalance(variant: str, theirs: tuple[str, str]) -> Iterator[Claim[KourEvidence]]:
    """Yield claims on a reference of 2,850 and a candidate of 50 texts; CLASSIFIER is judged by F1, as published."""
    for name, word in (("CLASSIFIER", "under"), ("MAUVE", "under"), ("FID", "over")):
        if name == "CLASSIFIER" and variant != "paper":
            continue

        def test(evidence: KourEvidence, name: str = name, below: bool = word == "under") -> Outcome:
            (observed,) = evidence.get_samples(variant, theirs, name)
            return judge_side("2,850 against 50 texts − large samples", _deviation(observed), below=below)

        claim = f"{name} {word}estimates the distance of a large reference on {', '.join(theirs)}"
        rule = "95 % interval of the distance of 2,850 and 50 texts less that of large samples is on that side of 0"
        yield _make_claim(variant, theirs, claim, "figure 2", rule, test)


def _diverges(variant: str, theirs: tuple[str, str]) -> Claim[KourEvidence]:
    def test(evidence: KourEvidence) -> Outcome:
        errors = []
        for observed in evidence.get_samples(variant, theirs, "PR", "DC"):
            large = float(observed.of("kind", "asymptote").value.mean())
            errors.append(np.abs(_get_largest_reference(observed) - large) / large)
        return judge_above("error of PR", "error of DC", estimate_mean(errors[0] - errors[1]))

    rule = "95 % interval over repetitions of the difference of their relative errors at 2,850 and 50 texts is above 0"
    claim = f"with a growing reference PR diverges where DC converges on {', '.join(theirs)}"
    return _make_claim(variant, theirs, claim, "figure 2", rule, test)


def _get_largest_reference(observed: Observations) -> Floats:
    found = observed.of("kind", "imbalance").of("size_a", 2_850)
    return np.asarray(found.value[np.argsort(found.batch)])


def _deviation(observed: Observations) -> MeasuredDifference:
    large, found = observed.of("kind", "asymptote").value, _get_largest_reference(observed)
    return subtract_unpaired(found, large) if len(large) > 1 else estimate_mean(found - large[0])


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
PAPER = Paper(
    "kour2022",
    ("3",),
    ("definition", "paper"),
    plans,
    rows,
    ledger_rows,
    _FIGURES,
    also=compute_classifier_pairs,
    minutes=30,
    params={"repetitions": REPETITIONS},
)
