import numpy as np
import pytest

import textgauge
from textgauge.core.errors import UnknownName
from textgauge.data import Comparison, Corpus
from textgauge.measure.candidates import rank_candidates
from textgauge.metrics import get_metric

RNG = np.random.default_rng(3)


def texts(words, n=200):
    return [" ".join(RNG.choice(words, 4)) for _ in range(n)]


ANIMALS, SHIPS = ["cat", "dog", "cow", "hen", "red"], ["ship", "boat", "sail", "mast", "red"]
REFERENCE = texts(ANIMALS)
CANDIDATES = {"ships": texts(SHIPS), "animals": texts(ANIMALS), "more": texts(ANIMALS)}
METRICS = "jsd@words,cbdf@words"


@pytest.fixture(scope="module")
def report():
    return textgauge.compare(REFERENCE, CANDIDATES, metrics=METRICS)


def test_values_are_those_of_each_comparison_alone(report):
    for name, candidate in CANDIDATES.items():
        alone = textgauge.compare(REFERENCE, candidate, metrics=METRICS)
        for score in alone:
            row = next(r for r in report.to_dicts() if r["metric"] == score.metric and r["candidate"] == name)
            assert row["value"] == pytest.approx(score.value, rel=1e-12)


def test_it_holds_the_candidates_and_a_ranking_by_metric(report):
    assert (len(report), report.candidates) == (6, tuple(CANDIDATES))
    assert report["jsd@words", "ships"].candidate == "ships"
    with pytest.raises(UnknownName, match="3 rows"):
        report["jsd@words"]
    with pytest.raises(UnknownName, match="jsd@wrods"):
        report["jsd@wrods"]


def test_ranks_and_differences_hold_for_every_pair_and_metric(report):
    ships = [row for row in report.to_dicts() if row["candidate"] == "ships"]
    assert [(row["rank"], row["rank_low"], row["tier"]) for row in ships] == [(3, 3, 2)] * 2
    assert report.answer.startswith("No candidate is nearer than all others")
    rows = report.differences()
    assert len(rows) == 2 * 3
    for row in rows:
        assert (row["better"] is not None) == (row["low"] > 0)
        assert row["low"] <= row["ahead"] <= row["high"]


def test_the_result_is_saved_drawn_and_shown(report, tmp_path):
    saved = textgauge.load(report.save(tmp_path / "many.json"))
    assert saved.answer == report.answer
    assert len(saved.details["differences"]) == 6
    assert saved.plot().to_dict() == report.plot().to_dict()
    assert "ships" in report._repr_html_()
    assert len(report.plot().to_dict()["vconcat"]) == 2
    assert "image/svg+xml" in report.plot()._repr_mimebundle_()  # altair's own would load a script from the web


def test_p_values_are_adjusted_for_all_candidates():
    found = textgauge.compare(REFERENCE, CANDIDATES, metrics=METRICS, test=True, permutations=99)
    for name, candidate in CANDIDATES.items():
        alone = textgauge.compare(REFERENCE, candidate, metrics=METRICS, test=True, permutations=99)
        for score in alone:
            mine = found[score.metric, name]
            assert mine.p_adjusted >= score.p_adjusted - 1e-12
            assert mine.adjustment == "max-T and Holm"
    one = textgauge.compare(REFERENCE, CANDIDATES, metrics="jsd@words", permutations=99)
    assert {score.adjustment for score in one} == {"Holm"}
    alone = textgauge.compare(REFERENCE, {"a": REFERENCE}, metrics="jsd@words", permutations=99)
    assert alone["jsd@words"].adjustment is None


def test_metrics_that_need_more_texts_rank_nothing_and_say_so():
    found = textgauge.compare(REFERENCE[:20], {name: rows[:20] for name, rows in CANDIDATES.items()}, metrics=METRICS)
    assert found.answer == "No candidate is ranked: no metric has a standard error at these sizes."
    assert any("no ranks by jsd@words" in text for text in found.warnings)
    assert {row["rank"] for row in found.to_dicts()} == {None}


def points(shifts, n=200, seed=0, noise=None):
    """A reference around 0 and candidates around their shifts; with `noise` all rows of candidates share a parent."""
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(n, 4)) + 1]
    parent = rng.normal(size=(n, 4)) + 1
    for shift in shifts:
        own = rng.normal(size=(n, 4)) + 1 if noise is None else parent + noise * rng.normal(size=(n, 4))
        rows.append(own + np.array([0, 0, shift, 0]))
    joint = Corpus.of(np.vstack(rows))
    views = [joint.take(range(n * k, n * (k + 1))) for k in range(len(rows))]
    return [Comparison(views[0], view) for view in views[1:]]


def ranked(comparisons, name="energy@given", **options):
    metric = get_metric(name)
    values = np.array([metric.measure(one).value for one in comparisons])
    return rank_candidates(metric, comparisons, values, level=0.95, seed=0, **options)


def test_clear_distances_are_ranked_whichever_way_is_closer():
    found = ranked(points([3.0, 0.0, 1.2]))
    assert found.order == [1, 2, 0]
    assert found.tiers() == {1: 1, 2: 2, 0: 3}
    assert ranked(points([3.0, 0.0], n=400), "pr.recall@given").order == [1, 0]


def test_one_corpus_given_twice_is_tied_with_itself():
    comparisons = points([0.5])
    found = ranked([comparisons[0], comparisons[0]])
    assert found.low[0, 1] == found.high[0, 1] == 0.0


def test_pairs_that_share_a_parent_have_narrower_intervals():
    comparisons = points([0.3, 0.6], noise=0.05)
    alone, paired = (ranked(comparisons, paired=paired) for paired in (False, True))
    assert (paired.high - paired.low)[0, 1] < 0.8 * (alone.high - alone.low)[0, 1]
