"""textgauge: measure text, and measure the measures."""

from typing import TYPE_CHECKING, Any

from textgauge.core.errors import TextgaugeError
from textgauge.data import Comparison, Corpus, Pairs
from textgauge.measure.comparing import CompareReport, Explanation, compare, explain
from textgauge.measure.scoring import Contrast, ScoreReport, contrast, score
from textgauge.metrics import CorpusMetric, PairMetric, PairScores, Score, get_metric, list_metrics, register

if TYPE_CHECKING:
    from textgauge.bench.judge_audit import JudgeAudit, audit_judge
    from textgauge.bench.learned.stack import Stack, ensemble
    from textgauge.bench.recommend import Recommendation, recommend
    from textgauge.loading import SavedResult, load
    from textgauge.measure.describing import Description, describe
    from textgauge.running import Run, run

__all__ = [
    "CompareReport",
    "Comparison",
    "Contrast",
    "Corpus",
    "CorpusMetric",
    "Description",
    "Explanation",
    "JudgeAudit",
    "PairMetric",
    "PairScores",
    "Pairs",
    "Recommendation",
    "Run",
    "SavedResult",
    "Score",
    "ScoreReport",
    "Stack",
    "TextgaugeError",
    "audit_judge",
    "compare",
    "contrast",
    "describe",
    "ensemble",
    "explain",
    "get_metric",
    "list_metrics",
    "load",
    "recommend",
    "register",
    "run",
    "score",
]


_ROOMS = {
    "Description": "textgauge.measure.describing",
    "JudgeAudit": "textgauge.bench.judge_audit",
    "audit_judge": "textgauge.bench.judge_audit",
    "describe": "textgauge.measure.describing",
    "Recommendation": "textgauge.bench.recommend",
    "recommend": "textgauge.bench.recommend",
    "Stack": "textgauge.bench.learned.stack",
    "ensemble": "textgauge.bench.learned.stack",
    "SavedResult": "textgauge.loading",
    "load": "textgauge.loading",
    "Run": "textgauge.running",
    "run": "textgauge.running",
}


def __getattr__(name: str) -> Any:
    """Names whose rooms load on first use."""
    from importlib import import_module

    if name in _ROOMS:
        return getattr(import_module(_ROOMS[name]), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("textgauge")
    raise AttributeError(f"module 'textgauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return __all__
