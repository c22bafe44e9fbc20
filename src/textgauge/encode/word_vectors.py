"""Word vectors by name: built in, or a file of the user's, read once and memory-mapped from then on.

- wordvec: MiniLM's own input vectors of whole words, centred; nothing to fetch but the default encoder
- glove-50d: GloVe 6B, 50 dimensions, 400,000 words
- glove-840b: GloVe 840B, 300 dimensions, its 33,860 commonest words
- PATH: GloVe text, word2vec and fastText text (a first line `words dimension`), word2vec binary, gzip or not

Files are read block by block, so that memory stays bounded; what is damaged is named by its line or word.
"""

from __future__ import annotations

import gzip
import json
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats32, Ints
from textgauge.core.errors import InputError, ResourceError
from textgauge.core.files import install_folder, open_scratch_folder, replace_file
from textgauge.core.registry import Registry
from textgauge.core.settings import cap_size, get_cache_root, make_cache_folder, read_stored_bytes, split_into_blocks
from textgauge.encode.encoders import Encoder
from textgauge.encode.resources import compute_sha256, get_resource, locate

Block = tuple[list[bytes], Floats32]
"""Words, as the bytes they are, and their vectors; some at a time."""
_FORM = 3  # raised when the stored form changes
_ROWS = 1 << 14  # copied at once
_CHUNK = 1 << 24  # bytes read at once
_LONGEST_WORD = 1 << 20  # bytes
_LARGEST_DIMENSION = 1 << 14
_HEADER = re.compile(rb"\s*(\d{1,10})\s+(\d{1,10})\s*")


@dataclass(frozen=True)
class WordVectors:
    """Vectors of words; a word without a vector is looked up in lower case.

    `identity` stands for the content: it is part of signatures and the key of the stored table.
    """

    name: str
    identity: str
    read: Callable[[], Iterator[Block]]

    @cached_property
    def _table(self) -> tuple[NDArray[np.uint64], Ints, Floats32]:
        """Keys of words in rising order, the row of each, and the matrix, memory-mapped; made on first use."""
        key = blake2b(self.identity.encode(), digest_size=16).hexdigest()
        folder = get_cache_root() / "wordvectors" / f"{key}-{_FORM}"
        if not folder.is_dir():
            _store(folder, self.read())
        try:
            keys, rows, matrix = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("keys", "rows", "matrix"))
        except (OSError, ValueError, EOFError) as error:
            raise ResourceError(
                f"word vectors kept in {folder} are damaged; delete that folder to make them again"
            ) from error
        return keys, rows, matrix

    @property
    def matrix(self) -> Floats32:
        """The vectors in the order of their file."""
        return self._table[2]

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    def rows(self, words: Sequence[str]) -> Ints:
        """Return the row of each word in the matrix, −1 for unknown ones; words with equal rows share a vector."""
        rows = self._find([word.encode("utf-8", "surrogatepass") for word in words])
        unknown = np.flatnonzero(rows < 0)
        rows[unknown] = self._find(
            [words[place].lower().encode("utf-8", "surrogatepass") for place in unknown.tolist()]
        )
        return rows

    def lookup(self, words: Sequence[str]) -> tuple[Floats32, NDArray[np.bool_]]:
        """Return the vectors of words, shape (words, dimension), and which are known; the others' rows are zero."""
        rows = self.rows(words)
        known = rows >= 0
        vectors = np.zeros((len(rows), self.dimension), dtype=np.float32)
        vectors[known] = self.matrix[rows[known]]
        return vectors, known

    def _find(self, words: list[bytes]) -> Ints:
        keys, rows, _ = self._table
        wanted = _hash_words(words)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[places] == wanted, rows[places], -1)


def get_word_vectors(name: str) -> WordVectors:
    """Return the word vectors of that name, or of the file of that path."""
    path = Path(name).expanduser()
    if name not in WORD_VECTORS and path.is_file():
        return _make(str(path.resolve()), _identify_file(path), str(get_cache_root()))
    if name not in WORD_VECTORS and (path.suffix or len(path.parts) > 1):
        raise InputError(f"no file of word vectors {name}")
    digests = "".join(sorted(get_resource(WORD_VECTORS[name].resources[0]).files.values()))
    digest = blake2b(digests.encode(), digest_size=8).hexdigest()
    return _make(name, f"{name}(digest={digest})", str(get_cache_root()))


def list_word_vectors() -> list[dict[str, object]]:
    """List the word vectors: name, dimension, megabytes to fetch, whether on this machine, a note.

    >>> [row["name"] for row in list_word_vectors()]
    ['wordvec', 'glove-50d', 'glove-840b', 'PATH']
    """
    note = "a file of yours: GloVe, word2vec (text, binary) or fastText .vec, gzip or not"
    rows = [entry.describe(name) for name, entry in (*WORD_VECTORS.items(), ("PATH", Encoder(str, note)))]
    shown = ("name", "dimension", "megabytes", "available", "note")
    return [{column: row[column] for column in shown} for row in rows]


@lru_cache(maxsize=8)
def _make(name: str, identity: str, cache: str) -> WordVectors:
    read = WORD_VECTORS[name] if name in WORD_VECTORS else partial(_read_unchanged, Path(name), identity)
    return WordVectors(name, identity, read)


def _read_whole_words() -> Iterator[Block]:
    """Yield MiniLM's input vectors of whole words (no continuation pieces, no special tokens), centred."""
    from safetensors import safe_open

    folder = locate("minilm")
    pieces = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    special = {piece for piece in pieces if len(piece) > 1 and piece.startswith("[") and piece.endswith("]")}
    words = {piece: row for piece, row in pieces.items() if not piece.startswith("##") and piece not in special}
    with safe_open(folder / "model.safetensors", "np") as weights:
        vectors = weights.get_tensor("embeddings.word_embeddings.weight")[list(words.values())].astype(np.float64)
    yield [word.encode() for word in words], (vectors - vectors.mean(axis=0)).astype(np.float32)


def _read_glove() -> Iterator[Block]:
    import polars as pl

    folder = locate("glove-50d") / "data"
    words = pl.read_parquet(folder / "glove_6B_index.parquet")["index"]
    matrix = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    for some in split_into_blocks(len(words), _ROWS):
        yield [word.encode() for word in words[some]], matrix[some]


WORD_VECTORS = Registry(
    "word vectors (or file)",
    {
        "wordvec": Encoder(
            _read_whole_words, "input vectors of all-MiniLM-L6-v2, whole words, centred", 384, ("minilm",)
        ),
        "glove-50d": Encoder(_read_glove, "GloVe 6B, 400,000 words", 50, ("glove-50d",)),
        "glove-840b": Encoder(
            lambda: read_blocks(locate("glove-840b") / "glove.840B.300d_filtered.txt"),
            "GloVe 840B, the commonest 33,860 words",
            300,
            ("glove-840b",),
        ),
    },
)


def _hash_words(words: list[bytes]) -> NDArray[np.uint64]:
    """Return the 64-bit key of each word's bytes, the same on every machine."""
    digests = b"".join([blake2b(word, digest_size=8).digest() for word in words])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _store(folder: Path, read: Iterator[Block]) -> None:
    """Keep the table of all blocks in a folder."""
    try:
        make_cache_folder(folder.parent)
        with open_scratch_folder(folder.parent) as scratch:
            fresh = scratch / "table"
            fresh.mkdir()
            keys, count, dimension = [], 0, 0
            with (fresh / "matrix.npy").open("wb") as sink:
                for words, matrix in read:
                    if not count:
                        dimension = matrix.shape[1]
                        _write_header(sink, 0, dimension)
                    sink.write(np.ascontiguousarray(matrix, dtype="<f4").tobytes())
                    keys.append(_hash_words(words))
                    count += len(words)
                if not count:
                    raise InputError("the file holds no word vectors")
                sink.seek(0)
                _write_header(sink, count, dimension)
            # If a word occurs twice in a file, the first vector counts, as in other readers.
            distinct, first = np.unique(np.concatenate(keys), return_index=True)
            np.save(fresh / "keys.npy", distinct)
            np.save(fresh / "rows.npy", first.astype(np.int64))
            install_folder(fresh, folder, Path.is_dir)
    except OSError as error:
        raise ResourceError(f"cannot keep word vectors in {folder.parent}: {error.strerror}") from error


def _write_header(sink: IO[bytes], rows: int, dimension: int) -> None:
    # The format leaves room for the number of rows to grow, so that the header keeps its length.
    shape = {"descr": "<f4", "fortran_order": False, "shape": (rows, dimension)}
    np.lib.format.write_array_header_1_0(sink, shape)


def _identify_file(path: Path) -> str:
    """Return the digest of a file, which is noted until its size or time changes."""
    try:
        status = path.stat()
        stamp = {"size": status.st_size, "modified": status.st_mtime_ns}
        name = blake2b(str(path.resolve()).encode(), digest_size=12).hexdigest()
        note = get_cache_root() / "wordvectors" / "seen" / f"{name}.json"
        with suppress(OSError, ValueError, KeyError):
            seen = json.loads(read_stored_bytes(note))
            if seen == {**stamp, "sha256": seen["sha256"]}:
                return f"file(sha256={seen['sha256']})"
        digest = compute_sha256(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    with suppress(OSError):  # then the digest is computed again next time
        make_cache_folder(note.parent)
        with replace_file(note, named_by_user=False) as part:
            part.write_text(json.dumps({**stamp, "sha256": digest}))
    return f"file(sha256={digest})"


def _read_unchanged(path: Path, identity: str) -> Iterator[Block]:
    yield from read_blocks(path)
    if f"file(sha256={compute_sha256(path)})" != identity:
        raise InputError(f"{path} changed while it was read; try again")


def read_blocks(path: Path) -> Iterator[Block]:
    """Yield the words of a file and their vectors, some thousands at a time."""
    try:
        with path.open("rb") as start:
            is_packed = start.read(2) == b"\x1f\x8b"
        with cast("IO[bytes]", gzip.open(path)) if is_packed else path.open("rb") as stream:
            first, second = stream.readline(_LONGEST_WORD), stream.readline(_LONGEST_WORD)
            header = _HEADER.fullmatch(first)
            count, dimension = (int(header[1]), int(header[2])) if header else (None, len(first.split()) - 1)
            if not 1 <= dimension <= _LARGEST_DIMENSION:
                raise InputError("line 1: expected a word and its numbers, or `words dimension`")
            is_text = count is None or _parse_numbers([b" ".join(second.split()[-dimension:])], dimension) is not None
            stream.seek(len(first) if header else 0)
            read = _read_text if is_text else _read_binary
            found = 0
            for words, matrix in read(stream, dimension, 2 if header else 1):
                found += len(words)
                yield words, matrix
            if count is not None and found != count:
                raise InputError(f"line 1 promises {count} words, the file has {found}")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: the compressed file is damaged: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _read_text(stream: IO[bytes], dimension: int, number: int) -> Iterator[Block]:
    """Yield blocks of lines, the first of which has this number: a word and its numbers."""
    while lines := stream.readlines(cap_size(_CHUNK)):
        words, numbers = [], []
        for place, line in enumerate(lines, start=number):
            word, _, rest = line.rstrip().partition(b" ")
            if not rest or rest.count(b" ") != dimension - 1:  # a word with spaces, or other separators
                word, *fields = line.rsplit(None, dimension) or [b""]
                rest = b" ".join(fields)
            if word.strip() and rest and rest.count(b" ") == dimension - 1:
                words.append(word)
                numbers.append(rest)
            elif line.strip():
                raise InputError(f"line {place}: expected a word and {dimension} numbers")
        matrix = _parse_numbers(numbers, dimension)
        if matrix is None:
            damaged = next(row for row, one in enumerate(numbers) if _parse_numbers([one], dimension) is None)
            raise InputError(f"the numbers of word {words[damaged].decode(errors='replace')!r} are not all finite")
        number += len(lines)
        if words:
            yield words, matrix


def _parse_numbers(texts: list[bytes], dimension: int) -> Floats32 | None:
    """Read numbers between white space, one row a text; None where there is anything else."""
    with suppress(ValueError, DeprecationWarning), warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("error", DeprecationWarning)  # what an older numpy says instead of an error
        flat = np.fromstring(b" ".join(texts), dtype=np.float64, sep=" ").astype(np.float32)
        if flat.size == len(texts) * dimension and np.isfinite(flat).all():
            return flat.reshape(-1, dimension)
    return None


def _read_binary(stream: IO[bytes], dimension: int, number: int) -> Iterator[Block]:
    """Yield blocks of `word, space, dimension float32 little-endian, perhaps a line feed`."""
    size, buffer = 4 * dimension, b""
    while chunk := stream.read(cap_size(_CHUNK)):
        buffer += chunk
        words, vectors, place = [], [], 0
        while 0 <= (space := buffer.find(b" ", place, place + _LONGEST_WORD)) < len(buffer) - size:
            words.append(buffer[place:space].lstrip(b"\n"))
            vectors.append(buffer[space + 1 : space + 1 + size])
            place = space + 1 + size
        buffer = buffer[place:]
        matrix = np.frombuffer(b"".join(vectors), dtype="<f4").astype(np.float32).reshape(-1, dimension)
        if not np.isfinite(matrix).all():
            damaged = words[int(np.argmin(np.isfinite(matrix).all(axis=1)))]
            raise InputError(f"the numbers of word {damaged.decode(errors='replace')!r} are not all finite")
        if words:
            yield words, matrix
    if buffer.strip():
        raise InputError("the file ends in the midst of a word, or is damaged")
