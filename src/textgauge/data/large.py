"""Comparisons of corpora of any size: in memory, or on disk and in groups of texts where they are large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from textgauge.core.arrays import Embeddings, Ints
from textgauge.core.errors import InputError
from textgauge.core.progress import begin_step
from textgauge.data.pool import Pool, checked_embeddings
from textgauge.data.source import Source, check_different, load_corpus, open_batches
from textgauge.data.storage import StoredRows, StoredTexts, iterate_rows
from textgauge.data.stream import TextBatches, has_many
from textgauge.data.view import Comparison, Corpus

GROUPS = 128  # of both corpora together
_STEP = 16  # numbers of groups are multiples of this: then a corpus's share of all groups, squared, is a whole number
ROLES = ("reference", "candidate")


def load_comparison(
    reference: Source,
    candidate: Source,
    *,
    column: str | None = None,
    seed: int = 0,
    in_memory: bool = False,
) -> Comparison:
    """Return the comparison of two sources.

    If one has more than 50,000 texts, and both can be read in batches, texts and embeddings are on disk, and texts are
    dealt into groups; not where all is to be `in_memory`.
    """
    sources = [None if in_memory else open_batches(source, column=column) for source in (reference, candidate)]
    large = [source for source in sources if source is not None]
    if len(large) < 2 or not any(map(has_many, large)):
        corpora = zip(ROLES, (reference, candidate), strict=True)
        return Comparison(*(load_corpus(source, role=role, column=column) for role, source in corpora))
    if len({isinstance(source, TextBatches) for source in large}) > 1:
        raise InputError("cannot join texts with embeddings: give both corpora as texts, or both as embeddings")
    sizes = [0, 0]
    if isinstance(large[0], TextBatches):
        pool = Pool(StoredTexts(_count_texts(large, sizes)), source_sizes=sizes, is_stored=True)
    else:
        pool = Pool(embeddings=_copy_rows(large), is_stored=True)
        sizes[0] = len(large[0])
    sides = Corpus(pool, np.arange(sizes[0])), Corpus(pool, np.arange(sizes[0], pool.size))
    for role, side in zip(ROLES, sides, strict=True):
        check_different(side, role)
    return Comparison(*sides, groups=deal_groups(*sides, seed=seed))


def _count_texts(sources: Sequence[TextBatches | Embeddings], sizes: list[int]) -> Iterator[list[str]]:
    for place, source in enumerate(sources):
        for batch in source:
            yield batch
            sizes[place] += len(batch)
            begin_step(f"reading the {ROLES[place]}: {sizes[place]:,} texts")


def _copy_rows(sources: Sequence[TextBatches | Embeddings]) -> Embeddings:
    stored = StoredRows()
    for role, source in zip(ROLES, sources, strict=True):
        begin_step(f"reading the {role}")
        for some, rows in iterate_rows(source):  # type: ignore[arg-type]
            stored.append(checked_embeddings(rows, first=some.start))
    return stored.array()


def deal_groups(reference: Corpus, candidate: Corpus, *, seed: int) -> tuple[Ints, Ints] | None:
    """Deal the texts of both corpora at random into groups of one size, by content: their order does not matter.

    None where one corpus is too small for that, with less than about a seventh of the texts of the other.
    """
    counts = count_groups(len(reference), len(candidate))
    if counts is None:
        return None
    rng = np.random.default_rng([seed, 34])
    dealt = []
    for corpus, count in zip((reference, candidate), counts, strict=True):
        groups = np.empty(len(corpus), dtype=np.int64)
        groups[np.argsort(corpus.keys, kind="stable")] = rng.permutation(np.arange(len(corpus)) % count)
        dealt.append(groups)
    return dealt[0], dealt[1]


def count_groups(n: int, m: int) -> tuple[int, int] | None:
    """Return how many groups each corpus is cut into, for groups of one size; None where one is too small for that.

    >>> count_groups(300_000, 100_000), count_groups(1_000_000, 1_000)
    ((96, 32), None)
    """
    first = _STEP * round(GROUPS / _STEP * n / (n + m))
    return (first, GROUPS - first) if 0 < first < GROUPS else None


def sample_comparison(comparison: Comparison, size: int, *, seed: int) -> Comparison:
    """Return at most `size` texts of each corpus in memory, chosen by content and seed, with the vectors they have."""
    pool, corpora = comparison.joint.pool, []
    for side in comparison.sides:
        order = np.argsort(side.keys, kind="stable")
        chosen = np.random.default_rng([seed, 23]).choice(len(order), min(size, len(order)), replace=False)
        rows = side.index[np.sort(order[chosen])]
        if not pool.has_texts:
            corpora.append(Corpus.of(np.asarray(pool.embeddings("given")[rows])))
            continue
        corpora.append(Corpus.of([pool.texts[row] for row in rows.tolist()]))
        for name in pool.list_embedders():
            corpora[-1].pool.set_rows("embeddings", name, pool.embeddings(name)[rows])
    return Comparison(*corpora)
