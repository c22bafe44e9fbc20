"""Texts that belong together: labels of groups and blocks, and signs of dependence that nobody named."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import ArgumentError, InputError
from textgauge.data import Comparison, Corpus, load_texts
from textgauge.data.source import Source
from textgauge.data.tables import LabelledTexts, get_cells, is_frame
from textgauge.data.units import FEWEST_GROUPS, Labels
from textgauge.metrics import CorpusMetric
from textgauge.metrics.numerics.moments import scale_to_units
from textgauge.metrics.uncertainty import NullValues, adjust_p_values
from textgauge.stats.decisions import ALIKE_ROWS, TOO_CLOSE

LabelSource: TypeAlias = "str | tuple[Sequence[Any], Sequence[Any]]"
_UNEVEN, _NEARLY = 1.25, 1.1  # ratios of texts a group from which groups are cut, and to which
_FEWEST_ROWS, _MOST_ROWS = 20, 1_000  # of a corpus, of which neighbours in the file are compared
_ORDERS = 399  # random orders of the rows
_LEVEL = 0.025  # of either notice, so that both are seen in at most 5 % of comparisons of independent texts


def add_units(
    comparison: Comparison,
    sources: Sequence[Source | LabelledTexts],
    *,
    group: LabelSource | None,
    block: LabelSource | None,
    paired: bool,
    column: str | None,
) -> tuple[Comparison, list[str]]:
    """Return the comparison with named groups and blocks, what was left out for that, and what is exchanged."""
    if group is None and block is None and not paired:
        return comparison, []
    if comparison.dealt or comparison.joint.pool.is_stored:
        raise ArgumentError("{group}, {block} and {paired} take corpora of at most 50,000 texts")
    if paired and block is not None:
        raise ArgumentError("{paired} makes a block of every row: give it or {block}")
    groups = None if group is None else _read_labels(comparison, sources, group, column, "group")
    blocks = None if block is None else _read_labels(comparison, sources, block, column, "block")
    if paired:
        sizes = [len(side) for side in comparison.sides]
        if sizes[0] != sizes[1]:
            raise ArgumentError(f"{{paired}} needs as many texts on both sides: {sizes[0]} and {sizes[1]}")
        first, second = (_find_places(*pair) for pair in zip(comparison.sides, sources, strict=True))
        blocks = first, second
    notes: list[str] = []
    if groups is not None and blocks is None:
        comparison, groups, notes = _cut_uneven_groups(comparison, groups)
    found = Comparison(*comparison.sides, groups=groups, blocks=blocks)
    _require_units(found)
    kind, (n, m) = "texts" if groups is None else "groups", found.units.counts
    within = "" if blocks is None else f" within {found.units.fewest} blocks"
    return found, [*notes, f"the test exchanges {n} and {m} {kind}{within}"]


def _read_labels(
    comparison: Comparison, sources: Sequence[Source | LabelledTexts], label: LabelSource, column: str | None, name: str
) -> Labels:
    """Return a number for the label of each text; equal labels of both sides have the same one."""
    given = [label, label] if isinstance(label, str) else list(label)
    if len(given) != 2:
        raise ArgumentError(f"{{{name}}} is a column, or the labels of the reference's and of the candidate's texts")
    sides = [
        _read_side(side, source, own, column, role)
        for side, source, own, role in zip(comparison.sides, sources, given, ("reference", "candidate"), strict=True)
    ]
    numbers = np.unique(np.concatenate(sides), return_inverse=True)[1]
    return numbers[: len(sides[0])], numbers[len(sides[0]) :]


def _read_side(corpus: Corpus, source: Source | LabelledTexts, label: Any, column: str | None, role: str) -> Any:
    if isinstance(label, str):
        if isinstance(source, str | os.PathLike):
            found = load_texts(source, column=column, labels=label)
        elif isinstance(source, LabelledTexts):
            found = source
        elif is_frame(source):
            return _take_labels(corpus, get_cells(source, label), label, role)
        else:
            found = None
        if found is None or found.labels is None:
            raise InputError(f"the {role} has no column {label!r}: give a table with it, or the labels of its texts")
        rows = found.rows or range(len(found.labels))
        cells = dict(zip(rows, found.labels, strict=True))
        return _take_labels(corpus, cells, label, role)
    return _take_labels(corpus, list(label), "its labels", role)


def _take_labels(corpus: Corpus, cells: Any, label: str, role: str) -> Any:
    places = (
        range(len(corpus)) if len(cells) == len(corpus) and isinstance(cells, list) else corpus.source_rows.tolist()
    )
    try:
        labels = [cells[row] for row in places]
    except (IndexError, KeyError):
        raise InputError(f"the {role} has {len(corpus)} texts, but not a label of {label} for each") from None
    missing = next((place for place, cell in enumerate(labels) if cell is None or not str(cell).strip()), None)
    if missing is not None:
        raise InputError(f"the {role}: text {missing} has no {label}")
    return np.array([str(cell) for cell in labels])


def _find_places(corpus: Corpus, source: Source | LabelledTexts) -> Ints:
    """Return where each text stood in its source, of which blank ones were left out; a corpus is taken as it is."""
    return np.arange(len(corpus)) if isinstance(source, Corpus) else corpus.source_rows


def _require_units(comparison: Comparison) -> None:
    units, n = comparison.units, comparison.units.counts[0]
    if units.blocks is not None:
        shared = len(np.intersect1d(units.blocks[:n], units.blocks[n:]))
        if shared < FEWEST_GROUPS:
            raise InputError(f"{shared} blocks have texts in both corpora; a test needs at least {FEWEST_GROUPS}")
        return
    role = "reference" if units.counts[0] <= units.counts[1] else "candidate"
    if min(units.counts) < FEWEST_GROUPS:
        raise InputError(
            f"groups of the {role}: {min(units.counts)}; exchanging whole groups needs at least {FEWEST_GROUPS} a side"
        )


def _cut_uneven_groups(comparison: Comparison, groups: Labels) -> tuple[Comparison, Labels, list[str]]:
    """Leave out texts of large groups where those of the other side are smaller: a group counts as one observation.

    Simulated on sentences of news articles: with ten a document on one side and one on the other, 99 % of comparisons
    of one source were called different if groups were exchanged as they are, and 3 to 5 % if they were cut.
    """
    sizes = [np.unique(side, return_counts=True)[1] for side in groups]
    means = [_weigh(own) for own in sizes]
    if max(means) <= _UNEVEN * min(means):
        return comparison, groups, []
    larger = int(means[1] > means[0])
    limits = range(1, int(sizes[larger].max()) + 1)
    cap = max(cap for cap in limits if cap == 1 or _weigh(np.minimum(sizes[larger], cap)) <= _NEARLY * min(means))
    side, labels = comparison.sides[larger], groups[larger]
    order = np.lexsort((side.keys, labels))
    place = np.arange(len(order)) - np.searchsorted(labels[order], labels[order])
    kept = np.sort(order[place < cap])
    role = ("reference", "candidate")[larger]
    note = (
        f"groups of the {role} have more texts than those of the other corpus: of each at most {cap} "
        f"{'is' if cap == 1 else 'are'} compared, {len(kept)} of {len(side)} texts"
    )
    sides = [side.take(kept) if number == larger else other for number, other in enumerate(comparison.sides)]
    cut = tuple(own[kept] if number == larger else own for number, own in enumerate(groups))
    return Comparison(*sides), (cut[0], cut[1]), [note]


def _weigh(sizes: Ints) -> float:
    """Return the mean size of the group that a text is in."""
    return float((sizes**2).sum() / sizes.sum())


def find_sign(
    comparison: Comparison, metrics: Sequence[CorpusMetric], nulls: Sequence[NullValues | None], seed: int
) -> str | None:
    """Return a sign that texts depend on each other in a way that the test does not know; None where there is none."""
    if comparison.blocks is None and _is_too_close([null for null in nulls if null is not None]):
        return TOO_CLOSE
    if comparison.groups is not None or comparison.blocks is not None or comparison.joint.pool.is_stored:
        return None
    p = [_test_neighbouring_rows(side, metrics, seed) for side in comparison.sides]
    return ALIKE_ROWS if min(p) <= _LEVEL / 2 else None


def _is_too_close(nulls: Sequence[NullValues]) -> bool:
    """Whether values lie below what exchanged texts give, in a test of all metrics that share their exchanges."""
    turned = [replace(null, farther=-null.farther) for null in nulls if null.shares_draws]
    return bool(turned) and float(np.min(adjust_p_values(turned)[0])) <= _LEVEL


def _test_neighbouring_rows(corpus: Corpus, metrics: Sequence[CorpusMetric], seed: int) -> float:
    """Return the p-value of the similarity of rows that follow each other, against random orders of the rows."""
    if len(corpus) < _FEWEST_ROWS:
        return 1.0
    rows = _find_rows(corpus.take(range(min(len(corpus), _MOST_ROWS))), metrics)
    rng = np.random.default_rng([seed, 35])
    orders = [np.arange(len(rows)), *(rng.permutation(len(rows)) for _ in range(_ORDERS))]
    alike = rows @ rows.T
    sums = np.array([alike[order[:-1], order[1:]].sum() for order in orders])
    return float((sums >= sums[0] - 1e-9).mean())


def _find_rows(corpus: Corpus, metrics: Sequence[CorpusMetric]) -> Floats:
    """Return unit vectors of texts: those that a metric uses, or words weighted by how rare they are."""
    embedder = next((metric.embedder for metric in metrics if not metric.reads_texts), None)
    if embedder is not None:
        return scale_to_units(corpus.embeddings(embedder))
    counts = corpus.counts("words").toarray().astype(np.float64)
    weights = np.log(len(counts) / np.maximum((counts > 0).sum(axis=0), 1))
    return scale_to_units(counts * weights)
