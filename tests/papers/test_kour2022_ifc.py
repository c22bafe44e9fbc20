"""Increasingly fine-tuned corpora: training runs are kept, and claims are decided over them."""

import numpy as np
import pytest

from textgauge.bench import Group, Observations
from textgauge_papers import kour2022_ifc as ifc
from textgauge_papers.kour2022_ifc import RUNS, STEPS, STUDIES, FineTuning, IfcEvidence, ifc_claims
from textgauge_papers.kour2022_tables import KOUR_METRICS
from textgauge_papers.ledger import ledger

NAMES = {name: name.upper() for name in KOUR_METRICS.split(",")}
TEXTS = [f"text of number {i}" for i in range(60)]


@pytest.fixture
def study(monkeypatch, tmp_path):
    trained = []

    def corpora(texts, *, steps, n, seed, labels, **_):
        trained.append((seed, labels is not None))
        for step in range(1, steps + 1):
            yield step, [f"run {seed} step {step} text {i}" for i in range(n)]

    monkeypatch.setattr(ifc, "ifc_corpora", corpora)
    monkeypatch.setattr(ifc, "get_cache_root", lambda: tmp_path)
    return trained


def test_every_run_is_trained_once_and_kept(study):
    small = FineTuning("headlines", "some", lambda: (TEXTS, None), 30, 4, 20, ifc.Ifc(n=10, repetitions=1))
    first = ifc.ifc_plans("jsd@words", 0, [small])
    assert [plan.sources.name for plan in first] == [f"headlines, training run {run}" for run in (1, 2, 3)]
    assert study == [(1_000, False), (2_000, False), (3_000, False)]
    assert [plan.sources.fingerprint for plan in ifc.ifc_plans("jsd@words", 0, [small])] == [
        plan.sources.fingerprint for plan in first
    ]
    assert len(study) == RUNS
    steps = first[1].sources.corpora
    assert list(steps) == ["reference", "step-001", "step-002", "step-003", "step-004"]
    assert steps["step-003"].texts[0] == "run 2000 step 3 text 0"


def observed(slope, run, ttr=0.01):
    step = np.arange(STEPS + 1)  # step 0 is the self-distance
    noise = np.random.default_rng(run).normal(0, 1e-3, len(step))
    value = np.where(step > 0, 5.0 + slope * step, 1.0) + noise
    kind = np.where(step > 0, "step", "self")
    return Observations(value, np.zeros(len(step), dtype=int), {"kind": kind, "step": step, "ttr": ttr * step + noise})


def rows(slopes, runs=RUNS):
    groups = [
        Group(study.data(run), study.protocol, 0, "", {key: observed(slopes[key], run) for key in slopes})
        for study in STUDIES
        for run in range(1, runs + 1)
    ]

    class Results:
        @staticmethod
        def groups():
            return groups

    evidence = IfcEvidence.of(Results(), NAMES)
    found = {row["claim"].partition(" (")[0]: row for row in ledger(ifc_claims(), evidence)}
    assert {row["outcome"] for row in found.values()} == {"not testable here"}
    return {claim: row["ours"] for claim, row in found.items()}


FALLING = dict.fromkeys(NAMES, -0.1)


def test_a_model_that_begins_at_noise_shows_numbers_and_decides_nothing():
    found = rows(FALLING | {"fid": 0.1, "chi": -0.2, "irpr": -0.2})
    assert found["FID falls with the steps"] == "−ρ = -1"
    assert found["IRPR falls with the steps"] == "−ρ = +1"
    assert found["ZIPF rises with the steps"].startswith("slope = -0.1")
    assert found[f"IRPR still sees generated texts after {STEPS} steps"].startswith("distance left = ")


def test_fewer_runs_decide_nothing():
    assert set(rows(FALLING, runs=2).values()) == {None}
