"""Kour et al. 2022: known-similarity corpora, size, imbalance and time of eight metrics; the ledger and table 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np

from textgauge.arrays import Floats
from textgauge.errors import MissingExtra, ResourceError
from textgauge.evaluate.plan import Plan, make_plans
from textgauge.evaluate.protocols import Ksc, Size, Speed
from textgauge.evaluate.protocols.base import Observations
from textgauge.evaluate.protocols.size import ASYMPTOTE, IMBALANCE, SIZE
from textgauge.evaluate.results import Judged, Results
from textgauge.evaluate.sources import read_two
from textgauge.evaluate.suites import Metrics, register_suite
from textgauge.metrics import get_corpus_metrics
from textgauge.naming import parse
from textgauge.papers.kour2022_ifc import KOUR_METRICS, IfcEvidence, ifc_claims, ifc_plans
from textgauge.papers.ledger import (
    NOT_RUN,
    Claim,
    Finding,
    MeasuredDifference,
    above,
    above_all,
    all_hold,
    failures_first,
    ledger,
    of_values,
    paired,
)
from textgauge.papers.paper import Paper, PaperFigure, Request, compared, published
from textgauge.stats.correlation import spearman
from textgauge.tabular import Row, plain_row

# The same eight as the authors' code has them.
KOUR_PAPER_METRICS = (
    "chi(df=paper,padding=source),zipf(ranks=paper,padding=source),fid,pr(ties=open),dc(ties=open),mauve,"
    "classifier(score=f1),irpr(compat=compcor)@angular"
)
_AS = {"definition": "metrics and measures as defined", "paper": "metrics and measures as in the authors' code"}
_OVER_ALL = "the 95 % interval over repetitions of its paired difference with every other metric is above 0"
_OUR_DATA = {("clinc150", "banking77"): "clinc150,banking77", ("atis", "yahoo"): "atis,nfcats"}
_OUR_MEASURE = {"time_100ops": "throughput"}
_METRICS = {"definition": KOUR_METRICS, "paper": KOUR_PAPER_METRICS}
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


@register_suite("kour2022")
def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """The tables of Kour et al. 2022: two pairs of sources, k of 7 and 12, size and imbalance, time."""
    return _plans(metrics or KOUR_METRICS, "definition", seed)


def plans(request: Request) -> list[Plan]:
    """The suite with the metrics of every variant."""
    found = [plan for variant in request.variants for plan in _plans(_METRICS[variant], variant, request.seed)]
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


def rows(results: Results, request: Request) -> list[Row]:
    """Each published number next to ours, with the `reason` of their difference where one is known.

    `rank_correlation` is Spearman's between the published and our order of the metrics for that measure and data.
    """
    return [row for variant in request.variants for row in _rows(results, variant)]


def _judged(results: Results, variant: str) -> list[Judged]:
    keys = {metric.key for metric in get_corpus_metrics(_METRICS[variant])}
    return [
        item
        for item in results.judged(_PAPER if variant == "paper" else {})
        if item.metric in keys and getattr(item.protocol, "order", variant) == variant
    ]


def _rows(results: Results, variant: str) -> list[Row]:
    ours = _ours(_judged(results, variant))
    found = []
    for row in published("kour2022_table3").iter_rows(named=True):
        key = (row["source_a"], row["source_b"], row["k"], row["metric"], row["measure"])
        about = {name: row[name] for name in ("source_a", "source_b", "k", "metric", "measure")}
        mine = ours.get(key, float("nan"))
        found_row = compared("3", {"variant": variant, **about}, row["value"], mine, "our data")
        found.append(found_row | {"reason": _reason(found_row)})
    return _with_rank_correlation(found)


def _reason(row: Row) -> str | None:
    """What is known to make the two numbers differ."""
    known = [said for said, about in _REASONS if all(row[name] in values for name, values in about.items())]
    return "; ".join(known) or None


def _ours(judged: Sequence[Judged]) -> dict[tuple[Any, ...], float]:
    found: dict[tuple[Any, ...], float] = {}
    theirs = {ours: published for published, ours in _OUR_DATA.items()}
    measures = {ours: published for published, ours in _OUR_MEASURE.items()}
    for item in judged:
        if item.data not in theirs:
            continue
        k = getattr(item.protocol, "k", None)
        for verdict in item.verdicts:
            measure = measures.get(verdict.measure, verdict.measure)
            # Time does not depend on k; the paper prints it for both.
            for place in (7, 12) if measure == "time_100ops" else (k,):
                found[*theirs[item.data], place, parse(item.metric).name.upper(), measure] = verdict.value
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
    return [plain_row(row) for row in rows]


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
    for variant, (theirs, ours), k in product(request.variants, _OUR_DATA.items(), (7, 12)):
        found += [_weighted(variant, theirs, ours, k), *_radar(variant, theirs, ours, k)]
    for theirs, ours in _OUR_DATA.items():
        found += [*_sizes(theirs, ours), _throughput(theirs, ours)]
    return found


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """The ledger."""
    measures: dict[tuple[str, str, int | None], dict[str, Judged]] = {}
    for variant in request.variants:
        for item in _judged(results, variant):
            if item.data in _OUR_DATA.values() and item.seed == request.seed:
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
    return ((t, o, k, measure) for (t, o), k, measure in product(_OUR_DATA.items(), (7, 12), measures))


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
    shows = [not _includes_zero(_deviation(observed, SIZE, size)) for size in sizes]
    last = max((place for place, seen in enumerate(shows) if seen), default=-1)
    return float(sizes[last + 1]) if last + 1 < len(sizes) else float("inf")


def _includes_zero(gap: MeasuredDifference) -> bool:
    return gap.low <= 0 <= gap.high


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
        tested = permutation_test(
            (own,), lambda x: spearman(x, said), permutation_type="pairings", alternative="greater", n_resamples=20_000
        )
        value, p = spearman(own, said), float(tested.pvalue)
        return Finding(p <= 0.05, f"Spearman's ρ = {value:.2f}", f"p = {p:.3f}", "" if p <= 0.05 else "p above 0.05")

    shown = ", ".join(f"{name} {value:g}" for name, value in _printed(theirs, 7, "time_100ops").items())
    criterion = "one-sided permutation test of Spearman's ρ of our and the published throughput, p ≤ 0.05"
    claim = f"the order of T(d) on {', '.join(theirs)}"
    return Claim(claim, shown, ours, criterion, test, "; ".join(["another machine, other code", *_other(theirs)]))


_FIGURES = (
    PaperFigure("2-top", "distance", "How straight and how narrow each metric's distance rises with ℓ."),
    PaperFigure("2-middle", "size", "From which size on a metric is within its value for large samples."),
    PaperFigure("2-bottom", "imbalance", "Which way unequal sizes bend each metric."),
    PaperFigure("3", "tree", "Red lines are judgements that the metric gets wrong; fewer is better.", ("-k-7-",)),
    PaperFigure("4", "radar", "The fuller the shape, the better the metric by all measures together."),
    PaperFigure("5", "steps", "Distances that fall to the dashed line cannot see the generated texts any more."),
    PaperFigure("6", "box", "Measures over repetitions: boxes that overlap are no difference."),
)
PAPER = Paper("kour2022", ("3",), ("definition", "paper"), plans, rows, ledger_rows, _FIGURES)
