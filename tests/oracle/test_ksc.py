"""Known-similarity corpora judged with metrics whose verdict is known beforehand."""

import math

import pytest

from textgauge.bench import Ksc

ALL = ("accuracy", "weighted_accuracy", "monotonicity", "separability", "linearity")
SMALL = Ksc(k=7, n=12, repetitions=3)


@pytest.mark.parametrize("protocol", [SMALL, Ksc(k=12, n=22, repetitions=2), Ksc(n=12, draw="lottery")])
@pytest.mark.parametrize("name", ["perfect", "likeness"])
@pytest.mark.parametrize("judgements", ["distinct", "paper"])
def test_a_perfect_metric_gets_one_on_everything(verdicts, protocol, name, judgements):
    found = verdicts(name, protocol, size=200, judgements=judgements)
    assert tuple(found) == ALL
    for verdict in found.values():
        assert verdict.value == pytest.approx(1.0, abs=1e-9)
        assert len(verdict.values) == protocol.repetitions
        assert (verdict.reason, verdict.error) == (None, 0.0)


def test_an_inverted_metric_gets_nothing_but_is_as_regular(verdicts):
    found = verdicts("inverted", SMALL, size=200)
    assert found["accuracy"].value == found["weighted_accuracy"].value == 0.0
    assert found["monotonicity"].value == pytest.approx(-1.0)
    assert found["separability"].value == found["linearity"].value == pytest.approx(1.0)
    assert verdicts("inverted", SMALL, size=200, linearity="r")["linearity"].value == pytest.approx(-1.0)


def test_a_random_metric_is_at_chance(verdicts):
    found = verdicts("random", Ksc(k=7, n=6, repetitions=300), size=60)
    chance = {"accuracy": 0.5, "weighted_accuracy": 0.5, "monotonicity": 0.0, "separability": 0.0}
    for name, expected in chance.items():
        error = found[name].std / math.sqrt(300)
        assert abs(found[name].value - expected) < 3 * error
        assert found[name].low < expected < found[name].high
        assert found[name].boot_low < expected < found[name].boot_high
        assert found[name].std > 0.01
    assert 0 < found["linearity"].value < 0.15


@pytest.mark.parametrize(("ties", "accuracy"), [("half", 0.5), ("right", 1.0), ("wrong", 0.0)])
@pytest.mark.parametrize("at", ["0.3", "0"])
def test_a_constant_metric_is_judged_by_the_tie_rule_and_undefined_elsewhere(verdicts, ties, accuracy, at):
    found = verdicts(f"constant(at={at})", SMALL, size=200, ties=ties)
    assert found["accuracy"].value == found["weighted_accuracy"].value == accuracy
    for name in ("monotonicity", "separability", "linearity"):
        assert math.isnan(found[name].value)
        assert found[name].reason == "all distances are equal"


@pytest.mark.parametrize("judgements", ["distinct", "paper"])
def test_sampled_judgements_agree_within_their_standard_error(verdicts, judgements):
    sample = 1_000
    every = verdicts("noisy", Ksc(k=12, n=11, repetitions=4), size=150, judgements=judgements)
    drawn = verdicts("noisy", Ksc(k=12, n=11, repetitions=4), size=150, judgements=judgements, sample=sample)
    for name in ("accuracy", "weighted_accuracy"):
        assert 0.55 < every[name].value < 0.98
        assert 0 < abs(drawn[name].value - every[name].value) < 3 * drawn[name].error
    binomial = [math.sqrt(p * (1 - p) / sample) for p in drawn["accuracy"].values]
    assert drawn["accuracy"].error == pytest.approx(sum(binomial) / len(binomial))
    assert drawn["monotonicity"] == every["monotonicity"]
    assert drawn["monotonicity"].error == 0.0
