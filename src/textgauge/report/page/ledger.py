"""Ledgers of papers on a page: what holds of each finding, then every claim, what was not replicated first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textgauge.report.page.tables import PageTable, table_of
from textgauge_papers.ledger import counts, summary

_OF_A_CLAIM = frozenset({"claim", "verdict", "criterion", "topic"})
_SHOWN = ("verdict", "claim", "paper", "ours", "interval", "why", "criterion", "deviation", "data")


def is_ledger(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether all rows are claims."""
    return bool(rows) and all(row.keys() >= _OF_A_CLAIM for row in rows)


def ledger_tables(rows: Sequence[dict[str, Any]]) -> tuple[list[PageTable], list[str]]:
    """Two tables for each paper, findings and claims, and a sentence that counts its verdicts."""
    by_paper: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_paper.setdefault(str(row.get("source", "claims")), []).append(row)
    tables = []
    for paper, own in by_paper.items():
        tables.append(table_of(f"What holds of {paper}", summary(own)))
        tables.append(table_of(f"Claims of {paper}", [{name: row.get(name) for name in _SHOWN} for row in own]))
    return tables, [f"`{paper}`: {counts(own)}." for paper, own in by_paper.items()]
