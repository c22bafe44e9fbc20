"""What a dataset is once it is in memory: texts with labels, or pairs of texts; and its card."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from textgauge.core.errors import InputError

T = TypeVar("T")


@dataclass(frozen=True)
class LabelledTexts:
    """Texts of one source; `labels`, where there are any, has one label for each text.

    `rows` says where each stood in the source, from 0, if some were left out.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] | None
    name: str
    licence: str = ""
    source: str = ""
    rows: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_same_length(self.name, texts=self.texts, labels=self.labels, rows=self.rows)

    def __len__(self) -> int:
        return len(self.texts)

    def draw(self, n: int, seed: int = 0) -> LabelledTexts:
        """Draw at most `n` of the texts without replacement; keep their order.

        >>> LabelledTexts(("a", "b", "c"), None, "letters").draw(2, seed=1).texts
        ('a', 'b')
        """
        return self.take(draw_rows(len(self), n, f"{self.name}:{seed}"))

    def take(self, rows: Sequence[int]) -> LabelledTexts:
        """Return the texts at these places."""
        places = tuple(rows) if self.rows is None else take(self.rows, rows)
        return replace(self, texts=take(self.texts, rows), labels=self.labels and take(self.labels, rows), rows=places)


@dataclass(frozen=True)
class TextPairs:
    """Aligned pairs of texts.

    `grade` says how near the two are (larger is nearer), `raters` holds the single judgements behind a grade,
    `group` the part a pair comes from (a system, a file, a split), `scores` columns of further numbers by name; `rows`
    says where each pair stood in the source, from 0, if some were left out.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    name: str
    grade: tuple[float, ...] | None = None
    raters: tuple[tuple[float, ...], ...] | None = None
    group: tuple[str, ...] | None = None
    licence: str = ""
    source: str = ""
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    rows: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_same_length(
            self.name, left=self.left, right=self.right, grade=self.grade, raters=self.raters, group=self.group
        )

    def __len__(self) -> int:
        return len(self.left)

    def draw(self, n: int, seed: int = 0) -> TextPairs:
        """Draw at most `n` of the pairs without replacement; keep their order."""
        rows = draw_rows(len(self), n, f"{self.name}:{seed}")
        return replace(
            self,
            left=take(self.left, rows),
            right=take(self.right, rows),
            grade=self.grade and take(self.grade, rows),
            raters=self.raters and take(self.raters, rows),
            group=self.group and take(self.group, rows),
            scores={name: take(column, rows) for name, column in self.scores.items()},
            rows=tuple(rows) if self.rows is None else take(self.rows, rows),
        )


@dataclass(frozen=True)
class DatasetCard:
    """What is known of a dataset without reading it.

    `kind` is "texts" or "pairs"; `size` counts them; `parts` are the names that may follow a slash in `NAME/PART`;
    `needs` names the resources (samples) a reader asks for.
    """

    name: str
    kind: str
    size: int
    licence: str
    source: str
    about: str
    parts: tuple[str, ...] = ()
    needs: tuple[str, ...] = field(default=())


def draw_rows(total: int, n: int, seed: str) -> list[int]:
    """Draw at most `n` of the rows `0..total-1`, sorted; the same for the same seed on every machine."""
    if n < 1:
        raise InputError(f"at least 1 text must be drawn, not {n}")
    rng = random.Random(seed)  # noqa: S311
    order = sorted(range(total), key=lambda _: rng.random())
    return sorted(order[:n])


def take(values: Sequence[T], rows: Sequence[int]) -> tuple[T, ...]:
    """Return the values at some rows."""
    return tuple(values[row] for row in rows)


def check_same_length(name: str, **columns: Sequence[object] | None) -> None:
    """Refuse columns of different lengths; those that are None are not there."""
    lengths = {key: len(column) for key, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        raise InputError(f"{name}: columns differ in length: {lengths}")
