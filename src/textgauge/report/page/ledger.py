"""Ledgers of papers on a page: a table per paper, what was not replicated first, as `reproduce --format json` gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textgauge.papers.ledger import counts
from textgauge.report.page.tables import PageTable, table_of

_OF_A_CLAIM = frozenset({"claim", "verdict", "criterion"})
_SHOWN = ("verdict", "claim", "paper", "ours", "interval", "why", "criterion", "deviation", "data")


def is_ledger(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether all rows are claims."""
    return bool(rows) and all(row.keys() >= _OF_A_CLAIM for row in rows)


def ledger_tables(rows: Sequence[dict[str, Any]]) -> tuple[list[PageTable], list[str]]:
    """A table for each paper, and a sentence that counts its verdicts."""
    by_paper: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_paper.setdefault(str(row.get("source", "claims")), []).append(row)
    tables = [
        table_of(f"Claims of {paper}", [{name: row.get(name) for name in _SHOWN} for row in own])
        for paper, own in by_paper.items()
    ]
    return tables, [f"`{paper}`: {counts(own)}." for paper, own in by_paper.items()]
