"""Seeds, and what is computed how often."""

from unittest.mock import patch

import numpy as np
import pytest

from textgauge import compare, get_metric
from textgauge.metrics import CorpusMetric
from textgauge.metrics.corpus.mauve import Mauve

RNG = np.random.default_rng(0)
REFERENCE, CANDIDATE = RNG.normal(size=(40, 6)), RNG.normal(size=(40, 6)) + 0.5


def keys(metrics, **options):
    return [score.metric for score in compare(reference=REFERENCE, candidate=CANDIDATE, metrics=metrics, **options)]


@pytest.mark.parametrize("given", ["mauve(seed=0)", Mauve(seed=0)], ids=str)
def test_a_seed_given_by_name_wins(given):
    assert keys([given], seed=7) == ["mauve@given"]
    assert keys(["mauve(seed=3)"], seed=7) == ["mauve(seed=3)@given"]


def test_a_metric_without_a_seed_takes_that_of_the_comparison():
    assert keys("mauve,energy,classifier.f1", seed=7) == [
        "mauve(seed=7)@given",
        "energy@given",
        "classifier.f1(seed=7)@given",
    ]
    assert keys("mauve") == ["mauve@given"]


def test_a_seed_nobody_chose_is_0():
    assert get_metric("mauve") == get_metric("mauve(seed=0)")
    assert "seed=0" in get_metric("mauve").signature


@pytest.mark.parametrize("name", ["mauve", "fid", "energy", "vendi_gap", "c2st", "energy.coefficient"])
def test_an_interval_does_not_compute_the_value_again(name):
    counted = []
    kind = type(get_metric(name))
    original = kind.compute

    def compute(self, comparison):
        counted.append(name)
        return original(self, comparison)

    with patch.object(kind, "compute", compute), patch.object(CorpusMetric, "null", return_value=0.0):
        (score,) = compare(reference=REFERENCE, candidate=CANDIDATE, metrics=name, ci=True)
    assert score.low <= score.high
    assert len(counted) == 1
