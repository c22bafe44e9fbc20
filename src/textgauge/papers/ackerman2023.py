"""Ackerman et al. 2023: which prototype each distance moves with, on duplicate questions.

`definition` takes the paper's text (cosine distances) and prototypes on each metric's own ground; `paper` its authors'
code (angles, the root of energy) and these as prototypes of all metrics.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from textgauge.evaluate.pair_sources import read_paraphrases
from textgauge.evaluate.plan import Plan, make_plans
from textgauge.evaluate.protocols import Distributionality
from textgauge.evaluate.protocols.distributionality import SCORE
from textgauge.evaluate.results import Judged, Results
from textgauge.evaluate.suites import Metrics, register_suite
from textgauge.metrics import get_corpus_metrics, get_metric
from textgauge.papers.paper import Paper, Request
from textgauge.tabular import Row, plain_row

# The metrics, and the parts of two of them (§5.4). By the paper's text, prototypes and IRPR are of cosine distances; by
# its code, of angles, and energy is a root.
_KS = "(k=1|2|3|5|10)@minilm:cosine"
ACKERMAN_METRICS = {
    "definition": f"energy,ahd,irpr,fid,mauve,pr{_KS},dc{_KS}",
    "paper": f"energy(root=true)@angular,ahd@angular,irpr@angular,fid,mauve,pr{_KS},dc{_KS}",
}
_PARTS = ",".join(f"{part}{_KS}" for part in ("pr.precision", "pr.recall", "dc.density", "dc.coverage"))
_SAMPLES = 5
_DATA = "qqp"
# What the paper finds: nearer to AHD (irpr alone), else to energy; of the latter, the weak ones.
_NEIGHBOURS, _WEAK = ("ahd", "irpr"), ("pr", "dc")


@register_suite("ackerman2023")
def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Distributionality as in Ackerman et al. 2023: five sets of duplicate questions of Quora."""
    chosen = metrics or [ACKERMAN_METRICS["definition"], _PARTS]
    return make_plans([Distributionality(samples=_SAMPLES)], [read_paraphrases(_DATA)], chosen, seed)


def plans(request: Request) -> list[Plan]:
    """Metrics and prototypes of every variant, on the trials of the suite."""
    data = [read_paraphrases(_DATA)]
    return [
        plan
        for variant in request.variants
        for plan in make_plans([_protocol(variant)], data, ACKERMAN_METRICS[variant], request.seed)
    ]


def rows(results: Results, request: Request) -> list[Row]:
    """The paper's class of every metric next to ours, and whether the weak ones are the weak ones."""
    return [
        plain_row(row) for variant in request.variants for row in _rows(_judged(results, request, variant), variant)
    ]


def _protocol(variant: str) -> Distributionality:
    energy, ahd, *_ = get_corpus_metrics(ACKERMAN_METRICS[variant])
    return Distributionality(samples=_SAMPLES, distributional=energy.key, neighbours=ahd.key)


def _judged(results: Results, request: Request, variant: str) -> dict[str, Judged]:
    """The judged metrics of a variant, under its own prototypes."""
    protocol, keys = _protocol(variant), [metric.key for metric in get_corpus_metrics(ACKERMAN_METRICS[variant])]
    wanted = (_DATA, protocol, request.seed)
    found = {item.metric: item for item in results.judged() if (item.data, item.protocol, item.seed) == wanted}
    return {key: found[key] for key in keys if key in found and found[key].verdicts}


def _rows(judged: dict[str, Judged], variant: str) -> Iterator[Row]:
    scores = {key: item.verdict(SCORE).value for key, item in judged.items()}
    for key, item in judged.items():
        yield {"table": "class", "variant": variant, **_class(key, item)}
    for key, value in scores.items():
        if get_metric(key).name in _WEAK:
            yield {"table": "strength", "variant": variant, **_strength(key, value, scores)}


def _class(key: str, item: Judged) -> Row:
    energy, ahd, verdict = item.verdicts
    published = "ahd" if get_metric(key).name in _NEIGHBOURS else "energy"
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
        "reason": verdict.reason,
    }


def _strength(key: str, value: float, scores: dict[str, float]) -> Row:
    """Nearer to energy, but less so than FID."""
    weak = 0 < value < scores["fid"]
    ours = None if np.isnan(value) else "weakly energy" if weak else "not so"
    return {
        "metric": key,
        "published": "weakly energy",
        "ours": ours,
        "agrees": ours == "weakly energy",
        "distributionality": value,
    }


PAPER = Paper("ackerman2023", ("class", "strength"), ("definition", "paper"), plans, rows)
