import numpy as np
import pytest

from textgauge.metrics.numerics.held_out import hold_out


class TestHoldOut:
    @pytest.mark.parametrize(("n", "m", "share"), [(10, 10, 0.2), (7, 23, 0.5), (5, 2, 0.1), (2, 2, 0.9)])
    def test_of_texts_without_copies_the_first_of_one_order(self, n, m, share):
        texts = np.random.default_rng(n).permutation(1000)[: n + m]
        held = np.concatenate(hold_out(texts[:n], texts[n:], share=share, seed=(3, 1)))
        order = np.sort(texts)[np.random.default_rng((3, 1)).permutation(n + m)].tolist()
        for side, size in ((slice(0, n), n), (slice(n, n + m), m)):
            wanted = min(max(round(share * size), 1), size - 1)
            own = [text for text in order if text in texts[side]]
            assert sorted(texts[side][held[side]].tolist()) == sorted(own[:wanted])

    def test_copies_stay_together(self):
        rng = np.random.default_rng(0)
        left, right = rng.integers(0, 40, 100), rng.integers(20, 60, 80)
        held = hold_out(left, right, share=0.25, seed=(3, 0))
        assert not set(left[held[0]]) & set(left[~held[0]])
        assert not (set(left[held[0]]) | set(right[held[1]])) & (set(left[~held[0]]) | set(right[~held[1]]))
        assert 0.15 < held[0].mean() <= 0.25
        assert 0.15 < held[1].mean() <= 0.25

    def test_one_text_many_times_is_passed(self):
        left = np.concatenate([np.zeros(60, dtype=int), np.arange(1, 41)])
        held, _ = hold_out(left, np.arange(100, 150), share=0.2, seed=(0, 0))
        assert held.sum() == 20
        assert not held[:60].any()

    def test_each_part_has_both_corpora(self):
        for texts in (np.zeros(6, dtype=int), np.array([0, 0, 0, 1, 1, 1])):
            for held in hold_out(texts, np.arange(7, 12), share=0.2, seed=(0, 0)):
                assert 0 < held.sum() < len(held)
