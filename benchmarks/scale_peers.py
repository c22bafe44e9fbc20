"""Peers of the growth table, each run in a process of its own by the Python that has them (no textgauge needed).

    python -m benchmarks.scale_peers prdc|mauve-text|hyppo|semhash REFERENCE [CANDIDATE]

Prints one JSON object: the value to compare, the version, CPU seconds without imports and the most memory.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
import zlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

SECONDS, BYTES = 60, 6 * 2**30  # of CPU time and of memory: what a peer may take


def prdc(reference: str, candidate: str) -> dict[str, Any]:
    """1 − F1 of precision and recall by the 5 nearest neighbours."""
    from prdc import compute_prdc

    found = compute_prdc(np.load(reference), np.load(candidate), nearest_k=5)
    precision, recall = float(found["precision"]), float(found["recall"])
    return {"value": 1.0 - 2.0 * precision * recall / (precision + recall)}


def mauve_text(reference: str, candidate: str) -> dict[str, Any]:
    """1 − MAUVE of ready-made features, with the package's defaults."""
    import mauve

    found = mauve.compute_mauve(p_features=np.load(reference), q_features=np.load(candidate), verbose=False)
    return {"value": 1.0 - float(found.mauve)}


def hyppo(reference: str, candidate: str) -> dict[str, Any]:
    """The kernel statistic of the package's two-sample test, which is MMD divided by norms of the kernel matrices."""
    from hyppo.ksample import MMD

    return {"value": float(MMD().statistic(np.load(reference).astype(float), np.load(candidate).astype(float)))}


class RandomWords:
    """An encoder for SemHash that needs no model: the sum of one random vector per different word."""

    def __init__(self) -> None:
        self._known: dict[str, np.ndarray] = {}

    def encode(self, texts: list[str], **_: Any) -> np.ndarray:
        """One vector per text."""
        return np.stack([np.sum([self._vector(word) for word in set(text.split())], axis=0) for text in texts])

    def _vector(self, word: str) -> np.ndarray:
        if word not in self._known:
            rng = np.random.default_rng(zlib.crc32(word.encode()))
            self._known[word] = rng.normal(size=256).astype(np.float32)
        return self._known[word]


def semhash(texts: str) -> dict[str, Any]:
    """The share of texts that are removed as near duplicates (cosine 0.9)."""
    from semhash import SemHash

    lines = Path(texts).read_text().splitlines()
    found = SemHash.from_records(records=lines, model=RandomWords()).self_deduplicate(threshold=0.9)
    return {"value": 1.0 - len(found.selected) / len(lines)}


def most_memory() -> float:
    """Gigabytes; the resource module would count what the process that started this one had."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1e6


PEERS: dict[str, tuple[str, Callable[..., dict[str, Any]]]] = {  # with the module that has to be there
    "prdc": ("prdc", prdc),
    "mauve-text": ("mauve.compute_mauve", mauve_text),
    "hyppo": ("hyppo.ksample", hyppo),
    "semhash": ("semhash", semhash),
}

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    name, *paths = sys.argv[1:]
    module, measure = PEERS[name]
    importlib.import_module(module)
    begun = time.process_time()
    found = measure(*paths)
    seconds = time.process_time() - begun
    print(json.dumps({"version": version(name), "seconds": seconds, "gb": most_memory(), **found}))
