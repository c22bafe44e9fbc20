"""Words that separate two corpora, against a plain reading of Monroe, Colaresi and Quinn 2008."""

import math
from collections import Counter

import numpy as np
import pytest

from textgauge import Comparison
from textgauge.measure.compare_report import find_separating_terms

REFERENCE = ["the cat sat on the mat", "a cat and a dog", "the dog ran"] * 3
CANDIDATE = ["pay the card", "a loan for the bank", "the bank card", "a cat"] * 2


def plain(prior):
    """Equations 14 to 22 of the paper, word by word; the candidate is the first group."""
    mine, yours = (Counter(" ".join(texts).split()) for texts in (CANDIDATE, REFERENCE))
    n, m = sum(mine.values()), sum(yours.values())
    found = {}
    for word in mine | yours:
        alpha = prior * (mine[word] + yours[word]) / (n + m)
        odds = [
            math.log((counts[word] + alpha) / (size + prior - counts[word] - alpha))
            for counts, size in ((mine, n), (yours, m))
        ]
        delta = odds[0] - odds[1]
        found[word] = delta, delta / math.sqrt(1 / (mine[word] + alpha) + 1 / (yours[word] + alpha))
    return found


@pytest.mark.parametrize("prior", [1.0, 50.0, None])
def test_log_odds_and_z_scores_are_those_of_the_paper(prior):
    terms = find_separating_terms(Comparison(REFERENCE, CANDIDATE), prior=prior)
    smaller = min(len(" ".join(texts).split()) for texts in (REFERENCE, CANDIDATE))
    expected = plain(0.2 * smaller if prior is None else prior)
    rows = {row["term"]: (row["log_odds"], row["z"]) for row in terms.to_dicts()}
    assert rows.keys() == expected.keys()
    for word, pair in expected.items():
        assert rows[word] == pytest.approx(pair, abs=1e-12)


def test_words_come_from_the_candidate_down_to_the_reference():
    terms = find_separating_terms(Comparison(REFERENCE, CANDIDATE))
    assert (np.diff([row["z"] for row in terms.to_dicts()]) <= 0).all()
    assert {row["term"] for row in terms.top(2, "candidate")} == {"bank", "card"}
    assert terms.top(1, "reference")[0] == terms.to_dicts()[-1]
    assert terms.top(1, "reference")[0]["count_candidate"] < terms.top(1, "reference")[0]["count_reference"]
    assert all(row["z"] > 0 for row in terms.top(99, "candidate"))
    assert all(row["z"] < 0 for row in terms.top(99, "reference"))
    assert terms.to_polars().columns == ["term", "z", "log_odds", "count_reference", "count_candidate"]


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [(np.eye(3), np.eye(3)), (["a a", "a"], ["a", "a a a"]), (["\u200b", " "], ["\t", "\n"])],
    ids=["embeddings", "one word", "no words"],
)
def test_without_two_words_there_are_no_terms(reference, candidate):
    assert len(find_separating_terms(Comparison(reference, candidate))) == 0
