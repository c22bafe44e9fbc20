"""`load`: read a result that was saved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from textgauge.core.charts import draw_without_network
from textgauge.core.errors import InputError
from textgauge.core.result import TableResult, parse_result
from textgauge.core.show import Row
from textgauge.data.packing import read_text

if TYPE_CHECKING:
    import polars as pl

_KEYS = ("metric", "property", "name", "candidate", "slice", "system")


class SavedResult(TableResult):
    """A result that was read from a file: its answer, rows and warnings; `saved["energy"]` is the row of that name."""

    @property
    def keys(self) -> tuple[str, ...]:  # type: ignore[override]
        """The fields of a row that are its name."""
        return tuple(key for key in _KEYS if self.rows and key in self.rows[0])

    def plot(self) -> Any:
        """Return the chart of the result that was saved."""
        names, own = self.rows[0] if self.rows else {}, _CHARTS.get(self.command)
        if self.command == "leaderboard" and "system" in names:
            own = "textgauge.bench.scores:draw_systems"
        if own is None or (self.command == "score" and "metric" in names):
            raise InputError(f"there is no chart of such a result of `textgauge {self.command}`")
        module, _, name = own.partition(":")
        return draw_without_network(getattr(import_module(module), name)(self.rows))


def load(path: str | os.PathLike[str]) -> SavedResult:
    """Read a result that was saved by its `save`, or by `--format json` of a command.

    A file whose numbers were changed is refused.

    >>> import tempfile, textgauge
    >>> report = textgauge.compare(["a cat", "a dog"], ["one cat", "a cow"], metrics="jsd@words")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = load(report.save(f"{folder}/found.json"))
    >>> found["jsd@words"]["value"] == report["jsd@words"].value
    True
    """
    text = read_text(path)
    try:
        found = parse_result(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return SavedResult(
        str(found.get("command") or ""),
        found["rows"],
        answer=found.get("answer"),
        warnings=tuple(found.get("warnings") or ()),
        extra=found.get("details"),
        texts=_read_texts(path, found.get("texts")),
    )


def _read_texts(path: str | os.PathLike[str], columns: Any) -> pl.DataFrame | None:
    import polars as pl

    try:
        return None if columns is None else pl.DataFrame(columns, strict=False, infer_schema_length=None)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise InputError(f"{path}: its texts are no table") from None


def _draw_saved_scores(rows: Sequence[Row]) -> Any:
    import numpy as np

    from textgauge.measure.score_report import draw_spread
    from textgauge.metrics import PairScores

    names = [name for name in (rows[0] if rows else ()) if name != "index"]
    columns = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in names}
    return draw_spread([PairScores(metric=name, values=values) for name, values in columns.items()])


_CHARTS = {  # what draws the rows of a command
    "compare": "textgauge.measure.compare_report:draw_scores",
    "describe": "textgauge.measure.description:draw_properties",
    "leaderboard": "textgauge.bench.leaderboard:draw_boards",
    "run": "textgauge.bench.leaderboard:draw_boards",
    "recommend": "textgauge.bench.leaderboard:draw_boards",
    "score": "textgauge.report.saved:_draw_saved_scores",
}
