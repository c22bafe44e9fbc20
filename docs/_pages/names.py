"""Names that a metric's page shows: its parts, variants, grids, and what may stand after `@`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from textgauge.metrics import CorpusMetric, Metric
from textgauge.metrics.base import get_parameters

OTHERS = {
    "tokens": ("words", "wordpiece"),
    "embeddings": ("wordllama",),
    "ground": ("angular",),
    "word vectors": ("glove-50d",),
    "token vectors": ("paraphrase-minilm",),
}
AFTER_AT = {
    "texts": "the texts themselves; nothing stands after `@`",
    "tokens": "tokens: the name of a [tokenizer](../representations.md#tokenizers)",
    "embeddings": "embeddings: the name of an [embedder](../representations.md#embedders)",
    "ground": "a distance between texts: an [embedder](../representations.md#embedders), a "
    "[ground](../representations.md#grounds), both as `embedder:ground`, or a pair metric",
    "word vectors": "word vectors: a [name](../representations.md#word-vectors), or the path of a file",
    "token vectors": "token vectors in context: `minilm`, `mpnet` or another transformer that textgauge brings, "
    "`hf:MODEL`, `elmo:FOLDER`",
    "encoders": "sentence encoders of its own; nothing stands after `@`",
    "model": "a model: its name or path, `ms-marco-int8`, or `onnx:MODEL`",
    "column": "a column of numbers in the table of pairs: `column:NAME`",
    "service": "a language model behind an endpoint: `api:MODEL`, or `URL#MODEL`",
}


def grids(metric: Metric) -> Iterator[str]:
    """Names that stand for several metrics at once: over values of a parameter, and over what is looked at."""
    for name, kind in get_parameters(type(metric)).items():
        values = _values(name, kind, getattr(metric, name))
        if values:
            yield f"{metric.name}({name}={'|'.join(values)})"
            break
    for other in _other_on(metric):
        yield f"{metric.name}@{metric.on}|{other}"


def variants(metric: Metric) -> Iterator[str]:
    """Names of single metrics: parts, a changed parameter, another thing to look at."""
    yield from (f"{metric.name}.{part.name}" for part in metric.parts)
    for name, kind in get_parameters(type(metric)).items():
        values = _values(name, kind, getattr(metric, name))
        if values:
            yield f"{metric.name}({name}={values[-1]})"
            break
    for other in _other_on(metric):
        yield f"{metric.name}@{other}"
    if isinstance(metric, CorpusMetric) and metric.needs == "ground":
        yield f"{metric.name}@levenshtein"


def _other_on(metric: Metric) -> list[str]:
    """Another thing of the same kind to look at, where there is one."""
    return [name for name in OTHERS.get(metric.needs, ()) if name != metric.on][:1] if metric.on else []


def _values(name: str, kind: Any, default: Any) -> list[str]:
    """Two values of a parameter that make sense: the default and another; none for seeds and free texts."""
    if get_origin(kind) is Literal:
        return [str(choice) for choice in get_args(kind)[:2]]
    if kind is bool:
        return ["false", "true"]
    if kind is int and default > 0 and name != "seed":
        return [str(default), str(default + 1)]
    return []
