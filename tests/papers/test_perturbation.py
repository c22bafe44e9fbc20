"""What is moved, by how much, what stays; and the numbers made of curves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.bench import Plan, Sources, Store, run
from textgauge.bench.protocols.base import RESAMPLES, Observations
from textgauge.core.errors import InputError
from textgauge.data import Corpus
from textgauge.metrics import list_metrics
from textgauge.stats.resampling import resample_sums
from textgauge_papers.perturbation import POINTS, Perturbation, draw_blobs, draw_sample, get_point_metrics, measure_rise

TINY = Perturbation(n=30, repetitions=2, largest_q=3, steps=2)


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(3, 40),
    q=st.integers(1, 4),
    p=st.floats(0.1, 1.0),
    delta=st.floats(0.01, 50.0),
    direction=st.sampled_from(["outward", "random"]),
    seed=st.integers(0, 2**32),
)
def test_a_group_of_neighbours_moves_by_delta_and_the_rest_stays(n, q, p, delta, direction, seed):
    rng = np.random.default_rng(seed)
    drawn = draw_sample(*draw_blobs(rng, n=n, q=q, sigma=0.1), rng, direction=direction)
    group, steps = drawn.get_group(p), drawn.move_group(p, delta) - drawn.B[drawn.get_group(p)]
    assert len(set(group.tolist())) == len(group) == round(p * n)
    assert np.linalg.norm(steps, axis=1) == pytest.approx(np.full(len(group), delta))
    assert steps == pytest.approx(np.broadcast_to(steps[:1], steps.shape))
    if len(group):
        away = np.linalg.norm(drawn.B - drawn.B[group[0]], axis=1)
        others = np.setdiff1d(np.arange(n), group)
        assert away[group].max() <= away[others].min(initial=np.inf)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1_000), direction=st.sampled_from(["outward", "random"]))
def test_trials_compare_a_with_b_and_the_moved_group(seed, direction):
    protocol = Perturbation(n=30, repetitions=1, largest_q=2, steps=3, direction=direction)
    drawn = protocol.draw_points(2, 0, seed)
    (batch,) = protocol.trials(POINTS, seed)
    for comparison, p, delta in zip(
        batch.draws.comparisons(batch.joint), batch.columns["p"], batch.columns["delta"], strict=True
    ):
        group = drawn.get_group(p)
        stayed = np.delete(drawn.B, group, axis=0) if delta else drawn.B
        candidate = comparison.candidate.embeddings("given")
        assert np.array_equal(comparison.reference.embeddings("given"), drawn.A)
        assert len(candidate) == len(drawn.A)
        assert np.array_equal(candidate[: len(stayed)], stayed)
        if delta:
            assert np.array_equal(candidate[len(stayed) :], drawn.move_group(p, delta))


def test_outward_is_away_from_the_centroid_of_the_own_blob():
    rng = np.random.default_rng(1)
    A, B, blob = draw_blobs(rng, n=50, q=3, sigma=0.1)
    for _ in range(5):
        drawn = draw_sample(A, B, blob, rng, direction="outward")
        own = blob == blob[drawn.order[0]]
        away = B[drawn.order[0]] - B[own].mean(axis=0)
        assert drawn.direction == pytest.approx(away / np.linalg.norm(away))
        assert own.sum() < 20


def test_repetitions_move_other_groups_of_the_same_points():
    first, second = (TINY.draw_points(2, repetition, 0) for repetition in (0, 1))
    assert np.array_equal(first.A, second.A)
    assert np.array_equal(first.B, second.B)
    assert len({TINY.draw_points(2, repetition, 0).order[0] for repetition in range(8)}) > 2
    assert not np.array_equal(first.A, TINY.draw_points(2, 0, 1).A)


def test_sweeps_have_their_settings_and_draws_depend_on_the_seed():
    batches = list(TINY.trials(POINTS, 0))
    assert [batch.number for batch in batches] == [0, 1, 2, 3]
    assert [batch.joint.embeddings("given").shape[1] for batch in batches] == [2, 2, 3, 3]
    assert len(batches[0]) == len(TINY.deltas) + len(TINY.shares) - 1  # p of 0.1 and δ of 3 are in both sweeps
    both = list(zip(batches[2].columns["p"].tolist(), batches[2].columns["delta"].tolist(), strict=True))
    assert both == [(0.1, 0.0), (0.1, 3.0)]
    keys = [batch.joint.pool.fingerprint for seed in (0, 0, 1) for batch in TINY.trials(POINTS, seed)]
    assert keys[:4] == keys[4:8]
    assert len(set(keys)) == 8


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"q": 7}, "largest_q=6"),
        ({"p": 0.001}, "0.001 of 300"),
        ({"largest_p": 0.01}, "at least 1 point"),
        ({"delta": "far"}, "is not a number"),
    ],
)
def test_what_makes_no_sense_is_refused(options, complaint):
    with pytest.raises(InputError, match=complaint):
        Perturbation(**options).check(POINTS)


def test_a_curve_that_saturates_and_falls_is_measured_against_its_top():
    deltas = np.linspace(0.0, 4.0, 5)
    found = measure_rise(np.array([[0.0, 2.0, 2.0, 2.0, 1.0]]), deltas, np.ones((1, 1)))[:, 0]
    assert found == pytest.approx((6.5 / 8, 0.1 / 4, 1.0))


@pytest.mark.parametrize(
    ("curve", "tenth"),
    [
        ([5.0, 5.0, 5.0, 7.0, 9.0], 2.2 / 4),  # a tenth of 4 is a fifth of the third step
        ([0.0, -1.0, -1.0, 1.0, 10.0], 3 / 4),  # what falls first is at its tenth where it has come back and gone on
        ([0.0, 2.0, 0.0, 0.0, 10.0], 0.5 / 4),  # the first passing counts
        ([0.0, 1.0, 4.0, 9.0, 16.0], 1.2 / 4),  # δ² between its steps
    ],
)
def test_tenth_rise_is_where_a_tenth_of_the_largest_rise_is_first_passed(curve, tenth):
    deltas = np.linspace(0.0, 4.0, 5)
    for scale in (1.0, 1e-6, 1e6):
        found = measure_rise(scale * np.array([curve]), deltas, np.ones((1, 1)))[:, 0]
        assert found[1] == pytest.approx(tenth)


def observed(values, reasons=None):
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    n, m = rows.shape
    columns = {"q": np.full(n * m, 2), "p": np.full(n * m, 0.1), "delta": np.tile(np.linspace(0, 1, m), n)}
    columns["reason"] = np.array(reasons or [None] * (n * m), dtype=object)
    return Observations(rows.ravel(), np.repeat(np.arange(n), m), columns)


def test_repetitions_without_a_value_are_left_out_and_said():
    found = Perturbation().judge(observed([[0, 1, 2], [0, np.nan, 2]], [None] * 4 + ["why", None]))
    assert found[0].value == pytest.approx(0.5)
    assert found[0].reason == "1 of 2 repetitions left out: undefined in 1 of 6 trials: why"
    for verdict in Perturbation().judge(observed([[0, np.inf, 2]])):
        assert (np.isnan(verdict.value), verdict.reason) == (True, "a distance is infinite")
    assert Perturbation().judge(observed(np.empty((0, 3))))[0].reason == "no repetition is finished"


def test_distances_that_differ_by_rounding_have_not_risen():
    early, tenth, half = Perturbation().judge(observed([[0.3, 0.1 + 0.2, 0.3], [0.3, 0.3, 0.3]]))
    assert early.value == 0.0
    for verdict in (tenth, half):
        assert np.isnan(verdict.value)
        assert "never rises" in verdict.reason


def test_a_repetition_that_is_left_out_does_not_shift_the_resamples_of_the_others():
    curves = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.1, 1.0, 3.0], [0.0, 0.5, 5.0]])
    lacking = curves.copy()
    lacking[1, 1] = np.nan
    verdicts = Perturbation().judge(observed(lacking))
    counts = resample_sums(np.eye(4), RESAMPLES, 0)[:, [0, 2, 3]]
    expected = measure_rise(curves[[0, 2, 3]], np.linspace(0, 1, 3), counts[counts.any(axis=1)])
    for verdict, row in zip(verdicts, expected, strict=True):
        draws = np.array(verdict.draws)
        assert verdict.units == 3
        assert np.array_equal(draws[counts.any(axis=1)], row, equal_nan=True)
        assert np.isnan(draws[~counts.any(axis=1)]).all()
    assert 0 < (~counts.any(axis=1)).sum() < 20


def test_every_metric_of_embeddings_runs_and_nothing_runs_twice(tmp_path):
    metrics = get_point_metrics([metric for metric in list_metrics(kind="corpus") if not metric.reads_texts])
    assert len(metrics) > 15
    plan, store = Plan(TINY, POINTS, metrics), Store(tmp_path)
    report = run([plan], store)
    assert report.failures == ()
    assert report.computed == len(metrics) * 4
    assert run([plan], store).computed == 0
    undefined = [m.key for m in metrics for b in range(4) if store.read(plan.cell(b, m))["value"].is_nan().any()]
    assert undefined == []


def test_points_of_a_corpus_are_moved_on_the_scale_of_blobs():
    vectors = np.random.default_rng(0).normal(5.0, 40.0, (60, 16))
    own = Sources("mine", {"a": Corpus.of(vectors)})
    batches = list(TINY.trials(own, 0))
    assert [batch.number for batch in batches] == list(TINY.batch_numbers(own, 0)) == [0, 1]
    points = np.asarray(batches[0].joint.pool.embeddings("given"))
    A, B = points[:30], points[30:60]
    assert np.sqrt((A**2).sum(axis=1).mean()) == pytest.approx(2**0.5)
    assert np.sqrt(((A - B) ** 2).sum(axis=1).mean()) == pytest.approx(0.1 * 2**0.5, rel=0.2)
    assert {int(q) for batch in batches for q in batch.columns["q"]} == {2}
    with pytest.raises(InputError, match="60 different texts, but n=61"):
        Perturbation(n=61).check(own)
    with pytest.raises(InputError, match="the same"):
        list(TINY.trials(Sources("mine", {"a": Corpus.of(np.ones((30, 4)))}), 0))


@pytest.mark.parametrize("name", ["jsd", "energy@chrf", "irpr@words:cosine"])
def test_what_points_cannot_give_is_refused(name):
    with pytest.raises(InputError, match=r"has points alone|not embedded"):
        get_point_metrics(name)
