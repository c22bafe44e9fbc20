"""Pair metrics by name inside other harnesses: Inspect, MLflow, DeepEval and what takes functions of scikit-learn.

Each function imports its harness when it is called (extras `inspect`, `mlflow`, `deepeval`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from textgauge.core.errors import InputError, MissingExtra
from textgauge.metrics import PairMetric
from textgauge.metrics.registry import get_pair_metrics


def _import(module: str, what: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra.named(what, extra) from None


def _get_one(metric: str | PairMetric) -> PairMetric:
    found = get_pair_metrics([metric])
    if len(found) != 1:
        raise InputError(f"{metric}: give one metric of pairs of texts")
    return found[0]


def make_sklearn_score(metric: str | PairMetric) -> Callable[[Sequence[str], Sequence[str]], float]:
    """Return a function of references and outputs, in this order, that gives the mean over pairs; for `make_scorer`.

    >>> make_sklearn_score("jaccard")(["a red cat", "a dog"], ["a red cat", "one cow"])
    0.5
    """
    chosen = _get_one(metric)

    def score(y_true: Sequence[str], y_pred: Sequence[str]) -> float:
        return float(chosen(left=list(y_pred), right=list(y_true)).values.mean())

    score.__name__ = chosen.key
    return score


def make_inspect_scorer(metric: str | PairMetric) -> Any:
    """Return an Inspect scorer: the output with the target, or the closest of several targets."""
    scorers = _import("inspect_ai.scorer", "a scorer of Inspect", "inspect")
    chosen = _get_one(metric)

    @scorers.scorer(metrics=[scorers.mean(), scorers.stderr()], name=chosen.key)  # type: ignore[untyped-decorator]
    def make() -> Any:
        async def score(state: Any, target: Any) -> Any:
            answer = state.output.completion
            value = float(chosen(answer, list(target)))
            return scorers.Score(value=value, answer=answer, metadata={"signature": chosen.signature})

        return score

    return make()


def make_mlflow_scorer(metric: str | PairMetric) -> Any:
    """Return an MLflow scorer: the outputs with `expected_response` of the expectations."""
    mlflow = _import("mlflow.genai.scorers", "a scorer of MLflow", "mlflow")
    chosen = _get_one(metric)

    def score(outputs: str, expectations: dict[str, Any]) -> float:
        return float(chosen(outputs, expectations["expected_response"]))

    return mlflow.scorer(score, name=chosen.key)


def make_deepeval_metric(metric: str | PairMetric, *, threshold: float = 0.5) -> Any:
    """Return a DeepEval metric: the actual with the expected output; `threshold` is the worst value that passes."""
    deepeval = _import("deepeval.metrics", "a metric of DeepEval", "deepeval")
    chosen, limit = _get_one(metric), threshold

    class TextgaugeMetric(deepeval.BaseMetric):  # type: ignore[misc, name-defined]
        threshold = limit
        async_mode = False
        __name__ = chosen.key

        def measure(self, test_case: Any, *_: Any, **__: Any) -> float:
            self.score = float(chosen(test_case.actual_output, test_case.expected_output))
            self.reason, self.success = chosen.signature, self.is_successful()
            return self.score

        async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float:
            return self.measure(test_case)

        def is_successful(self) -> bool:
            ahead = self.score - limit if chosen.closer == "larger" else limit - self.score
            return bool(ahead >= 0)

    return TextgaugeMetric()
