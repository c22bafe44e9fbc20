from itertools import combinations

import numpy as np
import pytest

from textgauge.metrics.corpus.frequency import TypeTokenGap, VocabularyOverlap, estimate_types

FARM = ["the cow sees the dog", "a dog and a cow", "the hen"]
TOWN = ["the tram", "a bus"]


def test_overlap_is_shared_over_all_types():
    score = VocabularyOverlap(on="words")(reference=["cow dog", "hen dog"], candidate=["dog tram", "bus taxi hen"])
    assert score.value == pytest.approx(2 / 6)
    assert score.parts["new"] == pytest.approx(3 / 5)


@pytest.mark.parametrize("sample", [1, 2, 3, 5, 6])
def test_expected_types_equal_the_mean_over_all_samples(sample):
    tokens = "aaabbc"
    every = [len(set(chosen)) for chosen in combinations(tokens, sample)]
    assert estimate_types(np.array([3.0, 2.0, 1.0, 0.0]), sample) == pytest.approx(np.mean(every), abs=1e-12)


def test_ratios_are_taken_at_the_smaller_size():
    score = TypeTokenGap(on="words")(reference=FARM, candidate=TOWN)
    counts = np.array([3.0, 2, 1, 2, 2, 1, 1])
    assert score.parts["candidate"] == 1
    assert score.parts["reference"] == pytest.approx(estimate_types(counts, 4) / 4)
    assert score.value == pytest.approx(1 - estimate_types(counts, 4) / 4)
    plain = TypeTokenGap(on="words", rarefy=False)(reference=FARM, candidate=TOWN)
    assert plain.parts["reference"] == pytest.approx(7 / 12)


def test_rarefying_takes_the_size_out_of_the_gap():
    rng = np.random.default_rng(0)
    words = [" ".join(f"w{k}" for k in rng.zipf(1.6, size=10) % 500) for _ in range(440)]
    rarefied = TypeTokenGap(on="words")(reference=words[:400], candidate=words[400:]).value
    plain = TypeTokenGap(on="words", rarefy=False)(reference=words[:400], candidate=words[400:]).value
    assert rarefied < 0.05 < plain
