import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.data import Corpus, Draws
from textgauge.metrics import get_metric
from textgauge.metrics.corpus.frequency import Chi, ChiByDf, Zipf, fit_zipf_slopes, mark_top_tokens

TOWN = ["the tram sees the bus", "a bus and a tram", "the taxi", "cow on the bus"]


def test_one_kind_of_token_leaves_no_degrees_of_freedom():
    assert Chi(on="words")(reference=["cow", "cow"], candidate=["cow", "cow"]).value == 0
    assert ChiByDf(on="words")(reference=["cow", "cow"], candidate=["cow", "cow"]).reason is not None
    zipf = Zipf(on="words")(reference=["cow", "cow"], candidate=TOWN)
    assert zipf.reason == "a corpus has too few kinds of token for a slope"


def test_zipf_of_the_paper_is_a_line_over_rounded_log_ranks_without_the_last():
    counts = np.array([[900.0, 410, 300, 200, 170, 120, 90, 70, 20, 3, 0, 0]])
    x, y = [], []
    for rank, count in enumerate(counts[0, :9], start=1):  # ten kinds of token, the last is left out
        step = round(15 * np.log(rank)) / 15
        if step not in x:
            x.append(step)
            y.append(np.log(count))
    assert fit_zipf_slopes(counts, top=5000, rounded=True)[0] == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-12)
    assert fit_zipf_slopes(counts, top=5000)[0] != pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-3)
    assert np.isnan(fit_zipf_slopes(np.array([[5.0, 2.0]]), top=5000, rounded=True)[0])


def test_padding_begins_and_ends_texts_and_fills_them_up_to_the_longest_of_their_own_source():
    long, short = ["a b c d", "a b"], ["a b", "a"]
    joint = Corpus.of(long) | Corpus.of(short)
    mixed = [joint.take([0, 2]), joint.take([1, 3])]
    by_hand = [["cls a b c d sep", "cls a b sep"], ["cls a b sep pad pad", "cls a sep pad"]]
    for name in ("chi.statistic", "cbdf", "zipf", "zipf.candidate(ranks=paper)"):
        given = name.replace(")", ",padding=source)") if ")" in name else f"{name}(padding=source)"
        metric = get_metric(f"{given}@words")
        plain = get_metric(f"{name}@words")
        found = metric(reference=mixed[0], candidate=mixed[1]).value
        assert found == pytest.approx(plain(reference=by_hand[0], candidate=by_hand[1]).value)
        masks = np.array([[True, False, True, False]]), np.array([[False, True, False, True]])
        assert metric.compute_many(joint, Draws(*masks))[metric.part or "value"][0] == pytest.approx(found)


def test_a_corpus_outside_the_most_frequent_tokens_has_no_chi():
    score = Chi(on="words", top=2)(reference=["cow dog"] * 9, candidate=["hen", "owl"])
    assert score.reason == "a corpus has none of the most frequent tokens"


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(2, 12))
def test_ties_at_the_cut_share_the_places_left(row, top):
    totals = np.array([row], dtype=float)
    weights = mark_top_tokens(totals, top)[0]
    assert weights.sum() == pytest.approx(min(top, np.count_nonzero(row)))
    assert (weights[totals[0] == 0] == 0).all()
    for low, high in zip(np.argsort(row)[:-1], np.argsort(row)[1:], strict=True):
        assert weights[low] <= weights[high]
        assert row[low] != row[high] or weights[low] == weights[high]
