"""TER against sacrebleu: stored numbers of our own pairs, and all pairs of the style-transfer study."""

from __future__ import annotations

import numpy as np
import pytest
from tests.golden.pair_ngrams import CANDIDATES, LEFT, RIGHT, SEVERAL, TER, numbers, study

from textgauge import get_metric
from textgauge.corpus import Pairs


@pytest.mark.parametrize("name", TER)
def test_ter_is_that_of_sacrebleu(name: str) -> None:
    metric, stored = get_metric(name), numbers(name)
    np.testing.assert_allclose(100 * metric(left=LEFT, right=RIGHT).values, stored["pairs"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        100 * metric(left=CANDIDATES, right=SEVERAL).values, stored["several"], rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("name", TER)
def test_ter_of_a_set_is_that_of_sacrebleu(name: str) -> None:
    metric, stored = get_metric(name), numbers(name)
    for pairs, expected in (
        (Pairs(LEFT, RIGHT), stored["set"]),
        (Pairs.of(CANDIDATES, SEVERAL), stored["set_several"]),
    ):
        sums = metric.statistics(pairs).sum(axis=0)
        assert 100 * metric.of_statistics(np.stack([sums, sums])) == pytest.approx([expected] * 2, abs=1e-10)


@pytest.mark.slow
def test_all_pairs_of_the_style_transfer_study() -> None:
    from sacrebleu import metrics

    left, right = study()
    expected = [metrics.TER().sentence_score(a, [b]).score for a, b in zip(left, right, strict=True)]
    np.testing.assert_allclose(100 * get_metric("ter")(left=left, right=right).values, expected, rtol=0, atol=1e-10)
