"""`textgauge.ensemble`: a metric learned from ratings, as a value."""

import pytest
from scipy.stats import spearmanr

import textgauge
from textgauge.errors import InputError

WORDS = ["red", "blue", "cat", "dog", "runs", "sleeps", "the", "a", "house", "tree", "old", "new", "river", "stone"]
METRICS = "jaccard,chrf,rouge1.recall"


def pairs(n=80):
    """The second text keeps the first words of the first one, and is rated by how many."""
    left = [" ".join(WORDS[(i + j * (1 + i % 5)) % 14] for j in range(8)) for i in range(n)]
    kept = [(7 * i) % 9 for i in range(n)]
    right = [" ".join([*text.split()[:k], *["other"] * (8 - k)]) for text, k in zip(left, kept, strict=True)]
    return left, right, [1 + k / 2 for k in kept]


@pytest.mark.parametrize("model", ["ridge", "boosting"])
def test_a_stack_is_judged_told_and_saved(model, tmp_path):
    left, right, target = pairs()
    sets = [f"set {i % 4}" for i in range(80)]
    stack = textgauge.ensemble(
        left=left, right=right, target=target, metrics=METRICS, groups=sets, model=model, resamples=100
    )
    rows = stack.to_dicts()
    assert [(row["measure"], row["n"]) for row in rows] == [("spearman", 80), ("order", 4)]
    assert rows[0]["ensemble"] == stack.judged.stacked.spearman > 0.8
    assert [row["share"] for row in stack.shares()] == sorted((row["share"] for row in stack.shares()), reverse=True)
    assert {row["metric"] for row in stack.shares()} == set(METRICS.split(","))
    assert str(stack).splitlines()[2].split()[0] == "spearman"
    assert "<table>" in stack._repr_html_()
    metric = stack.save(tmp_path / "mine.json")
    assert metric.name == "ensemble"
    assert spearmanr(metric(left=left, right=right).values, target)[0] > 0.9


def test_other_ratings_help_and_are_never_left_out():
    left, right, target = pairs()
    few = slice(0, 24)
    options = {"left": left[few], "right": right[few], "target": target[few], "metrics": METRICS, "resamples": 100}
    alone, helped = (
        textgauge.ensemble(**options, also=also)
        for also in (None, (left, right, [10 * rating for rating in target], None))
    )
    assert len(alone.judged.predictions) == len(helped.judged.predictions) == 24
    assert helped.trained.about["pairs"] == 104
    assert (helped.trained.worst, helped.trained.best) == (alone.trained.worst, alone.trained.best)


def test_what_does_not_fit_is_said():
    left, right, target = pairs()
    with pytest.raises(InputError, match="80 pairs but 79 ratings"):
        textgauge.ensemble(left=left, right=right, target=target[1:], metrics=METRICS)
    with pytest.raises(InputError, match="ridge, boosting"):
        textgauge.ensemble(left=left, right=right, target=target, metrics=METRICS, model="forest")
    with pytest.raises(InputError, match="needs a service of its own"):
        textgauge.ensemble(left=left, right=right, target=target, metrics="judge")
