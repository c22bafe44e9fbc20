"""Corpora in order for IFC: a folder or files, one for each step, or an n-gram model that learns on the spot."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from textgauge.data import Corpus, load_texts
from textgauge.data.formats import endings, holds_texts
from textgauge.data.source import Source, load_corpus, source_name
from textgauge.errors import InputError
from textgauge.evaluate.protocols.base import Sources
from textgauge.evaluate.protocols.ifc import REFERENCE, step_role
from textgauge.generate import ngram_corpora

_QUICK = "sample:banking"


def ifc_sources(
    steps: str | os.PathLike[str] | Sequence[Source], reference: Source, *, column: str | None = None
) -> Sources:
    """The reference and the corpora of the steps: all text files of a folder in natural order (2 before 10), or files
    or texts in the order given.
    """
    found = step_files(steps) if isinstance(steps, str | os.PathLike) else list(steps)
    corpora = [load_corpus(step, column=column) for step in found]
    folder = Path(steps).name if isinstance(steps, str | os.PathLike) else f"{len(found)} files"
    beside = Path(source_name(reference, REFERENCE)).name
    return _sources(f"{folder or 'steps'},{beside}", load_corpus(reference, role=REFERENCE, column=column), corpora)


def step_files(folder: str | os.PathLike[str]) -> list[str]:
    """The text files of a folder, in natural order of their names."""
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{folder} is no folder of corpora, one file for each step")
    names = [path.name for path in place.iterdir() if path.is_file() and holds_texts(path)]
    found = sorted((name for name in names if not name.startswith(".")), key=natural)
    if not found:
        raise InputError(f"{folder} holds no corpora ({', '.join(endings())})")
    return [str(place / name) for name in found]


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that orders numbers in names by size.

    >>> sorted(["step10.txt", "step2.txt", "step1.txt"], key=natural)
    ['step1.txt', 'step2.txt', 'step10.txt']
    """
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(0, int(part), part) if part.isascii() and part.isdigit() else (1, 0, part) for part in parts]


def ifc_quick_sources(*, steps: int = 8, texts: int = 2_000, per_step: int = 300, seed: int = 0) -> Sources:
    """Built-in texts, and what a back-off trigram model writes that has seen 1/128, 1/64, … and all of them."""
    learned = load_texts(_QUICK, limit=texts).texts
    corpora = ngram_corpora(learned, steps=steps, per_step=per_step, seed=seed)
    return _sources(f"trigrams,{_QUICK}", Corpus.of(learned), [Corpus.of(list(texts)) for texts in corpora])


def _sources(name: str, reference: Corpus, steps: Sequence[Corpus]) -> Sources:
    corpora = {step_role(number): corpus for number, corpus in enumerate(steps, start=1)}
    return Sources(name, {REFERENCE: reference, **corpora})
