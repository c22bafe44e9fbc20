"""What depends on one text alone: grammar errors and surprise, computed once for equal texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Columns = tuple[Floats | Ints, Floats | Ints]
Step = Callable[[str], None]

_PORTION = 2_000  # texts between two words on how far it is


@dataclass(frozen=True, eq=False)
class Row:
    """Two numbers for each text of a pool, NaN where they were not asked for, and the backend that gave them."""

    first: Floats
    second: Floats
    backend: str

    def of(self, corpus: Corpus) -> tuple[Floats, Floats]:
        """Both columns for the texts of a corpus."""
        return self.first[corpus.index], self.second[corpus.index]


def measured(
    corpora: Sequence[Corpus],
    compute: Callable[[Sequence[str]], Columns],
    *,
    backend: str,
    doing: str,
    on_step: Step,
) -> Row:
    """Both numbers of every text of some corpora of one pool; equal texts are measured once, in portions."""
    pool = corpora[0].pool
    wanted = np.concatenate([corpus.index for corpus in corpora])
    _, first, inverse = np.unique(pool.keys[wanted], return_index=True, return_inverse=True)
    texts = [pool.texts[row] for row in wanted[first].tolist()]
    parts = []
    for start in range(0, len(texts), _PORTION):
        on_step(f"{doing}: {100 * start // len(texts)} %")
        parts.append([np.asarray(column, dtype=np.float64) for column in compute(texts[start : start + _PORTION])])
    found = np.full((2, pool.size), np.nan)
    found[:, wanted] = np.concatenate(parts, axis=1)[:, inverse]
    return Row(found[0], found[1], backend)


def sampled(corpus: Corpus, most: int) -> Corpus:
    """At most so many texts of a corpus: the first by content key, which is as good as random whatever their order."""
    return corpus.canonical().take(np.arange(most)) if len(corpus) > most else corpus
