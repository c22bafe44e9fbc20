"""Models of ensembles: what their settings do to the answers."""

import numpy as np
import pytest

from textgauge.bench.protocols.models import Forest, fit


def test_shares_are_of_absolute_weights_and_boosting_has_none():
    rng = np.random.default_rng(1)
    features = rng.random((50, 3))
    made = fit(features, features @ [1.0, -2.0, 1.0], np.ones(50), kind="linear", seed=0)
    assert made.shares == pytest.approx([0.25, 0.5, 0.25])
    assert np.isnan(fit(features, features[:, 0], np.ones(50), kind="boosting", seed=0).shares).all()
    forest = fit(features, np.round(features[:, 1]), np.ones(50), kind="forest", seed=0)
    assert forest.shares.sum() == pytest.approx(1.0)
    assert forest.shares.argmax() == 1


def test_answers_have_more_steps_with_more_trees_and_fewer_with_larger_leaves():
    features = np.random.default_rng(2).random((400, 1))
    targets = np.round(features[:, 0] + np.random.default_rng(3).normal(0, 0.2, 400)).clip(0, 1)
    asked = np.linspace(0, 1, 400)[:, None]

    def steps(settings):
        model = fit(features, targets, np.ones(400), kind="forest", seed=0, forest=settings)
        return np.count_nonzero(np.diff(model.predict(asked)))

    assert steps(Forest(trees=30, leaf=10)) > 2 * steps(Forest(trees=1, leaf=10))
    assert 2 * steps(Forest(trees=1, leaf=20)) < steps(Forest(trees=1, leaf=1))


def test_answers_of_a_rising_forest_never_fall():
    rng = np.random.default_rng(5)
    features = rng.random((400, 2))
    targets = np.round(np.clip(features[:, 0] + rng.normal(0, 0.3, 400), 0, 1))
    asked = np.column_stack([np.linspace(0, 1, 300), np.full(300, 0.5)])
    falls = {}
    for rising in (True, False):
        model = fit(features, targets, np.ones(400), kind="forest", seed=0, forest=Forest(50, 5, rising=rising))
        falls[rising] = bool((np.diff(model.predict(asked)) < -1e-12).any())
    assert falls == {True: False, False: True}


def test_classes_weigh_the_same_unless_a_forest_is_told_otherwise():
    features, targets = np.zeros((100, 1)), (np.arange(100) < 10).astype(float)
    for balanced, middle in ((True, 0.5), (False, 0.1)):
        made = fit(features, targets, np.ones(100), kind="forest", seed=0, forest=Forest(300, balanced=balanced))
        assert made.predict(features[:1])[0] == pytest.approx(middle, abs=0.02)


def test_answers_at_even_odds_are_those_of_classes_of_equal_size():
    targets = (np.arange(20_000) < 4_000).astype(float)
    features = np.random.default_rng(6).normal(targets, 1.0)[:, None]
    plain, even = (
        fit(
            features, targets, np.ones(20_000), kind="forest", seed=0, forest=Forest(20, 500, balanced=False, even=even)
        )
        for even in (False, True)
    )
    before, after = plain.predict(features[:100]), even.predict(features[:100])
    assert after == pytest.approx(before * 0.8 / (before * 0.8 + (1 - before) * 0.2))
    # Halfway between two normal classes of equal size, either is as likely.
    assert plain.predict(np.array([[0.5]]))[0] == pytest.approx(0.2, abs=0.05)
    assert even.predict(np.array([[0.5]]))[0] == pytest.approx(0.5, abs=0.1)


def test_a_forest_that_knows_one_class_only_answers_at_even_odds_with_it():
    features = np.zeros((40, 1))
    for target in (0.0, 1.0):
        made = fit(features, np.full(40, target), np.ones(40), kind="forest", seed=0, forest=Forest(even=True))
        assert made.predict(features[:1]).tolist() == [target]


def test_trees_grow_from_so_many_examples_and_from_a_fifth_at_most():
    rng = np.random.default_rng(7)
    features = rng.random((1_000, 1))
    targets = np.round(rng.random(1_000))

    def leaves(grown_from):
        settings = Forest(trees=1, leaf=1, grown_from=grown_from)
        model = fit(features, targets, np.ones(1_000), kind="forest", seed=0, forest=settings)
        return np.count_nonzero(np.diff(model.predict(np.linspace(0, 1, 5_000)[:, None])))

    assert leaves(20) < 20
    assert leaves(20) < leaves(200) == leaves(900) < leaves(0)
