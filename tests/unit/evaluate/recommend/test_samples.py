"""Contaminated samples: what is on which side, how often, and how often a test of them rejects."""

import numpy as np
import pytest

from textgauge import get_metric
from textgauge.data import Corpus
from textgauge.evaluate.protocols import Sources
from textgauge.evaluate.recommend.samples import Contaminated, rejects


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
