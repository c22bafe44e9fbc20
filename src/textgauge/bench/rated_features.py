"""Rated pairs as training sees them: values of metrics, ratings, and the sources of the sets that pairs come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.sources import PairSources
from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.errors import InputError
from textgauge.data import Corpus
from textgauge.metrics import Metric, PairMetric, get_pair_metrics
from textgauge.metrics.pair.ensemble import check_feature, compute_features

SHARED = 0.1  # of the texts of the smaller set: from here on two sets are of one source
_FEWEST_PAIRS = 20
_MOST_FOLDS = 20
_TEXT_FOLDS = 10
_NAMED_SETS = 3


@dataclass(frozen=True, eq=False)
class RatedFeatures:
    """Values of metrics (pairs by metrics, larger is closer), ratings, and where each pair comes from.

    `sets` are those whose means are ranked; `sources` the sets that share texts; `texts` the left text of each pair;
    `data` the number of the data that a pair belongs to: 0 for those that are judged, others are learned from too.
    """

    metrics: tuple[PairMetric, ...]
    values: Floats
    ratings: Floats
    sets: Ints
    sources: Ints
    texts: Ints
    data: Ints
    names: tuple[str, ...] = ()
    cards: tuple[dict[str, Any], ...] = ()
    corpus: Corpus | None = None

    def __len__(self) -> int:
        return len(self.ratings)

    def take(self, rows: NDArray[Any]) -> RatedFeatures:
        """Return some of the pairs."""
        columns = ("values", "ratings", "sets", "sources", "texts", "data")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    @property
    def own(self) -> Masks:
        """The pairs that are judged."""
        return np.asarray(self.data == 0)

    @property
    def source_folds(self) -> Ints:
        """What is left out together: one source, or several where there are more than 20."""
        return np.asarray(self.sources % _MOST_FOLDS)

    @property
    def folds(self) -> Ints:
        """What is left out together to judge and to choose a penalty: sources, or texts where there is one source.

        −1 for pairs that are never left out: those of other data whose source has no pair that is judged.
        """
        judged = np.isin(self.sources, self.sources[self.own])
        several = len(np.unique(self.source_folds[self.own])) > 1
        return np.where(judged, self.source_folds if several else self.texts % _TEXT_FOLDS, -1)


def compute_rated_features(data: Sequence[PairSources], metrics: str | Iterable[str | Metric]) -> RatedFeatures:
    """Compute the values of metrics on rated pairs, ready for training; columns are `rating`, and `set` and `source`.

    The first data are judged, the others are learned from too. Sets are of one source where they share at least a
    tenth of the different texts of the smaller one, also by way of a third set; data without sets are one set, and
    declared sources stand in the place of sets. Metrics with fitted weights take them from the texts of all pairs of
    the same data; no rating has a part in that.
    """
    chosen = tuple(check_feature(metric) for metric in get_pair_metrics(metrics))
    if not chosen:
        raise InputError("an ensemble needs at least one metric")
    ratings = [_check_ratings(one.columns["rating"], len(one.pairs)) for one in data]
    sets, labels = _number_labels([_get_labels(one, "set") for one in data])
    declared, _ = _number_labels([_get_labels(one, "source" if "source" in one.columns else "set") for one in data])
    left, right = (np.concatenate([getattr(one.pairs, side).keys for one in data]) for side in ("left", "right"))
    sources = find_sources(left, right, declared)
    of_data = np.repeat(np.arange(len(data)), [len(one.pairs) for one in data])
    values, cards = [], []
    for place, (one, grades) in enumerate(zip(data, ratings, strict=True)):
        distinct, inverse = one.pairs.distinct()
        values.append(compute_features(chosen, distinct)[inverse])
        kinds, own = np.unique(sets[of_data == place], return_inverse=True)
        columns = (one.pairs.left.keys, one.pairs.right.keys, grades, own.astype(np.int64))
        digest = hashlib.blake2b(b"".join(column.tobytes() for column in columns), digest_size=8).hexdigest()
        cards.append({"name": one.name, "pairs": len(grades), "sets": len(kinds), "fingerprint": digest})
    return RatedFeatures(
        metrics=chosen,
        values=np.concatenate(values),
        ratings=np.concatenate(ratings),
        sets=sets,
        sources=sources,
        texts=np.asarray(np.unique(left, return_inverse=True)[1]),
        data=of_data,
        names=_name_sources(sources, sets, labels),
        cards=tuple(cards),
        corpus=Corpus.of([text for one in data for side in (one.pairs.left, one.pairs.right) for text in side.texts]),
    )


def find_sources(left: NDArray[np.uint64], right: NDArray[np.uint64], sets: Ints) -> Ints:
    """Return the source of each pair; sets that share at least `SHARED` of the smaller one's texts are of one.

    >>> left, right = np.array([1, 2, 3, 4, 9], dtype=np.uint64), np.array([5, 6, 1, 5, 8], dtype=np.uint64)
    >>> find_sources(left, right, np.array([0, 0, 1, 1, 2])).tolist()
    [0, 0, 0, 0, 1]
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    texts = np.unique(np.concatenate([left, right]), return_inverse=True)[1]
    members = csr_matrix((np.ones(len(texts)), (np.tile(sets, 2), texts)))
    members.data[:] = 1.0  # a text counts once in a set
    shared = (members @ members.T).tocoo()
    sizes = np.asarray(members.sum(axis=1)).ravel()
    joined = shared.data >= SHARED * np.minimum(sizes[shared.row], sizes[shared.col])
    links = csr_matrix((shared.data[joined], (shared.row[joined], shared.col[joined])), shape=shared.shape)
    return np.asarray(connected_components(links, directed=False)[1][sets], dtype=np.int64)


def _check_ratings(ratings: NDArray[Any], pairs: int) -> Floats:
    grades = np.array(ratings, dtype=np.float64)
    if len(grades) != pairs:
        raise InputError(f"{pairs} pairs but {len(grades)} ratings")
    if pairs < _FEWEST_PAIRS:
        fewest = f"give at least {_FEWEST_PAIRS}, or use blend, which is trained already"
        raise InputError(f"{pairs} rated pairs are too few to learn from; {fewest}")
    if not np.isfinite(grades).all():
        raise InputError(f"rating {int(np.argmin(np.isfinite(grades)))} is not a finite number")
    if (grades == grades[0]).all():
        raise InputError(f"all ratings are {grades[0]:g}: there is nothing to learn")
    return grades


def _get_labels(one: PairSources, column: str) -> list[str]:
    found = list(map(str, one.columns.get(column, [one.name] * len(one.pairs))))
    if len(found) != len(one.pairs):
        raise InputError(f"{len(one.pairs)} pairs but {len(found)} {column}s")
    return found


def _number_labels(labels: Sequence[list[str]]) -> tuple[Ints, list[str]]:
    """Return a number for each label of each data, and the labels by number; equal labels of two data are two."""
    keys = [(place, cell) for place, column in enumerate(labels) for cell in sorted(set(column))]
    numbers = {key: number for number, key in enumerate(keys)}
    cells = [numbers[place, cell] for place, column in enumerate(labels) for cell in column]
    return np.array(cells, dtype=np.int64), [label for _, label in keys]


def _name_sources(sources: Ints, sets: Ints, labels: Sequence[str]) -> tuple[str, ...]:
    names = []
    for source in range(int(sources.max()) + 1):
        found = [labels[number] for number in np.unique(sets[sources == source])]
        more = [f"{len(found) - _NAMED_SETS} more sets"] if len(found) > _NAMED_SETS else []
        names.append(" + ".join([*found[:_NAMED_SETS], *more]))
    return tuple(names)
