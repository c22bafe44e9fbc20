"""The stacked metric: its two models against plain twins, its file, and what a damaged file meets."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from textgauge import Pairs, get_metric
from textgauge.core.errors import InputError, ResourceError, TextgaugeError
from textgauge.core.sealed import unsealed_json
from textgauge.metrics import ensemble_file as file
from textgauge.metrics.ensemble_file import Trained, checked_feature, parse
from textgauge.metrics.numerics.regression import (
    MAX_DEPTH,
    PENALTIES,
    Boosting,
    Ridge,
    _held_out_correlations,
    _weights,
    exported,
    fit_boosting,
    fit_ridge,
    one_scale,
)
from textgauge.metrics.pair.ensemble import feature_values
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


def trained(kind, gaps=True, scale=(-4.0, 8.0)):
    features, ratings, groups = data(gaps=gaps)
    model = fit_ridge(features, ratings, groups, groups) if kind == "ridge" else fit_boosting(features, ratings)
    return Trained(METRICS, tuple(metric.signature for metric in METRICS), model, *scale, {"pairs": 400})


@pytest.fixture(params=["ridge", "boosting"])
def content(request):
    return unsealed_json(trained(request.param).to_json())


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
    (weights,) = _weights(features, ratings, groups, (0.01,))
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
    (weights,) = _weights(features, ratings, groups, (0.01,))
    plain = with_penalty(within(features, groups), within(ratings, groups), 0.01)
    assert likeness(weights, true) > max(0.98, likeness(plain, true))


def test_small_groups_with_many_features_share_their_slope():
    true, gains = np.r_[np.ones(3), np.zeros(37)], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        features, groups = rng.normal(size=(120, 40)), np.arange(120) % 30
        ratings = features @ true + 2 * rng.normal(size=120)
        (weights,) = _weights(features, ratings, groups, (1.0,))
        plain = with_penalty(within(features, groups), within(ratings, groups), 1.0)
        gains.append(likeness(weights, true) - likeness(plain, true))
    assert np.mean(gains) > -0.01  # slopes left to themselves lose 0.04


def test_ratings_without_any_relation_still_give_a_model():
    features = np.tile([[1.0, 2.0], [1.0, 2.0]], (30, 1))
    model = fit_ridge(features, np.arange(60.0), np.repeat([0, 1], 30), np.repeat([0, 1], 30))
    np.testing.assert_allclose(model.predict(features), 29.5)


@pytest.mark.parametrize("kind", ["ridge", "boosting"])
def test_shares_tell_which_features_matter(kind):
    shares = trained(kind, gaps=False).model.shares(4)
    assert shares.sum() == pytest.approx(1.0)
    assert shares.argmax() == 0
    assert shares.argmin() == 2


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
    assert max(_held_out_correlations(features, ratings, groups, folds)) < 0


def test_differences_between_groups_teach_ridge_nothing():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(6), 50)
    useful, marks = rng.normal(size=300), groups + 0.01 * rng.normal(size=300)
    model = fit_ridge(np.column_stack([useful, marks]), useful + 5.0 * groups, groups, groups)
    assert abs(model.weights[1]) < 0.05 * model.weights[0]


def test_constant_and_missing_features_are_harmless():
    features, ratings, groups = data(gaps=False)
    features[:, 1], features[:, 2] = 0.1, np.nan
    for model in (fit_ridge(features, ratings, groups, groups), fit_boosting(features, ratings)):
        assert np.isfinite(model.predict(features)).all()
        assert np.isfinite(model.predict(np.full((3, 4), np.nan))).all()


def test_one_scale():
    assert one_scale(np.array([1.0, 9.0, 3.0, 1.0])).tolist() == [0.25, 0.875, 0.625, 0.25]
    two = one_scale(np.array([[1.0, 5.0], [2.0, 4.0]]))
    assert two.tolist() == [[0.25, 0.75], [0.75, 0.25]]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_trees_predict_as_those_of_scikit_learn(missing):
    from sklearn.ensemble import HistGradientBoostingRegressor

    rng = np.random.default_rng(3)
    features = rng.normal(size=(800, 6))
    ratings = np.sin(features[:, 0]) + features[:, 1] * features[:, 2]
    features[rng.random(features.shape) < missing] = np.nan
    fresh = np.vstack([features, rng.normal(size=(500, 6)) * 3, np.full((1, 6), np.nan)])
    with threadpool_limits(limits=1):
        learner = HistGradientBoostingRegressor(max_iter=30, early_stopping=False, random_state=0)
        wanted = learner.fit(features, ratings).predict(fresh)
    np.testing.assert_allclose(exported(learner).predict(fresh), wanted, rtol=0, atol=1e-12)


def test_a_split_between_known_and_missing_survives_the_file():
    from sklearn.ensemble import HistGradientBoostingRegressor

    features = np.where(np.arange(200) % 2 == 0, np.nan, 1.0)[:, None]
    ratings = np.where(np.isnan(features[:, 0]), 5.0, 1.0)
    learner = HistGradientBoostingRegressor(max_iter=5, early_stopping=False).fit(features, ratings)
    signature = (METRICS[0].signature,)
    model = parse(Trained(METRICS[:1], signature, exported(learner), 1.0, 5.0).to_json()).model
    np.testing.assert_allclose(model.predict(features), learner.predict(features), rtol=0, atol=1e-12)
    assert np.ptp(model.predict(features)) > 1


def test_boosting_rises_with_each_feature():
    features, ratings, _ = data(gaps=False)
    model = fit_boosting(features, ratings)
    steps = [model.predict(np.nan_to_num(features) + shift) for shift in (0.0, 0.2, 1.0)]
    assert all((later >= earlier - 1e-12).all() for earlier, later in pairwise(steps))
    fallen = fit_boosting(features, -ratings, rising=False)
    assert (fallen.predict(features + 1.0) <= fallen.predict(features) + 1e-12).all()


def test_another_form_of_trees_is_refused(monkeypatch):
    monkeypatch.setattr(Boosting, "_walk", lambda self, features: np.zeros(len(features)))
    with pytest.raises(ResourceError, match="scikit-learn"):
        fit_boosting(*data()[:2])


@pytest.mark.parametrize("kind", ["ridge", "boosting"])
def test_rows_do_not_depend_on_their_company(kind):
    model = trained(kind).model
    features = data(seed=9)[0]
    together = model.predict(features)
    assert [model.predict(features[i : i + 1])[0] for i in range(len(features))] == together.tolist()
    assert model.predict(features[:0]).shape == (0,)


@pytest.mark.parametrize("kind", ["ridge", "boosting"])
def test_a_file_gives_the_same_model_back(kind, tmp_path):
    model = trained(kind)
    model.save(tmp_path / "model.json")
    found, digest = file.load(tmp_path / "model.json")
    features = data(seed=9)[0]
    np.testing.assert_array_equal(found.similarity(features), model.similarity(features))
    assert (found.metrics, found.signatures) == (model.metrics, model.signatures)
    assert found.to_json() == model.to_json()
    model.save(tmp_path / "again.json")
    assert file.load(tmp_path / "again.json")[1] == digest
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["again.json", "model.json"]


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "model.json"
    trained("ridge").save(path)
    first = get_metric(f"ensemble@{path}")(left=["a cat"], right=["a cow"]).values
    trained("ridge", scale=(-40.0, 8.0)).save(path)
    assert get_metric(f"ensemble@{path}")(left=["a cat"], right=["a cow"]).values[0] > first[0]


def test_values_and_the_rules_for_equal_and_blank_texts(tmp_path):
    path = tmp_path / "model.json"
    model = trained("ridge", gaps=False)
    model.save(path)
    left, right = ["a cat", "same", "", "", "x"], ["a cow", "same", " ", "a cat", ""]
    metric = get_metric(f"ensemble@{path}")
    values = metric(left=left, right=right).values
    assert values[1:].tolist() == [1.0, 1.0, 0.0, 0.0]
    features = feature_values(METRICS, Pairs(left[:1], right[:1]))
    assert values[0] == model.similarity(features)[0]
    assert f"model={file.load(path)[1]}" in metric.signature


def test_features_are_turned_so_that_larger_is_closer():
    pairs = Pairs(["a b c d"], ["a b x"])
    (row,) = feature_values(METRICS, pairs)
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


@pytest.mark.parametrize("kind", ["ridge", "boosting"])
def test_the_contract(kind, tmp_path):
    rng = np.random.default_rng(4)
    features = rng.random((400, 4)) * [1, 1, 1, -1]
    ratings = features.sum(axis=1)
    zeros = np.zeros(400, dtype=np.int64)
    fitted = fit_ridge(features, ratings, zeros, np.arange(400) % 4)
    model = fitted if kind == "ridge" else fit_boosting(features, ratings)
    Trained(METRICS, tuple(m.signature for m in METRICS), model, -1.0, 3.0).save(tmp_path / "model.json")
    check_metric(get_metric(f"ensemble@{tmp_path / 'model.json'}"))


def test_a_metric_that_has_changed_is_told(tmp_path):
    model = trained("ridge")
    old = tuple(signature.replace("|v1|", "|v0|") for signature in model.signatures)
    Trained(METRICS, old, model.model, 0.0, 1.0).save(tmp_path / "model.json")
    with pytest.warns(RuntimeWarning, match="has changed since the ensemble was trained"):
        get_metric(f"ensemble@{tmp_path / 'model.json'}")(left=["a b"], right=["a c"])


def test_newer_packages_are_no_change(tmp_path):
    model = trained("ridge")
    older = tuple(f"{signature.rpartition('|scipy=')[0]}|scipy=1.0" for signature in model.signatures)
    Trained(METRICS, older, model.model, 0.0, 1.0).save(tmp_path / "model.json")
    get_metric(f"ensemble@{tmp_path / 'model.json'}")(left=["a b"], right=["a c"])


def test_a_changed_number_is_noticed():
    whole = trained("ridge").to_json()
    with pytest.raises(InputError, match="damaged one: its checksum does not match"):
        parse(whole.replace('"pairs": 400', '"pairs": 401'))


def test_no_file():
    metric = get_metric("ensemble@nowhere.json")
    with pytest.raises(InputError, match="no such model file"):
        metric(left=["a"], right=["b"])


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(ResourceError, match="cannot write"):
        trained("ridge").save(tmp_path / "no" / "model.json")


def test_large_files_are_not_read(tmp_path):
    with (tmp_path / "model.json").open("wb") as stream:
        stream.truncate(file.MAX_BYTES + 1)
    with pytest.raises(InputError, match="at most 50,000,000"):
        file.load(tmp_path / "model.json")


def test_devices_and_folders_are_not_read(tmp_path):
    (tmp_path / "model.json").symlink_to("/dev/zero")
    for path in (tmp_path, tmp_path / "model.json"):
        with pytest.raises(InputError, match="a regular file, not a folder or a device"):
            file.load(path)


def test_nesting_is_limited_before_the_text_is_parsed(content, monkeypatch):
    monkeypatch.setattr(file.json, "loads", lambda *_, **__: pytest.fail("parsed"))
    for text in ("[" * 17, '{"a": ' * 17, '{"]]]]": ' * 17, '{"\\"]": ' * 17):
        with pytest.raises(InputError, match="nested deeper than 16"):
            parse(text)


def test_brackets_within_strings_do_not_count(content):
    assert parse(json.dumps({**content, "trained": {"data": "[" * 99 + '\\"' + "{" * 99}})).about["data"]


def test_older_files_have_no_sketch_and_no_warning(tmp_path, content):
    assert "texts" not in content
    (tmp_path / "old.json").write_text(json.dumps(content))
    scores = get_metric(f"ensemble@{tmp_path / 'old.json'}")(left=["interest rates"], right=["a cow"])
    assert scores.warnings == ()


@pytest.mark.parametrize(
    "name",
    ["judge", "cross_encoder", "ensemble@a.json", "cosine@api:m", "cosine@st:x/y", "wmd@words.vec", "bertscore@hf:x"],
)
def test_features_that_reach_outside_are_refused(name, content):
    with pytest.raises(InputError, match="feature"):
        checked_feature(get_metric(name))
    content["features"][0]["metric"] = name
    with pytest.raises(InputError, match="feature"):
        parse(json.dumps(content))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        '{"format": 1}',
        "[" * 100_000,
        '{"a": ' * 5_000,
        b"\xff\xfe\x00",
        "1" * 10_000,
        '{"a": NaN}',
    ],
)
def test_what_is_not_a_model_file(text):
    with pytest.raises(InputError):
        parse(text)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "textgauge ensemble 99"),
        ("model", "forest"),
        ("model", ["ridge"]),
        ("model", None),
        ("parameters", []),
        ("trained", 3),
        ("texts", 3),
        ("texts", {"embedder": "minilm", "texts": 2, "spread": 0, "rows": "AAA"}),
        ("scale", [1.0, 1.0]),
        ("scale", [1.0]),
        ("scale", [1.0, True]),
        ("scale", [1.0, 10**400]),
        ("features", []),
        ("features", {}),
        ("features", [1, 2, 3, 4]),
        ("features", [{"metric": "jaccard"}] * 4),
        ("features", [{"metric": "jaccard", "signature": "x"}] * 4),
        ("features", [{"metric": "jaccard|chrf", "signature": "x"}] * 4),
        ("features", [{"metric": "bleu(smoothing=exp|none)", "signature": "x"}] * 4),
        ("features", [{"metric": "fid", "signature": "x"}] * 4),
    ],
)
def test_spoilt_files(content, key, value):
    with pytest.raises(TextgaugeError):
        parse(json.dumps({**content, key: value}))


def test_unknown_metrics_are_told_with_the_file(tmp_path, content):
    content["features"][0]["metric"] = "jacard"
    (tmp_path / "model.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"model\.json: unknown metric 'jacard'; did you mean jaccard"):
        file.load(tmp_path / "model.json")


def test_numbers_of_every_parameter_are_checked(content):
    for name, value in content["parameters"].items():
        for wrong in (None, "1", "1e999", [], [[1]], [*value, 0] if isinstance(value, list) else [value]):
            text = json.dumps({**content, "parameters": {**content["parameters"], name: wrong}})
            with pytest.raises(InputError):
                parse(text.replace('"1e999"', "1e999"))
        if isinstance(value, list):
            infinite = json.dumps({**content, "parameters": {**content["parameters"], name: [*value[:-1], "inf"]}})
            with pytest.raises(InputError, match="not finite"):
                parse(infinite.replace('"inf"', "1e999"))


def stump(**changes):
    """One tree of a split and two leaves, over one feature."""
    parameters = {
        "baseline": 0.0,
        "roots": [0],
        "feature": [0, 0, 0],
        "threshold": [0.5, 0, 0],
        "left": [1, 1, 2],
        "right": [2, 1, 2],
        "missing_left": [1, 0, 0],
        "value": [0, 1.0, 2.0],
    } | changes
    feature = {"metric": "jaccard", "signature": METRICS[0].signature}
    content = {"format": file.FORMAT, "model": "boosting", "features": [feature], "scale": [0, 1]}
    return json.dumps({**content, "parameters": parameters})


def test_a_tree_by_hand():
    model = parse(stump()).model
    assert model.predict(np.array([[0.5], [0.6], [np.nan]])).tolist() == [1.0, 2.0, 1.0]


@pytest.mark.parametrize(
    "changes",
    [
        {"left": [0, 1, 2], "right": [2, 1, 2]},  # a loop
        {"left": [1, 0, 2], "right": [2, 2, 2]},  # a child before its parent
        {"left": [3, 1, 2]},
        {"left": [-1, 1, 2]},
        {"left": [1.5, 1, 2]},
        {"feature": [1, 0, 0]},
        {"feature": [-1, 0, 0]},
        {"roots": [1]},
        {"roots": [0, 0]},
        {"roots": [0, 3]},
        {"roots": [0, 1]},  # the first tree has children in the second
        {"value": [0, 1.0]},
    ],
)
def test_trees_whose_walk_might_not_end_are_refused(changes):
    with pytest.raises(InputError):
        parse(stump(**changes))


def test_deep_trees_are_refused():
    def chain(steps):
        """A tree whose right children go on: node 2i splits into leaf 2i + 1 and node 2i + 2."""
        nodes = range(2 * steps + 1)
        inner = [node % 2 == 0 and node < 2 * steps for node in nodes]
        zeros = [0] * len(nodes)
        return stump(
            feature=zeros,
            threshold=zeros,
            missing_left=zeros,
            value=zeros,
            left=[node + 1 if splits else node for node, splits in zip(nodes, inner, strict=True)],
            right=[node + 2 if splits else node for node, splits in zip(nodes, inner, strict=True)],
        )

    assert parse(chain(MAX_DEPTH)).model.depth == MAX_DEPTH
    with pytest.raises(InputError, match="deeper"):
        parse(chain(MAX_DEPTH + 1))
