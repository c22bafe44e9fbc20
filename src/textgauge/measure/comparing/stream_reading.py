"""Read two streams once, and keep of them what metrics need: sums, and rows on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError, MissingExtra, ResourceError
from textgauge.core.parallel import map_ordered, one_blas_thread, workers, workers_of
from textgauge.core.progress import Stage, Step
from textgauge.core.sizes import capped
from textgauge.data import GIVEN, Comparison, Corpus
from textgauge.data.cache import encode_cached
from textgauge.data.pool import PADDED
from textgauge.data.source import check_different
from textgauge.data.stream import ArrayStream, RowFile, StoredPool, Stream, StreamPart
from textgauge.encode.embedders import embedder
from textgauge.encode.tokenizers import tokenizer
from textgauge.metrics import CorpusMetric
from textgauge.metrics.readable import PIECES, reads_pieces
from textgauge.metrics.sums import COUNTS, KEYS, SCRIPTS, UNKNOWN, WORDS, CorpusSums, SumsWanted, sum_partition

Streams = tuple[Stream, Stream]
_CENTRE = 4_096  # texts


def is_sampled(metric: CorpusMetric, approx: int | None) -> bool:
    """Whether a metric sees a sample: a fitted one does, and one of pairs where `approx` gives its size."""
    return metric.grows == "fitted" or (metric.grows == "blocks" and approx is not None)


def sums_wanted(
    first: StreamPart, metrics: Sequence[CorpusMetric], approx: int | None
) -> tuple[SumsWanted, dict[str, str]]:
    """What metrics need of a partition, and those whose model or package is missing, with the reason.

    The first texts of the reference give the centres: any centre is right, one amid the rows keeps digits.
    """
    errors: dict[str, ResourceError | MissingExtra] = {}
    centres: dict[str, Floats] = {}
    for metric in metrics:
        try:
            if metric.needs == "tokens":
                tokenizer(metric.on.removesuffix(PADDED)).encode(["a"])
            elif not metric.reads_texts and metric.embedder not in centres:
                centres[metric.embedder] = _centre(first, metric.embedder)
        except (ResourceError, MissingExtra) as error:
            errors[metric.key] = error
    if len(errors) == len(metrics):
        raise next(iter(errors.values()))
    usable = [metric for metric in metrics if metric.key not in errors]
    kinds: dict[str, dict[str, None]] = {}
    for metric in usable:
        if metric.summed and COUNTS not in metric.summed:
            kinds.setdefault(metric.embedder, {}).update(dict.fromkeys(metric.summed))
    exact = [m.embedder for m in usable if m.grows == "blocks" and not is_sampled(m, approx)]
    # A sample's vectors are taken from those of all texts where these are computed anyway.
    shared = [m.embedder for m in usable if is_sampled(m, approx) and not m.reads_texts and m.embedder in kinds]
    wanted = SumsWanted(
        tokenizers=tuple(dict.fromkeys(m.on for m in usable if COUNTS in m.summed)),
        embeddings=tuple((name, tuple(found)) for name, found in kinds.items()),
        centres=tuple((name, centres[name]) for name in kinds),
        kept=tuple(dict.fromkeys([*exact, *shared])),
        readable=any(map(reads_pieces, usable)),
    )
    return wanted, {key: str(error) for key, error in errors.items()}


def _centre(first: StreamPart, name: str) -> Floats:
    if name == GIVEN:
        rows = first.rows
    elif first.texts is None:
        raise InputError("the corpora were given as embeddings; their texts are not known")
    else:
        rows = encode_cached(embedder(name), first.texts[: capped(_CENTRE)])
    return np.asarray(rows[: capped(_CENTRE)].mean(axis=0, dtype=np.float64))  # type: ignore[index]


@dataclass(frozen=True)
class Read:
    """What reading two streams left: their sums, and a comparison whose rows are on disk."""

    streams: Streams
    sums: tuple[CorpusSums, CorpusSums]
    comparison: Comparison
    kept: frozenset[str]

    def view(self) -> Comparison:
        """The comparison anew, with nothing remembered."""
        sides = self.comparison.reference, self.comparison.candidate
        return Comparison(*(Corpus(side.pool, side.index) for side in sides))

    def sample(self, size: int, seed: int) -> Comparison:
        """At most `size` texts of each corpus, chosen by content and seed, with the vectors that were kept."""
        pool, corpora = self.comparison.joint.pool, []
        for stream, side in zip(self.streams, (self.comparison.reference, self.comparison.candidate), strict=True):
            rows = _drawn(side, size, seed)
            if isinstance(stream, ArrayStream):
                corpora.append(Corpus.of(np.asarray(stream.array[rows])))
                continue
            corpora.append(Corpus.of(stream.take(rows)))
            for name in self.kept:
                corpora[-1].pool.adopt("embeddings", name, pool.embeddings(name)[side.index[rows]])
        return Comparison(*corpora)


def _drawn(side: Corpus, size: int, seed: int) -> Ints:
    """Rows in rising order, the same texts whatever their order in the file."""
    order = np.argsort(side.keys, kind="stable")
    chosen = np.random.default_rng([seed, 23]).choice(len(order), min(size, len(order)), replace=False)
    return np.sort(order[chosen])


def read_streams(
    streams: Streams,
    sizes: tuple[int, int],
    wanted: SumsWanted,
    groups: tuple[int, int],
    on_step: Step,
    executor: Executor | None,
) -> Read:
    """Read both streams once: the sums that metrics need, and on disk the rows that they need."""
    vocabularies: dict[str, dict[str, int]] = {}
    files = {name: RowFile() for name in wanted.kept}
    first, second = (CorpusSums(vocabularies, replace(wanted, groups=number)) for number in groups)
    # Here, too: a limit that each thread sets and lifts by itself would be lifted by the first that ends.
    with one_blas_thread(), _opened(executor) as (pool, ahead):
        for role, stream, size, side in zip(("reference", "candidate"), streams, sizes, (first, second), strict=True):
            for part in map_ordered(pool, partial(sum_partition, wanted=side.wanted), stream.partitions(), ahead=ahead):
                side.add(part)
                for name, rows in part.kept.items():
                    files[name].append(rows)
                done = int(side.texts.sum())
                on_step(Stage(f"reading the {role}: {done:,} of {size:,} texts", done, size, f"reading the {role}"))
    return Read(streams, (first, second), _comparison(streams, (first, second), files), frozenset(files))


@contextlib.contextmanager
def _opened(executor: Executor | None) -> Iterator[tuple[Executor, int]]:
    """An executor, and how many partitions it is given before the first is taken back."""
    if executor is not None:
        yield executor, 2 * workers_of(executor)
        return
    with ThreadPoolExecutor(workers()) as threads:
        yield threads, workers()


def _comparison(streams: Streams, sums: tuple[CorpusSums, CorpusSums], files: dict[str, RowFile]) -> Comparison:
    facts = {name: np.concatenate([part for side in sums for part in side.facts[name]]) for name in sums[0].facts}
    rows = {name: file.array() for name, file in files.items()}
    dimensions = {name: len(centre) for name, centre in sums[0].wanted.centres}
    pool = StoredPool(streams, facts[KEYS], rows, dimensions)
    for kind, name in ((WORDS, ""), (SCRIPTS, ""), (UNKNOWN, PIECES)):
        if kind in facts:
            pool.adopt(kind, name, facts[kind])
    n = int(sums[0].texts.sum())
    comparison = Comparison(Corpus(pool, np.arange(n)), Corpus(pool, np.arange(n, pool.size)))
    check_different(comparison.reference, "reference")
    check_different(comparison.candidate, "candidate")
    return comparison
