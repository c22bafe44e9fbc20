"""BLEU, chrF and TER against sacrebleu: stored numbers of our own pairs, and all pairs of the style-transfer study."""

from __future__ import annotations

import numpy as np
import pytest
from tests.golden.pair_ngrams import BLEU, CANDIDATES, CHRF, LEFT, RIGHT, SEVERAL, TER, numbers, study

from textgauge import get_metric
from textgauge.data import Pairs

# Of TER, one variant on all pairs takes minutes.
PEERS = [("BLEU", BLEU), ("CHRF", CHRF), ("TER", {"ter": TER["ter"]})]


@pytest.mark.parametrize("name", [*BLEU, *CHRF, *TER])
def test_scores_are_those_of_sacrebleu(name: str) -> None:
    metric, stored = get_metric(name), numbers(name)
    single, several = metric(left=LEFT, right=RIGHT), metric(left=CANDIDATES, right=SEVERAL)
    np.testing.assert_allclose(100 * single.values, stored["pairs"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(100 * several.values, stored["several"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", [*BLEU, *CHRF, *TER])
def test_the_score_of_a_set_is_that_of_sacrebleu(name: str) -> None:
    metric, stored = get_metric(name), numbers(name)
    for pairs, expected in (
        (Pairs(LEFT, RIGHT), stored["set"]),
        (Pairs.of(CANDIDATES, SEVERAL), stored["set_several"]),
    ):
        sums = metric.statistics(pairs).sum(axis=0)
        assert 100 * metric.of_statistics(np.stack([sums, sums])) == pytest.approx([expected] * 2, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "options"), [(kind, name, named[name]) for kind, named in PEERS for name in named]
)
def test_all_pairs_of_the_style_transfer_study(kind: str, name: str, options: dict[str, object]) -> None:
    from sacrebleu import metrics

    left, right = study()
    peer = getattr(metrics, kind)(**options)
    expected = [peer.sentence_score(a, [b]).score for a, b in zip(left, right, strict=True)]
    np.testing.assert_allclose(100 * get_metric(name)(left=left, right=right).values, expected, rtol=0, atol=1e-10)
