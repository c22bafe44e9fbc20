"""Texts of a dataset on the Hugging Face hub, `hf://NAME[:SPLIT]`, through the optional package `datasets`."""

from __future__ import annotations

import importlib

from textgauge.datasets.tables import Table
from textgauge.errors import InputError, MissingExtra

PREFIX = "hf://"


def hub_table(spec: str) -> Table:
    """The whole split as a table; `train` if no split is named."""
    name, _, split = spec.removeprefix(PREFIX).partition(":")
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
