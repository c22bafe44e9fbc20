"""Increasingly fine-tuned corpora: steps are written once and kept, and claims are decided over them."""

import numpy as np
import pytest

from textgauge.bench import Group, Observations
from textgauge.core import InputError, UnknownName
from textgauge_papers import kour2022_ifc as ifc
from textgauge_papers.kour2022_ifc import STEPS, STUDIES, FineTuning, IfcEvidence, Kour2022Ifc, ifc_claims
from textgauge_papers.kour2022_tables import KOUR_METRICS
from textgauge_papers.ledger import judge_claims

NAMES = {name: name.upper() for name in KOUR_METRICS.split(",")}
TEXTS = [f"text of number {i}" for i in range(60)]
SMALL = FineTuning("headlines", "some", lambda: (TEXTS, None), 30, ifc.Ifc(n=10, repetitions=2))


@pytest.fixture
def trained(monkeypatch):
    """A model that learns nothing, and stops once, after step 2."""
    seen, stops = [], [2]

    def corpora(texts, *, steps, n, checkpoint, **_):
        first = len(list(checkpoint.parent.glob("step-*.txt"))) + 1
        for step in range(first, steps + 1):
            seen.append(step)
            yield step, [f"step {step} text {i}" for i in range(n)]
            if step in stops:
                stops.clear()
                raise KeyboardInterrupt

    monkeypatch.setattr(ifc, "ifc_corpora", corpora)
    monkeypatch.setattr(ifc, "STUDIES", (SMALL,))
    monkeypatch.setattr(ifc, "KOUR_METRICS", "jsd@words,chi")
    return seen


def test_a_run_goes_on_where_it_was_killed_and_measures_the_steps_that_are_asked_for(trained, tmp_path):
    def go(**options):
        program = Kour2022Ifc(studies="headlines", **options)
        return program.run_rows(tmp_path, seed=0)

    with pytest.raises(KeyboardInterrupt):
        go(steps=5)
    rows = go(steps=5)
    assert trained == [1, 2, 3, 4, 5]
    assert [(row["metric"], row["steps"]) for row in rows] == [("JSD", 5), ("CHI", 5)]
    assert rows[0]["first"] == pytest.approx(rows[0]["last"], abs=0.2)
    go(steps=3)
    go(steps=4, corpora=str(tmp_path))
    assert trained == [1, 2, 3, 4, 5]


def test_names_and_numbers_that_make_no_run_are_refused():
    with pytest.raises(UnknownName, match="banking77"):
        Kour2022Ifc(studies="banking")
    with pytest.raises(InputError, match="3 or more"):
        Kour2022Ifc(steps=2)


def observed(slope, steps, ttr=0.01):
    step = np.tile(np.arange(steps + 1), 10)  # step 0 is the self-distance
    batch = np.repeat(np.arange(10), steps + 1)
    noise = np.random.default_rng(steps).normal(0, 1e-2, len(step))
    value = np.where(step > 0, 5.0 + slope * step, 1.0) + noise
    kind = np.where(step > 0, "step", "self")
    return Observations(value, batch, {"kind": kind, "step": step, "ttr": ttr * step + noise})


def rows(slopes, *numbers):
    groups = [
        Group(f"{study.name}, {n} steps", study.protocol, 0, "", {key: observed(slopes[key], n) for key in slopes})
        for study in STUDIES
        for n in numbers
    ]

    class Results:
        @staticmethod
        def groups():
            return groups

    return {row["claim"]: row for row in judge_claims(ifc_claims(), IfcEvidence.of(Results(), NAMES))}


FALLING = dict.fromkeys(NAMES, -0.1)


def test_claims_are_decided_over_the_steps_of_the_longest_run():
    found = rows(FALLING | {"fid": 0.1, "chi": 0.1, "zipf": 0.05}, STEPS, 4)
    fid = found["FID falls with the steps (headlines, unlabelled)"]
    assert (fid["outcome"], fid["why"]) == ("does not hold", "the other way round")
    irpr = found["IRPR falls with the steps (headlines, unlabelled)"]
    assert (irpr["outcome"], irpr["ours"]) == ("holds", "ρ of IRPR = -1")
    outcomes = {claim.partition(" (")[0]: row["outcome"] for claim, row in found.items()}
    assert outcomes["CHI is less effective than the others"] == "holds"
    assert outcomes["ZIPF rises with the steps"] == "holds"
    assert outcomes["the type–token ratio grows with the steps"] == "holds"
    assert outcomes["FID still sees generated texts after the last step"] == "holds"


def test_a_part_of_the_steps_shows_numbers_and_decides_nothing():
    irpr = rows(FALLING, 12)["IRPR falls with the steps (headlines, unlabelled)"]
    assert (irpr["outcome"], irpr["ours"], irpr["why"]) == (
        "not testable here",
        "ρ of IRPR = -1",
        "huffpost_headlines: 12 of 40 steps were run",
    )


def test_without_steps_or_with_some_metrics_alone_nothing_is_decided():
    for found in (rows(FALLING), rows({"fid": -0.1}, 12)):
        assert {row["outcome"] for row in found.values()} == {"not testable here"}
        assert "kour2022-ifc" in found["ZIPF rises with the steps (headlines, unlabelled)"]["why"]
