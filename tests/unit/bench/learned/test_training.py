"""Training by sets left out: what is learned, what is not seen, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from scipy.stats import spearmanr

import textgauge
from textgauge import Pairs, get_metric
from textgauge.bench import PairSources
from textgauge.bench.learned import center, cross_validate, fit_curve, make_start, solve_weights, sum_products, train
from textgauge.bench.rated_features import RatedFeatures, compute_rated_features
from textgauge.core import listen
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


def features(pairs, ratings, groups=None, metrics="jaccard", **options):
    return compute_rated_features([training_pairs(pairs, ratings, groups)], metrics, **options)


def training_pairs(pairs, ratings, groups=None, sources=None):
    columns = {"rating": ratings, "set": groups, "source": sources}
    known = {name: np.array(cells) for name, cells in columns.items() if cells is not None}
    return PairSources("words", pairs.left, pairs.right, known)


def texts(n=80, seed=0):
    """Pairs of which the second text keeps a share of the first one's words, rated by that share."""
    rng = np.random.default_rng(seed)
    left = [" ".join(rng.choice(WORDS, 8)) for _ in range(n)]
    kept = rng.integers(0, 9, size=n)
    right = [" ".join([*text.split()[:k], *rng.choice(WORDS, 8 - k)]) for text, k in zip(left, kept, strict=True)]
    return left, right, kept / 2 + 1, [f"set {i % 4}" for i in range(n)]


def test_a_sum_of_metrics_beats_single_ones_where_two_of_them_matter():
    (row, *left_out), predictions = cross_validate(simulated(spread=0.2), resamples=200)
    assert row.compared_with in NAMES[:2]
    assert row.ensemble > row.other + 0.1
    assert row.better
    assert 0 < row.pairs_low <= row.difference <= row.pairs_high
    assert 0 < row.sources_low <= row.difference <= row.sources_high
    assert [one.left_out for one in left_out] == [str(source) for source in range(6)]
    assert row.ensemble == pytest.approx(spearmanr(predictions, simulated(spread=0.2).ratings)[0], abs=1e-12)


def test_weights_are_non_negative_least_squares_within_sets():
    rated = simulated(weights=(1, -1))
    start = make_start(rated, None)
    standard = start.standardise(rated.values)
    sums = sum_products(standard, rated.ratings, rated.sets)
    inner, level = center(standard, rated.sets), center(rated.ratings, rated.sets)
    level /= np.array([level[rated.sets == one].std() for one in range(6)])[rated.sets]
    np.testing.assert_allclose(solve_weights(sums), nnls(inner, level)[0], atol=1e-5)
    assert solve_weights(sums)[1] == 0.0


def test_the_curve_is_that_of_maximum_likelihood():
    rng = np.random.default_rng(1)
    score = rng.normal(size=300)
    share = 1 / (1 + np.exp(-(0.5 + 2 * score + rng.normal(size=300))))

    def loss(line):
        fitted = 1 / (1 + np.exp(-(line[0] * score + line[1])))
        return -(share * np.log(fitted) + (1 - share) * np.log(1 - fitted)).sum()

    np.testing.assert_allclose(fit_curve(score, share), minimize(loss, [0, 0]).x, atol=1e-3)


def prior_of(rated):
    """A prior whose sums are those of these pairs."""
    start = make_start(rated, None)
    sums = sum_products(start.standardise(rated.values), rated.ratings, rated.sets)
    return replace(start, weights=solve_weights(sums), sums=9 * sums)


def test_a_right_prior_helps_few_ratings_and_a_wrong_one_gives_way_to_many():
    gains = []
    for seed in range(10):
        few, fresh = simulated(n=20, sets=1, seed=seed, noise=2.0), simulated(n=400, seed=50 + seed, spread=0.0)
        right = prior_of(simulated(n=600, seed=99))
        alone, helped = (train(few, prior).predict(fresh.values) for prior in (None, right))
        gains.append(spearmanr(helped, fresh.ratings)[0] - spearmanr(alone, fresh.ratings)[0])
    assert np.mean(gains) > 0.02
    wrong, many = prior_of(simulated(weights=(1, 0))), simulated(n=600, sets=1, weights=(0, 1))
    assert train(many, wrong).about["own_weight"] > 0
    assert train(many, wrong).shares[1] > 0.6
    rows, _ = cross_validate(many, wrong, resamples=100, named="wrong")
    assert [row.compared_with for row in rows] == ["wrong", NAMES[1]]
    assert rows[0].better is False  # one source
    assert rows[0].pairs_low > 0


def test_ratings_that_are_distances():
    left, right, ratings, groups = texts()
    near = features(Pairs(left, right), ratings, groups, metrics="jaccard,chrf")
    far = features(Pairs(left, right), 6 - ratings, groups, metrics="jaccard,chrf")
    up, down = train(near, scale=(1, 5)), train(far, scale=(5, 1))
    np.testing.assert_allclose(up.predict(near.values), down.predict(near.values), atol=1e-9)


@pytest.mark.parametrize("task", ["axis", "clustering"])
def test_a_task_is_learned_from_as_ratings_are(task, tmp_path):
    name = "sample:intents" if task == "clustering" else "sample:articles"
    stack = textgauge.ensemble(task=task, documents=name, metrics="levenshtein,jaccard", prior="none", resamples=100)
    assert stack.trained.about["task"] == task
    metric = stack.save(tmp_path / "mine.json")
    assert 0 <= metric("a red cat", "a red dog").value <= 1


def test_a_stack_is_judged_printed_and_saved(tmp_path):
    left, right, target, sets = texts()
    names = "jaccard,chrf,rouge1.recall"
    stack = textgauge.ensemble(left=left, right=right, target=target, metrics=names, groups=sets, resamples=100)
    rows = stack.to_dicts()
    assert rows[0]["compared_with"] == "blend-small"
    assert rows[1]["compared_with"] in names
    assert rows[0]["ensemble"] > 0.8
    assert str(stack).splitlines()[0] == stack.answer
    assert stack.trained.about["prior"] == "blend-small"
    assert "<table>" in stack._repr_html_()
    metric = stack.save(tmp_path / "mine.json")
    assert spearmanr(metric(left=left, right=right).values, target)[0] > 0.8


def test_ratings_of_a_left_out_set_have_no_part_in_its_predictions():
    rated = simulated(n=300)
    scale = (-50.0, 50.0)
    changed = rated.ratings.copy()
    here = rated.sets == 2
    changed[here] = np.random.default_rng(7).normal(size=here.sum())
    other = replace(rated, ratings=changed)
    first, second = (cross_validate(data, scale=scale, resamples=100)[1] for data in (rated, other))
    np.testing.assert_array_equal(first[here], second[here])
    assert (first[~here] != second[~here]).any()


def test_features_are_values_of_metrics_with_equal_pairs_computed_once():
    left, right, ratings, _ = texts()
    seen = []
    pairs = Pairs(left * 2, right * 2)
    with listen(seen.append):
        rated = features(pairs, [*ratings] * 2, metrics="rouge1,ter,rouge1.recall")
    assert [step for step in seen if step.kind == "scoring rated pairs"] == ["rouge1", "ter"]
    scores = get_metric("rouge1").measure(pairs)
    np.testing.assert_array_equal(rated.values[:, 0], scores.values)
    np.testing.assert_array_equal(rated.values[:, 2], scores.parts["recall"])
    ways = [get_metric("ter").measure(two).values / 100 for two in (pairs, Pairs(right * 2, left * 2))]
    np.testing.assert_allclose(rated.values[:, 1], -(ways[0] + ways[1]) / 2, rtol=1e-12)  # both directions


def test_without_sets_the_pairs_of_one_text_are_left_out_together():
    left, right, ratings, _ = texts()
    rated = features(Pairs(left * 2, right * 2), [*ratings] * 2, metrics="jaccard")
    assert (rated.folds[:80] == rated.folds[80:]).all()
    assert len(np.unique(rated.folds)) == 10
    assert (rated.sets == 0).all()
    assert (rated.sources == 0).all()
    (row,), _ = cross_validate(rated, resamples=100)
    assert np.isnan(row.sources_low)
    assert not row.better
    assert row.left_out is None


def test_sets_that_share_texts_are_one_source_and_left_out_together():
    left, right, ratings, _ = texts()
    dealt = [f"{'xyz'[i % 3]}{'' if i < 60 else ' random'}" for i in range(120)]
    both = Pairs(left[:60] * 2, [*right[:60], *right[3:60], *right[:3]])
    rated = features(both, [*ratings[:60], *ratings[20:]], dealt, metrics="jaccard")
    assert len(np.unique(rated.sets)) == 6
    assert rated.sources[:60].tolist() == rated.sources[60:].tolist()
    assert rated.folds.tolist() == rated.sources.tolist()
    assert rated.names == ("x + x random", "y + y random", "z + z random")
    (_, *left_out), _ = cross_validate(rated, resamples=100)
    assert [(row.left_out, row.n) for row in left_out] == [(name, 40) for name in rated.names]


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
    rated = compute_rated_features([training_pairs(Pairs(left, right), ratings, groups, halves)], "jaccard,chrf")
    assert (len(np.unique(rated.sets)), len(np.unique(rated.sources))) == (4, 2)
    assert cross_validate(rated, resamples=100)[0][0].ensemble > 0.7


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


def test_other_data_are_put_on_the_scale_and_left_out_only_where_they_are_judged_by_source():
    rated, other = simulated(n=300), simulated(n=120, seed=4)
    far = replace(other, ratings=1_000 + 7 * other.ratings)
    near, moved = (train(joined(rated, also)) for also in (other, far))
    np.testing.assert_allclose(near.weights, moved.weights, rtol=1e-9)
    assert (joined(rated, far).folds[300:] == -1).all()
    assert train(joined(rated, far)).about["pairs"] == 420
