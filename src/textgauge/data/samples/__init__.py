"""Built-in sample data by name, the same on every machine for the same seed.

Four domains (`banking`, `cooking`, `support`, `travel`) are files of sentences written for this package, free of rights
(CC0), and need nothing. Other packages bring samples by `register_sample`, from the function that they name under the
entry point group `textgauge.datasets`.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from textgauge.core.errors import InputError
from textgauge.core.registry import Registry
from textgauge.data.datasets import DATASETS, DatasetCard
from textgauge.data.tables import LabelledTexts, TextPairs, take

PREFIX = "sample:"
DOMAINS = ("banking", "cooking", "support", "travel")
FOLDER = Path(__file__).parent

_OWN = ("CC0-1.0", "sentences written for textgauge")
_GRADES = {3: "same meaning", 2: "same intent", 1: "same domain", 0: "another domain"}
# Rows that the next seed begins further on: seeds 0 to 3 share no row of 1,000. Graded pairs repeat every 16 rows.
_SEED_STEP = 16 * 63
Draw = Callable[[int, int], tuple[Sequence[Any], ...]]
"""Called with a number and a seed: columns of texts and labels, or of left, right, grades (or None) and groups."""
_SAMPLES = {
    "texts": Registry[tuple[DatasetCard, Draw]]("sample"),
    "pairs": Registry[tuple[DatasetCard, Draw]]("sample of pairs"),
}


def register_sample(card: DatasetCard, draw: Draw) -> None:
    """Make a sample known as `sample:NAME`; a taken name is refused."""
    _SAMPLES[card.kind].register((card, draw), card.name)


def list_samples(kind: str | None = None) -> tuple[DatasetCard, ...]:
    """Return the cards of all samples, or of one kind: "texts" (for `sample`) or "pairs" (for `sample_pairs`)."""
    DATASETS.load()
    return tuple(card for known in _SAMPLES if kind in (None, known) for card, _ in _SAMPLES[known].values())


def sample(name: str, *, n: int | None = None, seed: int = 0) -> LabelledTexts:
    """Draw `n` distinct labelled texts of a sample; its usual size if `n` is not given.

    >>> corpus = sample("travel", n=3)
    >>> len(corpus), sorted(corpus.labels)
    (3, ['cancel_booking', 'lost_property', 'safety'])
    """
    card, (texts, labels) = _draw(name, "texts", n, seed)
    return LabelledTexts(texts, labels, PREFIX + card.name)


def sample_pairs(name: str, *, n: int | None = None, seed: int = 0) -> TextPairs:
    """Draw `n` pairs of a sample, with grades where it has them; its usual size if `n` is not given.

    >>> sample_pairs("graded", n=4).grade
    (3.0, 2.0, 1.0, 0.0)
    """
    card, (left, right, grade, group) = _draw(name, "pairs", n, seed)
    return TextPairs(left, right, PREFIX + card.name, grade, None, group)


def _draw(name: str, kind: str, n: int | None, seed: int) -> tuple[DatasetCard, tuple[Any, ...]]:
    if (short := name.removeprefix(PREFIX)) not in _SAMPLES[kind]:
        DATASETS.load()
    card, draw = _SAMPLES[kind][short]
    if n is not None and n < 1:
        raise InputError(f"sample {card.name!r}: at least 1 text must be drawn, not {n}")
    return card, draw(card.size if n is None else n, seed)


def _register_own() -> None:
    for domain in DOMAINS:
        card = DatasetCard(domain, "texts", 4_000, *_OWN, f"short texts about {domain}, with intents")
        register_sample(card, partial(_draw_rows, card, domain, ("text", "label")))
        card = DatasetCard(domain, "pairs", 6_000, *_OWN, f"paraphrases about {domain}")
        register_sample(card, partial(_draw_paraphrases, card))
    about = "grade 3 same meaning, 2 same intent, 1 same domain, 0 another domain"
    card = DatasetCard("graded", "pairs", 8_000, *_OWN, about)
    register_sample(card, partial(_draw_graded, card))


def _draw_paraphrases(card: DatasetCard, count: int, seed: int) -> tuple[Any, ...]:
    left, right, group = _draw_rows(card, f"{card.name}-pairs", ("left", "right", "label"), count, seed)
    return left, right, None, group


def _draw_graded(card: DatasetCard, count: int, seed: int) -> tuple[Any, ...]:
    left, right, grades = _draw_rows(card, "graded-pairs", ("left", "right", "grade"), count, seed)
    return left, right, tuple(map(float, grades)), tuple(_GRADES[int(one)] for one in grades)


def _draw_rows(
    card: DatasetCard, file: str, columns: Sequence[str], count: int, seed: int
) -> tuple[tuple[str, ...], ...]:
    """Return columns of the first `count` rows of a file; another seed begins further on and goes round."""
    if count > card.size:
        raise InputError(f"sample {card.name!r} has {card.size:,} rows, not {count:,}")
    rows = [(seed * _SEED_STEP + row) % card.size for row in range(count)]
    return tuple(take(_read_columns(file)[column], rows) for column in columns)


@cache
def _read_columns(file: str) -> dict[str, list[str]]:
    with gzip.open(FOLDER / f"{file}.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    return {name: list(cells) for name, *cells in zip(header, *rows, strict=True)}


_register_own()
