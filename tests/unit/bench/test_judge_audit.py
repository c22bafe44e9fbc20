"""The audit of a judge: rows against plain computations, biases that were put in, the command, and bad input."""

import csv
import json

import numpy as np
import pytest

from textgauge import audit_judge
from textgauge.core.errors import InputError
from textgauge.stats.annotators import (
    estimate_prediction_powered_mean,
    kappa,
    krippendorff_alpha,
    run_alternative_annotator_test,
)

PEOPLE = ["ann", "bob", "cyd"]


def made(n=120, rated=60, seed=0):
    """Three people, a judge who likes long texts, its answers again and with texts exchanged."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, n)
    words = rng.integers(1, 12, n)
    columns = {
        name: [int(v) if row < rated else None for row, v in enumerate(np.clip(truth + rng.integers(-1, 2, n), 1, 5))]
        for name in PEOPLE
    }
    judge = np.clip(truth + (words > 8) - (words < 3), 1, 5)
    columns["judge"] = judge.tolist()
    columns["again"] = np.where(rng.random(n) < 0.9, judge, 3).tolist()
    columns["swapped"] = np.maximum(judge - (np.arange(n) % 2), 1).tolist()
    columns["left"] = [" ".join(["word"] * int(count)) for count in words]
    columns["right"] = [f"text {row}" for row in range(n)]
    return columns


@pytest.fixture(scope="module")
def columns():
    return made()


@pytest.fixture(scope="module")
def audit(columns):
    return audit_judge(columns, rating=PEOPLE, judge="judge", repeat=["again"], swapped="swapped", text="left")


def test_rows_are_those_of_plain_computations(columns, audit):
    people = np.array([[np.nan if cell is None else cell for cell in columns[name]] for name in PEOPLE], dtype=float)
    judge = np.array(columns["judge"], dtype=float)
    among = np.mean([kappa(people[a], people[b], squared=True) for a, b in ((0, 1), (0, 2), (1, 2))])
    assert audit["kappa", "people"].value == pytest.approx(among)
    with_judge = np.mean([kappa(row, judge, squared=True) for row in people])
    assert audit["kappa", "judge and people"].value == pytest.approx(with_judge)
    assert audit["kappa", "difference"].value == pytest.approx(with_judge - among)
    assert audit["alpha", "people"].value == pytest.approx(krippendorff_alpha(people, scale="ordinal"))
    assert audit["base rate", "judge: 3"].value == pytest.approx((judge == 3).mean())
    test = run_alternative_annotator_test(people, judge, closeness="rmse")
    assert audit["winning rate", "judge"].value == test.winning_rate
    assert audit["advantage", "over bob"].value == pytest.approx(test.advantages[1])
    human = np.where(np.isfinite(people[0]), people.mean(axis=0), np.nan)
    expected = estimate_prediction_powered_mean(human, judge)
    found = audit["mean score", "people, with the judge's help"]
    assert (found.value, found.low, found.high) == pytest.approx(expected[:3])
    alone = audit["mean score", "people alone"]
    assert found.high - found.low < alone.high - alone.low
    for row in audit.rows:
        assert np.isnan(row.low) or row.low <= row.value <= row.high


def test_biases_that_were_put_in_are_found(audit):
    assert audit["length bias", "judge"].low > 0
    assert audit["position bias", "judge"].low > 0
    assert 0.3 < audit["changed by position", "judge"].value < 0.6
    assert 0.5 < audit["self-consistency", "judge"].value < 1


def test_the_answer_says_what_the_test_says(audit):
    may = "may" if audit.test.passed else "may not"
    assert audit.answer.startswith(f"The judge {may} take the place of a person: it is as good as ")
    assert audit.to_dict()["rows"][0]["measure"] == "agreement"
    few = audit_judge(made(n=20, rated=10), rating=PEOPLE, judge="judge")
    assert "is not known: it takes 30 items of each" in few.answer


@pytest.mark.parametrize(("follows", "decided"), [(0.2, False), (0.4, False), (0.95, True)])
def test_a_coin_never_takes_the_place_of_people(follows, decided):
    """People who follow the truth in so many of 100 items and guess else; the judge tosses a coin."""
    outcomes = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = rng.integers(2, size=100)
        table = {
            name: np.where(rng.random(100) < follows, truth, rng.integers(2, size=100)).tolist() for name in PEOPLE
        }
        found = audit_judge(table | {"judge": rng.integers(2, size=100).tolist()}, rating=PEOPLE, judge="judge")
        outcomes.append(found.outcome)
        assert not found.answer.startswith("The judge may take")
    assert all((outcome is False) == decided for outcome in outcomes)


def test_codes_that_may_be_kinds_are_asked_for_and_have_no_mean(columns):
    codes = {name: [cell if cell is None else cell % 3 for cell in columns[name]] for name in (*PEOPLE, "judge")}
    codes["turned"] = codes["judge"][::-1]
    with pytest.raises(InputError, match="scale"):
        audit_judge(codes, rating=PEOPLE, judge="judge")
    nominal = audit_judge(codes, rating=PEOPLE, judge="judge", swapped="turned", scale="nominal")
    assert "nominal" in nominal.answer
    assert "Mean" not in nominal.answer
    assert not {"mean score", "position bias"} & {row.measure for row in nominal.rows}
    assert nominal["changed by position", "judge"].value > 0
    assert "Mean human score" in audit_judge(codes, rating=PEOPLE, judge="judge", scale="ordinal").answer


def test_a_judge_on_another_scale_is_moved_to_peoples(columns, audit):
    wide = {**columns, "judge": [20.0 * cell for cell in columns["judge"]]}
    found = audit_judge(wide, rating=PEOPLE, judge="judge")
    assert "run from 20 to 100, people's from 1 to 5" in found.warnings[0]
    assert found["kappa", "judge and people"].value == pytest.approx(audit["kappa", "judge and people"].value, abs=0.1)
    helped = ("mean score", "people, with the judge's help")
    assert found[helped].value == pytest.approx(audit[helped].value)


def test_two_ratings_are_kinds(columns):
    binary = {name: [None if c is None else int(c > 3) for c in columns[name]] for name in [*PEOPLE, "judge"]}
    found = audit_judge(binary, rating=PEOPLE, judge="judge")
    assert found["kappa", "people"].note == "mean over pairs"
    assert found["alpha", "people"].note == "Krippendorff's α, nominal"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rating": []}, "needs people's ratings"),
        ({"rating": "judge"}, "both 'judge'"),
        ({"judge": "jugde"}, "no column 'jugde' (did you mean 'judge'?)"),
        ({"judge": "same"}, "column 'same' is 3 for every item"),
        ({"judge": "right"}, "not a number"),
        ({"judge": "nobody"}, "holds no number"),
        ({"judge": "late"}, "no item has a rating of ann, bob and cyd and a score of 'late'"),
    ],
)
def test_bad_input_is_one_clear_line(columns, options, said):
    late = [None if row < 60 else row % 5 for row in range(120)]
    table = {**columns, "same": [3] * 120, "nobody": [None] * 120, "late": late}
    with pytest.raises(InputError) as caught:
        audit_judge(table, **{"rating": PEOPLE, "judge": "judge", **options})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture
def path(columns, tmp_path):
    file = tmp_path / "rated.csv"
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))
    return file


def test_the_command_audits_with_any_number_of_people(run, path, tmp_path, audit, columns):
    out = tmp_path / "judge.json"
    more = ["--repeat", "again", "--swapped", "swapped", "--text", "left", "-o", out]
    code, printed, _ = run("judge", path, "--judge", "judge", "--rating", *PEOPLE, *more)
    assert (code, printed.splitlines()[0]) == (0, audit.answer)
    kept = json.loads(out.read_text("utf-8"))
    assert kept["rows"] == audit.to_dict()["rows"]
    assert [row["line"] - 1 for row in kept["details"]["disagreements"]] == [row["row"] for row in audit.disagreements]
    code, printed, _ = run("judge", path, "--judge", "judge", "--rating", "ann", "--top", 2)
    assert code == 0
    assert printed.startswith("The judge agrees with people in ")


def test_one_person_is_enough(columns, audit):
    texts = [f"a text that has number {row}" for row in range(120)]
    found = audit_judge({**columns, "right": texts}, rating="ann", judge="judge")
    person, own = (np.array([np.nan if v is None else v for v in columns[name]], float) for name in ("ann", "judge"))
    rated = np.isfinite(person)
    assert (found.test, found.outcome) == (None, None)
    assert found["kappa", "judge and people"].value == pytest.approx(kappa(person, own, squared=True))
    assert found["agreement", "judge and people"].value == pytest.approx((person == own)[rated].mean())
    assert found["bias", "judge less people"].value == pytest.approx((own - person)[rated].mean())
    counts = {row["people"]: row for row in found.confusion}
    assert counts["4"]["judge 5"] == int(((person == 4) & (own == 5)).sum())
    gaps = [abs(row["judge"] - row["ann"]) for row in found.disagreements]
    assert gaps == sorted(gaps, reverse=True)
    assert len(gaps) == int((person != own)[rated].sum())
    assert found.disagreements[0]["right"].startswith("a text ")
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert (
        audit_judge(records, rating="ann", judge="judge")["kappa", "judge and people"]
        == found["kappa", "judge and people"]
    )


def test_labels_are_kinds_and_have_shares(columns, audit):
    names = {1: "bad", 2: "bad", 3: "fair", 4: "good", 5: "good"}
    labels = {key: [names.get(cell, "") for cell in columns[key]] for key in ("ann", "judge")}
    codes = {key: [None if not cell else ["bad", "fair", "good"].index(cell) for cell in labels[key]] for key in labels}
    found = audit_judge(labels, rating="ann", judge="judge")
    same = audit_judge(codes, rating="ann", judge="judge", scale="nominal")
    assert found["kappa", "judge and people"].value == same["kappa", "judge and people"].value
    human = np.array([np.nan if not cell else cell == "good" for cell in labels["ann"]], float)
    expected = estimate_prediction_powered_mean(human, np.array([cell == "good" for cell in labels["judge"]], float))
    assert found["share of good", "people, with the judge's help"].value == pytest.approx(expected.value)
    with pytest.raises(InputError, match="nominal"):
        audit_judge(labels, rating="ann", judge="judge", scale="ordinal")
