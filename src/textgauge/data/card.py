"""What a dataset is once it is in memory: texts with labels, or pairs of texts; and its card."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from textgauge.errors import InputError


@dataclass(frozen=True)
class LabelledTexts:
    """Texts of one source; `labels`, where there are any, has one label for each text."""

    texts: tuple[str, ...]
    labels: tuple[str, ...] | None
    name: str
    licence: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        _same_length(self.name, texts=self.texts, labels=self.labels)

    def __len__(self) -> int:
        return len(self.texts)

    def draw(self, n: int, seed: int = 0) -> LabelledTexts:
        """At most `n` of the texts, drawn without replacement, in their first order.

        >>> LabelledTexts(("a", "b", "c"), None, "letters").draw(2, seed=1).texts
        ('a', 'b')
        """
        rows = draw_rows(len(self), n, f"{self.name}:{seed}")
        labels = None if self.labels is None else tuple(self.labels[i] for i in rows)
        return replace(self, texts=tuple(self.texts[i] for i in rows), labels=labels)


@dataclass(frozen=True)
class TextPairs:
    """Aligned pairs of texts.

    `grade` says how near the two are (larger is nearer), `raters` holds the single judgements behind a grade,
    `group` the part a pair comes from (a system, a file, a split).
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    name: str
    grade: tuple[float, ...] | None = None
    raters: tuple[tuple[float, ...], ...] | None = None
    group: tuple[str, ...] | None = None
    licence: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        _same_length(
            self.name, left=self.left, right=self.right, grade=self.grade, raters=self.raters, group=self.group
        )

    def __len__(self) -> int:
        return len(self.left)

    def draw(self, n: int, seed: int = 0) -> TextPairs:
        """At most `n` of the pairs, drawn without replacement, in their first order."""
        rows = draw_rows(len(self), n, f"{self.name}:{seed}")
        return replace(
            self,
            left=tuple(self.left[i] for i in rows),
            right=tuple(self.right[i] for i in rows),
            grade=None if self.grade is None else tuple(self.grade[i] for i in rows),
            raters=None if self.raters is None else tuple(self.raters[i] for i in rows),
            group=None if self.group is None else tuple(self.group[i] for i in rows),
        )


@dataclass(frozen=True)
class Card:
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
    """At most `n` of the rows `0..total-1`, sorted; the same for the same seed on every machine."""
    if n < 1:
        raise InputError(f"at least one text must be asked for, not {n}")
    rng = random.Random(seed)  # noqa: S311
    order = sorted(range(total), key=lambda _: rng.random())
    return sorted(order[:n])


def _same_length(name: str, **columns: tuple[object, ...] | None) -> None:
    lengths = {key: len(column) for key, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        raise InputError(f"{name}: columns differ in length: {lengths}")
