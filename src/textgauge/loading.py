"""`load`: read a result that was saved."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from textgauge.core.charts import draw_without_network
from textgauge.core.errors import InputError
from textgauge.core.result import TableResult, parse_result
from textgauge.data.packing import read_text

_KEYS = ("metric", "property", "name", "candidate", "slice", "system")


class SavedResult(TableResult):
    """A result that was read from a file: its answer, rows and warnings; `saved["energy"]` is the row of that name."""

    @property
    def keys(self) -> tuple[str, ...]:  # type: ignore[override]
        """The fields of a row that are its name."""
        return tuple(key for key in _KEYS if self.rows and key in self.rows[0])

    def plot(self) -> Any:
        """Return the chart of the result that was saved."""
        if self.command not in _CHARTS:
            raise InputError(f"there is no chart of a result of `textgauge {self.command}`")
        return draw_without_network(_CHARTS[self.command](self))


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
    )


def _compare_chart(saved: SavedResult) -> Any:
    from textgauge.measure.compare_report import draw_scores

    return draw_scores(saved.rows)


def _describe_chart(saved: SavedResult) -> Any:
    from textgauge.measure.description import draw_properties

    return draw_properties(saved.rows)


def _rank_chart(saved: SavedResult) -> Any:
    from textgauge.bench.leaderboard import draw_boards

    return draw_boards(saved.rows)


def _score_chart(saved: SavedResult) -> Any:
    import numpy as np

    from textgauge.measure.score_report import draw_spread
    from textgauge.metrics import PairScores

    names = [name for name in (saved.rows[0] if saved.rows else ()) if name != "index"]
    columns = {name: np.array([row[name] for row in saved.rows], dtype=np.float64) for name in names}
    return draw_spread([PairScores(metric=name, values=values) for name, values in columns.items()])


_CHARTS: dict[str, Callable[[SavedResult], Any]] = {
    "compare": _compare_chart,
    "describe": _describe_chart,
    "leaderboard": _rank_chart,
    "run": _rank_chart,
    "recommend": _rank_chart,
    "score": _score_chart,
}
