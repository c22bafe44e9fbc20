"""What sum metrics need of a corpus, as sums that add up over partitions, in any split the same numbers.

A metric that grows by sums declares which ones it reads (`summed`) and gives its value from the sums of two corpora
(`of_sums`). Texts are put into groups by their content, and each group has sums of its own: leaving groups out, or
exchanging them between the corpora, gives intervals, null ranges and p-values without reading a text again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.parallel import one_blas_thread
from textgauge.core.sizes import blocks
from textgauge.data.cache import encode_cached
from textgauge.data.pool import GIVEN, PADDED, Embeddings, checked_embeddings, row_keys, text_content_keys
from textgauge.data.stream import StreamPart
from textgauge.encode.embedders import embedder
from textgauge.encode.grounds import unit_rows
from textgauge.encode.tokenizers import Tokens, tokenizer, used_ids
from textgauge.metrics.readable import scripts_of, unknown_shares_of

KEYS, WORDS, SCRIPTS, UNKNOWN = "keys", "words", "script", "unknown pieces"
COUNTS, SUM, SQUARES, SCATTER, DIRECTIONS = "counts", "sum", "squares", "scatter", "directions"
_AT_ONCE = 4_096  # rows in double precision at a time


@dataclass(frozen=True)
class SumsWanted:
    """Which sums of a partition are taken: counts of tokenizers, sums over the rows of embedders.

    Rows are centred about `centres`, which all partitions of both corpora share, so that squares keep their digits.
    The rows of embedders in `kept` are given back, for metrics that need all of them.
    """

    tokenizers: tuple[str, ...] = ()
    embeddings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    centres: tuple[tuple[str, Floats], ...] = ()
    kept: tuple[str, ...] = ()
    groups: int = 1
    readable: bool = False  # whether word pieces that encoders do not know are counted


@dataclass(frozen=True)
class TokenCounts:
    """How often each group has each token; tokens are strings, because numbers mean nothing in another partition."""

    vocabulary: Sequence[str]
    counts: Ints  # groups × vocabulary
    longest: int  # tokens of the longest text


@dataclass(frozen=True)
class PartitionSums:
    """The sums of one partition, and `facts` about each of its texts: content keys, words, scripts, unknown pieces."""

    texts: Ints  # by group
    tokens: dict[str, TokenCounts]
    rows: dict[tuple[str, str], Floats]
    facts: dict[str, NDArray[Any]]
    kept: dict[str, Embeddings]


def sum_partition(partition: StreamPart, wanted: SumsWanted) -> PartitionSums:
    """The sums of one partition, by one thread of linear algebra: the same bits wherever it runs."""
    with one_blas_thread():
        if partition.texts is None:
            return _of_rows(partition.rows, wanted)  # type: ignore[arg-type]
        return _of_texts(partition.texts, wanted)


def _of_rows(rows: Embeddings, wanted: SumsWanted) -> PartitionSums:
    keys = row_keys(rows)
    group = _groups(keys, wanted.groups)
    sums = _embedding_sums({GIVEN: rows}, group, wanted)
    return PartitionSums(_sizes(group, wanted), {}, sums, {KEYS: keys}, dict.fromkeys(wanted.kept, rows))


def _of_texts(texts: list[str], wanted: SumsWanted) -> PartitionSums:
    keys = text_content_keys(texts)
    group = _groups(keys, wanted.groups)
    names = dict.fromkeys([*(name for name, _ in wanted.embeddings), *wanted.kept])
    vectors: dict[str, Embeddings] = {name: checked_embeddings(encode_cached(embedder(name), texts)) for name in names}
    facts: dict[str, NDArray[Any]] = {KEYS: keys, WORDS: word_counts(texts), SCRIPTS: scripts_of(texts)}
    if wanted.readable:
        facts[UNKNOWN] = unknown_shares_of(texts)
    tokens = {name: count_tokens(tokenizer(name).encode(texts), group, wanted.groups) for name in wanted.tokenizers}
    sums = _embedding_sums(vectors, group, wanted)
    return PartitionSums(_sizes(group, wanted), tokens, sums, facts, {name: vectors[name] for name in wanted.kept})


def word_counts(texts: Sequence[str]) -> Ints:
    """The number of words between white space of each text."""
    return np.fromiter((len(text.split()) for text in texts), dtype=np.int64, count=len(texts))


def _groups(keys: NDArray[np.uint64], groups: int) -> Ints:
    return (keys % np.uint64(groups)).astype(np.int64)


def _sizes(group: Ints, wanted: SumsWanted) -> Ints:
    return np.bincount(group, minlength=wanted.groups)


def count_tokens(tokens: Tokens, group: Ints, groups: int) -> TokenCounts:
    """Counts of the tokens in use, by group."""
    used, place = used_ids(tokens.ids)
    cells = np.repeat(group, tokens.lengths) * len(used) + place
    counts = np.bincount(cells, minlength=groups * len(used)).reshape(groups, len(used))
    vocabulary = [tokens.vocabulary[token] for token in used.tolist()]
    return TokenCounts(vocabulary, counts, int(tokens.lengths.max(initial=0)))


def _embedding_sums(vectors: dict[str, Embeddings], group: Ints, wanted: SumsWanted) -> dict[tuple[str, str], Floats]:
    centres = dict(wanted.centres)
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(wanted.groups + 1))
    return {
        (name, kind): np.stack([_summed(vectors[name], order[a:b], kind, centres[name]) for a, b in pairwise(bounds)])
        for name, kinds in wanted.embeddings
        for kind in kinds
    }


def _summed(vectors: Embeddings, rows: Ints, kind: str, centre: Floats) -> Floats:
    """A sum over some rows, some thousand at a time."""
    whole = len(rows) == len(vectors)
    parts = blocks(max(len(rows), 1), _AT_ONCE)
    found = [KINDS[kind](vectors[part] if whole else vectors[rows[part]], centre) for part in parts]
    return found[0] if len(found) == 1 else np.sum(found, axis=0)


def _sum(X: Embeddings, centre: Floats) -> Floats:
    return np.asarray((X - centre).sum(axis=0))


def _squares(X: Embeddings, centre: Floats) -> Floats:
    gaps = X - centre
    return np.asarray(np.einsum("ij,ij->j", gaps, gaps))


def _scatter(X: Embeddings, centre: Floats) -> Floats:
    gaps = X - centre
    return np.asarray(gaps.T @ gaps)


def _directions(X: Embeddings, _: Floats) -> Floats:
    units = unit_rows(X).sum(axis=0)
    return units if len(units) > X.shape[1] else np.append(units, 0.0)


def direction_sum(X: Embeddings) -> Floats:
    """The sum of rows at length one, and how many have no direction."""
    return _summed(X, np.arange(len(X)), DIRECTIONS, np.empty(0))


KINDS: dict[str, Callable[[Embeddings, Floats], Floats]] = {
    SUM: _sum,
    SQUARES: _squares,
    SCATTER: _scatter,
    DIRECTIONS: _directions,
}


@dataclass(frozen=True)
class Sums:
    """The sums of a corpus, or of some of its groups."""

    texts: int
    counts: dict[str, Ints]
    rows: dict[tuple[str, str], Floats]
    centres: dict[str, Floats]
    longest: dict[str, int]

    def __add__(self, other: Sums) -> Sums:
        """The sums of both together."""
        return self._with(other, 1)

    def __sub__(self, other: Sums) -> Sums:
        """What is left without some of the groups."""
        return self._with(other, -1)

    def _with(self, other: Sums, sign: int) -> Sums:
        return Sums(
            self.texts + sign * other.texts,
            {name: counts + sign * other.counts[name] for name, counts in self.counts.items()},
            {key: rows + sign * other.rows[key] for key, rows in self.rows.items()},
            self.centres,
            {name: max(longest, other.longest[name]) for name, longest in self.longest.items()},
        )

    def token_counts(self, name: str) -> Floats:
        """How often each token of the two corpora's vocabulary occurs, `[PAD]` last where texts are padded."""
        bare = name.removesuffix(PADDED)
        found = self.counts[bare].astype(np.float64)
        if bare == name:
            return found
        return np.append(found, self.texts * self.longest[bare] - found.sum())

    def of(self, name: str, kind: str) -> Floats:
        """A sum over the rows of an embedder."""
        return self.rows[name, kind]


@dataclass
class CorpusSums:
    """The sums of a corpus, filled partition by partition in their order."""

    vocabularies: dict[str, dict[str, int]]  # shared by the corpora that are compared
    wanted: SumsWanted
    texts: Ints = field(init=False)
    facts: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    _counts: dict[str, Ints] = field(default_factory=dict)
    _longest: dict[str, int] = field(default_factory=dict)
    _rows: dict[tuple[str, str], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.texts = np.zeros(self.wanted.groups, dtype=np.int64)

    def add(self, part: PartitionSums) -> None:
        """Take the sums of the next partition."""
        self.texts = self.texts + part.texts
        for name, values in part.facts.items():
            self.facts.setdefault(name, []).append(values)
        for name, found in part.tokens.items():
            self._add_counts(name, found)
        for key, sums in part.rows.items():
            if key in self._rows:
                if self._rows[key].shape != sums.shape:
                    raise InputError("embeddings of different dimensions cannot be compared")
                self._rows[key] += sums
            else:
                self._rows[key] = sums.copy()

    def _add_counts(self, name: str, found: TokenCounts) -> None:
        numbers = self.vocabularies.setdefault(name, {})
        places = np.array([numbers.setdefault(token, len(numbers)) for token in found.vocabulary], dtype=np.int64)
        counts = self._grown(name)
        counts[:, places] += found.counts
        self._counts[name] = counts
        self._longest[name] = max(self._longest.get(name, 0), found.longest)

    def _grown(self, name: str) -> Ints:
        """The counts of a tokenizer with room for its vocabulary."""
        known, size = self._counts.get(name), len(self.vocabularies[name])
        if known is not None and known.shape[1] >= size:
            return known
        grown = np.zeros((self.wanted.groups, size + size // 2), dtype=np.int64)
        if known is not None:
            grown[:, : known.shape[1]] = known
        return grown

    def total(self, groups: NDArray[np.bool_] | None = None) -> Sums:
        """The sums of all groups, or of some."""
        chosen = np.ones(self.wanted.groups, dtype=bool) if groups is None else groups
        weights = chosen.astype(np.float64)
        counts = {name: self._grown(name)[chosen].sum(axis=0)[: len(self.vocabularies[name])] for name in self._counts}
        rows = {key: np.tensordot(weights, sums, 1) if len(sums) > 1 else sums[0] for key, sums in self._rows.items()}
        return Sums(int(self.texts[chosen].sum()), counts, rows, dict(self.wanted.centres), self._longest)
