"""Our values beside the peers' on the same embeddings: prdc, a float64 eigendecomposition, mauve-text over seeds.

Run in the bench environment: TEXTGAUGE_DATA=... python -m benchmarks.parity [--n 1000] [--seeds 30]
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.mauve import _ours as our_mauve
from benchmarks.mauve import _peer as peer_mauve
from benchmarks.neighbours import _prdc
from benchmarks.timing import Rows, embeddings
from textgauge import get_metric


def fid_by_eigenvalues(P: Rows, Q: Rows) -> float:
    """From the eigenvalues of ΣP^½ ΣQ ΣP^½ in float64, those below rounding taken as zero."""
    X, Y = P.astype(np.float64), Q.astype(np.float64)
    first, second = np.cov(X, rowvar=False), np.cov(Y, rowvar=False)
    eigenvalues, vectors = np.linalg.eigh(first)
    root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T
    inner = np.linalg.eigvalsh(root @ second @ root)
    inner = inner[inner > len(inner) * np.finfo(np.float64).eps * inner[-1]]
    gap = ((X.mean(axis=0) - Y.mean(axis=0)) ** 2).sum()
    return float(gap + np.trace(first) + np.trace(second) - 2.0 * np.sqrt(inner).sum())


def main() -> None:
    """Print a Markdown table."""
    from scipy.stats import ks_2samp

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--n", type=int, default=1_000)
    options.add_argument("--seeds", type=int, default=30)
    chosen = options.parse_args()
    P, Q = embeddings(chosen.n)
    print("| value | ours | peer | difference |\n|---|---|---|---|")
    peers = _prdc(P, Q)
    for name in ("pr.precision", "pr.recall", "dc.density", "dc.coverage"):
        metric = get_metric(f"{name}(ties=open)")
        _print(name, metric(reference=P, candidate=Q).value, peers[name.partition(".")[2]])
    for size in (100, 300, chosen.n):
        fid = get_metric("fid")(reference=P[:size], candidate=Q[:size]).value
        _print(f"fid, n={size}", fid, fid_by_eigenvalues(P[:size], Q[:size]))
    mixed = P.copy()
    mixed[: int(0.3 * len(P))] = Q[: int(0.3 * len(P))]
    for label, other in (("apart", Q), ("30 % alike", mixed)):
        values = [(our_mauve(P, other, seed), peer_mauve(P, other, seed)) for seed in range(chosen.seeds)]
        ours, peer = np.array(values).T
        _print(f"mauve, {label}, mean of {chosen.seeds} seeds", ours.mean(), peer.mean())
        fit = ks_2samp(ours, peer).pvalue
        print(f"| … their standard deviations; KS p = {fit:.3f} | {ours.std():.2g} | {peer.std():.2g} | |")


def _print(name: str, ours: float, peer: float) -> None:
    print(f"| {name} | {ours:.9g} | {peer:.9g} | {abs(ours - peer):.1e} |", flush=True)


if __name__ == "__main__":
    main()
