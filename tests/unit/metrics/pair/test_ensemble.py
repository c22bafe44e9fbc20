"""The stacked metric: its model against plain twins, its file, and what a damaged file meets."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from textgauge import Corpus, Pairs, get_metric
from textgauge.bench.learned import solve_weights
from textgauge.core.errors import InputError
from textgauge.core.files import unseal_json
from textgauge.metrics.pair.ensemble import (
    Blend,
    BlendSmall,
    Trained,
    check_feature,
    compute_features,
    load_blend,
    load_model,
    name_part,
    parse_model,
)
from textgauge.testing import check_metric

METRICS = tuple(map(get_metric, ("jaccard", "chrf", "rouge1.precision", "ter")))


def trained(intercept=0.5):
    columns = np.array([0.3, 0.4, 0.5, -0.6]), np.full(4, 0.2), np.array([1.0, 0.5, 0.3, 0.2])
    signatures = tuple(metric.signature for metric in METRICS)
    about = {"pairs": 400}
    return Trained(METRICS, *columns, intercept, signatures=signatures, worst=1.0, best=5.0, about=about)


@pytest.fixture
def content():
    return unseal_json(trained().to_json())


def test_the_value_is_a_logistic_curve_over_a_weighted_sum():
    features = np.array([[0.3, 0.4, 0.5, -0.6], [0.5, np.nan, 0.7, -0.4]])
    values = trained().predict(features)
    assert values == pytest.approx([1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(-2.0))])
    assert trained().contributions(features)[1] == pytest.approx([1.0, 0.0, 0.3, 0.2])


def test_a_file_gives_the_same_model_back(tmp_path):
    model = trained()
    model.save(tmp_path / "model.json")
    found, digest = load_model(tmp_path / "model.json")
    features = np.random.default_rng(9).normal(size=(5, 4))
    np.testing.assert_array_equal(found.predict(features), model.predict(features))
    assert (found.metrics, found.signatures) == (model.metrics, model.signatures)
    assert found.to_json() == model.to_json()
    model.save(tmp_path / "again.json")
    assert load_model(tmp_path / "again.json")[1] == digest
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["again.json", "model.json"]


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "model.json"
    trained().save(path)
    first = get_metric(f"ensemble@{path}")(left=["a cat"], right=["a cow"]).values
    trained(intercept=3.0).save(path)
    assert get_metric(f"ensemble@{path}")(left=["a cat"], right=["a cow"]).values[0] > first[0]


def test_values_and_the_rules_for_equal_and_blank_texts(tmp_path):
    path = tmp_path / "model.json"
    model = trained()
    model.save(path)
    left, right = ["a cat", "same", "", "", "x"], ["a cow", "same", " ", "a cat", ""]
    metric = get_metric(f"ensemble@{path}")
    values = metric(left=left, right=right).values
    assert values[1:].tolist() == [1.0, 1.0, 0.0, 0.0]
    features = compute_features(METRICS, Pairs(left[:1], right[:1]))
    assert values[0] == model.predict(features)[0]
    rows = metric.explain(left[0], right[0])
    assert rows[0].metric == "intercept"
    assert 1 / (1 + math.exp(-sum(row.contribution for row in rows))) == pytest.approx(values[0])
    assert f"model={load_model(path)[1]}" in metric.signature


def test_the_contract(tmp_path):
    trained().save(tmp_path / "model.json")
    check_metric(get_metric(f"ensemble@{tmp_path / 'model.json'}"))


@pytest.mark.parametrize("kind", [Blend, BlendSmall])
def test_the_models_of_the_package(kind):
    model = load_blend(kind.name)[0]
    assert model.sums.size
    used = [name_part(metric) for metric, weight in zip(model.metrics, model.weights, strict=True) if weight]
    assert used == [part.name for part in kind.parts]
    np.testing.assert_allclose(model.sums[:, :-1], model.sums[:, :-1].T, rtol=1e-5)
    # Training that starts from the sums starts from the weights.
    weights = solve_weights(model.sums)
    np.testing.assert_allclose(weights / weights.sum(), model.shares, atol=0.01)
    equal = np.array([[metric.value_at_identity for metric in model.metrics]])
    assert model.predict(equal)[0] == pytest.approx(0.98, abs=1e-4)
    assert not {"SICK", "STR", "ASSET", "Yelp", "yelp"} & {row["set"] for row in model.about["sets"]}


def test_blend_small_on_pairs_and_as_a_matrix():
    left = ["a red cat sleeps", "A plane is taking off.", "interest rates rose"]
    right = ["a red cat naps", "An air plane is taking off.", "my dog likes cheese"]
    metric = get_metric("blend-small")
    scores = metric(left=left, right=right)
    assert scores.values == pytest.approx([0.9395, 0.9674, 0.0039], abs=2e-4)
    assert scores.warnings == ()
    whole = Corpus.of([*left, *right])
    table = metric.matrix(whole.take(np.arange(3)), whole.take(np.arange(3, 6)))
    np.testing.assert_allclose(np.diag(table), scores.values, atol=1e-6)


def test_a_metric_that_has_changed_is_told(tmp_path):
    model = trained()
    old = tuple(signature.replace("|v1|", "|v0|") for signature in model.signatures)
    replace(model, signatures=old).save(tmp_path / "model.json")
    with pytest.warns(RuntimeWarning, match="has changed since the ensemble was trained"):
        get_metric(f"ensemble@{tmp_path / 'model.json'}")(left=["a b"], right=["a c"])


def test_newer_packages_are_no_change(tmp_path):
    model = trained()
    older = tuple(f"{signature.rpartition('|scipy=')[0]}|scipy=1.0" for signature in model.signatures)
    replace(model, signatures=older).save(tmp_path / "model.json")
    get_metric(f"ensemble@{tmp_path / 'model.json'}")(left=["a b"], right=["a c"])
    model = get_metric("blend-small").load()[0]
    older = tuple(signature.replace("onnxruntime-", "onnxruntime-0.") for signature in model.signatures)
    assert older != model.signatures
    replace(model, signatures=older).save(tmp_path / "model.json")
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
