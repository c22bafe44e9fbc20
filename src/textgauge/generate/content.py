"""Randomness that depends on seed and content alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np


def content_key(text: str) -> int:
    """A whole number that stands for a text, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def generator_of(seed: int, *words: int) -> np.random.Generator:
    """A generator for one purpose, told apart from others by whole numbers."""
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


def fingerprint(texts: Sequence[str]) -> str:
    """A short hash of texts in their order."""
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        digest.update(content_key(text).to_bytes(8, "little"))
    return digest.hexdigest()
