import numpy as np
import pytest
from scipy.stats import t

from textgauge import score
from textgauge.measure import score_systems

WORDS = ["the", "cat", "sat", "on", "a", "red", "mat", "and", "saw", "two", "old", "dogs", "run", "home"]
RNG = np.random.default_rng(5)
REFERENCES = [" ".join(RNG.choice(WORDS, 8)) for _ in range(80)]


def system(kept, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(word if rng.random() < kept else "x" for word in text.split()) for text in REFERENCES]


SYSTEMS = {"bad": system(0.5, 1), "good": system(0.9, 2), "also": system(0.9, 3)}
METRICS = "bleu,jaccard,ter"


@pytest.fixture(scope="module")
def board():
    return score_systems(SYSTEMS, REFERENCES, metrics=METRICS)


def test_scores_are_those_of_score(board):
    for name, texts in SYSTEMS.items():
        alone = {row.metric: row for row in score(texts, REFERENCES, metrics=METRICS).summary()}
        for row in (row for row in board.to_dicts() if row["system"] == name):
            one = alone[row["metric"]]
            expected = (
                (one.whole, one.whole_low, one.whole_high)
                if row["of"] == "whole set"
                else (one.mean, one.low, one.high)
            )
            assert [row["value"]] == pytest.approx([expected[0]])
            assert row["low"] == pytest.approx(expected[1], abs=0.02 if row["metric"] == "jaccard" else 2.0)


def test_the_bad_system_comes_last_whichever_way_is_better(board):
    assert {row["metric"]: row["rank"] for row in board.to_dicts() if row["system"] == "bad"} == {
        "bleu": 3, "jaccard": 3, "ter": 3,
    }  # fmt: skip
    assert all(row["tier"] == 2 for row in board.to_dicts() if row["system"] == "bad")
    assert "bad" not in board.answer


def test_the_interval_of_a_mean_is_that_of_the_paired_t_test_with_correction(board):
    values = {name: score(texts, REFERENCES, metrics="jaccard")["jaccard"].values for name, texts in SYSTEMS.items()}
    row = next(row for row in board.differences() if row["metric"] == "jaccard" and row["second"] == "bad")
    gaps = values[row["first"]] - values["bad"]
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    assert row["ahead"] == pytest.approx(gaps.mean())
    bonferroni = t.ppf(1 - 0.05 / 3 / 2 / 3, len(gaps) - 1)
    assert t.ppf(0.975, len(gaps) - 1) * error < row["ahead"] - row["low"] < 1.15 * bonferroni * error


def test_differences_of_two_systems_are_those_of_contrast(board):
    found = score(left=SYSTEMS["good"], baseline=SYSTEMS["bad"], right=REFERENCES, metrics="bleu")[0]
    row = next(r for r in board.differences() if r["metric"] == "bleu" and {r["first"], r["second"]} == {"good", "bad"})
    assert row["ahead"] == pytest.approx(found.difference)
