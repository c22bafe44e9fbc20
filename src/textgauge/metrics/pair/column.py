"""Scores that came with the pairs: a column of a table as a pair metric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError, ParameterError
from textgauge.data import Corpus, Pairs
from textgauge.data.tables import format_column_names
from textgauge.metrics.base import VALUE, Metric, Part
from textgauge.metrics.pair_metric import Columns, PairMetric
from textgauge.metrics.registry import get_metrics, register


@register
@dataclass(frozen=True, kw_only=True)
class ColumnMetric(PairMetric):
    """A number that the table of pairs has for each pair: a judge's score, COMET, a metric computed elsewhere.

    `column:NAME` is ranked, tested and learned from as any other pair metric. Larger is closer, or smaller with
    `column(closer=smaller):NAME`. Undefined where the cell is blank. There is no value for other pairs than those of
    the table.

    Source: the table.
    """

    name = "column"
    label = "Column"
    source = "the table"
    needs = "column"
    default_on = "score"
    headline = Part(VALUE, closer="larger", bounds=(float("-inf"), float("inf")))
    symmetric = False
    value_at_identity = float("nan")
    undefined = "the cell is blank"

    closer: Literal["larger", "smaller"] = "larger"

    def compute(self, pairs: Pairs) -> Columns:
        """The column as it is."""
        if self.on not in pairs.columns:
            known = f"those given are {format_column_names(pairs.columns)}" if pairs.columns else "none were given"
            raise InputError(f"{self.key}: the pairs come without a column {self.on!r} of scores; {known}")
        return {VALUE: pairs.columns[self.on]}

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """Refused: a column has values for the pairs of its table alone."""
        raise ParameterError(f"{self.key} has values for the pairs of its table alone, not for any two texts")


def column_names(metrics: str | Iterable[str | Metric] | None) -> list[str]:
    """The columns that names of metrics stand for.

    >>> column_names("chrf,column:judge|comet")
    ['judge', 'comet']
    """
    found = () if metrics is None else get_metrics(metrics)
    return list(dict.fromkeys(metric.on for metric in found if metric.needs == ColumnMetric.needs))
