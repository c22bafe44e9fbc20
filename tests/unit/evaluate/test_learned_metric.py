"""Training by sets left out: what is learned, what is not seen, and what is refused."""

import numpy as np
import pytest
from scipy.stats import spearmanr

import textgauge
from textgauge import Pairs, get_metric, list_metrics
from textgauge.errors import InputError
from textgauge.evaluate import learned_metric as ensemble
from textgauge.evaluate.learned_metric import RatedFeatures, cross_validated, rated_features, train

METRICS = "jaccard,chrf,rouge1.recall"
NAMES = ("jaccard", "chrf", "rouge1", "ter")
WORDS = ["red", "blue", "cat", "dog", "runs", "sleeps", "the", "a", "house", "tree", "old", "new", "river", "stone"]


def simulated(n=600, sets=6, seed=0, noise=0.3, spread=1.0):
    """Ratings made of two features and of an offset of the set that no feature tells."""
    rng = np.random.default_rng(seed)
    values, groups = rng.normal(size=(n, 4)), np.arange(n) % sets
    ratings = values[:, 0] + values[:, 1] + noise * rng.normal(size=n) + spread * rng.normal(size=sets)[groups]
    return RatedFeatures(tuple(map(get_metric, NAMES)), values, ratings, groups, groups, "")


def texts(n=80, seed=0):
    """Pairs of which the second text keeps a share of the first one's words, rated by that share."""
    rng = np.random.default_rng(seed)
    left = [" ".join(rng.choice(WORDS, 8)) for _ in range(n)]
    kept = rng.integers(0, 9, size=n)
    right = [" ".join([*text.split()[:k], *rng.choice(WORDS, 8 - k)]) for text, k in zip(left, kept, strict=True)]
    return left, right, kept / 2 + 1, [f"set {i % 4}" for i in range(n)]


@pytest.mark.parametrize("model", ["ridge", "boosting"])
def test_the_stacked_metric_beats_single_ones_where_two_of_them_matter(model):
    found = cross_validated(simulated(spread=0.2), model=model, resamples=200)
    (row, _) = found.contrasts
    assert row.measure == "spearman"
    assert row.best in NAMES[:2]
    assert row.ensemble > row.single + 0.1
    assert row.test.low > 0
    assert row.test.p < 0.05
    assert row.test.low <= row.test.difference <= row.test.high
    assert found.predictions.shape == (600,)


def test_numbers_are_those_of_scipy():
    rated = simulated()
    found = cross_validated(rated, resamples=100)
    means = [
        [column[rated.groups == group].mean() for group in range(6)] for column in (*rated.values.T, rated.ratings)
    ]
    for place, single in enumerate(found.singles):
        assert single.spearman == pytest.approx(spearmanr(rated.values[:, place], rated.ratings)[0], abs=1e-12)
        assert single.order == pytest.approx(spearmanr(means[place], means[-1])[0], abs=1e-12)
    assert found.stacked.spearman == pytest.approx(spearmanr(found.predictions, rated.ratings)[0], abs=1e-12)
    assert [row["measure"] for row in found.to_dicts()] == ["spearman", "order"]


@pytest.mark.parametrize("model", ["ridge", "boosting"])
def test_ratings_of_a_left_out_set_have_no_part_in_its_predictions(model):
    rated = simulated(n=300)
    scale = (-50.0, 50.0)
    changed = rated.ratings.copy()
    here = rated.groups == 2
    changed[here] = np.random.default_rng(7).normal(size=here.sum())
    other = RatedFeatures(rated.metrics, rated.values, changed, rated.groups, rated.folds, "")
    first, second = (cross_validated(data, model=model, scale=scale, resamples=100) for data in (rated, other))
    np.testing.assert_array_equal(first.predictions[here], second.predictions[here])
    assert (first.predictions[~here] != second.predictions[~here]).any()


@pytest.mark.parametrize("model", ["ridge", "boosting"])
def test_noise_teaches_nothing(model):
    rng = np.random.default_rng(3)
    rated = simulated(n=1_000)
    dealt = RatedFeatures(rated.metrics, rated.values, rng.permutation(rated.ratings), rated.groups, rated.folds, "")
    assert abs(cross_validated(dealt, model=model, resamples=100).stacked.spearman) < 0.12


@pytest.mark.parametrize("model", ["ridge", "boosting"])
def test_training_is_repeatable_and_scores_texts(model, tmp_path):
    left, right, ratings, groups = texts()
    rated = rated_features(Pairs(left, right), ratings, metrics="jaccard,chrf,rouge1.recall", groups=groups)
    once, again = (train(rated, model=model, scale=(1, 5), about="words").to_json() for _ in range(2))
    assert once == again
    train(rated, model=model, scale=(1, 5)).save(tmp_path / "model.json")
    metric = get_metric(f"ensemble@{tmp_path / 'model.json'}")
    assert spearmanr(metric(left=left, right=right).values, ratings)[0] > 0.8


def test_ratings_that_are_distances():
    left, right, ratings, groups = texts()
    pairs = Pairs(left, right)
    near = rated_features(pairs, ratings, metrics="jaccard,chrf", groups=groups)
    far = rated_features(pairs, 6 - ratings, metrics="jaccard,chrf", groups=groups)
    for model in ("ridge", "boosting"):
        up = cross_validated(near, model=model, scale=(1, 5), resamples=100)
        down = cross_validated(far, model=model, scale=(5, 1), resamples=100)
        assert down.stacked.spearman == pytest.approx(up.stacked.spearman, abs=1e-3)
        similar = [train(r, model=model, scale=s) for r, s in ((near, (1, 5)), (far, (5, 1)))]
        a, b = (one.similarity(near.values) for one in similar)
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_features_are_values_of_metrics_with_equal_pairs_computed_once():
    left, right, ratings, _ = texts()
    seen = []
    pairs = Pairs(left * 2, right * 2)
    rated = rated_features(pairs, [*ratings] * 2, metrics="rouge1,ter,rouge1.recall", on_step=seen.append)
    assert seen == ["rouge1", "ter"]
    scores = get_metric("rouge1").measure(pairs)
    np.testing.assert_array_equal(rated.values[:, 0], scores.values)
    np.testing.assert_array_equal(rated.values[:, 2], scores.parts["recall"])
    np.testing.assert_array_equal(rated.values[:, 1], -get_metric("ter").measure(pairs).values)


def test_without_sets_the_pairs_of_one_text_are_left_out_together():
    left, right, ratings, _ = texts()
    rated = rated_features(Pairs(left * 2, right * 2), [*ratings] * 2, metrics="jaccard")
    assert (rated.folds[:80] == rated.folds[80:]).all()
    assert len(np.unique(rated.folds)) == 10
    assert (rated.groups == 0).all()
    found = cross_validated(rated, resamples=100)
    assert [row.measure for row in found.contrasts] == ["spearman"]
    assert np.isnan(found.stacked.order)


def test_many_sets_are_left_out_some_at_a_time():
    left, right, ratings, _ = texts()
    rated = rated_features(Pairs(left, right), ratings, metrics="jaccard", groups=[i // 2 for i in range(80)])
    assert len(np.unique(rated.folds)) == 20
    assert all(len(np.unique(rated.folds[rated.groups == group])) == 1 for group in range(40))


def test_two_sets_and_folds_of_ones_own():
    left, right, ratings, groups = texts()
    halves = [name in ("set 0", "set 1") for name in groups]
    rated = rated_features(Pairs(left, right), ratings, metrics="jaccard,chrf", groups=groups, folds=halves)
    assert cross_validated(rated, resamples=100).stacked.spearman > 0.7


def test_undefined_values_are_filled():
    rated = simulated()
    rated.values[::7, 0] = np.nan
    found = cross_validated(rated, resamples=100)
    assert np.isfinite(found.predictions).all()
    assert found.singles[0].spearman == pytest.approx(
        spearmanr(np.nan_to_num(rated.values[:, 0], nan=np.nanmean(rated.values[:, 0])), rated.ratings)[0]
    )


def test_the_fingerprint_is_of_texts_ratings_and_sets():
    left, right, ratings, groups = texts()

    def fingerprint(**changes):
        given = {"left": left, "right": right, "ratings": ratings, "groups": groups} | changes
        pairs = Pairs(given["left"], given["right"])
        return rated_features(pairs, given["ratings"], metrics="jaccard", groups=given["groups"]).fingerprint

    changed = [{}, {"left": right, "right": left}, {"ratings": ratings[::-1]}, {"groups": groups[::-1]}]
    assert len({fingerprint(**change) for change in changed}) == 4
    assert fingerprint() == fingerprint()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"ratings": [1.0] * 80}, "nothing to learn"),
        ({"ratings": [1.0, float("nan")] * 40}, "rating 1 is not"),
        ({"ratings": [1.0]}, "1 ratings"),
        ({"groups": ["one"] * 80}, "at least two"),
        ({"groups": ["one"]}, "1 groups"),
        ({"folds": ["one"]}, "1 folds"),
        ({"metrics": ""}, "at least one metric"),
        ({"metrics": "judge"}, "cannot be a feature"),
    ],
)
def test_what_cannot_be_learned_from(changes, complaint):
    left, right, ratings, groups = texts()
    options = {"ratings": ratings, "groups": groups, "metrics": "jaccard"} | changes
    with pytest.raises(InputError, match=complaint):
        rated_features(Pairs(left, right), **options)


def test_too_few_pairs():
    with pytest.raises(InputError, match="too few"):
        rated_features(Pairs(["a"], ["b"]), [1.0], metrics="jaccard")


@pytest.mark.parametrize("scale", [(1, 1), (1, 2), (float("nan"), 1)])
def test_scales_that_do_not_fit(scale):
    with pytest.raises(InputError, match="scale"):
        train(simulated(), scale=scale)


@pytest.mark.parametrize("model", ["ridge", "boosting"])
def test_other_data_help_where_there_is_little(model):
    few, many = simulated(n=60, noise=2.0, spread=0.0), simulated(n=2_000, seed=5, noise=0.3, spread=0.0)
    alone, helped = (cross_validated(few, also=also, model=model, resamples=100) for also in (None, many))
    assert helped.stacked.spearman > alone.stacked.spearman + 0.02
    assert len(helped.predictions) == len(few)
    assert helped.singles == alone.singles


def test_other_data_are_put_on_the_scale_and_never_left_out():
    rated, other = simulated(n=300), simulated(n=120, seed=4)
    far = RatedFeatures(other.metrics, other.values, 1_000 + 7 * other.ratings, other.groups, other.folds, "b")
    near, moved = (train(rated, also=also, about="x").model for also in (other, far))
    np.testing.assert_allclose(near.weights, moved.weights, rtol=1e-9)
    joined = rated.joined(far)
    assert (joined.folds[300:] == -1).all()
    assert joined.groups.tolist() == [*rated.groups, *(other.groups + 6)]
    assert joined.fingerprint == "+b"
    assert train(rated, also=far).about["pairs"] == 420


def test_other_data_teach_distances_turned_round():
    rated, other = simulated(n=300, spread=0.0), simulated(n=300, seed=4, spread=0.0)
    turned = RatedFeatures(rated.metrics, rated.values, -rated.ratings, rated.groups, rated.folds, "")
    ends = (float(rated.ratings.min()), float(rated.ratings.max()))
    up = train(rated, also=other, scale=ends)
    down = train(turned, also=other, scale=(-ends[0], -ends[1]))
    np.testing.assert_allclose(up.similarity(rated.values), down.similarity(rated.values), atol=1e-9)


def test_other_data_need_the_same_metrics_and_different_ratings():
    rated, other = simulated(n=60), simulated(n=60)
    equal = RatedFeatures(other.metrics, other.values, np.ones(60), other.groups, other.folds, "")
    with pytest.raises(InputError, match="are equal"):
        train(rated, also=equal)
    fewer = RatedFeatures(other.metrics[:2], other.values[:, :2], other.ratings, other.groups, other.folds, "")
    with pytest.raises(InputError, match="the same metrics"):
        train(rated, also=fewer)


def test_unknown_models():
    with pytest.raises(InputError, match="ridge, boosting"):
        train(simulated(), model="forest")
    assert ensemble.KINDS == ("ridge", "boosting")


def test_all_features_are_every_metric_that_is_computed_here_with_its_parts():
    keys = [metric.key for metric in ensemble.all_features()]
    assert len(set(keys)) == len(keys)
    assert {"chrf", "rouge1.recall", "meteor.fragmentation", "cosine", "cosine@wordllama", "pos_distance"} <= set(keys)
    hosted = {metric.key for metric in list_metrics(kind="pair") if metric.needs in ("model", "service")}
    assert not hosted & set(keys)
    assert {metric.key for metric in list_metrics(kind="pair")} - hosted <= set(keys)


def test_metrics_of_a_package_that_is_not_installed_are_left_out(monkeypatch):
    monkeypatch.setattr(ensemble, "find_spec", lambda _: None)
    assert not any(metric.name == "pos_distance" for metric in ensemble.all_features())


def test_what_is_not_named_is_learned_from_all_features(monkeypatch):
    left, right, ratings, _ = texts()
    some = [get_metric("jaccard"), get_metric("chrf.recall")]
    monkeypatch.setattr(ensemble, "all_features", lambda: some)
    assert rated_features(Pairs(left, right), ratings).metrics == tuple(some)


def pairs(n=80):
    """The second text keeps the first words of the first one, and is rated by how many."""
    left = [" ".join(WORDS[(i + j * (1 + i % 5)) % 14] for j in range(8)) for i in range(n)]
    kept = [(7 * i) % 9 for i in range(n)]
    right = [" ".join([*text.split()[:k], *["other"] * (8 - k)]) for text, k in zip(left, kept, strict=True)]
    return left, right, [1 + k / 2 for k in kept]


@pytest.mark.parametrize("model", ["ridge", "boosting"])
def test_a_stack_is_judged_printed_and_saved(model, tmp_path):
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


def test_what_does_not_fit_is_refused():
    left, right, target = pairs()
    with pytest.raises(InputError, match="80 pairs but 79 ratings"):
        textgauge.ensemble(left=left, right=right, target=target[1:], metrics=METRICS)
    with pytest.raises(InputError, match="ridge, boosting"):
        textgauge.ensemble(left=left, right=right, target=target, metrics=METRICS, model="forest")
    with pytest.raises(InputError, match="needs a service of its own"):
        textgauge.ensemble(left=left, right=right, target=target, metrics="judge")
