"""All known metrics by name: built-in families, plug-ins by entry point, and what users register."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from textgauge.core.errors import ArgumentError, InputError, UnknownName
from textgauge.core.registry import Registry, expand, parse, split_names
from textgauge.encode.embedders import EmbedderLike, name_embedder
from textgauge.metrics.base import Metric, Scope, get_parameters, parse_parameter

if TYPE_CHECKING:
    from textgauge.metrics.corpus_metric import CorpusMetric
    from textgauge.metrics.pair_metric import PairMetric

METRICS: Registry[type[Metric]] = Registry(
    "metric",
    modules=["textgauge.metrics.corpus", "textgauge.metrics.pair"],
    group="textgauge.metrics",
    plug_in=lambda _, kind: METRICS.register(kind),
)
_Kind = TypeVar("_Kind", bound=type[Metric])
_ELSEWHERE = {  # names that other packages use, without signs between their letters, and what there is instead
    "chrf++": "use chrf(word_order=2)",
    "rouge1f": "use rouge1",
    "sacrebleu": "use bleu, chrf or ter, whose corpus scores are those of sacrebleu",
    "selfbleu": "use self_bleu_gap for two corpora, or `textgauge describe` for one",
    "wer": "use ter, or levenshtein@words",
    "cer": "use levenshtein",
    "prdc": "use pr and dc; their parts are precision and recall, density and coverage",
    "precision": "use pr.precision for corpora, or a part of a pair metric such as bertscore.precision",
    "recall": "use pr.recall for corpora, or a part of a pair metric such as bertscore.recall",
    "density": "use dc.density",
    "coverage": "use dc.coverage",
    "frechet": "use fid",
    "fd": "use fid",
    "vendi": "use vendi_gap for two corpora, or `textgauge describe` for one",
    "perplexity": "`textgauge describe` has it as plausibility",
    "sbert": "use cosine",
    "sts": "use cosine",
    "moverscore": "use wmd",
    "comet": "score with COMET and give its scores as a column of the pairs: column:NAME",
    "bleurt": "score with BLEURT and give its scores as a column of the pairs: column:NAME",
    "bartscore": "score with BARTScore and give its scores as a column of the pairs: column:NAME",
    "geval": "use judge, or give its scores as a column of the pairs: column:NAME",
}

_INSTEAD = {  # of a metric where one of the other scope is asked for
    "pair": "scores pairs of texts: use `score`, or `energy@{ground}` for corpora",
    "corpus": "compares corpora, not pairs of texts: use `compare`",
}


@dataclass_transform(frozen_default=True, kw_only_default=True)
def register(kind: _Kind) -> _Kind:
    """Make a metric class known by its name, and a frozen dataclass if it is none yet; used as a decorator.

    A taken name is refused.
    """
    if "__dataclass_params__" not in vars(kind):
        dataclass(frozen=True, kw_only=True)(kind)
    return METRICS.register(kind)


def get_metric(name: str | Metric) -> Any:
    """Return the metric a name stands for, such as `pr.recall(k=3)@minilm:cosine`: a pair or a corpus metric.

    Upper and lower case are the same: `FID` is `fid`.
    """
    if isinstance(name, Metric):
        return name
    if not isinstance(name, str):
        raise UnknownName(f"a metric is called by its name, not by {name!r}; `textgauge ls metrics` lists them")
    if name not in METRICS and (here := _ELSEWHERE.get(re.sub("[-_ ]", "", name.lower()))):
        raise UnknownName(f"unknown metric {name!r}; {here}")
    parsed = parse(name)
    wanted = parsed.name
    if wanted not in METRICS:
        alike = [known for known in METRICS if known.lower() == wanted.lower()]
        wanted = alike[0] if len(alike) == 1 else wanted
    kind = METRICS[wanted]
    known = get_parameters(kind)
    unknown = [key for key, _ in parsed.params if key not in known]
    if unknown:
        has = ", ".join(known) or "none"
        raise UnknownName(f"{kind.name} has no parameter {unknown[0]!r}; its parameters: {has}")
    given = {key: parse_parameter(kind.name, key, known[key], value) for key, value in parsed.params}
    return kind(part=parsed.part, on=parsed.on or "", **given)


def get_metrics(
    names: str | Iterable[str | Metric], *, scope: Scope | None = None, embedder: EmbedderLike | None = None
) -> list[Any]:
    """Return all metrics that names, comma-separated lists and grids stand for, each once, in order.

    With a `scope` there must be one at least, and those of the other scope are refused with what to do instead.
    An `embedder` is that of metrics whose name has none.
    """
    items = [names] if isinstance(names, str | Metric) else names
    if not isinstance(items, Iterable):
        raise ArgumentError(f"`metrics` are names, not {names!r}; `textgauge ls metrics` lists them")
    metrics: list[Metric] = []
    for item in items:
        if isinstance(item, str):
            pieces = split_names(item)
            metrics += [get_metric(name) for piece in pieces for name in (expand(piece) if "|" in piece else [piece])]
        else:
            metrics.append(get_metric(item))
    if scope is not None and not metrics:
        raise ArgumentError("name at least one metric with `metrics`; `textgauge ls metrics` lists them")
    wrong = next((metric for metric in metrics if scope not in (None, metric.scope)), None)
    if wrong is not None:
        ground = wrong.on if wrong.name == "cosine" and wrong.on else wrong.key
        raise InputError(f"{wrong.key} {_INSTEAD[wrong.scope].format(ground=ground)}")
    found: list[Any] = list(dict.fromkeys(metrics))
    if embedder is None:
        return found
    name = name_embedder(embedder)
    return [metric.on_embeddings(name) for metric in found]


def get_corpus_metrics(names: str | Iterable[str | Metric], embedder: EmbedderLike | None = None) -> list[CorpusMetric]:
    """Return the same for metrics of two corpora; a pair metric is refused with what to do instead."""
    return get_metrics(names, scope="corpus", embedder=embedder)


def get_pair_metrics(names: str | Iterable[str | Metric], embedder: EmbedderLike | None = None) -> list[PairMetric]:
    """Return the same for metrics of two texts; a corpus metric is refused with what to do instead."""
    return get_metrics(names, scope="pair", embedder=embedder)


def list_metrics(*, kind: Scope | None = None, needs: str | None = None, symmetric: bool | None = None) -> list[Any]:
    """Return one metric of every sort, with its default parameters, by name; filtered by what it declares.

    >>> "fid" in [metric.name for metric in list_metrics(kind="corpus", needs="embeddings")]
    True
    """
    found = [METRICS[name]() for name in sorted(METRICS)]
    return [
        metric
        for metric in found
        if (kind is None or metric.scope == kind)
        and (needs is None or metric.needs == needs)
        and (symmetric is None or metric.symmetric == symmetric)
    ]


def list_explained_metrics() -> list[str]:
    """Return names of the corpus metrics that say what each text adds (`CorpusMetric.explain`)."""
    return [metric.name for metric in list_metrics(kind="corpus") if metric.explains]
