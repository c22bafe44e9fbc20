"""Arithmetic on numbers: knows nothing of text."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.stats import orders
    from textgauge.stats.correlation import pearson, spearman
    from textgauge.stats.decisions import ALPHA, ahead, different
    from textgauge.stats.resampling import percentile_interval, resampled_sums

__all__ = [
    "ALPHA",
    "ahead",
    "different",
    "orders",
    "pearson",
    "percentile_interval",
    "resampled_sums",
    "spearman",
]

if not TYPE_CHECKING:
    __getattr__ = export_lazily(
        __name__,
        {
            "correlation": "pearson spearman",
            "decisions": "ALPHA ahead different",
            "resampling": "percentile_interval resampled_sums",
        },
    )
