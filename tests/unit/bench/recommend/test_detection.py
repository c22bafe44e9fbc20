"""Contaminated samples, and the number of texts that a metric of known power needs."""

import numpy as np
import pytest

from textgauge import get_metric
from textgauge.bench.protocols import Sources
from textgauge.bench.recommend.detection import (
    Contaminated,
    TextsNeeded,
    detection_board,
    level_together,
    rejects,
    simulate_tests,
)
from textgauge.bench.recommend.power import needed_shift, rejection_rate
from textgauge.bench.recommend.rank import top_tier
from textgauge.data import Corpus


class Known:
    """A metric whose test has a known power, and takes a known time."""

    def __init__(self, truth, hands, *, seconds=0.0, key=None):
        self.truth, self.hands, self.seconds, self.key = truth, hands, seconds, key or f"needs {truth}"

    def p_value(self, comparison, *, permutations, seed):
        n = len(comparison.reference)
        self.hands.seconds += self.seconds * (n / 100) ** 2
        chance = rejection_rate(np.array([needed_shift(0.8) * n / self.truth]), permutations=permutations)[0]
        return float(np.random.default_rng([n, seed]).random() > chance), "known"


@pytest.fixture
def needs(make_sources, make_clock, hands):
    samples = Contaminated(make_sources(2_000), 0.1)

    def call(*metrics, budget=100.0):
        found = simulate_tests(metrics, samples, power=0.8, clock=make_clock(budget))
        return [TextsNeeded.found(metric, search, 0.05 / 4) for metric, search in found.items()]

    return call


@pytest.mark.parametrize("truth", [20, 100, 700])
def test_the_number_is_found(needs, hands, truth):
    (found,) = needs(Known(truth, hands))
    assert found.count == pytest.approx(truth, rel=0.25)
    assert found.low < truth < found.high
    assert not found.extrapolated
    assert found.count < found.together < 2 * found.count


def test_where_texts_run_out_the_number_is_extrapolated_or_bounded(needs, hands):
    near, far = needs(Known(1_500, hands), Known(50_000, hands))
    assert near.extrapolated
    assert near.count == pytest.approx(1_500, rel=0.3)
    assert (np.isnan(far.count), np.isnan(far.high)) == (True, True)
    assert far.largest < far.low < 50_000
    assert far.to_dict()["count"] is None


def test_time_is_kept_and_shared(needs, hands):
    found = needs(*(Known(truth, hands, seconds=0.5) for truth in (300, 600, 900)), budget=60.0)
    assert 30.0 < hands.seconds <= 66.0
    assert all(row.tests >= 20 for row in found)


def test_what_one_metric_does_not_use_goes_to_the_next(needs, hands):
    quick, slow = Known(50, hands), Known(400, hands, seconds=0.5)
    alone = needs(slow, budget=30.0)[0].tests
    assert needs(quick, slow, budget=30.0)[1].tests == alone


def test_beside_a_known_metric_a_worse_one_is_given_up_early(make_sources, make_clock, hands):
    samples, given = Contaminated(make_sources(2_000), 0.1), {"power": 0.8, "clock": make_clock(1_000.0)}
    best = simulate_tests([Known(60, hands)], samples, **given)
    both = simulate_tests([Known(500, hands), Known(50, hands)], samples, known=best, **given)
    alone = simulate_tests([Known(500, hands), Known(50, hands)], samples, **given)
    assert list(both) == ["needs 60", "needs 500", "needs 50"]
    assert both["needs 500"].tests < alone["needs 500"].tests
    assert both["needs 50"].tests == alone["needs 50"].tests


def test_a_single_hold_up_does_not_leave_a_metric_without_tests(needs, hands):
    class HeldUp(Known):
        calls = 0

        def p_value(self, comparison, **given):
            self.calls += 1
            self.hands.seconds += 3.0 * (self.calls == 2)
            return super().p_value(comparison, **given)

    (found,) = needs(HeldUp(100, hands, seconds=0.01), budget=10.0)
    assert found.count == pytest.approx(100, rel=0.3)


def test_without_time_or_texts_there_is_no_answer(needs, hands, make_sources, make_clock):
    assert needs(Known(100, hands), budget=0.0) == []
    few = Contaminated(make_sources(4), 0.1)
    assert simulate_tests([Known(100, hands)], few, power=0.8, clock=make_clock(9.0)) == {}
    assert detection_board({}, few) is None


def test_metrics_that_need_far_more_texts_are_worse_and_near_ones_are_tied(make_sources, make_clock, hands):
    samples = Contaminated(make_sources(2_000), 0.1)
    metrics = [Known(truth, hands, key=str(truth)) for truth in (700, 100, 105)]
    board = detection_board(simulate_tests(metrics, samples, power=0.8, clock=make_clock(100.0)), samples)
    assert {row.metric for row in board.rows[:2]} == {"100", "105"} == set(top_tier(board))
    assert board.rows[2].rank_low == 3


def test_the_reference_is_of_one_source_and_a_share_of_the_candidate_of_the_other(make_sources):
    sources = make_sources(60)
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


def test_a_sample_depends_on_seed_data_size_and_number_alone(make_sources):
    def texts(sources, seed=0, n=10, number=0):
        return Contaminated(sources, 0.2, seed).sample(n, number).candidate.texts

    sources = make_sources(60)
    turned = Sources("other", {role: corpus.take(np.arange(59, -1, -1)) for role, corpus in sources.corpora.items()})
    assert texts(sources) == texts(sources) == texts(turned)
    assert len({texts(sources), texts(sources, seed=1), texts(sources, number=1), texts(make_sources(59))}) == 4


def test_texts_of_both_sources_are_left_out():
    a, b = [f"a {i}" for i in range(30)], [f"b {i}" for i in range(30)]
    sources = Sources("a,b", {"a": Corpus.of([*a, *a, "both"]), "b": Corpus.of([*b, "both"])})
    samples = Contaminated(sources, 0.5)
    assert [len(side) for side in samples.sides] == [30, 30]
    assert "both" not in {text for i in range(20) for text in samples.sample(samples.most, i).candidate.texts}


@pytest.mark.parametrize("effect", [0.05, 0.5, 1.0])
def test_the_largest_sample_can_be_drawn(make_sources, effect):
    samples = Contaminated(make_sources(60), effect)
    for number in range(20):
        sample = samples.sample(samples.most, number)
        assert len(sample.reference) == len(sample.candidate) == samples.most


def test_power_is_high_for_far_corpora_and_the_level_for_equal_ones(make_sources):
    def power(apart):
        metric, samples = get_metric("energy@given"), Contaminated(make_sources(80, apart=apart), 1.0)
        return np.mean([rejects(metric, samples.sample(20, i), permutations=199, seed=i) for i in range(60)])

    assert power(2.0) == 1.0
    assert power(0.0) < 0.2


def test_metrics_tested_together_share_the_level_by_how_alike_they_are(make_sources):
    comparison = Contaminated(make_sources(2_000), 0.1).sample(60, 0)
    energy, medoid, fid = (get_metric(f"{name}@given") for name in ("energy", "medoid", "fid"))
    assert level_together([energy, energy], comparison) == pytest.approx(0.05, abs=0.006)
    assert 0.05 / 3 < level_together([energy, medoid, fid], comparison) < 0.05
    classifier = get_metric("c2st@given")
    assert level_together([classifier, classifier], comparison) == 0.025
