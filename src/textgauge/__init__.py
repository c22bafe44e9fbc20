"""textgauge: measure text, and measure the measures."""

from typing import TYPE_CHECKING, Any

from textgauge.comparing import CompareReport, Explanation, compare, explain
from textgauge.data import Comparison, Corpus, Pairs
from textgauge.errors import TextgaugeError
from textgauge.metrics import CorpusMetric, PairMetric, PairScores, Score, get_metric, list_metrics, register
from textgauge.scoring import Contrast, ScoreReport, contrast, score

if TYPE_CHECKING:
    from textgauge.describing import CorpusDescription, Description, describe
    from textgauge.evaluate.judge_audit import JudgeAudit, audit_judge
    from textgauge.evaluate.learned.stack import Stack, ensemble
    from textgauge.evaluate.recommend import Recommendation, recommend
    from textgauge.loading import SavedResult, load
    from textgauge.running import Run, run

__all__ = [
    "CompareReport",
    "Comparison",
    "Contrast",
    "Corpus",
    "CorpusDescription",
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
    "CorpusDescription": "textgauge.describing",
    "Description": "textgauge.describing",
    "JudgeAudit": "textgauge.evaluate.judge_audit",
    "audit_judge": "textgauge.evaluate.judge_audit",
    "describe": "textgauge.describing",
    "Recommendation": "textgauge.evaluate.recommend",
    "recommend": "textgauge.evaluate.recommend",
    "Stack": "textgauge.evaluate.learned.stack",
    "ensemble": "textgauge.evaluate.learned.stack",
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
