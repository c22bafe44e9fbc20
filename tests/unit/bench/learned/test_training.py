"""Training by sets left out: what is learned, what is not seen, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

import textgauge
from textgauge import Pairs, get_metric
from textgauge.bench.learned.features import RatedFeatures, TrainingPairs, compute_rated_features
from textgauge.bench.learned.stack import cross_validate, train
from textgauge.core.errors import InputError

NAMES = ("jaccard", "chrf", "rouge1", "ter")
WORDS = ["red", "blue", "cat", "dog", "runs", "sleeps", "the", "a", "house", "tree", "old", "new", "river", "stone"]


def simulated(n=600, sets=6, seed=0, noise=0.3, spread=1.0, weights=(1, 1)):
    """Ratings made of two features and of an offset of the set that no feature tells; each set is a source."""
    rng = np.random.default_rng(seed)
    values, groups = rng.normal(size=(n, 4)), np.arange(n) % sets
    ratings = values[:, :2] @ weights + noise * rng.normal(size=n) + spread * rng.normal(size=sets)[groups]
    zeros = np.zeros(n, dtype=np.int64)
    return RatedFeatures(tuple(map(get_metric, NAMES)), values, ratings, groups, groups, np.arange(n), zeros)


def joined(first, second):
    """Two data, the second one learned from too."""
    columns = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in ("values", "ratings")}
    for name in ("sets", "sources", "texts"):
        columns[name] = np.concatenate([getattr(first, name), getattr(second, name) + getattr(first, name).max() + 1])
    return replace(first, **columns, data=np.repeat([0, 1], [len(first), len(second)]))


def features(pairs, ratings, groups=None, **options):
    return compute_rated_features([TrainingPairs(pairs, ratings, "words", groups)], **options)


def texts(n=80, seed=0):
    """Pairs of which the second text keeps a share of the first one's words, rated by that share."""
    rng = np.random.default_rng(seed)
    left = [" ".join(rng.choice(WORDS, 8)) for _ in range(n)]
    kept = rng.integers(0, 9, size=n)
    right = [" ".join([*text.split()[:k], *rng.choice(WORDS, 8 - k)]) for text, k in zip(left, kept, strict=True)]
    return left, right, kept / 2 + 1, [f"set {i % 4}" for i in range(n)]


def test_the_stacked_metric_beats_single_ones_where_two_of_them_matter():
    found = cross_validate(simulated(spread=0.2), resamples=200)
    (row, _) = found.contrasts
    assert row.measure == "spearman"
    assert row.best in NAMES[:2]
    assert row.ensemble > row.single + 0.1
    assert row.better
    assert 0 < row.pairs_low <= row.difference <= row.pairs_high
    assert 0 < row.sources_low <= row.difference <= row.sources_high
    assert row.sources == 6
    assert [one.left_out for one in found.left_out] == [str(source) for source in range(6)]
    assert all(one.ensemble > one.single for one in found.left_out)
    assert found.predictions.shape == (600,)


def test_numbers_are_those_of_scipy():
    rated = simulated()
    found = cross_validate(rated, resamples=100)
    means = [[column[rated.sets == group].mean() for group in range(6)] for column in (*rated.values.T, rated.ratings)]
    for place, single in enumerate(found.singles.values()):
        assert single["spearman"] == pytest.approx(spearmanr(rated.values[:, place], rated.ratings)[0], abs=1e-12)
        assert single["order"] == pytest.approx(spearmanr(means[place], means[-1])[0], abs=1e-12)
    assert found.stacked["spearman"] == pytest.approx(spearmanr(found.predictions, rated.ratings)[0], abs=1e-12)
    assert [row.measure for row in found.contrasts] == ["spearman", "order"]


def test_ratings_of_a_left_out_set_have_no_part_in_its_predictions():
    rated = simulated(n=300)
    scale = (-50.0, 50.0)
    changed = rated.ratings.copy()
    here = rated.sets == 2
    changed[here] = np.random.default_rng(7).normal(size=here.sum())
    other = replace(rated, ratings=changed)
    first, second = (cross_validate(data, scale=scale, resamples=100) for data in (rated, other))
    np.testing.assert_array_equal(first.predictions[here], second.predictions[here])
    assert (first.predictions[~here] != second.predictions[~here]).any()


def test_noise_teaches_nothing():
    rng = np.random.default_rng(3)
    rated = simulated(n=1_000)
    dealt = replace(rated, ratings=rng.permutation(rated.ratings))
    assert abs(cross_validate(dealt, resamples=100).stacked["spearman"]) < 0.12


def test_ratings_that_are_distances():
    left, right, ratings, groups = texts()
    pairs = Pairs(left, right)
    near = features(pairs, ratings, groups, metrics="jaccard,chrf")
    far = features(pairs, 6 - ratings, groups, metrics="jaccard,chrf")
    up = cross_validate(near, scale=(1, 5), resamples=100)
    down = cross_validate(far, scale=(5, 1), resamples=100)
    assert down.stacked["spearman"] == pytest.approx(up.stacked["spearman"], abs=1e-3)
    a, b = (train(r, scale=s).similarity(near.values) for r, s in ((near, (1, 5)), (far, (5, 1))))
    np.testing.assert_allclose(a, b, atol=1e-6)


def test_features_are_values_of_metrics_with_equal_pairs_computed_once():
    left, right, ratings, _ = texts()
    seen = []
    pairs = Pairs(left * 2, right * 2)
    rated = features(pairs, [*ratings] * 2, metrics="rouge1,ter,rouge1.recall", on_step=seen.append)
    assert seen == ["rouge1", "ter"]
    scores = get_metric("rouge1").measure(pairs)
    np.testing.assert_array_equal(rated.values[:, 0], scores.values)
    np.testing.assert_array_equal(rated.values[:, 2], scores.parts["recall"])
    np.testing.assert_array_equal(rated.values[:, 1], -get_metric("ter").measure(pairs).values)


def test_without_sets_the_pairs_of_one_text_are_left_out_together():
    left, right, ratings, _ = texts()
    rated = features(Pairs(left * 2, right * 2), [*ratings] * 2, metrics="jaccard")
    assert (rated.folds[:80] == rated.folds[80:]).all()
    assert len(np.unique(rated.folds)) == 10
    assert (rated.sets == 0).all()
    assert (rated.sources == 0).all()
    found = cross_validate(rated, resamples=100)
    (row,) = found.contrasts
    assert row.measure == "spearman"
    assert np.isnan(row.sources_low)
    assert not row.better
    assert found.left_out == ()
    assert np.isnan(found.stacked["order"])


def test_sets_that_share_texts_are_one_source_and_left_out_together():
    left, right, ratings, _ = texts()
    dealt = [f"{'xyz'[i % 3]}{'' if i < 60 else ' random'}" for i in range(120)]
    both = Pairs(left[:60] * 2, [*right[:60], *right[3:60], *right[:3]])
    rated = features(both, [*ratings[:60], *ratings[20:]], dealt, metrics="jaccard")
    assert len(np.unique(rated.sets)) == 6
    assert rated.sources[:60].tolist() == rated.sources[60:].tolist()
    assert rated.folds.tolist() == rated.sources.tolist()
    assert rated.names == ("x + x random", "y + y random", "z + z random")
    found = cross_validate(rated, resamples=100)
    assert [(row.left_out, row.n) for row in found.left_out] == [(name, 40) for name in rated.names]


def test_a_few_shared_texts_do_not_join_sets():
    left, right, ratings, _ = texts()
    left[40:43] = left[:3]  # 3 of 80 different texts
    halves = ["a"] * 40 + ["b"] * 40
    assert len(np.unique(features(Pairs(left, right), ratings, halves, metrics="jaccard").sources)) == 2
    left[40:50] = left[:10]
    assert len(np.unique(features(Pairs(left, right), ratings, halves, metrics="jaccard").sources)) == 1


def test_declared_sources_stand_in_the_place_of_sets():
    left, right, ratings, groups = texts()
    halves = [name in ("set 0", "set 1") for name in groups]
    rated = compute_rated_features(
        [TrainingPairs(Pairs(left, right), ratings, "words", groups, halves)], metrics="jaccard,chrf"
    )
    assert (len(np.unique(rated.sets)), len(np.unique(rated.sources))) == (4, 2)
    assert cross_validate(rated, resamples=100).stacked["spearman"] > 0.7


def test_other_data_that_share_texts_are_left_out_with_them():
    left, right, ratings, groups = texts()
    rated = compute_rated_features(
        [TrainingPairs(Pairs(left, right), ratings, name, groups) for name in "ab"], metrics="jaccard"
    )
    assert rated.sources[:80].tolist() == rated.sources[80:].tolist()
    assert rated.folds.tolist() == rated.sources.tolist()


def test_undefined_values_are_filled():
    rated = simulated()
    rated.values[::7, 0] = np.nan
    found = cross_validate(rated, resamples=100)
    assert np.isfinite(found.predictions).all()
    assert found.singles["jaccard"]["spearman"] == pytest.approx(
        spearmanr(np.nan_to_num(rated.values[:, 0], nan=np.nanmean(rated.values[:, 0])), rated.ratings)[0]
    )


def test_the_card_has_names_counts_and_a_fingerprint_of_texts_ratings_and_sets():
    left, right, ratings, groups = texts()

    def card(**changes):
        given = {"left": left, "right": right, "ratings": ratings, "groups": groups} | changes
        (one,) = features(Pairs(given["left"], given["right"]), given["ratings"], given["groups"], metrics="ter").cards
        return one

    changed = [{}, {"left": right, "right": left}, {"ratings": ratings[::-1]}, {"groups": groups[::-1]}]
    assert len({card(**change)["fingerprint"] for change in changed}) == 4
    assert card() == card()
    assert {name: card()[name] for name in ("name", "pairs", "sets")} == {"name": "words", "pairs": 80, "sets": 4}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"ratings": [1.0] * 80}, "nothing to learn"),
        ({"ratings": [1.0, float("nan")] * 40}, "rating 1 is not"),
        ({"ratings": [1.0]}, "1 ratings"),
        ({"groups": ["one"]}, "1 sets"),
        ({"metrics": ""}, "at least one metric"),
        ({"metrics": "judge"}, "cannot be a feature"),
        *(({"scale": scale}, "scale") for scale in [(1, 1), (1, 2), (float("nan"), 1)]),
    ],
)
def test_what_cannot_be_learned_from(changes, complaint):
    left, right, ratings, groups = texts()
    options = {"ratings": ratings, "groups": groups, "metrics": "jaccard", "scale": None} | changes
    scale = options.pop("scale")
    with pytest.raises(InputError, match=complaint):
        train(features(Pairs(left, right), **options), scale=scale)


def test_other_data_help_where_there_is_little():
    few, many = simulated(n=60, noise=2.0, spread=0.0), simulated(n=600, sets=2, seed=5, noise=0.3, spread=0.0)
    alone, helped = (cross_validate(data, resamples=100) for data in (few, joined(few, many)))
    assert helped.stacked["spearman"] > alone.stacked["spearman"] + 0.02
    assert len(helped.predictions) == len(few)
    assert helped.singles == alone.singles
    assert (len(alone.left_out), len(helped.left_out)) == (6, 8)


def test_other_data_are_put_on_the_scale_and_left_out_only_where_they_are_judged_by_source():
    rated, other = simulated(n=300), simulated(n=120, seed=4)
    far = replace(other, ratings=1_000 + 7 * other.ratings)
    near, moved = (train(joined(rated, also)).model for also in (other, far))
    np.testing.assert_allclose(near.weights, moved.weights, rtol=1e-9)
    assert (joined(rated, far).folds[300:] == -1).all()
    assert train(joined(rated, far)).about["pairs"] == 420


def test_what_one_metric_tells_alone_is_not_learned():
    rated = simulated(weights=(1, 0))
    trained = train(rated)
    assert trained.about["share"] == 0.0
    assert [metric.key for metric in trained.metrics] == ["jaccard"]
    found = cross_validate(rated, resamples=100)
    assert all(row.ensemble == pytest.approx(row.single, abs=0.01) for row in found.left_out)
    assert not found.contrasts[0].better


def test_weights_that_hold_in_one_source_only_are_not_learned():
    rng = np.random.default_rng(2)
    rated = simulated(n=900)
    turned = rng.choice([-1.0, 1.0], size=6)[rated.sets] * rated.values[:, 1]
    data = replace(rated, ratings=rated.values[:, 0] + 0.7 * turned + 0.3 * rng.normal(size=900))
    assert train(data).about["share"] == 0.0
    assert train(simulated(n=900)).about["share"] >= 0.75


def test_a_stack_is_judged_printed_and_saved(tmp_path):
    left, right, target, sets = texts()
    names = "jaccard,chrf,rouge1.recall"
    stack = textgauge.ensemble(left=left, right=right, target=target, metrics=names, groups=sets, resamples=100)
    rows = stack.to_dicts()
    assert [(row["measure"], row["n"]) for row in rows[:2]] == [("spearman", 80), ("order", 4)]
    assert rows[0]["ensemble"] == stack.judged.stacked["spearman"] > 0.8
    assert [row["share"] for row in stack.shares()] == sorted((row["share"] for row in stack.shares()), reverse=True)
    assert {row["metric"] for row in stack.shares()} <= set(names.split(","))
    assert str(stack).splitlines()[0] == stack.answer
    assert [row["left_out"] for row in stack.trained.about["left_out"]] == [row["left_out"] for row in rows[2:]]
    assert "<table>" in stack._repr_html_()
    metric = stack.save(tmp_path / "mine.json")
    assert metric.name == "ensemble"
    assert spearmanr(metric(left=left, right=right).values, target)[0] > 0.8
