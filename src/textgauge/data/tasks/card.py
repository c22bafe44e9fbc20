"""What the tasks of a benchmark of pair metrics work on: summaries with judgements, documents, labels, relevance.

Every `draw` takes rows in the order of a hash of their content and the seed, so the order of a file, and what else is
in it, cannot change which of two rows comes first. `notes` says in words what was left out on reading, and why.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from textgauge.core.errors import InputError
from textgauge.data.card import check_same_length, take


@dataclass(frozen=True)
class RatedSummaries:
    """Summaries of texts with ratings by people, larger is better; `overall` is always among the ratings."""

    name: str
    documents: tuple[str, ...]
    texts: tuple[str, ...]
    summaries: tuple[str, ...]
    ratings: Mapping[str, tuple[float, ...]]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_same_length(
            self.name, documents=self.documents, texts=self.texts, summaries=self.summaries, **self.ratings
        )
        if "overall" not in self.ratings:
            raise InputError(f"{self.name}: no rating is called 'overall'; there are {', '.join(self.ratings)}")

    def __len__(self) -> int:
        return len(self.texts)

    def draw(self, n: int, seed: int = 0) -> RatedSummaries:
        """At most `n` of the rated summaries, without replacement."""
        scores = [repr(row) for row in zip(*self.ratings.values(), strict=True)]
        rows = _drawn(n, seed, self.texts, self.summaries, scores, ids=self.documents)
        ratings = {aspect: take(values, rows) for aspect, values in self.ratings.items()}
        return replace(self, ratings=ratings, **_columns(self, rows, "documents", "texts", "summaries"))


@dataclass(frozen=True)
class ComparedSummaries:
    """Two summaries of a text; `chosen` is 0 where people preferred the first, 1 where they preferred the second."""

    name: str
    documents: tuple[str, ...]
    texts: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    chosen: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_same_length(
            self.name,
            documents=self.documents,
            texts=self.texts,
            first=self.first,
            second=self.second,
            chosen=self.chosen,
        )

    def __len__(self) -> int:
        return len(self.texts)

    def draw(self, n: int, seed: int = 0) -> ComparedSummaries:
        """At most `n` of the comparisons, without replacement."""
        choices = list(map(str, self.chosen))
        rows = _drawn(n, seed, self.texts, self.first, self.second, choices, ids=self.documents)
        return replace(self, **_columns(self, rows, "documents", "texts", "first", "second", "chosen"))


@dataclass(frozen=True)
class Documents:
    """Different texts, each with its own id; `summaries`, where there are any, has one summary for each."""

    name: str
    documents: tuple[str, ...]
    texts: tuple[str, ...]
    summaries: tuple[str, ...] | None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_same_length(self.name, documents=self.documents, texts=self.texts, summaries=self.summaries)

    def __len__(self) -> int:
        return len(self.texts)

    def draw(self, n: int, seed: int = 0) -> Documents:
        """At most `n` of the documents, without replacement.

        >>> Documents("letters", ("1", "2", "3"), ("a", "b", "c"), None).draw(2, seed=1).texts
        ('c', 'b')
        """
        rows = _drawn(n, seed, self.texts, ids=self.documents)
        summaries = self.summaries and take(self.summaries, rows)
        return replace(self, summaries=summaries, **_columns(self, rows, "documents", "texts"))


@dataclass(frozen=True)
class ClusteringTexts:
    """Texts with one label each; every label occurs twice or more."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_same_length(self.name, texts=self.texts, labels=self.labels)

    def __len__(self) -> int:
        return len(self.texts)

    def draw(self, n: int, seed: int = 0) -> ClusteringTexts:
        """At most `n` of the texts, without replacement: `n`, or one fewer, since no label may occur once."""
        order = content_order(seed, self.texts, ids=self.labels)
        rows = _without_singles(order, self.labels, n)
        found = {self.labels[row] for row in rows}
        if len(found) < 2:
            raise InputError(f"{self.name}: {n} texts hold {len(found)} labels that occur twice; ask for more texts")
        return replace(self, **_columns(self, rows, "texts", "labels"))


@dataclass(frozen=True)
class RetrievalSet:
    """Documents, queries, and for the id of each query the ids of the documents that answer it, one at least."""

    name: str
    documents: tuple[str, ...]
    texts: tuple[str, ...]
    query_ids: tuple[str, ...]
    queries: tuple[str, ...]
    relevant: Mapping[str, frozenset[str]]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_same_length(self.name, documents=self.documents, texts=self.texts)
        check_same_length(self.name, query_ids=self.query_ids, queries=self.queries)
        known = set(self.documents)
        for query in self.query_ids:
            wanted = self.relevant.get(query, frozenset())
            if not wanted or not wanted <= known:
                raise InputError(f"{self.name}: query {query!r} has no relevant document, or one that is not there")

    def __len__(self) -> int:
        return len(self.texts)

    def draw(self, n_documents: int, seed: int = 0, queries: int | None = None) -> RetrievalSet:
        """At most `queries` of the queries with all documents relevant to them, and others up to `n_documents`.

        A query whose relevant documents no longer fit is left out, with a note.
        """
        asked = _drawn(len(self.queries) if queries is None else queries, seed, self.queries, ids=self.query_ids)
        order = content_order(seed, self.texts, ids=self.documents)
        kept, wanted = self._fitting(asked, n_documents)
        others = [row for row in order if self.documents[row] not in wanted][: n_documents - len(wanted)]
        inside = wanted.union(self.documents[row] for row in others)
        rows = [row for row in order if self.documents[row] in inside]
        return replace(
            self,
            **_columns(self, rows, "documents", "texts"),
            **_columns(self, kept, "query_ids", "queries"),
            relevant={self.query_ids[row]: self.relevant[self.query_ids[row]] for row in kept},
            notes=(*self.notes, *_crowded(len(asked), len(kept), n_documents)),
        )

    def _fitting(self, asked: Sequence[int], n_documents: int) -> tuple[list[int], set[str]]:
        kept: list[int] = []
        wanted: set[str] = set()
        for row in asked:
            more = wanted | self.relevant[self.query_ids[row]]
            if len(more) <= n_documents:
                kept.append(row)
                wanted = more
        if not kept:
            raise InputError(f"{self.name}: {n_documents} documents cannot hold those relevant to a single query")
        return kept, wanted


def _crowded(asked: int, kept: int, n_documents: int) -> tuple[str, ...]:
    if asked == kept:
        return ()
    return (f"{asked - kept} of {asked} queries left out: their relevant documents do not fit into {n_documents}",)


def content_order(seed: int, *columns: Sequence[str], ids: Sequence[str]) -> list[int]:
    """The rows in the order of a hash of seed and content: as good as random, and the same for any order of rows.

    Ids decide between rows of equal content only, since they may have been given by the order of a file.
    """
    rows = zip(*columns, strict=True)
    keys = [hashlib.blake2b("\0".join((str(seed), *row)).encode("utf-8", "surrogatepass")).digest() for row in rows]
    return sorted(range(len(keys)), key=lambda row: (keys[row], ids[row]))


def _drawn(n: int, seed: int, *columns: Sequence[str], ids: Sequence[str]) -> list[int]:
    if n < 1:
        raise InputError(f"at least one must be drawn, not {n}")
    return content_order(seed, *columns, ids=ids)[:n]


def _without_singles(order: Sequence[int], labels: Sequence[str], n: int) -> list[int]:
    """The longest beginning of `order` that holds at most `n` rows once labels that occur once are left out."""
    counts: Counter[str] = Counter()
    full = 0
    end = 0
    for row in order:
        counts[labels[row]] += 1
        full += {1: 0, 2: 2}.get(counts[labels[row]], 1)
        if full > n:
            counts[labels[row]] -= 1
            break
        end += 1
    return [row for row in order[:end] if counts[labels[row]] > 1]


def _columns(data: object, rows: Sequence[int], *names: str) -> dict[str, Any]:
    return {name: take(getattr(data, name), rows) for name in names}
