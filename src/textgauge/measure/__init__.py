"""Answers about texts: compare, score, describe, check."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.measure.comparing import CompareReport, Explanation, compare, explain
    from textgauge.measure.describing import Description, describe
    from textgauge.measure.scoring import Contrast, ScoreReport, contrast, score

__all__ = [
    "CompareReport",
    "Contrast",
    "Description",
    "Explanation",
    "ScoreReport",
    "compare",
    "contrast",
    "describe",
    "explain",
    "score",
]

if not TYPE_CHECKING:
    __getattr__ = export_lazily(
        __name__,
        {
            "comparing": "CompareReport Explanation compare explain",
            "describing": "Description describe",
            "scoring": "Contrast ScoreReport contrast score",
        },
    )
