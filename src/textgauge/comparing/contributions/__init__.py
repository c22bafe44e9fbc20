"""What each text adds to the distance of two corpora, for the metrics whose value is a sum over texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textgauge.comparing.contributions.terms import Contributions, SideTerms
from textgauge.data import Comparison
from textgauge.errors import InputError
from textgauge.metrics import CorpusMetric

__all__ = ["EXPLAINED", "Contributions", "SideTerms", "contributions", "explained", "require_explained"]

EXPLAINED = ("energy", "mmd", "kid", "irpr", "ahd", "pr", "dc", "chi", "cbdf", "classifier", "c2st")


def explained(metric: CorpusMetric) -> bool:
    """Whether the metric's value splits into what single texts add."""
    return any(isinstance(metric, kind) for kind, _ in _families())


def contributions(metric: CorpusMetric, comparison: Comparison) -> Contributions:
    """What each text adds, by the formula of the metric's family; `Undefined` where the metric is."""
    require_explained(metric)
    return next(split for kind, split in _families() if isinstance(metric, kind))(metric, comparison)


def require_explained(metric: CorpusMetric) -> None:
    """Refuse a metric whose value is no sum over texts."""
    if not explained(metric):
        raise InputError(f"{metric.key} does not split into texts; the metrics that do are {', '.join(EXPLAINED)}")


def _families() -> tuple[tuple[type[CorpusMetric], Callable[[Any, Comparison], Contributions]], ...]:
    from textgauge.comparing.contributions.balls import of_density_coverage, of_precision_recall
    from textgauge.comparing.contributions.classifiers import of_classifier
    from textgauge.comparing.contributions.kernels import of_discrepancy, of_energy
    from textgauge.comparing.contributions.nearest import of_average_hausdorff, of_nearest_precision_recall
    from textgauge.comparing.contributions.tokens import of_chi_square
    from textgauge.metrics.corpus import classifiers, frequency, kernels, neighbours

    return (
        (kernels.Energy, of_energy),
        (kernels.KernelDiscrepancy, of_discrepancy),
        (neighbours.NearestPrecisionRecall, of_nearest_precision_recall),
        (neighbours.AverageHausdorff, of_average_hausdorff),
        (neighbours.PrecisionRecall, of_precision_recall),
        (neighbours.DensityCoverage, of_density_coverage),
        (frequency.Chi, of_chi_square),
        (frequency.ChiByDf, of_chi_square),
        (classifiers.HeldOutMetric, of_classifier),
    )
