"""The corpora of a description, read and checked, as views of one pool."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from textgauge.data import Corpus
from textgauge.data.pool import Pool
from textgauge.encode.tokenizers import without_surrogates
from textgauge.errors import InputError

Source: TypeAlias = "Corpus | Sequence[str] | str | Path"

GENERATED = "generated"
MOST_CHARACTERS = 1_000_000  # of a text; files have the same limit
_TAKEN = ("train", "test", "validation")


@dataclass(frozen=True, eq=False)
class Sets:
    """Generated corpora by name, and what they are held against."""

    generated: Mapping[str, Corpus]
    train: Corpus
    test: Corpus | None
    validation: Sequence[str] = ()

    @property
    def pool(self) -> Pool:
        """The pool of all texts."""
        return self.train.pool


def gather(
    generated: Source | Mapping[str, Source], train: Source, test: Source | None, validation: Source | None
) -> Sets:
    """Read and check the corpora; an empty or blank one is refused, and so is a text of over a million characters."""
    sources = dict(generated) if isinstance(generated, Mapping) else {GENERATED: generated}
    if not sources:
        raise InputError("there is no generated corpus to describe")
    taken = next((name for name in sources if name in _TAKEN), None)
    if taken is not None:
        raise InputError(f"a generated corpus cannot be called {taken!r}: that is the name of what it is held against")
    named: dict[str, Source] = {**sources, "train": train} | ({} if test is None else {"test": test})
    texts = {name: texts_of_source(source, name) for name, source in named.items()}
    pool = Pool([text for part in texts.values() for text in part])
    ends = list(itertools.accumulate(map(len, texts.values()), initial=0))
    spans = itertools.pairwise(ends)
    views = {name: Corpus(pool, np.arange(*span)) for name, span in zip(texts, spans, strict=True)}
    held_out = () if validation is None else texts_of_source(validation, "validation")
    return Sets({name: views[name] for name in sources}, views["train"], views.get("test"), held_out)


def texts_of_source(source: Source, role: str) -> Sequence[str]:
    """Read the texts of one corpus and check them."""
    if isinstance(source, str | Path):
        from textgauge.data.source import load_texts

        texts: Sequence[str] = load_texts(source).texts
    else:
        texts = Corpus.of(source).texts
    if not texts:
        raise InputError(f"{role}: there are no texts")
    if not any(map(str.strip, texts)):
        raise InputError(f"{role}: all texts are empty")
    longest = max(map(len, texts))
    if longest > MOST_CHARACTERS:
        raise InputError(f"{role}: a text of {longest:,} characters; the limit is {MOST_CHARACTERS:,}")
    return [without_surrogates(text) for text in texts]
