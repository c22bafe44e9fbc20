"""textgauge: measure text, and measure the measures."""

from typing import TYPE_CHECKING, Any

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.bench.judge_audit import JudgeAudit, audit_judge
    from textgauge.bench.learned import Stack, ensemble
    from textgauge.bench.recommend import Recommendation, recommend
    from textgauge.bench.scores import ScoreBoard, leaderboard
    from textgauge.core.errors import TextgaugeError
    from textgauge.data import Comparison, Corpus, Pairs
    from textgauge.measure import (
        CompareReport,
        Contrast,
        Description,
        Explanation,
        ScoreReport,
        compare,
        describe,
        explain,
        score,
        watch,
    )
    from textgauge.metrics import CorpusMetric, PairMetric, PairScores, Score, get_metric, list_metrics, register
    from textgauge.metrics import get_metric as metric
    from textgauge.report.saved import SavedResult, load
    from textgauge.running import Run, run

__all__ = [
    "CompareReport", "Comparison", "Contrast", "Corpus", "CorpusMetric", "Description", "Explanation", "JudgeAudit",
    "PairMetric", "PairScores", "Pairs", "Recommendation", "Run", "SavedResult", "Score", "ScoreBoard", "ScoreReport",
    "Stack", "TextgaugeError", "audit_judge", "compare", "describe", "ensemble", "explain", "get_metric",
    "leaderboard", "list_metrics", "load", "metric", "recommend", "register", "run", "score", "watch",
]  # fmt: skip


_get = export_lazily(__name__)


def __getattr__(name: str) -> Any:
    """Load the room of a name when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("textgauge")
    return _get(name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
