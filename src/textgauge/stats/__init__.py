"""Arithmetic on numbers: knows nothing of text."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.stats import orders
    from textgauge.stats.correlation import pearson, spearman
    from textgauge.stats.decisions import ALPHA, is_ahead, is_different
    from textgauge.stats.resampling import compute_percentile_interval, resample_sums

__all__ = [
    "ALPHA",
    "compute_percentile_interval",
    "is_ahead",
    "is_different",
    "orders",
    "pearson",
    "resample_sums",
    "spearman",
]

if not TYPE_CHECKING:
    __getattr__ = export_lazily(__name__)
