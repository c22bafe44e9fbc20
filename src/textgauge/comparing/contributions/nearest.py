"""What each text adds to a mean of nearest distances: irpr, ahd."""

from __future__ import annotations

from textgauge.comparing.contributions.terms import Contributions, Floats, SideTerms
from textgauge.comparing.nearest import nearest_other
from textgauge.data import Comparison
from textgauge.metrics.base import VALUE
from textgauge.metrics.corpus.neighbours import AverageHausdorff, NearestPrecisionRecall

_AHD = "distance to the nearest text of the other corpus / (2 × number of texts of the own one)"
_PART = "distance to the nearest text of the other corpus / number of texts"
_IRPR = (
    "distance to the nearest text of the other corpus / number of texts × slope of the harmonic mean in that part: "
    "2·recall²/(precision + recall)² for the candidate's, 2·precision²/(precision + recall)² for the reference's"
)


def of_average_hausdorff(metric: AverageHausdorff, comparison: Comparison) -> Contributions:
    """ahd: nearest distance/(2n); of a part: nearest distance/n of its side, 0 of the other."""
    found, _ = nearest_other(metric, comparison)
    slopes = {None: (0.5, 0.5), "forward": (1.0, 0.0), "backward": (0.0, 1.0)}[metric.part]
    over = len(found.of_reference), len(found.of_candidate)
    formula = _AHD if metric.part is None else _PART
    return _contributions(metric.part, formula, (found.of_reference, found.of_candidate), over, slopes)


def of_nearest_precision_recall(metric: NearestPrecisionRecall, comparison: Comparison) -> Contributions:
    """irpr: nearest distance/n times the slope of the harmonic mean H in its part.

    H is homogeneous of degree one, so precision·∂H/∂precision + recall·∂H/∂recall = H (Euler): first-order shares
    that add up exactly. Of a part: nearest distance/n of its side, 0 of the other.
    """
    found, _ = nearest_other(metric, comparison)
    n, m = len(found.of_reference), len(found.of_candidate)
    over = (n, m) if metric.compat == "none" else (m, n)
    recall, precision = found.of_reference.sum() / over[0], found.of_candidate.sum() / over[1]
    square = (precision + recall) ** 2
    slopes = (2.0 * precision**2 / square, 2.0 * recall**2 / square) if square > 0 else (0.0, 0.0)
    if metric.part is not None:
        slopes = (0.0, 1.0) if metric.part == "precision" else (1.0, 0.0)
    formula = _IRPR if metric.part is None else _PART
    return _contributions(metric.part, formula, (found.of_reference, found.of_candidate), over, slopes)


def _contributions(
    part: str | None,
    formula: str,
    distances: tuple[Floats, Floats],
    over: tuple[int, int],
    slopes: tuple[float, float],
) -> Contributions:
    reference, candidate = (
        SideTerms(slope * side / size) for side, size, slope in zip(distances, over, slopes, strict=True)
    )
    return Contributions(part or VALUE, formula, reference, candidate)
