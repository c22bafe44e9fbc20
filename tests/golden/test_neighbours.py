"""pr and dc against prdc 0.2 (numbers kept here, and live where it is installed); irpr and ahd against scikit-learn."""

import numpy as np
import pytest

from textgauge.data import Comparison
from textgauge.metrics.corpus.nearest import AverageHausdorff, DensityCoverage, NearestPrecisionRecall, PrecisionRecall

# prdc.compute_prdc(*clusters(), nearest_k=k), version 0.2
PRDC = {
    1: {"precision": 0.534, "recall": 0.598, "density": 0.806, "coverage": 0.482},
    5: {"precision": 0.886, "recall": 0.93, "density": 0.9092000000000001, "coverage": 0.978},
    10: {"precision": 0.974, "recall": 0.984, "density": 0.9196, "coverage": 1.0},
}


def clusters():
    """Unit rows in twelve uneven clusters, with repeated rows in both corpora and rows in common."""
    rng = np.random.default_rng(2024)
    centres = rng.standard_normal((12, 48))
    pool = centres[rng.integers(0, 12, 900)] + 0.7 * rng.standard_normal((900, 48))
    pool = (pool / np.linalg.norm(pool, axis=1, keepdims=True)).astype(np.float32)
    reference, candidate = pool[:500].copy(), pool[400:].copy()
    reference[:60:2] = reference[1:60:2]
    candidate[-40::2] = candidate[-39::2]
    return reference, candidate


def shares(reference, candidate, k):
    comparison = Comparison(reference, candidate)
    pr = PrecisionRecall(k=k, ties="open", on="given").compute(comparison)
    dc = DensityCoverage(k=k, ties="open", on="given").compute(comparison)
    return {name: value for name, value in (pr | dc).items() if name != "value"}


@pytest.mark.parametrize("k", PRDC)
def test_open_ties_are_prdc(k):
    assert shares(*clusters(), k) == pytest.approx(PRDC[k], abs=1e-12)


def test_open_ties_are_the_rule_on_scikit_learn_distances():
    from sklearn.metrics import pairwise_distances

    reference, candidate = clusters()
    across = pairwise_distances(reference, candidate)
    within_p, within_q = (np.sort(pairwise_distances(rows), axis=1)[:, 5] for rows in (reference, candidate))
    in_p, in_q = across < within_p[:, None], across < within_q[None, :]
    expected = {
        "precision": in_p.any(axis=0).mean(),
        "recall": in_q.any(axis=1).mean(),
        "density": in_p.sum(axis=0).mean() / 5,
        "coverage": (across.min(axis=1) < within_p).mean(),
    }
    assert shares(reference, candidate, 5) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ground", ["cosine", "angular"])
def test_nearest_distances_are_scikit_learn_s(ground):
    from sklearn.metrics.pairwise import cosine_similarity

    reference, candidate = (rows.astype(np.float64) for rows in clusters())
    reference = reference[:300]
    cos = np.clip(cosine_similarity(reference, candidate), -1, 1)
    distances = 1 - cos if ground == "cosine" else np.arccos(cos) / np.pi
    forward, backward = distances.min(axis=1).mean(), distances.min(axis=0).mean()
    comparison = Comparison(reference, candidate)
    irpr = NearestPrecisionRecall(on=f"given:{ground}").compute(comparison)
    assert irpr["value"] == pytest.approx(2 * forward * backward / (forward + backward), abs=1e-8)
    assert AverageHausdorff(on=f"given:{ground}").compute(comparison)["value"] == pytest.approx(
        (forward + backward) / 2, abs=1e-8
    )
