import math

import numpy as np
import pytest
from scipy.stats import kstest

from textgauge import Corpus, get_metric, score
from textgauge.core.errors import InputError
from textgauge.measure import score_systems
from textgauge.stats.resampling import adjust_by_holm

LEFT = ["a red cat", "one dog", "the old bridge", "we like tea", "nothing here"]
RIGHT = ["a red dog", "one dog", "an old bridge", "we drink tea", "other words"]


def test_values_come_in_the_order_of_the_pairs_and_of_the_metrics():
    report = score(left=LEFT, right=RIGHT, metrics="levenshtein,jaccard")
    assert [scores.metric for scores in report] == ["levenshtein", "jaccard"]
    np.testing.assert_allclose(report["jaccard"].values, [0.5, 1.0, 0.5, 0.5, 0.0])
    rows = report.to_dicts()
    assert [row["index"] for row in rows] == list(range(5))
    assert rows[0]["jaccard"] == 0.5
    assert report.to_polars().shape == (5, 3)


def test_two_strings_that_name_nothing_are_a_pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a cat", "animals.txt"):
        (tmp_path / name).write_text("a red cat\na dog\n")
    assert score("a red cat", "a red dog", metrics="jaccard")["jaccard"].values.tolist() == [0.5]
    assert score("red", "red", metrics="jaccard")["jaccard"].values.tolist() == [1.0]
    found = score("a red cat", "a red dog", baseline="a red dog", metrics="jaccard")
    assert found[0].difference == pytest.approx(-0.5)
    for left, right in (("a cat", "a dog"), ("red cat.txt", "a dog"), ("animals", "a dog"), ("sample:x", "a dog")):
        with pytest.raises(InputError):
            score(left, right, metrics="jaccard")


def test_contrast_reads_references_of_a_stream_once():
    found = [score(left=LEFT, baseline=RIGHT, right=right, metrics="jaccard") for right in (RIGHT, iter(RIGHT))]
    assert found[0] == found[1]


def test_the_summary_holds_mean_deviation_and_an_interval_around_it():
    row = score(left=LEFT, right=RIGHT, metrics="jaccard").summary()[0]
    values = np.array([0.5, 1.0, 0.5, 0.5, 0.0])
    assert row.mean == pytest.approx(values.mean())
    assert row.std == pytest.approx(values.std(ddof=1))
    assert row.low < row.mean < row.high
    assert row.n == 5
    turned = score(left=LEFT[::-1], right=RIGHT[::-1], metrics="jaccard").summary()[0]
    assert (row.low, row.high) == pytest.approx((turned.low, turned.high), abs=1e-12)
    assert math.isnan(row.whole)
    assert row.to_dict()["whole"] is None


def test_parts_are_named_by_keys_that_parse():
    row = score(left=LEFT, right=RIGHT, metrics="rouge1(stem=true)").to_dicts(parts=True)[0]
    assert {"rouge1(stem=true)", "rouge1.precision(stem=true)"} <= set(row)
    assert get_metric("rouge1.precision(stem=true)").part == "precision"
    report = score(left=["a b c d"], right=["a b"], metrics="rouge1,rouge1.precision,rouge1.recall")
    assert [scores.values[0] for scores in report] == pytest.approx([2 / 3, 0.5, 1.0])


def test_ready_made_embeddings_serve_cosine_and_nothing_else():
    X = np.eye(3)
    assert score(left=X, right=X[::-1], metrics="cosine")["cosine@given"].values.tolist() == [0.0, 1.0, 0.0]
    with pytest.raises(InputError, match="jaccard needs texts"):
        score(left=X, right=X, metrics="jaccard")


def test_a_background_changes_fitted_metrics_only():
    background = ["the cat", "the dog", "the bridge", "the tea"] * 5
    plain, fitted = (
        score(left=LEFT, right=RIGHT, metrics="tfidf,jaccard", background=texts) for texts in (None, background)
    )
    assert (plain["jaccard"].values == fitted["jaccard"].values).all()
    assert not np.allclose(plain["tfidf"].values, fitted["tfidf"].values)


def test_fitted_weights_come_from_all_pairs_repeated_or_not():
    metric = get_metric("tfidf")
    whole = metric(left=LEFT, right=RIGHT).values
    corpus = Corpus.of([*LEFT, *RIGHT])
    report = score(left=LEFT[:2], right=RIGHT[:2], metrics=[metric], background=corpus)
    np.testing.assert_allclose(report["tfidf"].values, whole[:2], atol=1e-12)


WORDS = np.array(["red", "blue", "cat", "dog", "old", "new", "tea", "sees", "likes", "the", "a", "near"])


def _systems(n, quality, seed):
    """References and two systems that keep a word of the reference with the given probabilities."""
    rng = np.random.default_rng(seed)
    references = WORDS[rng.integers(0, len(WORDS), (n, 8))]
    sides = []
    for kept in quality:
        noise = WORDS[rng.integers(0, len(WORDS), (n, 8))]
        sides.append(np.where(rng.random((n, 8)) < kept, references, noise))
    return [[" ".join(row) for row in side] for side in (*sides, references)]


def test_a_better_system_is_distinguished_from_a_worse_one_by_means_and_by_scores_of_the_set():
    better, worse, references = _systems(80, (0.9, 0.5), 0)
    found = score(left=better, baseline=worse, right=references, metrics="jaccard,bleu,chrf")
    for row in found:
        assert row.difference == pytest.approx(row.value - row.baseline)
        assert 0 < row.low < row.difference < row.high
        assert row.p_bootstrap < 0.01
        assert row.p_randomisation < 0.01
        assert row.of == ("mean" if row.metric == "jaccard" else "whole set")
        assert row.n == 80


def test_p_values_of_metrics_that_are_nearly_copies_are_hardly_adjusted():
    better, worse, references = _systems(40, (0.72, 0.66), 3)
    found = score(left=better, baseline=worse, right=references, metrics="rouge1,rouge1.recall,rouge1.precision")
    raw, adjusted = (np.array([getattr(row, name) for row in found]) for name in ("p_randomisation", "p_adjusted"))
    assert 0.005 < raw.min() < 0.3
    assert (raw <= adjusted).all()
    assert adjusted.min() < 1.2 * raw.min() < adjust_by_holm(raw).min()


def _repeat(texts):
    return [text for text in texts for _ in range(4)]


@pytest.mark.parametrize("metric", ["jaccard", "chrf"])
def test_a_group_counts_as_one_item(metric):
    """Items that stand there four times, with their group, give the numbers of the items alone."""
    left, other, right = _systems(30, (0.8, 0.6), 4)
    labels = _repeat(range(30))
    one = score(left, right, metrics=metric).summary()[0]
    four = score(_repeat(left), _repeat(right), metrics=metric, group=labels).summary()[0]
    for name in ("mean", "low", "high", "whole", "whole_low", "whole_high"):
        assert getattr(one, name) == pytest.approx(getattr(four, name), nan_ok=True)
    alone = score(left=left, baseline=other, right=right, metrics=metric)[0]
    sides = {"left": _repeat(left), "baseline": _repeat(other), "right": _repeat(right), "metrics": metric}
    grouped = score(**sides, group=labels)[0]
    for name in ("difference", "low", "high", "p_bootstrap", "p_randomisation", "p_adjusted"):
        assert getattr(alone, name) == pytest.approx(getattr(grouped, name))
    assert score(**sides)[0].high < grouped.high
    board = score_systems({"a": left, "b": other}, right, metrics=metric).to_dicts()
    systems = {"a": _repeat(left), "b": _repeat(other)}
    whole = score_systems(systems, _repeat(right), metrics=metric, group=labels)
    for single, several in zip(board, whole.to_dicts(), strict=True):
        assert [single[end] for end in ("value", "low", "high")] == pytest.approx(
            [several[end] for end in ("value", "low", "high")]
        )
        assert several["n"] == 120
    assert whole.warnings == ("intervals and tests count 30 groups of 120 items",)


def test_groups_do_not_depend_on_the_order_of_items_nor_on_names():
    left, other, right = _systems(40, (0.8, 0.7), 5)
    labels, order = [place % 10 for place in range(40)], np.random.default_rng(0).permutation(40)
    given = score(left=left, baseline=other, right=right, metrics="chrf", group=labels)[0]
    turned = [[texts[place] for place in order] for texts in (left, other, right)]
    names = [f"d{99 - labels[place]}" for place in order]
    again = score(left=turned[0], baseline=turned[1], right=turned[2], metrics="chrf", group=names)[0]
    assert (given.low, given.high, given.p_randomisation) == pytest.approx(
        (again.low, again.high, again.p_randomisation)
    )


@pytest.mark.parametrize(
    ("group", "complaint"),
    [
        ([1, 2] * 20, "needs at least 8 groups, found 2"),
        (range(39), "40 items, but 39 labels"),
        ([None, *range(39)], "item 0 has no label"),
        ("page", "no table has a column 'page'; the columns are 'text', 'doc'"),
    ],
)
def test_wrong_groups_are_refused_with_one_clear_line(group, complaint):
    left, _, right = _systems(40, (0.8, 0.6), 6)
    with pytest.raises(InputError, match=complaint):
        score({"text": left, "doc": [place // 4 for place in range(40)]}, right, metrics="jaccard", group=group)


def test_a_column_that_repeats_is_noticed_until_it_is_named():
    left, other, right = _systems(40, (0.9, 0.5), 7)
    frame = {"text": left, "doc": [place // 4 for place in range(40)]}
    notice = "if the texts are independent, but values of the column doc repeat"
    assert notice in score(frame, right, metrics="jaccard").warnings[0]
    sides = {"left": frame, "right": right, "metrics": "jaccard"}
    assert notice in score(**sides, baseline=other).answer
    assert notice not in score(**sides, baseline=left).answer
    assert notice not in score(**sides, baseline=other, group="doc").answer
    assert notice in score_systems({"a": frame, "b": other}, right, metrics="jaccard").answer
    assert score(frame, right, metrics="jaccard", group="doc").sign is None


def test_a_metric_that_is_undefined_is_not_tested():
    found = score(["a"], ["b"], baseline=["c"], metrics="column:z", columns={"z": [math.nan]})
    assert found.answer == "Not tested against the baseline by column:z (5 % level)."
    assert "undefined for items" in found.warnings[0]


@pytest.mark.long
def test_p_values_are_uniform_when_systems_are_alike():
    found = [
        score(left=a, baseline=b, right=references, metrics="jaccard", resamples=200, seed=trial)[0]
        for trial in range(200)
        for a, b, references in [_systems(30, (0.7, 0.7), 100 + trial)]
    ]
    assert kstest([row.p_randomisation for row in found], "uniform").pvalue > 0.01
    assert kstest([row.p_bootstrap for row in found], "uniform").pvalue > 0.01
