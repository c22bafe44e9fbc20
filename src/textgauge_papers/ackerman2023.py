"""Ackerman et al. 2023: which prototype each distance moves with, on duplicate questions; the illustration on numbers.

Every metric is judged beside three pairs of prototypes: `own` (on its own ground), `paper` (cosine distances, the
paper's text) and `code` (angles and the root of energy, its authors' code), on the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from textgauge.bench import (
    Distributionality,
    Metrics,
    Observations,
    Plan,
    Results,
    Verdicts,
    make_plans,
    read_paraphrases,
)
from textgauge.core import Floats, Row, drop_nonfinite_values
from textgauge.metrics import Metric, get_corpus_metrics, get_metric
from textgauge.stats import is_ahead
from textgauge_papers.ledger import (
    Claim,
    MeasuredDifference,
    Outcome,
    estimate_from_draws,
    estimate_mean,
    judge_above,
    judge_claims,
    judge_side,
    list_claims,
    look_up,
    subtract_paired,
)
from textgauge_papers.paper import Paper, PaperFigure, Request
from textgauge_papers.perturbation import Perturbation

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


def plans(request: Request) -> list[Plan]:
    """Return the suite with the number of sets requested."""
    return suite(None, request.seed, request.params.get("samples", _SAMPLES))


def suite(metrics: Metrics = None, seed: int = 0, samples: int = _SAMPLES) -> list[Plan]:
    """Distributionality as in Ackerman et al. 2023: five sets of duplicate questions of Quora; points that move."""
    chosen = metrics or [ACKERMAN_METRICS, _PROTOTYPES, _COMPONENTS]
    texts = make_plans([Distributionality(samples=samples)], [read_paraphrases(_DATA)], chosen, seed)
    points = (
        [] if metrics else make_plans([Perturbation()], [Perturbation.data.points], Perturbation.default_metrics, seed)
    )
    return [*texts, *points]


def rows(results: Results, request: Request) -> list[Row]:
    """Return the paper's class of every metric next to ours, by each rule for prototypes."""
    return [
        drop_nonfinite_values({"table": "class", "variant": rule, **_class(key, verdicts)})
        for rule in request.variants
        for key, verdicts in _get_judged(results, rule, request).items()
    ]


def _get_judged(results: Results, rule: str, request: Request) -> dict[str, Verdicts]:
    """Return the verdicts on metrics together with the prototypes of a rule."""
    protocol = Distributionality(samples=request.params.get("samples", _SAMPLES), prototypes=rule)  # type: ignore[arg-type]
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
    """Verdicts on metrics by rule, on points; values of metrics and components over ℓ, and of metrics on points."""

    classes: Mapping[str, Mapping[str, Verdicts]]
    points: Mapping[str, Verdicts] = field(default_factory=dict)
    values: Mapping[str, Observations] = field(default_factory=dict)
    moved: Mapping[str, Observations] = field(default_factory=dict)


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """Return the ledger."""
    classes = {rule: _get_judged(results, rule, request) for rule in _RULES}
    points: dict[str, Verdicts] = {}
    values: dict[str, Observations] = {}
    moved: dict[str, Observations] = {}
    for group in results.groups():
        if group.protocol == Perturbation():
            points |= {_drop_input(key): verdicts for key, verdicts in group.verdicts.items()}
            moved |= {_drop_input(key): observed for key, observed in group.complete.items()}
        elif (group.protocol.name, group.data) == (Distributionality.name, _DATA):
            values |= group.complete
    return judge_claims(claims(request), AckermanEvidence(classes, points, values, moved))


def _drop_input(key: str) -> str:
    return key.replace("@given:euclidean", "").replace("@given", "")


def claims(request: Request) -> list[Claim[AckermanEvidence]]:
    """Classes by each rule, the illustration, values over ℓ, components."""
    names = [(rule, key) for rule in request.variants for key in _list_judged_names(rule)]
    return [
        *list_claims("IRPR is nearer to AHD", *(_nearer(*of) for of in names if _published(of[1]) == "ahd")),
        *list_claims(
            "all others are nearer to energy", *(_nearer(*of) for of in names if _published(of[1]) == "energy")
        ),
        *list_claims(
            "PR and DC are not very similar to either baseline",
            *(_weak(rule, key) for rule in request.variants for key in _ball_keys()),
        ),
        *list_claims("IRPR rises before FID, low k before high k", *(_rises_before(*of) for of in _EARLY_AND_LATE)),
        *list_claims("FID rises slowly at first", _slow_start()),
        *list_claims("distributional metrics are less sensitive to dimensions", _dimensions()),
        *list_claims("distances rise and fall over ℓ, and are lowest at ℓ = K but for IRPR and AHD", *_hump()),
        *list_claims("parts of PR and DC vary less where k is above 3", *_spread()),
        *list_claims("density is about 1 from ℓ = 6 on", *_dense()),
    ]


def _list_judged_names(rule: str) -> list[str]:
    irpr = {"own": ["irpr", "irpr@angular"], "paper": ["irpr"], "code": ["irpr@angular"]}[rule]
    return [*irpr, "fid", "mauve", *_ball_keys()]


def _ball_keys() -> list[str]:
    return [get_metric(f"{name}(k={k})@cosine").key for name in _WEAK for k in _K]


_WAYS = {
    "own": ("by prototypes on a metric's own ground", "prototypes on the metric's own ground"),
    "paper": ("by the text's cosine prototypes", "cosine prototypes, as in the text"),
    "code": ("by the authors' code", "angular prototypes and the root of energy, as in the authors' code"),
}


def _nearer(rule: str, key: str) -> Claim[AckermanEvidence]:
    side = _published(key)

    def test(evidence: AckermanEvidence) -> Outcome:
        (verdicts,) = look_up(evidence.classes[rule], key)
        verdict = verdicts["distributionality"]
        score = MeasuredDifference(verdict.value, verdict.low, verdict.high)
        found = judge_side("score", score, below=side == "ahd")
        return replace(found, why=verdict.reason) if found.holds is None and verdict.reason else found

    criterion = f"the 95 % interval of the score over samples of pairs is {'above' if side == 'energy' else 'below'} 0"
    claim = f"{key} is nearer to {side}, by prototypes={rule}"
    return Claim(claim, f"nearer to {side}", _DATA, criterion, test, _WAYS[rule][1], way=_WAYS[rule][0])


def _weak(rule: str, key: str) -> Claim[AckermanEvidence]:
    def test(evidence: AckermanEvidence) -> Outcome:
        own, fid = map(_get_nearest, look_up(evidence.classes[rule], key, "fid"))
        return judge_above(f"deviation of {key}", "of fid", estimate_mean(own - fid))

    criterion = (
        "the 95 % interval over samples of its deviation from the nearer prototype, less fid's from its own, is above 0"
    )
    claim = f"{key} is farther from its prototype than fid, by prototypes={rule}"
    return Claim(claim, "not strong", _DATA, criterion, test, _WAYS[rule][1], way=_WAYS[rule][0])


def _get_nearest(verdicts: Verdicts) -> Floats:
    """Return the smaller of both deviations, of each sample."""
    energy, ahd, _ = verdicts.values()
    return np.minimum(energy.values, ahd.values)


_BLOBS = "Gaussian blobs, n = 300, p = 0.1, 20 y* of one A and B"
_EARLY_AND_LATE = (("irpr", "fid"), ("pr(k=2)", "pr(k=15)"), ("dc(k=2)", "dc(k=15)"))


def _rises_before(early: str, late: str) -> Claim[AckermanEvidence]:
    def test(evidence: AckermanEvidence) -> Outcome:
        first, second = (verdicts["tenth_rise"] for verdicts in look_up(evidence.points, early, late))
        return judge_above(late, early, subtract_paired(second, first))

    rule = (
        "the 95 % interval over y* of the difference of where a tenth of the largest rise is made (the later less the "
        "earlier) is above 0"
    )
    return Claim(f"{early} rises before {late}", "figures 1 and 2", _BLOBS, rule, test)


def _slow_start() -> Claim[AckermanEvidence]:
    def test(evidence: AckermanEvidence) -> Outcome:
        (verdicts,) = look_up(evidence.points, "fid")
        rise = verdicts["tenth_rise"]
        return judge_side("place − 0.1", MeasuredDifference(rise.value - 0.1, rise.low - 0.1, rise.high - 0.1))

    rule = "the 95 % interval over y* of where a tenth of the largest rise is made is above a tenth of the sweep of δ"
    return Claim("fid makes a tenth of its rise after a tenth of the way", "figure 2", _BLOBS, rule, test)


_DISTRIBUTIONAL, _NEAREST = ("energy", "fid", "mauve"), ("ahd", "irpr")
_DRAWS = 1_000


def _dimensions() -> Claim[AckermanEvidence]:
    def test(evidence: AckermanEvidence) -> Outcome:
        names = (*_DISTRIBUTIONAL, *_NEAREST)
        rises = dict(zip(names, map(_list_rises, look_up(evidence.moved, *names)), strict=True))
        few = len(next(iter(rises.values()))[0])
        rows = np.random.default_rng(0).integers(few, size=(2, _DRAWS, few))
        rows = np.concatenate([np.broadcast_to(np.arange(few), (2, 1, few)), rows], axis=1)
        change = {name: np.abs(high[rows[1]].mean(1) / low[rows[0]].mean(1) - 1) for name, (low, high) in rises.items()}
        both = [np.mean([change[name] for name in names], axis=0) for names in (_NEAREST, _DISTRIBUTIONAL)]
        gaps = both[0] - both[1]
        return judge_above(
            "change of AHD and IRPR", "of the others", estimate_from_draws(float(gaps[0]), gaps[1:], few)
        )

    protocol = Perturbation()
    rule = (
        f"relative change of the rise at δ = {protocol.delta:g} from q = {protocol.q} to {protocol.largest_q}: the "
        "95 % interval over y* of the mean of AHD and IRPR less that of energy, FID and MAUVE is above 0"
    )
    claim = "the rise of energy, FID and MAUVE changes less from 2 to 6 dimensions than that of AHD and IRPR"
    return Claim(claim, "figure 4", _BLOBS, rule, test)


def _list_rises(observed: Observations) -> tuple[Floats, Floats]:
    """Return the rise of each y* in the fewest and in the most dimensions."""
    protocol = Perturbation()
    both = []
    for q in (protocol.q, protocol.largest_q):
        here = observed.of("q", q).of("p", protocol.p)
        near, far = (here.of("delta", delta) for delta in (0.0, protocol.delta))
        both.append(far.value[np.argsort(far.batch)] - near.value[np.argsort(near.batch)])
    return both[0], both[1]


def _hump() -> Iterator[Claim[AckermanEvidence]]:
    """Yield the shape of figure 8: high in the middle, lowest at ℓ = K; IRPR and AHD high there."""
    last = f"ℓ = {Distributionality.k}"
    middle, ends = "the mean of ℓ = 6 to 10", "the higher of ℓ = 1 and K"
    for key in ("energy", "fid", "mauve", "pr@cosine", "dc@cosine"):
        yield _over_steps(
            *(key, "rises and falls over ℓ", middle, ends),
            lambda means: means[:, 5:10].mean(axis=1) - means[:, [0, -1]].max(axis=1),
        )
        yield _over_steps(
            *(key, f"is lowest at {last}", "the lowest mean at another ℓ", f"that at {last}"),
            lambda means: means[:, :-1].min(axis=1) - means[:, -1],
        )
    for key in ("irpr", "ahd"):
        yield _over_steps(
            *(key, f"is high at {last}", f"the value at {last}", "the mean over ℓ"),
            lambda means: means[:, -1] - means.mean(axis=1),
        )


def _over_steps(
    key: str, claim: str, first: str, second: str, subtract: Callable[[Floats], Floats]
) -> Claim[AckermanEvidence]:
    """Return a claim that one number of the means at each ℓ is above another, over samples."""

    def test(evidence: AckermanEvidence) -> Outcome:
        (observed,) = look_up(evidence.values, key)
        return judge_above(first, second, estimate_mean(subtract(_average_by_step(observed))))

    rule = f"the 95 % interval over samples of {first} less {second} is above 0"
    return Claim(f"{key} {claim}", "figure 8", _DATA, rule, test)


def _average_by_step(observed: Observations) -> Floats:
    """Return the mean at each ℓ, samples by ℓ."""
    step, sample = observed.columns["j"] - observed.columns["i"], observed.columns["sample"]
    return np.array(
        [[observed.value[(sample == s) & (step == at)].mean() for at in np.unique(step)] for s in np.unique(sample)]
    )


def _spread() -> Iterator[Claim[AckermanEvidence]]:
    for name, part in _PARTS:
        for k in (5, 10):

            def test(evidence: AckermanEvidence, name: str = name, part: str = part, k: int = k) -> Outcome:
                keys = [get_metric(f"{name}.{part}(k={number})@cosine").key for number in (3, k)]
                wide, narrow = map(_get_spreads, look_up(evidence.values, *keys))
                return judge_above("spread at k = 3", f"at k = {k}", estimate_mean(wide - narrow))

            rule = f"the 95 % interval over samples of the standard deviation within ℓ at k = 3 less k = {k} is above 0"
            yield Claim(f"{part} varies less at k = {k} than at k = 3", "figure 13", _DATA, rule, test)


def _get_spreads(observed: Observations) -> Floats:
    """Return the standard deviation of a component about its mean at each ℓ, of each sample."""
    step, sample = observed.columns["j"] - observed.columns["i"], observed.columns["sample"]
    found = []
    for s in np.unique(sample):
        here, at = observed.value[sample == s], step[sample == s]
        found.append(np.sqrt(np.mean([here[at == one].var() for one in np.unique(at)])))
    return np.array(found)


_NEAR_ONE = 0.05


def _dense() -> Iterator[Claim[AckermanEvidence]]:
    for k in (3, 5, 10):
        metric = get_metric(f"dc.density(k={k})@cosine")

        def test(evidence: AckermanEvidence, metric: Metric = metric) -> Outcome:
            (observed,) = look_up(evidence.values, metric.key)
            distances = _average_by_step(observed)[:, 5:]
            found = estimate_mean(metric.orient(distances).mean(axis=1) - 1.0)
            holds = is_ahead(found.low + _NEAR_ONE) and is_ahead(_NEAR_ONE - found.high)
            return Outcome(holds, f"mean − 1 = {found.value:+.3g}", found.interval, "" if holds else "farther off")

        rule = f"the 95 % interval over samples of the mean from ℓ = 6 on is within {_NEAR_ONE:g} of 1"
        yield Claim(f"density at k = {k} is about 1 from ℓ = 6 on", "figure 13", _DATA, rule, test)


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
    PaperFigure("12", "deviations", "Which prototype each metric is nearer to, and how far it is from both."),
    PaperFigure(
        "13",
        "step_boxes",
        "The parts of pr and dc: medians that stay at 1 where k is above 3, but for density.",
        ("-components-",),
    ),
)
PAPER = Paper(
    "ackerman2023", ("class",), _RULES, plans, rows, ledger_rows, _FIGURES, minutes=2, params={"samples": _SAMPLES}
)
