"""What each text adds to metrics of neighbour balls: pr, dc."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textgauge.comparing.contributions.terms import Contributions, Floats, SideTerms, harmonic_weights
from textgauge.data import Comparison, Corpus
from textgauge.metrics.base import VALUE
from textgauge.metrics.corpus.neighbours import DensityCoverage, PrecisionRecall
from textgauge.metrics.ground_matrix import ground_matrix
from textgauge.metrics.neighbour_statistics import _cloud, _reach
from textgauge.numerics.neighbour_blocks import balls_both

Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]

_BLOCK = 512
_PR = (
    "0 inside a ball of the other corpus; outside: 1 / number of texts × recall/(precision + recall) for the "
    "candidate's, precision/(precision + recall) for the reference's"
)
_DC = (
    "reference: 1 / number of texts × density/(density + coverage) where its ball holds no candidate text; candidate: "
    "(1 − reference balls around it / k) / number of texts × coverage/(density + coverage); density cut at 1, and then "
    "the candidate adds 0"
)


@dataclass(frozen=True, eq=False)
class Held:
    """How many balls of the other corpus hold each text, and whether each reference ball holds a candidate text."""

    reference: Whole
    candidate: Whole
    reached: Flags


def of_precision_recall(metric: PrecisionRecall, comparison: Comparison) -> Contributions:
    """pr: 1 − F1 = (1 − precision)·recall/(precision + recall) + (1 − recall)·precision/(precision + recall).

    So a text outside all balls of the other side adds its weight, one inside nothing. Of a part: 1/n inside, 0 outside.
    """
    held = held_texts(metric, comparison)
    inside = held.reference > 0, held.candidate > 0
    detail = [
        {"inside": mask, "balls": count} for mask, count in zip(inside, (held.reference, held.candidate), strict=True)
    ]
    recall, precision = float(inside[0].mean()), float(inside[1].mean())
    of_precision, of_recall = harmonic_weights(precision, recall)
    if metric.part is None:
        adds = of_recall * ~inside[0] / len(inside[0]), of_precision * ~inside[1] / len(inside[1])
    else:
        chosen = (0.0, 1.0) if metric.part == "precision" else (1.0, 0.0)
        adds = chosen[0] * inside[0] / len(inside[0]), chosen[1] * inside[1] / len(inside[1])
    formula = _PR if metric.part is None else "1 / number of texts inside a ball of the other corpus, 0 outside"
    reference, candidate = (SideTerms(side, columns) for side, columns in zip(adds, detail, strict=True))
    return Contributions(metric.part or VALUE, formula, reference, candidate)


def of_density_coverage(metric: DensityCoverage, comparison: Comparison) -> Contributions:
    """dc: as `pr`, with coverage in place of recall and density, cut at 1, in place of precision.

    A candidate text in more than k balls adds less than nothing. Where density reaches 1 the candidate adds 0.
    """
    if metric.compat == "compcor":
        turned = of_density_coverage(replace(metric, compat="none"), comparison.swapped())
        return replace(turned, reference=turned.candidate, candidate=turned.reference)
    held = held_texts(metric, comparison)
    n, m = len(held.reference), len(held.candidate)
    filled = held.candidate / metric.k
    density, coverage = min(float(filled.mean()), 1.0), float(held.reached.mean())
    of_density, of_coverage = harmonic_weights(density, coverage)
    thin = 1.0 - filled if density < 1.0 else np.zeros(m)
    adds = {
        None: (of_coverage * ~held.reached / n, of_density * thin / m),
        "density": (np.zeros(n), filled / m),
        "coverage": (held.reached / n, np.zeros(m)),
    }[metric.part]
    formula = _DC if metric.part is None else "the text's own term of the mean / number of texts"
    reference = SideTerms(adds[0], {"covered": held.reached})
    return Contributions(metric.part or VALUE, formula, reference, SideTerms(adds[1], {"balls": held.candidate}))


def held_texts(metric: PrecisionRecall | DensityCoverage, comparison: Comparison) -> Held:
    """Which balls hold which texts, by the metric's ground, k and rule for ties."""
    if metric.pair_ground is not None:
        return _held_of_matrix(metric, comparison, metric.pair_ground)
    sides = comparison.reference, comparison.candidate
    P, Q = (side.derive(_cloud, metric.embedder, metric.ground) for side in sides)
    reaches = (
        sides[0].derive(_reach, metric.embedder, metric.ground),
        sides[1].derive(_reach, metric.embedder, metric.ground),
    )
    of_p, of_q = balls_both(P, Q, reaches, k=metric.k, closed=metric.ties == "closed")
    return Held(of_q.holders[P.inverse], of_p.holders[Q.inverse], of_p.reached[P.inverse])


def _held_of_matrix(metric: PrecisionRecall | DensityCoverage, comparison: Comparison, name: str) -> Held:
    matrix = ground_matrix(comparison.joint.pool, name)
    rows, columns = matrix.rows(comparison.reference), matrix.rows(comparison.candidate)
    radius_p, radius_q = (_radii(side, name, metric.k) for side in (comparison.reference, comparison.candidate))
    inside = np.less_equal if metric.ties == "closed" else np.less
    of_reference, of_candidate = np.zeros(len(rows), np.int64), np.zeros(len(columns), np.int64)
    reached = np.zeros(len(rows), dtype=bool)
    for some in _steps(len(rows)):
        block = matrix.block(rows[some], columns)
        held = inside(block, radius_p[some, None])
        of_candidate += held.sum(axis=0)
        reached[some] = held.any(axis=1)
        of_reference[some] = inside(block, radius_q).sum(axis=1)
    return Held(of_reference, of_candidate, reached)


def _radii(corpus: Corpus, name: str, k: int) -> Floats:
    matrix = ground_matrix(corpus.pool, name)
    rows, radii = matrix.rows(corpus), np.empty(len(corpus))
    for some in _steps(len(rows)):
        block = matrix.block(rows[some], rows)
        block[np.arange(len(block)), np.arange(some.start, some.stop)] = np.inf
        radii[some] = np.partition(block, k - 1, axis=1)[:, k - 1]
    return radii


def _steps(size: int) -> list[slice]:
    return [slice(at, min(at + _BLOCK, size)) for at in range(0, size, _BLOCK)]
