"""A pool of texts, and what depends on one text alone: computed once, sliced ever after.

Texts and rows of large corpora are in nameless files of the cache folder that go when nobody uses them any more.
"""

from __future__ import annotations

import hashlib
import mmap
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Embeddings, Floats, Ints
from textgauge.core.errors import InputError, ResourceError
from textgauge.core.progress import advance, count_part
from textgauge.core.settings import TEXT_CHARACTERS, get_cache_root, make_cache_folder, split_into_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from textgauge.encode.tokenizers import Tokens

T = TypeVar("T")

# Kernels raise products of values to the third power and errors square those: neither may overflow or vanish.
_LARGEST = 1e20
_KEYS_AT_ONCE = 4_096
GIVEN = "given"  # the embedder name under which ready-made embeddings are known
PADDED = ":padded"  # after the name of a tokenizer
PARTITION = 32_768  # texts that are in memory at a time


class Pool:
    """Texts or ready-made embeddings, with their rows: tokens, counts, embeddings, content keys.

    `is_stored` says that texts (`StoredTexts`) or embeddings (checked ones) are on disk, and that embeddings of texts
    shall be. `source_sizes` are the texts of each source where several follow each other; `source_rows` says where each
    row stood in the file or list it was read from, from 0: blank texts and those not drawn leave gaps. `has_texts` says
    that the pool holds texts, `has_given` that it holds ready-made embeddings. Rows of `parents`, whose texts follow
    each other here, are stacked and not computed again.

    >>> Pool(["a cat", "a dog"]).size
    2
    """

    def __init__(
        self,
        texts: Sequence[str] | None = None,
        *,
        embeddings: Embeddings | None = None,
        source_rows: Sequence[int] | NDArray[np.int64] | None = None,
        source_sizes: Sequence[int] = (),
        is_stored: bool = False,
        parents: Sequence[Pool] = (),
    ) -> None:
        if texts is None and embeddings is None:
            raise InputError("a pool needs texts or embeddings")
        if texts is not None and not isinstance(texts, StoredTexts):
            texts, most = tuple(texts), TEXT_CHARACTERS.most
            for position, text in enumerate(texts):
                if not isinstance(text, str):
                    what = "missing" if text is None else f"{type(text).__name__}, not a string"
                    raise InputError(f"text {position} is {what}")
                if len(text) > most:
                    TEXT_CHARACTERS.check(len(text), f"text {position}: a text")
        self._texts = texts
        self.has_texts, self.has_given = texts is not None, embeddings is not None
        self._rows: dict[tuple[str, str], Any] = {}
        self._parents, self.is_stored = tuple(parents), is_stored
        if embeddings is not None:
            given = embeddings if is_stored else check_embeddings(embeddings)
            if self._texts is not None and len(given) != len(self._texts):
                raise InputError(f"{len(self._texts)} texts but {len(given)} embeddings")
            self._rows["embeddings", GIVEN] = given
        self.size = len(self._texts) if self._texts is not None else len(self._rows["embeddings", GIVEN])
        self.source_rows = np.arange(self.size) if source_rows is None else np.array(source_rows, dtype=np.int64)
        self.source_sizes = tuple(source_sizes) or (self.size,)

    @property
    def texts(self) -> Sequence[str]:
        """The texts; an error where only embeddings were given."""
        if self._texts is None:
            raise InputError("this corpus was given as embeddings; its texts are not known")
        return self._texts

    def embeddings(self, embedder: str, *, executor: Executor | None = None) -> Embeddings:
        """Return embedding rows, shape (size, dimension), computed by the workers of an executor where one is given."""
        key = "embeddings", embedder
        if key not in self._rows:
            if embedder == GIVEN:
                raise InputError("no ready-made embeddings were given with these texts")
            if any(key in pool._rows for pool in self._parents):
                rows = stack_rows([pool.embeddings(embedder) for pool in self._parents])
            else:
                from textgauge.data.cache import encode_cached
                from textgauge.encode.embedders import get_embedder

                encode = partial(encode_cached, get_embedder(embedder), executor=executor)
                if self.is_stored:
                    rows = store_rows(self._encode_blocks(encode))
                else:
                    rows = check_embeddings(encode(self.texts))
            self._rows[key] = rows
        return self._rows[key]  # type: ignore[no-any-return]

    def _encode_blocks(self, encode: Callable[[Sequence[str]], Embeddings]) -> Iterator[Embeddings]:
        for some in split_into_blocks(self.size, PARTITION):
            advance(some.start, self.size)
            with count_part(some.start, some.stop - some.start, self.size):
                vectors = encode(self.texts[some])
            yield check_embeddings(vectors, first=some.start)

    def list_embedders(self) -> list[str]:
        """Return the embedders whose rows are there."""
        return [name for kind, name in self._rows if kind == "embeddings"]

    def tokens(self, tokenizer: str) -> Tokens:
        """Return token ids of every text, flat, with offsets; `NAME:padded` is as `Tokens.pad` gives it, by source.

        A source is a pool that was joined to others, or the pool itself.
        """
        if ("tokens", tokenizer) not in self._rows:
            from textgauge.encode.tokenizers import get_tokenizer, join_tokens

            bare = tokenizer.removesuffix(PADDED)
            if bare != tokenizer:
                tokens = self.tokens(bare).pad(self.padding(bare))
            elif not self.is_stored:
                tokens = get_tokenizer(tokenizer).encode(self.texts)
            else:
                parts = []
                for some in split_into_blocks(self.size, PARTITION):
                    advance(some.start, self.size)
                    parts.append(get_tokenizer(tokenizer).encode(self.texts[some]))
                tokens = join_tokens(parts)
            self._rows["tokens", tokenizer] = tokens
        return self._rows["tokens", tokenizer]  # type: ignore[no-any-return]

    def padding(self, tokenizer: str) -> NDArray[np.int64]:
        """Return how many tokens each text lacks to the longest of its source."""
        bounds = np.cumsum((0, *self.source_sizes))
        lengths = self.tokens(tokenizer).lengths
        return np.concatenate([lengths[a:b].max(initial=0) - lengths[a:b] for a, b in pairwise(bounds)])

    def counts(self, tokenizer: str) -> csr_matrix:
        """Return token counts, texts by vocabulary, sparse."""
        return self.get_or_compute("counts", tokenizer, self._count)

    def _count(self, tokenizer: str) -> csr_matrix:
        from scipy.sparse import csr_matrix

        tokens = self.tokens(tokenizer)
        shape = (len(tokens), int(tokens.ids.max(initial=-1)) + 1)
        # A copy: summing sorts the ids of each text in place.
        counts = csr_matrix((np.ones(len(tokens.ids)), tokens.ids, tokens.offsets), shape=shape, copy=True)
        counts.sum_duplicates()
        return counts

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A 64-bit content key per row: equal rows have equal keys in every pool."""
        rows: Iterable[bytes]
        if self._texts is None:  # embeddings, whatever their precision
            given = self.embeddings(GIVEN)
            some = (given[block] for block in split_into_blocks(len(given), _KEYS_AT_ONCE))
            parts = (np.ascontiguousarray(block, dtype=np.float64) for block in some)
            rows = (row.tobytes() for part in parts for row in part)
        else:  # lone surrogates are part of the content
            rows = (text.encode("utf-8", "surrogatepass") for text in self._texts)
        return np.fromiter((hashlib.blake2b(row, digest_size=8).digest() for row in rows), dtype="S8").view(np.uint64)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the whole content, in order."""
        return hashlib.blake2b(self.keys.tobytes(), digest_size=8).hexdigest()

    def get_or_compute(self, kind: str, name: str, compute: Callable[[str], T]) -> T:
        """Return the rows of this kind and name: computed by `compute(name)` once, then remembered."""
        if (kind, name) not in self._rows:
            self._rows[kind, name] = compute(name)
        return self._rows[kind, name]  # type: ignore[no-any-return]

    def set_rows(self, kind: str, name: str, rows: Any) -> None:
        """Take rows that were computed elsewhere for these very texts."""
        self._rows.setdefault((kind, name), rows)


def check_embeddings(embeddings: Embeddings, *, first: int = 0) -> Embeddings:
    """Return embeddings as float32 or float64, not to be written to; refuse numbers that distances cannot take.

    `first` is the place of the first row in its corpus, for messages.
    """
    rows = np.asarray(embeddings)
    if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind not in "fiu":
        raise InputError(f"embeddings must be a numeric matrix, texts by dimensions; got {rows.dtype} {rows.shape}")
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise InputError(f"embedding {first + int(np.argmin(finite))} is not finite (NaN or infinity)")
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    beyond = (largest > _LARGEST) | ((largest < 1 / _LARGEST) & (largest > 0))
    if beyond.any():
        row = int(np.argmax(beyond))
        raise InputError(
            f"the largest value of embedding {first + row} is {largest[row]:.3g}, outside {1 / _LARGEST:.0e} to "
            f"{_LARGEST:.0e}, where distances are exact: scale them first"
        )
    rows = rows.view()
    rows.flags.writeable = False
    return rows


def stack_rows(rows: list[Embeddings]) -> Embeddings:
    """Return the embeddings of several pools, one after the other; those of different dimensions are refused."""
    dimensions = sorted({block.shape[1] for block in rows})
    if len(dimensions) > 1:
        raise InputError(f"embeddings of different dimensions cannot be compared: {dimensions[0]} and {dimensions[-1]}")
    return np.concatenate(rows)


@contextmanager
def _open_scratch() -> Iterator[IO[bytes]]:
    """Open a file without a name; errors of the disk are one line."""
    folder = get_cache_root() / "grounds"
    try:
        make_cache_folder(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            yield file
    except OSError as error:
        if error.errno is None:  # of a cluster
            raise
        raise ResourceError(
            f"cannot write {folder}: {error.strerror}; vectors that are finished are kept, and the same command resumes"
        ) from None


def _map_file(file: IO[bytes], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the content of a file, memory-mapped."""
    file.flush()
    return np.memmap(file, dtype=dtype, mode="r") if file.tell() else np.empty(0, dtype)


class StoredTexts(Sequence[str]):
    """Texts on disk as UTF-8, lone surrogates included; slices and iteration decode some thousand at a time.

    >>> StoredTexts([["one", "two"], ["three"]])[1:]
    ['two', 'three']
    """

    def __init__(self, batches: Iterable[Sequence[str]]) -> None:
        lengths = array("q", [0])
        with _open_scratch() as file:
            for batch in batches:
                data = [text.encode("utf-8", "surrogatepass") for text in batch]
                file.write(b"".join(data))
                lengths.extend(map(len, data))
            self._data = _map_file(file, np.dtype(np.uint8))
        self._offsets: Ints = np.cumsum(lengths)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            texts = [data.decode("utf-8", "surrogatepass") for data in self._encoded(start, max(start, stop))]
            return texts if step == 1 else texts[::step]
        row = range(len(self))[index]
        return next(self._encoded(row, row + 1)).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for some in split_into_blocks(len(self), PARTITION):
            yield from self[some]

    def _encoded(self, start: int, stop: int) -> Iterator[bytes]:
        first, *ends = self._offsets[start : stop + 1].tolist()
        data, begin = self._data[first : ends[-1] if ends else first].tobytes(), 0
        for end in ends:
            yield data[begin : end - first]
            begin = end - first


def store_rows(blocks: Iterable[Embeddings]) -> Embeddings:
    """Write embeddings to disk and return all of them, of the type of the first ones, as one mapped array."""
    width, dtype = 0, np.dtype(np.float32)
    with _open_scratch() as file:
        for rows in blocks:
            if not width:
                width, dtype = rows.shape[1], rows.dtype
            if rows.shape[1] != width:
                raise InputError(f"embeddings of different dimensions cannot be compared: {width} and {rows.shape[1]}")
            file.write(np.ascontiguousarray(rows, dtype=dtype).tobytes())
        return _map_file(file, dtype).reshape(-1, width)


def iterate_rows(rows: Embeddings, size: int = PARTITION) -> Iterator[tuple[slice, Embeddings]]:
    """Yield rows in blocks, with their places; what is mapped from disk leaves the memory of the process again."""
    for some in split_into_blocks(len(rows), size):
        yield some, rows[some]
        base: Any = rows
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, "base", None)
        if base is not None and hasattr(mmap, "MADV_DONTNEED"):
            base.madvise(mmap.MADV_DONTNEED)


def compute_mean_rows(rows: Embeddings) -> Floats:
    """Return the mean of rows in double precision."""
    sums = [block.sum(axis=0, dtype=np.float64) for _, block in iterate_rows(rows)]
    return np.asarray(np.sum(sums, axis=0) / len(rows))
