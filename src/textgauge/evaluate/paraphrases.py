"""Paraphrases for distributionality: from a table of the user's, a built-in sample, a published or labelled set."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from textgauge.data import Corpus, load_pairs
from textgauge.data.card import TextPairs
from textgauge.data.catalogue import data_folders
from textgauge.data.formats import is_table, load_table
from textgauge.data.tables import TextTable, number
from textgauge.errors import InputError, ResourceError
from textgauge.evaluate.protocols.base import PairSources

# Sets with paraphrases labelled 1 that have no address to fetch them from: both columns of texts, and that of labels.
LABELLED = {
    "qqp": ("question1", "question2", "is_duplicate"),
    "paws_wiki": ("sentence1", "sentence2", "label"),
    "mrpc": ("sentence1", "sentence2", "label"),
}


def paraphrase_sources(
    spec: str,
    *,
    left: str = "left",
    right: str = "right",
    only: str | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> PairSources:
    """Pairs of texts that mean the same, by path or name.

    Of a table, `left` and `right` name the columns of texts, and `only`, as `label=1`, the rows to take. `qqp`,
    `paws_wiki` and `mrpc` are read from the tables in the folder of that name in `TEXTGAUGE_DATA`.
    """
    if spec in LABELLED and not Path(spec).is_file():
        pairs = _labelled(spec)
    elif only is not None:
        pairs = _texts(_where(load_table(spec), *_condition(only)), left, right)
    else:
        pairs = load_pairs(spec, left=left, right=right, seed=seed)
    drawn = pairs if limit is None else pairs.draw(limit, seed)
    return PairSources(spec, Corpus.of(drawn.left), Corpus.of(drawn.right))


def _labelled(name: str) -> TextPairs:
    """The pairs labelled 1 in all tables of a dataset."""
    left, right, label = LABELLED[name]
    files = [
        path
        for folder in data_folders()
        for path in sorted((folder / name).glob("*"))
        if path.is_file() and is_table(path)
    ]
    if not files:
        wanted = f"put a table with columns {left}, {right}, {label} into a folder named by TEXTGAUGE_DATA"
        raise ResourceError(f"{name} is not on this machine and has no free address; {wanted} as {name}/FILE")
    parts = [_texts(_where(load_table(path), label, "1"), left, right) for path in files]
    first, second = (tuple(chain.from_iterable(side)) for side in zip(*map(_sides, parts), strict=True))
    return TextPairs(first, second, name)


def _sides(pairs: TextPairs) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return pairs.left, pairs.right


def _condition(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"rows are chosen with column=value, not {text!r}")
    return column, value


def _where(table: TextTable, column: str, value: str) -> TextTable:
    """The rows that hold a value in a column; a number is the same however it is written."""
    wanted = number(value)
    cells = table.columns[table.column(column)]
    rows = [row for row, cell in enumerate(cells) if str(cell) == value or number(cell) == wanted is not None]
    if not rows:
        raise InputError(f"{table.name}: no {table.unit} has {value!r} in column {column!r}")
    return table.take(rows)


def _texts(table: TextTable, left: str, right: str) -> TextPairs:
    first, second = (tuple(table.filled(side)) for side in (left, right))
    return TextPairs(first, second, table.name)
