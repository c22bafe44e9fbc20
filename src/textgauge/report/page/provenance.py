"""Where numbers come from: what each run asked for, and the full signature of every metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textgauge.evaluate.store import Store
from textgauge.report.page.tables import Table, table_of


def provenance(stores: Sequence[Store], results: Sequence[dict[str, Any]]) -> list[Table]:
    """A table of runs and one of signatures; `results` are rows that carry a signature of their own."""
    runs = [_run(store, manifest) for store in stores for manifest in store.manifests()]
    cells = [(c["metric"], c["signature"]) for s in stores for manifest in s.manifests() for c in manifest["cells"]]
    given = [(row["metric"], row["signature"]) for row in results if row.get("metric") and row.get("signature")]
    signed = [{"metric": metric, "signature": signature} for metric, signature in dict.fromkeys([*cells, *given])]
    tables = [("Runs", runs), ("Signatures: everything that decides a number", signed)]
    return [table_of(title, rows) for title, rows in tables if rows]


def cell_count(stores: Sequence[Store]) -> int:
    """How many different cells all runs asked for."""
    return sum(len({c["name"] for manifest in s.manifests() for c in manifest["cells"]}) for s in stores)


def _run(store: Store, manifest: dict[str, Any]) -> dict[str, Any]:
    given = manifest["protocol"]["parameters"]
    return {
        "run": store.folder.resolve().name,
        "protocol": manifest["protocol"]["name"],
        "parameters": ", ".join(f"{name}={value}" for name, value in given.items()),
        "data": manifest["data"]["name"],
        "fingerprint": manifest["data"]["fingerprint"],
        "seed": manifest["seed"],
        "metrics": len({cell["metric"] for cell in manifest["cells"]}),
        "cells": len(manifest["cells"]),
        "versions": ", ".join(manifest["versions"]),
    }
