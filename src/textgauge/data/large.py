"""Comparisons of corpora of any size: in memory, or read in batches, on disk and in groups where they are large."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from textgauge.core.arrays import Embeddings, Ints
from textgauge.core.errors import InputError, warn
from textgauge.core.progress import begin_step
from textgauge.core.settings import cap_size
from textgauge.data.datasets import HUB_PREFIX, fetch_hub_files
from textgauge.data.formats import get_format, is_glob, is_table, list_glob, read_batches, read_embeddings
from textgauge.data.packing import format_path, split_endings
from textgauge.data.pool import GIVEN, Pool, StoredTexts, check_embeddings, iterate_rows, store_rows
from textgauge.data.source import Source, check_comparable, has_builtin_columns, load_corpus, split_column
from textgauge.data.view import Comparison, Corpus

GROUPS = 128  # of both corpora together
_STEP = 16  # numbers of groups are multiples of this: then a corpus's share of all groups, squared, is a whole number
ROLES = ("reference", "candidate")
_LARGE = 50_000  # texts; more of them are kept on disk


@dataclass(frozen=True)
class TextBatches:
    """The texts of files, one after the other, or of a list in memory."""

    name: str
    paths: tuple[str, ...] = ()
    column: str | None = None
    texts: Sequence[str | None] | None = None

    def __iter__(self) -> Iterator[list[str]]:
        """Yield batches of texts without blank ones, which a warning counts."""
        total = count = 0
        for batch in self._batches():
            filled = [text for text in batch if text is not None and text.strip()]
            total, count = total + len(batch), count + len(filled)
            yield filled
        if not count:
            raise InputError(f"{self.name}: no texts, every line is blank ({total} of {total})")
        if count < total:
            warn(f"{self.name}: blank texts left out: {total - count} of {total}")

    def has_many(self) -> bool:
        """Return whether there are more texts than are held in memory, blank ones counted; no more of them are read."""
        most = cap_size(_LARGE)
        if self.texts is not None:
            return len(self.texts) > most
        packed = any(split_endings(path)[1] or get_format(path).ending in (".parquet", ".arrow") for path in self.paths)
        if not packed and sum(os.path.getsize(path) for path in self.paths if os.path.isfile(path)) < 2 * most:
            return False
        return any(total > most for total in accumulate(map(len, self._batches())))

    def _batches(self) -> Iterator[Sequence[str | None]]:
        if self.texts is not None:
            yield self.texts
            return
        for path in self.paths:
            column = self.column
            for table in read_batches(path, column=column):
                column = table.find_column(column)
                yield table.get_texts(column)


def open_batches(source: object, *, column: str | None = None) -> TextBatches | Embeddings | None:
    """Return a source that can be read in batches, or its embeddings; None where it can only be read whole.

    Text, CSV, TSV, JSON Lines, Parquet, Arrow and .npy files have batches, a glob and a folder of tables too, files and
    splits of the hub once they are fetched, and lists of texts and arrays in memory. Standard input, samples, published
    datasets and other formats have none.
    """
    if isinstance(source, np.ndarray) and source.ndim == 2 and source.dtype.kind in "fiu":
        return source
    if isinstance(source, list | tuple) and all(cell is None or isinstance(cell, str) for cell in source):
        return TextBatches("the texts", texts=source)
    if not isinstance(source, str | os.PathLike) or has_builtin_columns(source):
        return None
    if get_format(source).holds == "embeddings":
        return read_embeddings(source)
    path, column = split_column(os.fspath(source), column)
    if path.startswith(HUB_PREFIX):
        files = list(fetch_hub_files(path) or ())
    elif os.path.isdir(path):
        files = [os.path.join(path, name) for name in sorted(os.listdir(path)) if not name.startswith(".")]
        files = [file for file in files if os.path.isfile(file) and is_table(file)]
    else:
        files = [path] if os.path.isfile(path) else list_glob(path) if is_glob(path) else []
    if not files or not all(get_format(file).batches for file in files):
        return None
    return TextBatches(format_path(path), tuple(files), column)


def load_comparison(
    reference: Source, candidate: Source, *, column: str | None = None, seed: int = 0, in_memory: bool = False
) -> Comparison:
    """Return the comparison of two sources.

    If one has more than 50,000 texts, and both can be read in batches, texts and embeddings are on disk, and texts are
    dealt into groups; not where all is to be `in_memory`.
    """
    sources = [None if in_memory else open_batches(source, column=column) for source in (reference, candidate)]
    large = [source for source in sources if source is not None]
    if len(large) < 2 or not any(
        source.has_many() if isinstance(source, TextBatches) else len(source) > cap_size(_LARGE) for source in large
    ):
        corpora = zip(ROLES, (reference, candidate), strict=True)
        return Comparison(*(load_corpus(source, role=role, column=column) for role, source in corpora))
    if len({isinstance(source, TextBatches) for source in large}) > 1:
        raise InputError("cannot join texts with embeddings: give both corpora as texts, or both as embeddings")
    sizes = [0, 0]
    if isinstance(large[0], TextBatches):
        pool = Pool(StoredTexts(_count_texts(large, sizes)), source_sizes=sizes, is_stored=True)
    else:
        pool = Pool(embeddings=store_rows(_check_rows(large)), is_stored=True)
        sizes[0] = len(large[0])
    sides = Corpus(pool, np.arange(sizes[0])), Corpus(pool, np.arange(sizes[0], pool.size))
    for role, side in zip(ROLES, sides, strict=True):
        check_comparable(side, role)
    return Comparison(*sides, groups=deal_groups(*sides, seed=seed), dealt=True)


def _count_texts(sources: Sequence[TextBatches | Embeddings], sizes: list[int]) -> Iterator[list[str]]:
    for place, source in enumerate(sources):
        for batch in source:
            yield batch
            sizes[place] += len(batch)
            begin_step(f"reading the {ROLES[place]}: {sizes[place]:,} texts")


def _check_rows(sources: Sequence[TextBatches | Embeddings]) -> Iterator[Embeddings]:
    for role, source in zip(ROLES, sources, strict=True):
        begin_step(f"reading the {role}")
        for some, rows in iterate_rows(source):  # type: ignore[arg-type]
            yield check_embeddings(rows, first=some.start)


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
            corpora.append(Corpus.of(np.asarray(pool.embeddings(GIVEN)[rows])))
            continue
        corpora.append(Corpus.of([pool.texts[row] for row in rows.tolist()]))
        for name in pool.list_embedders():
            corpora[-1].pool.set_rows("embeddings", name, pool.embeddings(name)[rows])
    return Comparison(*corpora)
