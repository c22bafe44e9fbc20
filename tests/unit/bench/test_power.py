"""The number of texts, and the number of rated pairs, on tests whose truth is known."""

from types import SimpleNamespace

import numpy as np
import pytest

from textgauge import get_metric
from textgauge.bench import Sources
from textgauge.bench.power import (
    Contaminated,
    PowerCurve,
    TextsNeeded,
    compute_needed_shift,
    compute_rejection_rate,
    estimate_pairs_needed,
    estimate_shared_level,
    simulate_tests,
)
from textgauge.bench.recommend import rank_by_texts_needed
from textgauge.stats.correlation import spearman
from textgauge.stats.paired_tests import run_bootstrap_test

SIZES = (50, 100, 200, 400, 800)


class Known:
    """A metric whose test has a known power."""

    def __init__(self, truth):
        self.truth, self.key = truth, f"needs {truth}"

    def null_values(self, comparison, *, permutations, seed):
        n = len(comparison.reference)
        shift = np.array([compute_needed_shift(0.8) * n / self.truth])
        chance = compute_rejection_rate(shift, permutations=permutations)[0]
        return SimpleNamespace(p_value=float(np.random.default_rng([n, seed]).random() > chance))


@pytest.fixture
def curves(make_two_sources):
    samples = Contaminated(make_two_sources(2_000), 0.1)

    def call(*truths, tests=60):
        design = {"sizes": SIZES, "tests": tests, "power": 0.8}
        return {str(truth): simulate_tests(Known(truth), samples, **design) for truth in truths}, samples

    return call


@pytest.mark.parametrize(("shift", "permutations"), [(0.0, 39), (1.5, 39), (2.5, 99)])
def test_the_chance_of_rejecting_is_that_of_simulated_tests(shift, permutations):
    rng = np.random.default_rng(0)
    observed, permuted = rng.normal(size=20_000) + shift, rng.normal(size=(20_000, permutations))
    p_values = (1 + (permuted >= observed[:, None]).sum(axis=1)) / (1 + permutations)
    simulated = (p_values <= 0.05).mean()
    assert compute_rejection_rate(np.array([shift]), permutations=permutations)[0] == pytest.approx(simulated, abs=0.01)
    assert compute_rejection_rate(np.array([9.0]), permutations=10)[0] == 0.0


def simulated_curve(truth, growth, rng, shares=(0.4, 0.8, 1.1, 1.3), tests=50):
    outcomes = {}
    for n in (round(truth * share) for share in shares):
        shift = np.array([compute_needed_shift(0.8) * (n / truth) ** growth])
        outcomes[n] = int(rng.binomial(tests, compute_rejection_rate(shift, permutations=39)[0])), tests
    return PowerCurve(0.8, outcomes)


def test_intervals_cover():
    held = 0
    for seed in range(60):
        rng = np.random.default_rng([3, seed])
        low, high = simulated_curve(250, rng.normal(1.0, 0.2), rng, (0.4, 0.8, 1.04), 30).interval
        held += low <= 250 <= high
    assert held >= 53


@pytest.mark.parametrize("growth", [0.6, 1.0])
def test_a_stricter_level_needs_more_texts(growth):
    curve = simulated_curve(200, growth, np.random.default_rng(4), (0.5, 0.7, 1.0, 1.4), 400)
    truth = 200 * (compute_needed_shift(0.8, 0.05 / 4) / compute_needed_shift(0.8)) ** (1 / growth)
    assert curve.at_level(0.05 / 4) == pytest.approx(truth, rel=0.15)
    assert curve.at_level(0.05) == pytest.approx(curve.texts, rel=0.02)


@pytest.mark.parametrize("truth", [60, 200, 700])
def test_the_number_is_found_at_given_sizes(curves, truth):
    needed = TextsNeeded.of("m", curves(truth)[0][str(truth)], 0.05 / 4)
    assert needed.count == pytest.approx(truth, rel=0.3)
    assert needed.low < truth < needed.high
    assert not needed.extrapolated
    assert needed.count < needed.together < 2 * needed.count
    assert (needed.tests, needed.largest, list(needed.powers)) == (300, 800, list(SIZES))
    assert needed.to_dict()["power.400"] == needed.powers[400]


def test_where_texts_run_out_the_number_is_extrapolated_or_bounded(curves):
    near, far = (TextsNeeded.of(metric, curve) for metric, curve in curves(1_500, 50_000)[0].items())
    assert near.extrapolated
    assert near.count == pytest.approx(1_500, rel=0.35)
    assert not far.known
    assert far.largest < far.low < 50_000
    assert far.to_dict()["count"] is None


def test_metrics_that_need_far_more_texts_are_worse_and_near_ones_are_tied(curves):
    board = rank_by_texts_needed(*curves(700, 100, 105))
    assert {row.metric for row in board.rows[:2]} == {"100", "105"} == set(board.top)
    assert board.rows[2].rank_low == 3
    assert not rank_by_texts_needed({}, curves()[1]).rows


def test_the_reference_is_of_one_source_and_a_share_of_the_candidate_of_the_other(make_two_sources):
    sources = make_two_sources(60)
    foreign = set(sources.corpora["b"].texts)
    counts = []
    for number in range(200):
        sample = Contaminated(sources, 0.25).sample(10, number)
        reference, candidate = sample.reference.texts, sample.candidate.texts
        assert (len(set(reference)), len(set(candidate))) == (10, 10)
        assert not set(reference) & (foreign | set(candidate))
        counts.append(len(foreign & set(candidate)))
    assert set(counts) == {2, 3}
    assert np.mean(counts) == pytest.approx(2.5, abs=0.12)


def test_samples_of_groups_are_whole_groups(make_two_sources):
    sources = make_two_sources(60)
    labels = np.arange(60) // 3
    samples = Contaminated(sources, 0.25, groups=(labels, labels))
    assert (samples.group_size, samples.count(30), samples.count(3), samples.most) == (3, 10, 8, 10)
    group_of = dict(zip(sources.joint.texts, np.concatenate([labels, 20 + labels]).tolist(), strict=True))
    sample = samples.sample(8, 0)
    assert sample.units.counts == (8, 8)
    for side, numbers in zip(sample.sides, sample.groups, strict=True):
        assert len(set(zip([group_of[text] for text in side.texts], numbers.tolist(), strict=True))) == 8
        assert len(side) == 24
    assert sum(group_of[text] >= 20 for text in sample.candidate.texts) in (6, 9)


def test_a_sample_depends_on_seed_data_size_and_number_alone(make_two_sources):
    def texts(sources, seed=0, n=10, number=0):
        return Contaminated(sources, 0.2, seed).sample(n, number).candidate.texts

    sources = make_two_sources(60)
    turned = Sources("other", {role: corpus.take(np.arange(59, -1, -1)) for role, corpus in sources.corpora.items()})
    assert texts(sources) == texts(sources) == texts(turned)
    assert len({texts(sources), texts(sources, seed=1), texts(sources, number=1), texts(make_two_sources(59))}) == 4


def test_metrics_tested_together_share_the_level_by_how_alike_they_are(make_two_sources):
    samples = Contaminated(make_two_sources(120), 0.1)
    energy, medoid, fid = (get_metric(f"{name}@given") for name in ("energy", "medoid", "fid"))
    assert estimate_shared_level([energy, energy], samples) == pytest.approx(0.05, abs=0.006)
    assert 0.05 / 3 < estimate_shared_level([energy, medoid, fid], samples) < 0.05
    classifier = get_metric("c2st@given")
    assert estimate_shared_level([classifier, classifier], samples) == 0.025


def study(n, rng):
    truth = rng.normal(size=n)
    return truth, {"good": truth + rng.normal(size=n), "poor": truth + 1.6 * rng.normal(size=n)}


def test_studies_of_the_needed_size_tell_metrics_apart_as_often_as_asked():
    rng = np.random.default_rng(0)
    ratings, near = study(4_000, rng)
    needed = estimate_pairs_needed(near, ratings, "good", "poor", power=0.8)
    told = 0
    for _ in range(150):
        y, columns = study(int(needed.count), rng)
        test = run_bootstrap_test(spearman, y, columns["good"], columns["poor"], resamples=200, seed=1)
        told += test.low > 0
    assert 0.68 <= told / 150 <= 0.9
    assert needed.low < needed.count < needed.high


def test_metrics_that_do_not_differ_need_no_number():
    ratings, near = study(300, np.random.default_rng(1))
    near["twin"] = near["poor"]
    same, worse = (estimate_pairs_needed(near, ratings, "poor", other, power=0.8) for other in ("twin", "good"))
    assert (same.difference, np.isnan(same.count)) == (0.0, True)
    assert worse.difference < 0
    assert np.isnan(worse.count)
    assert same.to_dict()["count"] is None


def test_pairs_without_a_value_are_left_out_and_items_go_together():
    ratings, near = study(500, np.random.default_rng(2))
    holes = {name: np.where(np.arange(500) < 100, np.nan, column) for name, column in near.items()}
    rest = {name: column[100:] for name, column in near.items()}
    assert estimate_pairs_needed(holes, ratings, "good", "poor", power=0.8) == estimate_pairs_needed(
        rest, ratings[100:], "good", "poor", power=0.8
    )
    twice = {name: np.tile(column, 2) for name, column in near.items()}
    items = np.tile(np.arange(500), 2)
    doubled = estimate_pairs_needed(twice, np.tile(ratings, 2), "good", "poor", power=0.8, items=items)
    single = estimate_pairs_needed(near, ratings, "good", "poor", power=0.8)
    assert doubled.count == pytest.approx(2 * single.count, rel=0.2)
