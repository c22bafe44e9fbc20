"""Ackerman et al. 2023: which prototype each distance moves with, on duplicate questions; the illustration on numbers.

Every metric is judged beside three pairs of prototypes: `own` (on its own ground), `paper` (cosine distances, the
paper's text) and `code` (angles and the root of energy, its authors' code), on the same draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from textgauge.bench import (
    Distributionality,
    Metrics,
    Observations,
    Perturbation,
    Plan,
    Results,
    Verdicts,
    make_plans,
    read_paraphrases,
)
from textgauge.core import Floats, Row, drop_nonfinite_values
from textgauge.metrics import get_corpus_metrics, get_metric
from textgauge_papers.ledger import (
    NOT_RUN,
    UNKNOWN,
    Claim,
    Finding,
    MeasuredDifference,
    about,
    above,
    above_all,
    estimate_mean,
    ledger,
    on_side,
    subtract_paired,
)
from textgauge_papers.paper import Paper, PaperFigure, Request, bind_suite

# The metrics, and the parts of two of them (§5.4). IRPR is of cosine distances by the text, of angles by the code.
_K = (1, 2, 3, 5, 10)
_KS = f"(k={'|'.join(map(str, _K))})@minilm:cosine"
ACKERMAN_METRICS = f"energy,ahd,irpr,irpr@angular,fid,mauve,classifier,pr{_KS},dc{_KS}"
_PROTOTYPES = "energy@euclidean,ahd@euclidean,energy(root=true)@angular,ahd@angular"
_PARTS = [("pr", "precision"), ("pr", "recall"), ("dc", "density"), ("dc", "coverage")]
_COMPONENTS = ",".join(f"{name}.{part}{_KS}" for name, part in _PARTS)
_SAMPLES = 5
_DATA = "qqp"
_RULES = ("own", "paper", "code")
# What the paper finds: nearer to AHD (irpr alone), else to energy; of the latter, the weak ones.
_NEIGHBOURS, _WEAK = ("ahd", "irpr"), ("pr", "dc")


def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Distributionality as in Ackerman et al. 2023: five sets of duplicate questions of Quora; points that move."""
    chosen = metrics or [ACKERMAN_METRICS, _PROTOTYPES, _COMPONENTS]
    texts = make_plans([Distributionality(samples=_SAMPLES)], [read_paraphrases(_DATA)], chosen, seed)
    points = (
        [] if metrics else make_plans([Perturbation()], [Perturbation.data.points], Perturbation.default_metrics, seed)
    )
    return [*texts, *points]


def rows(results: Results, request: Request) -> list[Row]:
    """Return the paper's class of every metric next to ours, by each rule for prototypes."""
    return [
        drop_nonfinite_values({"table": "class", "variant": rule, **_class(key, verdicts)})
        for rule in request.variants
        for key, verdicts in _get_judged(results, rule).items()
    ]


def _get_judged(results: Results, rule: str) -> dict[str, Verdicts]:
    """Return the verdicts on metrics together with the prototypes of a rule."""
    protocol = Distributionality(samples=_SAMPLES, prototypes=rule)  # type: ignore[arg-type]
    keys = [metric.key for metric in get_corpus_metrics(ACKERMAN_METRICS)]
    found = {
        metric: verdicts
        for group in results.groups({} if rule == Distributionality.prototypes else {"prototypes": rule})
        if (group.data, group.protocol) == (_DATA, protocol)
        for metric, verdicts in group.verdicts.items()
    }
    return {key: found[key] for key in keys if key in found}


def _class(key: str, verdicts: Verdicts) -> Row:
    energy, ahd, verdict = verdicts.values()
    published = _published(key)
    ours = None if np.isnan(verdict.value) else "energy" if verdict.value > 0 else "ahd"
    nearer = [value for value in verdict.values if (value > 0) == (published == "energy")]
    return {
        "metric": key,
        "published": published,
        "ours": ours,
        "agrees": ours == published,
        "deviation_energy": energy.value,
        "deviation_ahd": ahd.value,
        "distributionality": verdict.value,
        "low": verdict.low,
        "high": verdict.high,
        "samples": f"{len(nearer)} of {len(verdict.values)}",
        "data": _DATA,
        "reason": verdict.reason,
    }


def _published(key: str) -> str:
    return "ahd" if get_metric(key).name in _NEIGHBOURS else "energy"


@dataclass(frozen=True, eq=False)
class AckermanEvidence:
    """Verdicts on metrics by rule, on points, and the values of components over ℓ."""

    classes: Mapping[str, Mapping[str, Verdicts]]
    points: Mapping[str, Verdicts]
    components: Mapping[str, Observations]


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """Return the ledger."""
    classes = {rule: _get_judged(results, rule) for rule in _RULES}
    points = {
        metric.replace("@given:euclidean", "").replace("@given", ""): verdicts
        for group in results.groups()
        if group.protocol == Perturbation()
        for metric, verdicts in group.verdicts.items()
    }
    components = {
        key: observed
        for group in results.groups()
        if (group.protocol.name, group.data) == (Distributionality.name, _DATA)
        for key, observed in group.complete.items()
        if get_metric(key).part is not None
    }
    return ledger(claims(request), AckermanEvidence(classes, points, components))


def claims(request: Request) -> list[Claim[AckermanEvidence]]:
    """Classes by each rule, the illustration, components."""
    names = [(rule, key) for rule in request.variants for key in _list_judged_names(rule)]
    return [
        *about("IRPR is nearer to AHD", *(_nearer(*of) for of in names if _published(of[1]) == "ahd")),
        *about("all others are nearer to energy", *(_nearer(*of) for of in names if _published(of[1]) == "energy")),
        *about("PR and DC are weak", *(_weak(rule, key) for rule in request.variants for key in _ball_keys())),
        *about("IRPR rises early, low k before high k, FID late", *_illustration()),
        *about("parts of PR and DC are flat for k > 3", *_flat()),
        *about("distances over dimensions", *_untested()),
    ]


def _list_judged_names(rule: str) -> list[str]:
    irpr = {"own": ["irpr", "irpr@angular"], "paper": ["irpr"], "code": ["irpr@angular"]}[rule]
    return [*irpr, "fid", "mauve", *_ball_keys()]


def _ball_keys() -> list[str]:
    return [get_metric(f"{name}(k={k})@cosine").key for name in _WEAK for k in _K]


def _describe_rule(rule: str) -> str:
    return {"own": "prototypes on the metric's own ground", "paper": "cosine prototypes, as in the text"}.get(
        rule, "angular prototypes and the root of energy, as in the authors' code"
    )


def _nearer(rule: str, key: str) -> Claim[AckermanEvidence]:
    side = _published(key)

    def test(evidence: AckermanEvidence) -> Finding:
        item = evidence.classes[rule].get(key)
        verdict = None if item is None else item["distributionality"]
        score = UNKNOWN if verdict is None else MeasuredDifference(verdict.value, verdict.low, verdict.high)
        found = on_side("score", score, below=side == "ahd")
        undefined = found.holds is None and verdict is not None and verdict.reason
        return replace(found, why=undefined) if undefined else found

    criterion = f"the 95 % interval of the score over samples of pairs is {'above' if side == 'energy' else 'below'} 0"
    claim = f"{key} is nearer to {side}, by prototypes={rule}"
    return Claim(claim, f"nearer to {side}", _DATA, criterion, test, _describe_rule(rule))


def _weak(rule: str, key: str) -> Claim[AckermanEvidence]:
    def test(evidence: AckermanEvidence) -> Finding:
        found = evidence.classes[rule]
        if key not in found or "fid" not in found:
            return Finding(None, why=NOT_RUN)
        return above(
            "fid",
            key,
            subtract_paired(found["fid"]["distributionality"], found[key]["distributionality"]),
        )

    criterion = "the 95 % interval over samples of the paired difference of scores, fid's less its own, is above 0"
    claim = f"{key} is less distributional than fid, by prototypes={rule}"
    return Claim(claim, "weakly", _DATA, criterion, test, _describe_rule(rule))


def _illustration() -> Iterator[Claim[AckermanEvidence]]:
    criterion = "the 95 % interval over y* of the difference of {} (the later less the earlier) is above 0"
    data = "Gaussian blobs, n = 300, p = 0.1, 20 y* of one A and B"
    pairs = [("irpr", "fid"), *((f"{name}(k={low})", f"{name}(k={high})") for name, low, high in _LOW_HIGH)]
    for early, late in pairs:

        def test(evidence: AckermanEvidence, early: str = early, late: str = late) -> Finding:
            found = evidence.points
            if early not in found or late not in found:
                return Finding(None, why=NOT_RUN)
            return above(late, early, subtract_paired(found[late]["tenth_rise"], found[early]["tenth_rise"]))

        rule = criterion.format("where a tenth of the largest rise is made")
        yield Claim(f"{early} rises before {late}", "figures 1 and 2", data, rule, test)

    def last(evidence: AckermanEvidence) -> Finding:
        found = evidence.points
        others = [name for name in found if name not in ("fid", "energy", "ahd")]
        if "fid" not in found or not others:
            return Finding(None, why=NOT_RUN)
        fid = found["fid"]["tenth_rise"]
        return above_all("fid", {name: subtract_paired(fid, found[name]["tenth_rise"]) for name in others})

    rule = criterion.format("where a tenth of the largest rise is made, with each other metric,")
    yield Claim("fid rises last", "figures 1 and 2", data, rule, last)


_LOW_HIGH = (("pr", 2, 15), ("dc", 2, 15))


def _flat() -> Iterator[Claim[AckermanEvidence]]:
    for name, part in _PARTS:
        for k in (5, 10):

            def test(evidence: AckermanEvidence, name: str = name, part: str = part, k: int = k) -> Finding:
                keys = [get_metric(f"{name}.{part}(k={number})@cosine").key for number in (3, k)]
                if any(key not in evidence.components for key in keys):
                    return Finding(None, why=NOT_RUN)
                steep, flat = (np.abs(_slopes(evidence.components[key])) for key in keys)
                return above("|slope| at k = 3", f"at k = {k}", estimate_mean(steep - flat))

            criterion = f"the 95 % interval over samples of |slope over ℓ| at k = 3 less that at k = {k} is above 0"
            yield Claim(f"{part} is flatter over ℓ at k = {k} than at k = 3", "figure 13", _DATA, criterion, test)


def _slopes(observed: Observations) -> Floats:
    """Return the least-squares slope of a component over ℓ, of each sample."""
    step = (observed.columns["j"] - observed.columns["i"]).astype(np.float64)
    sample = observed.columns["sample"]
    return np.array([np.polyfit(step[sample == s], observed.value[sample == s], 1)[0] for s in np.unique(sample)])


def _untested() -> Iterator[Claim[AckermanEvidence]]:
    why = "the paper shows curves for q = 2 to 6 and states nothing that a test could decide"
    yield Claim("distances over the number of dimensions", "figure 4", "Gaussian blobs", "none", why=why)


_FIGURES = (
    PaperFigure("1", "perturbation", "A, B and the group of B that is moved away from its blob.", ("points",)),
    PaperFigure("2", "perturbation", "Which distances rise at once and which only far out, over δ.", ("-delta-",)),
    PaperFigure("3", "perturbation", "How each distance rises with the share of points that move.", ("-p-",)),
    PaperFigure(
        "4", "perturbation", "Whether the rise above the dashed line shrinks as dimensions are added.", ("-q-",)
    ),
    PaperFigure(
        "8", "step_boxes", "Raw values over ℓ: which metrics still rise far out, and which turn down.", ("-metrics-",)
    ),
    PaperFigure(
        "10", "trajectory", "Which band each metric's line follows, energy's or AHD's.", metrics=ACKERMAN_METRICS
    ),
    PaperFigure("11", "density", "At each ℓ, which prototype's density the metric's own lies on.", ("-fid", "-irpr")),
    PaperFigure("12", "step_boxes", "pr and dc as k grows: more and more of their boxes are flat at 0.", ("-by-k-",)),
    PaperFigure(
        "13",
        "step_boxes",
        "The parts of pr and dc: medians that stay at 1 where k is above 3, but for density.",
        ("-components-",),
    ),
)
PAPER = Paper("ackerman2023", ("class",), _RULES, bind_suite(suite), rows, ledger_rows, _FIGURES)
