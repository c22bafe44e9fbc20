"""The stacked metric: its model against plain twins, its file, and what a damaged file meets."""

import json
import math

import numpy as np
import pytest

from textgauge import Pairs, get_metric
from textgauge.bench.learned.fitting import PENALTIES, _solve_weights, fit_ridge, measure_penalties
from textgauge.core.errors import InputError
from textgauge.core.files import unseal_json
from textgauge.metrics.pair.ensemble import Ridge, Trained, check_feature, compute_features, load_model, parse_model
from textgauge.testing import check_metric

METRICS = tuple(map(get_metric, ("jaccard", "chrf", "rouge1.precision", "ter")))


def data(n=400, gaps=True, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 4))
    groups = rng.integers(5, size=n)
    ratings = features @ [1.0, 0.5, 0.0, 0.2] + 0.3 * rng.normal(size=n) + groups
    if gaps:
        features[rng.random((n, 4)) < 0.1] = np.nan
        features[:, 2] = np.where(np.isnan(features[:, 2]), 0.0, features[:, 2])
    return features, ratings, groups


def trained(gaps=True, scale=(-4.0, 8.0)):
    features, ratings, groups = data(gaps=gaps)
    model = fit_ridge(features, ratings, groups, groups)
    return Trained(METRICS, tuple(metric.signature for metric in METRICS), model, *scale, {"pairs": 400})


@pytest.fixture
def content():
    return unseal_json(trained().to_json())


def standardised(features):
    """Columns at mean 0 and deviation 1, and those that say where one is missing."""
    gaps = np.isnan(features)
    standard = (features - np.nanmean(features, axis=0)) / np.nanstd(features, axis=0)
    return np.hstack([np.where(gaps, 0, standard), gaps[:, gaps.any(axis=0)]])


def within(columns, groups):
    inner = columns.copy()
    for group in np.unique(groups):
        inner[groups == group] -= columns[groups == group].mean(axis=0)
    return inner


def with_penalty(columns, ratings, penalty):
    """Least squares, the penalty as further rows."""
    width = columns.shape[1]
    rows = np.vstack([columns, math.sqrt(penalty * len(ratings)) * np.eye(width)])
    return np.linalg.lstsq(rows, np.append(ratings, np.zeros(width)))[0]


def test_ridge_is_least_squares_with_a_penalty():
    features, ratings, _ = data()
    model = fit_ridge(features, ratings, np.zeros(400, dtype=np.int64), np.arange(400) % 5)
    columns = standardised(features)
    weights = with_penalty(columns - columns.mean(axis=0), ratings - ratings.mean(), model.penalty)
    slope, intercept = np.polyfit(columns @ weights, ratings, 1)
    np.testing.assert_allclose(model.predict(features), slope * (columns @ weights) + intercept, atol=1e-9)
    assert model.penalty in PENALTIES
    assert model.missing[2] == 0.0


def likeness(weights, true):
    return weights @ true / np.linalg.norm(weights) / np.linalg.norm(true)


def test_weights_and_slopes_of_groups_are_each_right_beside_the_other():
    features, ratings, groups = data(gaps=False)
    ratings = ratings * np.array([0.2, 1.0, 3.0, 0.5, 2.0])[groups]
    columns, level = within(features, groups), within(ratings, groups)
    (weights,) = _solve_weights(features, ratings, groups, (0.01,))
    told = columns @ weights
    here = [groups == g for g in range(5)]
    slopes = np.array([told[g] @ level[g] / (told[g] @ told[g]) for g in here]) / (told @ level / (told @ told))
    few = 4 / np.array([g.sum() for g in here])
    slopes = (slopes + few) / (1 + few)
    slopes /= np.sqrt((slopes[groups] ** 2).mean())
    np.testing.assert_allclose(weights, with_penalty(slopes[groups][:, None] * columns, level, 0.01), atol=1e-6)
    assert slopes[2] > 5 * slopes[0]


def test_groups_without_agreement_do_not_thin_what_others_teach():
    rng = np.random.default_rng(5)
    features, groups = rng.normal(size=(2_000, 6)), np.arange(2_000) % 10
    true = np.array([1.0, 0.6, 0.3, 0.0, 0.0, 0.0])
    ratings = np.where(groups < 2, features @ true, 0.0) + rng.normal(size=2_000)
    (weights,) = _solve_weights(features, ratings, groups, (0.01,))
    plain = with_penalty(within(features, groups), within(ratings, groups), 0.01)
    assert likeness(weights, true) > max(0.98, likeness(plain, true))


def test_small_groups_with_many_features_share_their_slope():
    true, gains = np.r_[np.ones(3), np.zeros(37)], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        features, groups = rng.normal(size=(120, 40)), np.arange(120) % 30
        ratings = features @ true + 2 * rng.normal(size=120)
        (weights,) = _solve_weights(features, ratings, groups, (1.0,))
        plain = with_penalty(within(features, groups), within(ratings, groups), 1.0)
        gains.append(likeness(weights, true) - likeness(plain, true))
    assert np.mean(gains) > -0.01  # slopes left to themselves lose 0.04


def test_a_penalty_is_chosen_by_what_is_left_out():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(60, 40))
    folds = np.arange(60) % 6
    noisy = fit_ridge(features, features[:, 0] + 3 * rng.normal(size=60), np.zeros(60, dtype=np.int64), folds)
    clear = fit_ridge(features, features[:, 0], np.zeros(60, dtype=np.int64), folds)
    assert noisy.penalty > clear.penalty


def test_no_choice_is_made_for_pairs_that_are_never_left_out():
    rng = np.random.default_rng(4)
    features, groups = rng.normal(size=(120, 1)), np.repeat([0, 1], [20, 100])
    ratings = np.where(groups, features[:, 0], -features[:, 0])  # the other way round where it is judged
    folds = np.where(groups, -1, np.arange(120) % 4)
    assert max(measure_penalties(features, ratings, groups, folds)) < 0


def test_differences_between_groups_teach_ridge_nothing():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(6), 50)
    useful, marks = rng.normal(size=300), groups + 0.01 * rng.normal(size=300)
    model = fit_ridge(np.column_stack([useful, marks]), useful + 5.0 * groups, groups, groups)
    assert abs(model.weights[1]) < 0.05 * model.weights[0]


def test_constant_and_missing_features_are_harmless():
    features, ratings, groups = data(gaps=False)
    features[:, 1], features[:, 2] = 0.1, np.nan
    model = fit_ridge(features, ratings, groups, groups)
    assert np.isfinite(model.predict(features)).all()
    assert np.isfinite(model.predict(np.full((3, 4), np.nan))).all()


def test_a_file_gives_the_same_model_back(tmp_path):
    model = trained()
    model.save(tmp_path / "model.json")
    found, digest = load_model(tmp_path / "model.json")
    features = data(seed=9)[0]
    np.testing.assert_array_equal(found.similarity(features), model.similarity(features))
    assert (found.metrics, found.signatures) == (model.metrics, model.signatures)
    assert found.to_json() == model.to_json()
    model.save(tmp_path / "again.json")
    assert load_model(tmp_path / "again.json")[1] == digest
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["again.json", "model.json"]


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "model.json"
    trained().save(path)
    first = get_metric(f"ensemble@{path}")(left=["a cat"], right=["a cow"]).values
    trained(scale=(-40.0, 8.0)).save(path)
    assert get_metric(f"ensemble@{path}")(left=["a cat"], right=["a cow"]).values[0] > first[0]


def test_values_and_the_rules_for_equal_and_blank_texts(tmp_path):
    path = tmp_path / "model.json"
    model = trained(gaps=False)
    model.save(path)
    left, right = ["a cat", "same", "", "", "x"], ["a cow", "same", " ", "a cat", ""]
    metric = get_metric(f"ensemble@{path}")
    values = metric(left=left, right=right).values
    assert values[1:].tolist() == [1.0, 1.0, 0.0, 0.0]
    features = compute_features(METRICS, Pairs(left[:1], right[:1]))
    assert values[0] == model.similarity(features)[0]
    assert f"model={load_model(path)[1]}" in metric.signature


def test_features_are_turned_so_that_larger_is_closer():
    pairs = Pairs(["a b c d"], ["a b x"])
    (row,) = compute_features(METRICS, pairs)
    ter, rouge = get_metric("ter").measure(pairs).values[0], get_metric("rouge1").measure(pairs)
    assert row[3] == -ter
    assert row[2] == rouge.parts["precision"][0]


def test_predictions_are_clamped_to_the_scale():
    ones, zeros = np.ones(4), np.zeros(4)
    model = Ridge(zeros, ones, ones, zeros, 3.0, 1.0)
    signatures = tuple(metric.signature for metric in METRICS)
    up = Trained(METRICS, signatures, model, 1.0, 5.0)
    down = Trained(METRICS, signatures, model, 5.0, 1.0)
    features = np.array([[-9.0] * 4, [0.0] * 4, [0.25] * 4, [9.0] * 4])
    assert up.similarity(features).tolist() == [0.0, 0.5, 0.75, 1.0]
    assert down.similarity(features).tolist() == [1.0, 0.5, 0.25, 0.0]


def test_the_contract(tmp_path):
    rng = np.random.default_rng(4)
    features = rng.random((400, 4)) * [1, 1, 1, -1]
    ratings = features.sum(axis=1)
    zeros = np.zeros(400, dtype=np.int64)
    model = fit_ridge(features, ratings, zeros, np.arange(400) % 4)
    Trained(METRICS, tuple(m.signature for m in METRICS), model, -1.0, 3.0).save(tmp_path / "model.json")
    check_metric(get_metric(f"ensemble@{tmp_path / 'model.json'}"))


def test_a_metric_that_has_changed_is_told(tmp_path):
    model = trained()
    old = tuple(signature.replace("|v1|", "|v0|") for signature in model.signatures)
    Trained(METRICS, old, model.model, 0.0, 1.0).save(tmp_path / "model.json")
    with pytest.warns(RuntimeWarning, match="has changed since the ensemble was trained"):
        get_metric(f"ensemble@{tmp_path / 'model.json'}")(left=["a b"], right=["a c"])


def test_newer_packages_are_no_change(tmp_path):
    model = trained()
    older = tuple(f"{signature.rpartition('|scipy=')[0]}|scipy=1.0" for signature in model.signatures)
    Trained(METRICS, older, model.model, 0.0, 1.0).save(tmp_path / "model.json")
    get_metric(f"ensemble@{tmp_path / 'model.json'}")(left=["a b"], right=["a c"])


def test_a_changed_number_is_noticed():
    whole = trained().to_json()
    with pytest.raises(InputError, match="damaged one: its checksum does not match"):
        parse_model(whole.replace('"pairs": 400', '"pairs": 401'))


@pytest.mark.parametrize(
    "name",
    ["judge", "cross_encoder", "ensemble@a.json", "cosine@api:m", "cosine@st:x/y", "wmd@words.vec", "bertscore@hf:x"],
)
def test_features_that_reach_outside_are_refused(name, content):
    with pytest.raises(InputError, match="feature"):
        check_feature(get_metric(name))
    content["features"][0]["metric"] = name
    with pytest.raises(InputError, match="feature"):
        parse_model(json.dumps(content))


def test_unknown_metrics_are_told_with_the_file(tmp_path, content):
    content["features"][0]["metric"] = "jacard"
    (tmp_path / "model.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"model\.json: unknown metric 'jacard'; did you mean jaccard"):
        load_model(tmp_path / "model.json")
