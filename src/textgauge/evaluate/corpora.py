"""Corpora of a run: by path, sample or dataset name, or as texts that are there already."""

from __future__ import annotations

from pathlib import Path

from textgauge.comparing.compare import Source, corpus_of
from textgauge.data import Corpus, load_texts


def corpus_from(
    source: Source, role: str, *, column: str | None = None, limit: int | None = None, seed: int = 0
) -> Corpus:
    """A corpus by path or name, at most `limit` texts of it; texts, arrays and corpora as `compare` takes them."""
    if isinstance(source, str | Path) and not str(source).endswith(".npy"):
        return Corpus.of(load_texts(source, column=column, limit=limit, seed=seed).texts)
    return corpus_of(source, role)


def name_of(source: Source, role: str) -> str:
    """What results call a source: its path or name, else its role.

    >>> name_of("sample:travel", "a"), name_of(["one text", "another"], "a")
    ('sample:travel', 'a')
    """
    return str(source) if isinstance(source, str | Path) else role
