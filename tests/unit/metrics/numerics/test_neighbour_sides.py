"""Draws of few different sides, which share their distances, products and sums: the numbers of each draw by itself."""

import numpy as np
import pytest

from textgauge.core.sizes import cap_sizes
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics import get_metric, neighbours
from textgauge.metrics.corpus import mauve
from textgauge.metrics.corpus_metric import CorpusMetric
from textgauge.metrics.numerics import frechet as _frechet
from textgauge.metrics.numerics import neighbour_sides as _neighbour_sides
from textgauge.metrics.numerics.neighbour_lists import Joint
from textgauge.metrics.numerics.neighbour_rows import Cloud, levels, squared_pairs
from textgauge.metrics.numerics.subsets import Gram, Partition, Subsets

METRICS = [
    "fid", "medoid", "ttest", "mauve(buckets=5)", "mauve(buckets=4,seeds=2)", "classifier", "pr(k=3)",
    "pr(k=3,ties=open)@cosine",
    "dc(k=3)", "dc(k=2,ties=open)@angular", "irpr@angular", "ahd@euclidean", "hausdorff@cosine",
]  # fmt: skip


def rows(*, by_products=True):
    """Rows with copies, two zero vectors and two of one direction; a very short one is left out of products."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 24)).astype(np.float32)
    X[60:] += 0.5
    X[[7, 33, 75, 110]] = X[3]
    X[[11, 90]] = 0.0
    X[50] = 2.0 * X[20]
    X[4] *= 1.0 if by_products else 1e-4
    return X


def disjoint():
    number = np.random.default_rng(1).permutation(120) % 6
    return np.stack([number == side for side in range(6)])


def nested():
    order = np.random.default_rng(2).permutation(120)
    return np.stack([order < size for size in (8, 20, 33, 60, 90, 120)])


def overlapping():
    return np.stack([(np.arange(120) >= start) & (np.arange(120) < start + 45) for start in (0, 15, 30, 45, 60, 75)])


def subsets_of(draws):
    return Subsets.of(draws.left, draws.right)


def all_pairs(sides):
    left, right = np.triu_indices(len(sides))
    return Draws(sides[left], sides[right])


def equal_one_by_one(metric, draws, X):
    assert not neighbours.loop_is_cheaper(draws)
    joint = Corpus.of(X)
    metric = metric.on_given(Comparison(joint, joint))
    together, each = metric.compute_many(joint, draws), CorpusMetric.compute_many(metric, Corpus.of(X), draws)
    for name in each:
        np.testing.assert_allclose(together[name], each[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("make", [disjoint, nested, overlapping])
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("by_products", [True, False])
def test_equals_one_by_one(name, make, by_products):
    equal_one_by_one(get_metric(name), all_pairs(make()), rows(by_products=by_products))


def test_very_short_rows_have_no_products():
    order = np.arange(120)
    assert Gram.fitting(rows(), order) is not None
    assert Gram.fitting(rows(by_products=False), order) is None


@pytest.mark.parametrize("name", ["pr(k=3)", "dc(k=3,ties=open)", "irpr@angular"])
@pytest.mark.parametrize("by_products", [True, False])
@pytest.mark.parametrize("most", [2, 7])
def test_parts_in_pieces(name, by_products, most):
    with cap_sizes(most):
        equal_one_by_one(get_metric(name), all_pairs(disjoint()), rows(by_products=by_products))


@pytest.mark.parametrize("make", [disjoint, nested, overlapping])
@pytest.mark.parametrize("ground", ["euclidean", "angular"])
def test_nearest_and_radii_are_those_of_all_pairs(make, ground):
    sides = subsets_of(all_pairs(make()))
    cloud = Cloud.of(rows(), ground)
    few = _neighbour_sides.SideStatistics(sides, Partition.of(sides), Joint(rows(), ground))
    first, second = np.indices((120, 120)).reshape(2, -1)
    squares = squared_pairs(cloud, cloud, cloud.inverse[first], cloud.inverse[second]).reshape(120, 120)
    for found, own, other in zip(few.nearest(), (sides.left, sides.right), (sides.right, sides.left), strict=True):
        for numbers, a, b in zip(found, own, other, strict=True):
            near = squares[sides.rows[a]][:, sides.rows[b]].min(axis=1)
            assert numbers[: len(near)] == pytest.approx(near, rel=1e-9)
            assert np.isnan(numbers[len(near) :]).all()
    np.fill_diagonal(squares, np.inf)
    for radii, own in zip(few.radii(4), sides.rows, strict=True):
        assert (radii[own] == levels(np.sort(squares[own][:, own], axis=1)[:, 3])).all()


def test_neighbour_lists_are_not_needed(monkeypatch):
    monkeypatch.setattr(neighbours, "_joint_rows", None)
    joint = Corpus.of(rows())
    metric = get_metric("pr").on_given(Comparison(joint, joint))
    assert np.isfinite(metric.compute_many(joint, all_pairs(disjoint()))["value"]).all()


def test_pr_and_dc_look_once(monkeypatch):
    looked = []
    block = _neighbour_sides.GramBlocks.block
    monkeypatch.setattr(_neighbour_sides.GramBlocks, "block", lambda *args: looked.append(1) or block(*args))
    joint, draws = Corpus.of(rows()), all_pairs(disjoint())
    for name in ("pr", "dc"):
        get_metric(name).on_given(Comparison(joint, joint)).compute_many(joint, draws)
    assert len(looked) == 6 + 21


def test_nearly_parallel_rows_are_not_reduced_by_products(monkeypatch):
    X = (np.ones(24) + 1e-5 * np.random.default_rng(3).normal(size=(120, 24))).astype(np.float64)
    joint, draws = Corpus.of(X), all_pairs(disjoint())
    metric = get_metric("mauve").on_given(Comparison(joint, joint))
    expected = metric.compute_many(joint, draws)["value"]
    monkeypatch.setattr(mauve, "gram_of", lambda *args: None)
    assert metric.compute_many(Corpus.of(X), draws)["value"] == pytest.approx(expected)


@pytest.mark.parametrize("more", [0, 60])
def test_fid_of_sides_far_from_each_other(more):
    X = np.random.default_rng(4).normal(size=(120, 5))
    X[:, 4] = X[:, 3]  # a singular covariance
    far, first = np.arange(120) % 2 == 1, np.arange(120) < 50
    X[far] += 1e5
    others = [far & (np.arange(120) != row) for row in range(1, 2 * more, 2)]  # so many sides share no parts
    sides = subsets_of(all_pairs(np.stack([far, far & first, ~far, ~far & first, *others])))
    assert (Partition.of(sides) is None) == bool(more)
    pairs = zip(sides.left, sides.right, strict=True)
    expected = [_frechet.frechet(X[sides.masks[a]], X[sides.masks[b]]) for a, b in pairs]
    np.testing.assert_allclose(_frechet.frechet_many(X, sides), expected, rtol=1e-9, atol=1e-9)


def test_sides_are_met_once():
    sides = subsets_of(all_pairs(disjoint()))
    assert len(sides) == 6
    assert sides.sizes.tolist() == [20] * 6
    assert sides == subsets_of(all_pairs(disjoint())) != subsets_of(all_pairs(nested()))


@pytest.mark.parametrize(("make", "count"), [(disjoint, 6), (nested, 6), (overlapping, 8)])
def test_atoms(make, count):
    sides = subsets_of(all_pairs(make()))
    atoms = Partition.of(sides)
    assert len(atoms.rows) == count
    for mask, own in zip(sides.masks, atoms.members, strict=True):
        assert sorted(np.concatenate([atoms.rows[p] for p in np.flatnonzero(own)])) == np.flatnonzero(mask).tolist()


def test_random_sides_have_no_atoms():
    assert Partition.of(subsets_of(all_pairs(np.random.default_rng(0).random((6, 120)) < 0.5))) is None
