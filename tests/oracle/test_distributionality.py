"""Distributionality judged with metrics whose verdict is known beforehand: transforms of the prototypes."""

import math

import numpy as np
import pytest
from tests.oracle.conftest import Oracle, make_oracle

from textgauge.bench import Distributionality, PairSources, Store, run
from textgauge.bench.plan import make_plans
from textgauge.bench.results import Results
from textgauge.data import Corpus
from textgauge.metrics import Part, get_metric, registry

PROTOTYPES = {"distributional": "energy@given:euclidean", "neighbours": "ahd@given:euclidean"}


class Transform(Oracle):
    def compute(self, comparison):
        return {"value": self.of(*(get_metric(name).measure(comparison).value for name in PROTOTYPES.values()))}


LIKENESS = Part("value", closer="larger", bounds=(-math.inf, math.inf))
TRANSFORMS = (
    make_oracle(Transform, "stretched", lambda distributional, _: 7.0 * distributional + 100.0),
    make_oracle(Transform, "likeness", lambda _, neighbours: 3.0 - 0.5 * neighbours, headline=LIKENESS),
    make_oracle(Transform, "constant", lambda *_: 0.3),
    make_oracle(Transform, "between", lambda *both: sum(both)),  # nearer to each than they are to each other
)


def moved(size=60, seed=0):
    """Points of a few groups, and each of them moved a little."""
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 1, (size, 4)) + 6 * rng.integers(0, 3, (size, 1))
    sides = points, points + rng.normal(0, 0.3, points.shape)
    names = [[f"{side} {row}" for row in range(size)] for side in ("left", "right")]
    return PairSources("moved", *(Corpus.of(n, embeddings=side) for n, side in zip(names, sides, strict=True)))


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """Verdicts by metric and measure, by way of a run and its store."""
    for kind in TRANSFORMS:
        monkeypatch.setitem(registry.METRICS, kind.name, kind)

    def verdicts(metrics, **given):
        protocol = Distributionality(n=30, k=6, **PROTOTYPES, **given)
        assert not run(make_plans([protocol], [moved()], metrics, 0), Store(tmp_path)).failures
        (group,) = Results(Store(tmp_path)).groups()
        return group.verdicts

    return verdicts


@pytest.mark.parametrize("samples", [1, 3])
def test_prototypes_and_their_transforms(judged, samples):
    found = judged("stretched,likeness,between", samples=samples)
    scores = {metric: of["distributionality"] for metric, of in found.items()}
    parts = {metric: list(of.values()) for metric, of in found.items()}
    assert set(scores) == {"stretched", "likeness", "between", *PROTOTYPES.values()}
    assert scores["energy@given:euclidean"].value == 1.0
    assert scores["ahd@given:euclidean"].value == -1.0
    assert scores["stretched"].value == pytest.approx(1.0, abs=1e-9)
    assert scores["likeness"].value == pytest.approx(-1.0, abs=1e-9)
    assert (scores["stretched"].reason, scores["likeness"].reason) == (None, None)
    apart = parts["energy@given:euclidean"][1].value
    assert apart > 0.05
    for metric, place in (("energy@given:euclidean", 0), ("ahd@given:euclidean", 1)):
        assert parts[metric][place].value == 0.0
    assert parts["stretched"][1].value == pytest.approx(apart, abs=1e-9)
    assert max(verdict.value for verdict in parts["between"][:2]) < apart
    assert -1 < scores["between"].value < 1
    assert scores["between"].low <= scores["between"].value <= scores["between"].high


def test_a_constant_metric_has_no_class(judged):
    verdict = judged("constant")["constant"]["distributionality"]
    assert math.isnan(verdict.value)
    assert verdict.reason == "all distances are equal"


def test_one_pair_of_prototypes_for_all_would_judge_the_ground(tmp_path):
    """IRPR follows nearest neighbours on any ground; beside prototypes of angles alone its cosine form seems not to."""
    rng = np.random.default_rng(0)
    points = rng.normal(0, 1, (50, 300))
    sides = points, points + rng.normal(0, 0.6, points.shape)
    names = [[f"{side} {row}" for row in range(50)] for side in ("left", "right")]
    sources = PairSources("around", *(Corpus.of(n, embeddings=X) for n, X in zip(names, sides, strict=True)))
    grounds = ["irpr@given", "irpr@given:angular", "irpr@given:euclidean"]
    plans = make_plans([Distributionality(repetitions=3)], [sources], grounds, 0)
    run(plans, Store(tmp_path))

    def scores(**given):
        (group,) = Results(Store(tmp_path)).groups(given)
        return [group.verdicts[metric]["distributionality"].value for metric in grounds]

    assert max(scores()) < 0
    angles = scores(distributional="energy@given:angular", neighbours="ahd@given:angular")
    assert angles[0] > 0 > angles[1]
