"""`textgauge ls`: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from typing import Annotated

import typer

from textgauge.cli.datasets import dataset_rows
from textgauge.cli.output import Format, FormatOption, print_next, print_result
from textgauge.cli.resources import resource_rows
from textgauge.core.result import TableResult
from textgauge.core.tabular import Row


class What(StrEnum):
    """Things that can be listed."""

    metrics = "metrics"
    embedders = "embedders"
    tokenizers = "tokenizers"
    word_vectors = "word-vectors"
    protocols = "protocols"
    suites = "suites"
    figures = "figures"
    datasets = "datasets"
    resources = "resources"


def ls(
    what: Annotated[What, typer.Argument(case_sensitive=False, help="What to list.")],
    words: Annotated[
        list[str] | None, typer.Argument(help="Only rows that contain all these words, such as `pairs embeddings`.")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """List metrics, embedders, tokenizers, word vectors, protocols, suites, figures, datasets or resources.

    Example: textgauge ls metrics corpora embeddings
    """
    rows = _LISTINGS[what]()
    kept = [row for row in rows if all(_has(row, word) for word in words or ())]
    shown = [{name: value for name, value in row.items() if name not in _LONG} for row in kept]
    of = f" of {len(rows)}" if words else ""
    said = f"{len(kept)}{of} {what.replace('-', ' ')}."
    print_result(TableResult("ls", kept, said, shown=shown), form)
    print_next(_NEXT.get(what, ()), form)


def _has(row: Row, word: str) -> bool:
    return any(word.lower() in str(value).lower() for value in row.values())


def _metrics() -> list[Row]:
    from textgauge.metrics import CorpusMetric, list_metrics
    from textgauge.metrics.base import parameters

    return [
        {
            "name": metric.name,
            "of": "corpora" if isinstance(metric, CorpusMetric) else "pairs",
            "answers": (metric.__doc__ or "").strip().splitlines()[0],
            "needs": metric.needs,
            "label": metric.label,
            "on": metric.on,
            "parameters": ", ".join(f"{name}={getattr(metric, name)}" for name in parameters(type(metric))),
            "parts": ", ".join(part.name for part in metric.parts),
            "closer": metric.closer,
            "symmetric": metric.symmetric,
            "explains": isinstance(metric, CorpusMetric) and metric.explains,
            "source": metric.source,
        }
        for metric in list_metrics()
    ]


def _embedders() -> list[Row]:
    from textgauge.encode.embedders import list_embedders, list_prefixes

    blank = {"dimension": None, "language": None, "window": None, "megabytes": None, "available": None}
    return [*list_embedders(), *({"name": row["name"], **blank, "note": row["note"]} for row in list_prefixes())]


def _tokenizers() -> list[Row]:
    from textgauge.encode.tokenizers import list_tokenizers

    return [{"name": name} for name in list_tokenizers()]


def _word_vectors() -> list[Row]:
    from textgauge.encode.word_vectors import list_word_vectors

    return list_word_vectors()


def _protocols() -> list[Row]:
    from textgauge.bench.protocols import known_protocols

    return [
        {
            "name": name,
            "parameters": ", ".join(f"{item.name}={item.default}" for item in fields(kind)),
            "measures": ", ".join(measure.name for measure in kind.measures),
            "about": (kind.__doc__ or "").strip().splitlines()[0],
        }
        for name, kind in known_protocols().items()
    ]


def _figures() -> list[Row]:
    from textgauge.bench.protocols import known_protocols
    from textgauge.report.figures import KINDS

    drawn = {name: [kind.name for kind in known_protocols().values() if name in kind.figures] for name in KINDS}
    return [{"name": name, "protocols": ", ".join(of)} for name, of in drawn.items()]


def _suites() -> list[Row]:
    from textgauge.bench import known_suites

    return [{"name": suite.name, "about": suite.about} for suite in known_suites().values()]


_LONG = ("label", "parameters", "parts", "symmetric", "explains", "source", "sources")  # in JSON and CSV
_NEXT = {What.metrics: ("textgauge ls metrics corpora · textgauge ls metrics pairs tokens",)}
_LISTINGS: dict[What, Callable[[], list[Row]]] = {
    What.metrics: _metrics,
    What.embedders: _embedders,
    What.tokenizers: _tokenizers,
    What.word_vectors: _word_vectors,
    What.protocols: _protocols,
    What.suites: _suites,
    What.figures: _figures,
    What.datasets: dataset_rows,
    What.resources: resource_rows,
}
