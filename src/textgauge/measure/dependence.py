"""Texts that belong together: labels of groups and blocks, and signs of dependence that nobody named."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.show import join_words, make_printable
from textgauge.data import Comparison, Corpus, load_texts
from textgauge.data.source import Source, load_columns
from textgauge.data.tables import LabelledTexts, get_cells, is_frame
from textgauge.data.units import FEWEST_GROUPS, Units
from textgauge.metrics import CorpusMetric
from textgauge.metrics.numerics.moments import scale_to_units
from textgauge.metrics.uncertainty import adjust_p_values
from textgauge.stats.decisions import ALIKE_ROWS, PAIRED_ROWS, REPEATING_COLUMN, TOO_CLOSE, is_different

if TYPE_CHECKING:
    from textgauge.measure.candidates import Pairing

LabelSource: TypeAlias = "str | Sequence[Sequence[Any]] | Mapping[str, Sequence[Any]]"
_UNEVEN, _NEARLY = 1.25, 1.1  # ratios of texts a group from which groups are cut, and to which
_FEWEST_ROWS, _MOST_ROWS = 20, 1_000  # of a corpus, whose order in the file is looked at
_ORDERS = 399  # random orders of the rows
_STRETCH = 50  # rows within which orders are random, so that a file sorted by label or source is no sign
_IDENTIFIER = re.compile(
    r"(^|_)(id|doc|document|article|user|author|conversation|session|thread|page|prompt|question|story|url)(_?id)?$",
    re.I,
)
_REPEATING = 0.8  # of the rows are the most different values of a column that repeats
_LEVEL = 0.015  # of either sign, so that both together are seen in 3 % of comparisons of independent texts
_SAME = 1e-9  # by which sums of equal similarities may differ


@dataclass(frozen=True)
class Belonging:
    """What the texts of some corpora belong to: labels by the corpus's name, None where nothing was named.

    Equal labels mean the same group or block in all corpora; `notes` say what was left out.
    """

    groups: Mapping[str, Ints] | None = None
    blocks: Mapping[str, Ints] | None = None
    notes: tuple[str, ...] = ()

    def compare(self, reference: Corpus, candidate: Corpus, name: str = "candidate") -> Comparison:
        """Return the comparison of the reference with the candidate of this name; refused with too few units."""
        if self.groups is None and self.blocks is None:
            return Comparison(reference, candidate)
        groups, blocks = (None if of is None else (of["reference"], of[name]) for of in (self.groups, self.blocks))
        found = Comparison(reference, candidate, groups=groups, blocks=blocks)
        units, n = found.units, found.units.counts[0]
        if units.blocks is not None:
            shared = len(np.intersect1d(units.blocks[:n], units.blocks[n:]))
            if shared < FEWEST_GROUPS:
                raise InputError(f"{shared} blocks have texts in both corpora; a test needs at least {FEWEST_GROUPS}")
        elif min(units.counts) < FEWEST_GROUPS:
            role = "reference" if units.counts[0] <= units.counts[1] else name
            raise InputError(
                f"groups of the {role}: {min(units.counts)}; exchanging whole groups needs at least "
                f"{FEWEST_GROUPS} a side"
            )
        return found

    def describe(self, units: Units) -> str:
        """Return what the test of a comparison with these units exchanges."""
        kind, (n, m) = "texts" if self.groups is None else "groups", units.counts
        within = "" if units.blocks is None else f" within {units.fewest} blocks"
        return f"the test exchanges {n} and {m} {kind}{within}"


def read_belonging(
    corpora: Mapping[str, Corpus],
    sources: Mapping[str, Source | LabelledTexts],
    *,
    group: LabelSource | None,
    block: LabelSource | None,
    paired: bool,
    column: str | None,
) -> tuple[dict[str, Corpus], Belonging]:
    """Return what texts of corpora, the reference among them, belong to, and corpora without too large groups."""
    if paired and block is not None:
        raise ArgumentError("`paired` makes a block of every row: give it or `block`")
    groups = None if group is None else read_labels(corpora, sources, group, column, "group")
    blocks = None if block is None else read_labels(corpora, sources, block, column, "block")
    if paired:
        blocks = {name: _find_places(corpus, sources[name]) for name, corpus in corpora.items()}
        other = next((name for name in blocks if len(blocks[name]) != len(blocks["reference"])), None)
        if other is not None:
            sizes = f"{len(blocks['reference'])} and {len(blocks[other])}"
            raise ArgumentError(f"`paired` needs as many texts on both sides: {sizes}")
    if groups is None or blocks is not None:
        return dict(corpora), Belonging(groups, blocks)
    return cut_uneven_groups(corpora, groups)


def read_labels(
    corpora: Mapping[str, Corpus],
    sources: Mapping[str, Source | LabelledTexts],
    label: LabelSource,
    column: str | None,
    name: str,
) -> dict[str, Ints]:
    """Return a number for the label of each text; equal labels of several corpora have the same one."""
    given = label
    if isinstance(label, str):
        given = dict.fromkeys(corpora, label)
    elif not isinstance(label, Mapping):
        given = dict(zip(corpora, label, strict=False)) if len(label) == len(corpora) else {}
    if not isinstance(given, Mapping) or set(given) != set(corpora):
        raise ArgumentError(f"`{name}` is a column, or the labels of the texts of {join_words(list(corpora))}")
    sides = [read_side_labels(corpus, sources[role], given[role], column, role) for role, corpus in corpora.items()]
    numbers = np.unique(np.concatenate(sides), return_inverse=True)[1]
    cuts = np.cumsum([len(side) for side in sides])[:-1]
    return dict(zip(corpora, np.split(numbers, cuts), strict=True))


def read_side_labels(
    corpus: Corpus,
    source: Source | LabelledTexts,
    label: Any,
    column: str | None,
    role: str,
    *,
    blank: bool = False,
) -> Any:
    """Return the label of each text of a corpus as a string, from a column of its source or as given."""
    cells: Any = label
    if not isinstance(label, str):
        cells, label = list(label), "its labels"
    elif is_frame(source):
        cells = get_cells(source, label)
    else:
        found = load_texts(source, column=column, labels=label) if isinstance(source, str | os.PathLike) else source
        if not isinstance(found, LabelledTexts) or found.labels is None:
            raise InputError(f"the {role} has no column {label!r}: give a table with it, or the labels of its texts")
        cells = dict(zip(found.rows or range(len(found.labels)), found.labels, strict=True))
    is_whole = isinstance(cells, list) and len(cells) == len(corpus)
    places = range(len(corpus)) if is_whole else corpus.source_rows.tolist()
    try:
        labels = ["" if cells[row] is None else str(cells[row]) for row in places]
    except (IndexError, KeyError):
        raise InputError(f"the {role} has {len(corpus)} texts, but not a label of {label} for each") from None
    missing = next((place for place, cell in enumerate(labels) if not cell.strip()), None)
    if missing is not None and not blank:
        raise InputError(f"the {role}: text {missing} has no {label}")
    return np.array(labels)


def _find_places(corpus: Corpus, source: Source | LabelledTexts) -> Ints:
    """Return where each text stood in its source, of which blank ones were left out; a corpus is taken as it is."""
    return np.arange(len(corpus)) if isinstance(source, Corpus) else corpus.source_rows


def cut_uneven_groups(corpora: Mapping[str, Corpus], groups: Mapping[str, Ints]) -> tuple[dict[str, Corpus], Belonging]:
    """Leave out texts of large groups where those of another corpus are smaller: a group counts as one observation.

    Simulated on sentences of news articles: with ten a document on one side and one on the other, 99 % of comparisons
    of one source were called different if groups were exchanged as they are, and 3 to 5 % if they were cut.
    """
    sizes = {name: np.unique(labels, return_counts=True)[1] for name, labels in groups.items()}
    smallest = min(map(_weigh, sizes.values()))
    kept_corpora, kept_groups, notes = dict(corpora), dict(groups), list[str]()
    for name, own in sizes.items():
        if _weigh(own) <= _UNEVEN * smallest:
            continue
        limits = range(1, int(own.max()) + 1)
        cap = max(cap for cap in limits if cap == 1 or _weigh(np.minimum(own, cap)) <= _NEARLY * smallest)
        labels = groups[name]
        order = np.lexsort((corpora[name].keys, labels))
        place = np.arange(len(order)) - np.searchsorted(labels[order], labels[order])
        kept = np.sort(order[place < cap])
        kept_corpora[name], kept_groups[name] = corpora[name].take(kept), labels[kept]
        notes.append(
            f"groups of the {name} have more texts than those of the other corpus: of each at most {cap} "
            f"{'is' if cap == 1 else 'are'} compared, {len(kept)} of {len(labels)} texts"
        )
    return kept_corpora, Belonging(kept_groups, None, tuple(notes))


def _weigh(sizes: Ints) -> float:
    """Return the mean size of the group that a text is in."""
    return float((sizes**2).sum() / sizes.sum())


def find_signs(pairings: Sequence[Pairing], metrics: Sequence[CorpusMetric], seed: int) -> dict[str, str]:
    """Return signs that texts depend on each other in a way that the tests do not know, by the candidate's name.

    The candidates have one reference. Signs of values, and of rows, are one test of all corpora and metrics each.
    """
    whole = pairings[0].comparison
    turned = [  # values below what exchanged texts give, by the metrics that share their exchanges
        (one.candidate, replace(null, farther=-null.farther))
        for one in pairings
        for null in one.nulls
        if null is not None and null.shares_draws
    ]
    if turned and whole.blocks is None:
        p = adjust_p_values([null for _, null in turned])[0]
        close = [name for (name, _), own in zip(turned, p, strict=True) if is_different(own, _LEVEL)]
        if close:
            return dict.fromkeys(close, TOO_CLOSE)
    if whole.groups is not None or whole.blocks is not None or whole.joint.pool.is_stored:
        return {}
    sign = _test_row_orders([one.comparison for one in pairings], metrics, seed)
    return {one.candidate: sign for one in pairings} if sign else {}


def find_repeating_column(sources: Iterable[object]) -> str | None:
    """Return a sign that texts belong together: a column named like an identifier whose values repeat."""
    for source in sources:
        for name, cells in load_columns(source).items():
            kinds = len(set(map(str, cells)))
            if _IDENTIFIER.search(name) and FEWEST_GROUPS <= kinds <= _REPEATING * len(cells):
                return REPEATING_COLUMN.format(make_printable(name))
    return None


def _test_row_orders(comparisons: Sequence[Comparison], metrics: Sequence[CorpusMetric], seed: int) -> str | None:
    """Return a sign if rows that follow each other, or those in the same place of both corpora, are alike.

    The largest of these similarities, each in standard deviations over all orders, has its rank among those of random
    orders of near rows.
    """
    corpora = [comparisons[0].reference, *(comparison.candidate for comparison in comparisons)]
    corpora = [corpus.take(range(min(len(corpus), _MOST_ROWS))) for corpus in corpora]
    vectors = _find_vectors(reduce(or_, corpora), metrics)
    ends = np.cumsum([0, *map(len, corpora)])
    orders = []  # the own order of the rows of a corpus, then random ones of near rows
    for start, rows in zip(ends, map(np.arange, map(len, corpora)), strict=False):
        keys = np.random.default_rng([seed, 35, start]).random((_ORDERS, len(rows)))
        orders.append(start + np.vstack([rows, np.argsort(keys + rows // _STRETCH, axis=1)]))
    following = [_sum_similarities(vectors, order[:, :-1], order[:, 1:]) for order in orders]
    paired = [
        _sum_similarities(vectors, orders[0], order)
        for own, order in zip(comparisons, orders[1:], strict=True)
        if len(own.reference) == len(own.candidate)
    ]
    z = dict.fromkeys((ALIKE_ROWS, PAIRED_ROWS), np.zeros(_ORDERS + 1))
    for sign, sums in ((ALIKE_ROWS, following), (PAIRED_ROWS, paired)):
        if sums:  # the largest of them, and of all of them together, in standard deviations over all orders
            spread = np.std(sums, axis=1, keepdims=True)
            centred = sums - np.mean(sums, axis=1, keepdims=True)
            own = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > _SAME)
            z[sign] = np.maximum(own.max(axis=0), own.sum(axis=0) / len(sums) ** 0.5)
    largest = np.maximum(*z.values())
    if not is_different(float((largest >= largest[0] - _SAME).mean()), _LEVEL):
        return None
    return max(z, key=lambda sign: z[sign][0])


def _sum_similarities(vectors: Any, first: Ints, second: Ints) -> Floats:
    """Return the sums of the similarities of these rows; 0 for too few of them."""
    if first.shape[1] < _FEWEST_ROWS - 1:
        return np.zeros(len(first))
    own, other = first.min(), second.min()
    products = vectors[own : first.max() + 1] @ vectors[other : second.max() + 1].T
    products = products if isinstance(products, np.ndarray) else products.toarray()
    return np.asarray(products[first - own, second - other].sum(axis=1))


def _find_vectors(corpus: Corpus, metrics: Sequence[CorpusMetric]) -> Any:
    """Return unit vectors of texts: those that a metric uses, or words weighted by how rare they are."""
    embedder = next((metric.embedder for metric in metrics if not metric.reads_texts), None)
    if embedder is not None:
        return scale_to_units(corpus.embeddings(embedder))
    counts: Any = corpus.counts("words")
    weighted = counts.multiply(np.log(len(corpus) / np.maximum((counts > 0).sum(axis=0), 1))).tocsr()
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1))).ravel()
    weighted.data /= np.maximum(np.repeat(lengths, np.diff(weighted.indptr)), _SAME)
    return weighted
