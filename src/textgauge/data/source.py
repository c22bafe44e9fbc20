"""One entry for all texts: a path, `-`, `sample:NAME`, the name of a published dataset, `hf://NAME`."""

from __future__ import annotations

import importlib
import os
from difflib import get_close_matches

from textgauge.data.card import LabelledTexts, TextPairs
from textgauge.data.catalogue import list_published, published_pairs, published_texts
from textgauge.data.decode import STDIN, show, suffix
from textgauge.data.files import filled, labelled, read_pairs
from textgauge.data.samples import PREFIX, list_samples, sample, sample_pairs
from textgauge.data.tables import Table, load_table
from textgauge.errors import InputError, MissingExtra

HUB_PREFIX = "hf://"


def load_texts(
    spec: str | os.PathLike[str],
    *,
    column: str | None = None,
    labels: str | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> LabelledTexts:
    """Read texts from wherever `spec` points, at most `limit` of them, drawn with `seed` and kept in order.

    `column` and `labels` name columns of a file and mean nothing for samples and published datasets, whose
    parts are named `NAME/PART`.

    >>> load_texts("sample:cooking", limit=2).texts[1]
    'Meanwhile, the dough rests somewhere cold for an hour.'
    """
    name = os.fspath(spec)
    if name.startswith(PREFIX):
        return sample(name, n=limit, seed=seed)
    if _published(name):
        found = published_texts(name)
    else:
        table = hub_table(name) if name.startswith(HUB_PREFIX) else load_table(_path(name))
        texts, marks = labelled(table, column=column, labels=labels)
        found = LabelledTexts(tuple(texts), None if marks is None else tuple(marks), table.name)
    return found if limit is None else found.draw(limit, seed)


def load_aligned(spec: str | os.PathLike[str], *, column: str | None = None) -> tuple[str, ...]:
    """Read texts whose place matters, one for each item: blank ones are kept, a missing one is refused."""
    name = os.fspath(spec)
    if name.startswith(PREFIX) or _published(name) or name.startswith(HUB_PREFIX):
        return load_texts(name, column=column).texts
    table = load_table(_path(name))
    return tuple(filled(table, table.column(column)))


def load_pairs(
    spec: str | os.PathLike[str],
    *,
    left: str = "left",
    right: str = "right",
    rating: str | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> TextPairs:
    """Read pairs from a file with the named columns, a sample of pairs or a published dataset; see `load_texts`."""
    name = os.fspath(spec)
    if name.startswith(PREFIX):
        return sample_pairs(name, n=limit, seed=seed)
    found = (
        published_pairs(name) if _published(name) else read_pairs(_path(name), left=left, right=right, rating=rating)
    )
    return found if limit is None else found.draw(limit, seed)


def _published(name: str) -> bool:
    """Whether `name` is a published dataset; a file of that name wins."""
    return name.partition("/")[0] in {card.name for card in list_published()} and not os.path.isfile(name)


def _path(name: str) -> str:
    """The path, or an error with the nearest names if a bare word is neither a file nor a dataset."""
    if name == STDIN or os.path.exists(name) or suffix(name) or os.sep in name:
        return name
    known = [card.name for card in list_published()]
    known += [PREFIX + card.name for card in list_samples("texts")]
    near = get_close_matches(name, known, n=3, cutoff=0.5) or known[:4]
    raise InputError(f"{show(name)}: no such file or dataset; did you mean {', '.join(near)}?")


def hub_table(spec: str) -> Table:
    """The whole split as a table; `train` if no split is named."""
    name, _, split = spec.removeprefix(HUB_PREFIX).partition(":")
    if not name:
        raise InputError(f"{spec}: give the name of a dataset, as in hf://owner/name:train")
    try:
        package = importlib.import_module("datasets")
    except ImportError:
        raise MissingExtra(
            f"{spec} needs an optional package: pip install datasets; or download its Parquet file and give that path"
        ) from None
    try:
        rows = package.load_dataset(name, split=split or "train")
        columns = {column: list(rows[column]) for column in rows.column_names}
    except Exception as error:
        # The package raises many kinds of errors, its own and those of the network beneath it.
        raise InputError(f"{spec}: cannot be loaded ({type(error).__name__}: {_first_line(error)})") from None
    return Table(spec, columns, range(1, len(rows) + 1), unit="row")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:200]
