"""BERTScore: the layer of `minilm`, the baselines of `rescale`, and the race against bert-score on the same weights.

    python -m benchmarks.pair_bertscore layers       Spearman with people on STS-B, by layer and part
    python -m benchmarks.pair_bertscore baselines    mean precision, recall, F1 of unrelated sentences, by layer
    python -m benchmarks.pair_bertscore race [n]     in an environment that has textgauge and bert-score

The first two read STS-B from the data folder (`TEXTGAUGE_DATA`).
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.encoder import peer_model
from benchmarks.timing import Row, race
from textgauge.data import Pairs
from textgauge.encode.embedders.transformer import LAYERS
from textgauge.metrics import get_metric


def layers() -> list[Row]:
    """Spearman correlation of F1 and of the sentence cosine with people's grades, on each part of STS-B."""
    from scipy.stats import spearmanr

    names = ["cosine", *(f"bertscore(layer={layer})" for layer in range(LAYERS + 1)), "bertscore(idf=true)"]
    rows: list[Row] = []
    for name in names:
        row: Row = {"name": name}
        for part in ("train", "dev", "test"):
            left, right, grades = _sentences(part)
            row[part] = float(spearmanr(get_metric(name)(left=left, right=right).values, grades)[0])
        rows.append(row)
    return rows


def baselines() -> dict[int, tuple[float, ...]]:
    """Mean precision, recall and F1 of the first sentences of the training part with the second ones, shuffled."""
    left, right, _ = _sentences("train")
    order = np.random.default_rng(0).permutation(len(left))
    kept = np.flatnonzero(order != np.arange(len(left)))
    pairs = Pairs([left[row] for row in kept], [right[row] for row in order[kept]])
    found: dict[int, tuple[float, ...]] = {}
    for layer in range(LAYERS + 1):
        columns = get_metric(f"bertscore(layer={layer})").compute(pairs)
        found[layer] = tuple(round(float(columns[part].mean()), 6) for part in ("precision", "recall", "value"))
    return found


def race_row(n: int = 500) -> Row:
    """Time to score n pairs of STS-B, against bert-score on torch.

    Precision is compared with what bert-score gives pair by pair: in a batch, its padding lifts negative cosines to 0,
    and its F1 leaves the bounds where precision and recall are of opposite signs.
    """
    left, right, _ = _sentences("test")
    left, right = left[:n], right[:n]
    with tempfile.TemporaryDirectory() as scratch:
        peer = _peer(peer_model(Path(scratch) / "model"))
        metric = get_metric("bertscore")
        metric(left=left[:8], right=right[:8])
        row, mine, _ = race(
            "bertscore",
            len(left),
            lambda: metric(left=left, right=right).parts["precision"],
            lambda: np.asarray(peer.score(left, right, batch_size=32)[0]),
            repeats=2,
        )
        yours = peer.score(left, right, batch_size=1)[0].numpy()
    return row | {"max_abs_diff": float(np.abs(mine - yours).max())}


def _peer(folder: Path) -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from bert_score import BERTScorer

    torch.set_num_threads(1)
    return BERTScorer(model_type=str(folder), num_layers=LAYERS, device="cpu")


def _sentences(part: str) -> tuple[list[str], list[str], NDArray[np.float64]]:
    from textgauge_papers.datasets import stsb

    items = [item for item in stsb() if item.split == part]
    return [item.left for item in items], [str(item.right) for item in items], np.array([item.grade for item in items])


if __name__ == "__main__":
    if sys.argv[1:2] == ["race"]:
        os.environ["TEXTGAUGE_THREADS"] = "1"
        print(race_row(*map(int, sys.argv[2:])))
    else:
        print({"layers": layers, "baselines": baselines}[sys.argv[1]]())
