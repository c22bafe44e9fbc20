"""Word vectors in a file of the user's, known by its content."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from textgauge.encode.resource_sources import file_sha256
from textgauge.encode.resources import cache_root
from textgauge.encode.word_vectors.formats import Block, read_blocks
from textgauge.encode.word_vectors.store import WordVectors
from textgauge.errors import InputError
from textgauge.files import replacing


def of_file(path: Path) -> WordVectors:
    """Give the word vectors of a file; a file whose size or time has changed is read again."""
    try:
        stat = path.stat()
        return _of_file(path.resolve(), stat.st_size, stat.st_mtime_ns, str(cache_root()))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


@lru_cache(maxsize=8)
def _of_file(path: Path, size: int, modified: int, cache: str) -> WordVectors:
    note = Path(cache, "wordvectors", "seen", f"{blake2b(str(path).encode(), digest_size=12).hexdigest()}.json")
    digest = _noted(note, size, modified)
    if digest is None:
        digest = file_sha256(path)
        _write(note, {"size": size, "modified": modified, "sha256": digest})
    return WordVectors(str(path), f"file(sha256={digest})", lambda: _checked(path, digest, note))


def _noted(note: Path, size: int, modified: int) -> str | None:
    """Give the digest noted at an earlier reading, where size and time are still the same."""
    try:
        seen = json.loads(note.read_text())
        return str(seen["sha256"]) if [seen["size"], seen["modified"]] == [size, modified] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(note: Path, content: dict[str, object]) -> None:
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        with replacing(note) as part:
            part.write_text(json.dumps(content))
    except OSError:
        return  # the digest is computed again next time


def _checked(path: Path, digest: str, note: Path) -> Iterator[Block]:
    """Yield the blocks of a file; an error at the end if its bytes are not those of the digest."""
    yield from read_blocks(path)
    if file_sha256(path) != digest:
        note.unlink(missing_ok=True)
        _of_file.cache_clear()
        raise InputError(f"{path} changed while it was read; try again")
