"""Synonyms from WordNet: its files are read once into a compact table, which loads in milliseconds from then on.

The files are those of the resource `wordnet` (WordNet 3.0), or of another version in `$TEXTGAUGE_RESOURCES/wordnet`:
`index.*`, `data.*` and `*.exc` for noun, verb, adj, adv.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import ResourceError
from textgauge.core.files import replace_file
from textgauge.core.limits import open_stored
from textgauge.encode.resources import compute_sha256, get_cache_root, get_cached_folder, locate, make_cache_folder

_FORMAT = 1
_SPEECH = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_FILES = tuple(name for part in _SPEECH.values() for name in (f"data.{part}", f"index.{part}", f"{part}.exc"))
# The endings that WordNet's own lookup takes off a word (morphy), by part of speech; first the letters they end in.
_ENDINGS: dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    "n": (
        ("s", "n"),
        (
            *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh")),
            *(("men", "man"), ("ies", "y")),
        ),
    ),
    "v": (
        ("s", "d", "g"),
        (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    ),
    "a": (("r", "t"), (("er", ""), ("est", ""), ("er", "e"), ("est", "e"))),
    "r": ((), ()),
}
Synsets = frozenset[int]
Synonyms = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class SynonymTable:
    """Groups of words that mean the same, by number.

    An entry is a letter of part of speech and a word: `n dog` for a word of the index, `N mice` for an irregular form.
    Entry i has the groups `groups[offsets[i]:offsets[i + 1]]`; `named` marks those that hold the word itself,
    spelled so. Only groups with a lower-case single word are kept.
    """

    entries: NDArray[np.uint8]
    offsets: NDArray[np.int32]
    groups: NDArray[np.int32]
    named: NDArray[np.bool_]

    @cached_property
    def _names(self) -> list[str]:
        return self.entries.tobytes().decode().split("\n")

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {entry: row for row, entry in enumerate(self._names)}

    @cached_property
    def _members(self) -> dict[int, set[str]]:
        """The words that each group names."""
        members: dict[int, set[str]] = {}
        rows = np.repeat(np.arange(len(self._names)), np.diff(self.offsets))[self.named]
        for group, row in zip(self.groups[self.named].tolist(), rows.tolist(), strict=True):
            members.setdefault(group, set()).add(self._names[row][2:])
        return members

    def get_groups_of(self, word: str) -> Synsets:
        """The groups a lower-case word leads to, through its base forms: irregular ones as listed, else by ending."""
        rows = []
        for speech, (last, endings) in _ENDINGS.items():
            irregular = self._rows.get(f"{speech.upper()} {word}")
            if irregular is not None:
                rows.append(irregular)
                continue
            forms = [word]
            if word.endswith(last):
                forms += [word.removesuffix(old) + new for old, new in endings if word.endswith(old)]
            rows += [row for form in forms if (row := self._rows.get(f"{speech} {form}")) is not None]
        return frozenset(group for row in rows for group in self._groups(row))

    def get_groups_with(self, word: str) -> Synsets:
        """Return the groups that hold this very word."""
        rows = (self._rows.get(f"{speech} {word}") for speech in _SPEECH)
        return frozenset(group for row in rows if row is not None for group in self._groups(row, named=True))

    def get_synonyms(self, word: str) -> tuple[str, ...]:
        """Return the other words of all groups of a word, sorted; none for a word that WordNet does not have.

        Inflected words lead to the groups of their base form, and what is found there is not inflected again.
        """
        lower = word.lower()
        words = {other for group in self.get_groups_of(lower) for other in self._members.get(group, ())}
        return tuple(sorted(words - {lower}))

    def _groups(self, row: int, *, named: bool = False) -> list[int]:
        part = slice(self.offsets[row], self.offsets[row + 1])
        groups = self.groups[part][self.named[part]] if named else self.groups[part]
        return groups.tolist()  # type: ignore[no-any-return]


def load_thesaurus() -> SynonymTable:
    """Return the synonym table; WordNet is fetched, and the table made, where they are not here yet.

    Raises ResourceError, in one line that says what to do, where WordNet cannot be had.
    """
    folder = _find_own_folder() or locate("wordnet")
    return _load_or_make_table(folder, identify_wordnet())


def identify_wordnet() -> str:
    """Return which WordNet is used: a short digest of its files."""
    own = _find_own_folder()
    if own is None:
        return get_cached_folder("wordnet").name.rpartition("-")[2]
    return _compute_digest(own, tuple((own / name).stat().st_mtime_ns for name in _FILES))


def _find_own_folder() -> Path | None:
    root = os.environ.get("TEXTGAUGE_RESOURCES")
    folder = Path(root) / "wordnet" if root else None
    return folder if folder and all((folder / name).is_file() for name in _FILES) else None


@lru_cache(maxsize=4)
def _compute_digest(folder: Path, times: tuple[int, ...]) -> str:
    digests = "".join(compute_sha256(folder / name) for name in _FILES)
    return hashlib.sha256(digests.encode()).hexdigest()[:8]


@lru_cache(maxsize=2)
def _load_or_make_table(folder: Path, digest: str) -> SynonymTable:
    kept = get_cache_root() / "synonyms" / f"{digest}-{_FORMAT}.npz"
    with contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return load_table(kept)
    table = read_wordnet(folder)
    with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
        save_table(table, kept)
    return table


def load_table(path: Path) -> SynonymTable:
    """Read a table that was saved; ValueError where its arrays do not fit together."""
    with open_stored(path) as stream, np.load(stream, allow_pickle=False) as arrays:
        table = SynonymTable(**{name: arrays[name] for name in ("entries", "offsets", "groups", "named")})
    whole = table.offsets[-1] == len(table.groups) == len(table.named)
    if not whole or len(table.offsets) != np.count_nonzero(table.entries == ord("\n")) + 2:
        raise ValueError(f"{path} is damaged")
    return table


def save_table(table: SynonymTable, path: Path) -> None:
    """Write a table whole or not at all."""
    make_cache_folder(path.parent)
    with replace_file(path, named_by_user=False) as part, part.open("wb") as stream:
        np.savez(stream, entries=table.entries, offsets=table.offsets, groups=table.groups, named=table.named)


def read_wordnet(folder: Path) -> SynonymTable:
    """Make the table from the files of a WordNet."""
    rows: dict[str, list[int]] = {}
    flags: dict[str, list[bool]] = {}
    numbers: dict[tuple[str, str], int] = {}
    for speech, part in _SPEECH.items():
        names = {place: words for place, words in _read_groups(folder / f"data.{part}") if words}
        for word, places in _read_index(folder / f"index.{part}"):
            kept = [place for place in places if place in names]
            rows[f"{speech} {word}"] = [numbers.setdefault((speech, place), len(numbers)) for place in kept]
            flags[f"{speech} {word}"] = [word in names[place] for place in kept]
        irregular = {form: bases for form, *bases in _read_lines(folder / f"{part}.exc")}
        for form, bases in irregular.items():
            found = {group for word in (form, *bases) for group in rows.get(f"{speech} {word}", ())}
            rows[f"{speech.upper()} {form}"] = sorted(found)
            flags[f"{speech.upper()} {form}"] = [False] * len(found)
    return _pack_table(rows, flags)


def _pack_table(rows: dict[str, list[int]], flags: dict[str, list[bool]]) -> SynonymTable:
    # An irregular form without groups stays: it is a sign that no ending may be removed.
    entries = [entry for entry, groups in rows.items() if groups or entry[0].isupper()]
    lengths = [len(rows[entry]) for entry in entries]
    return SynonymTable(
        np.frombuffer("\n".join(entries).encode(), dtype=np.uint8),
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32),
        np.array([group for entry in entries for group in rows[entry]], dtype=np.int32),
        np.array([flag for entry in entries for flag in flags[entry]], dtype=np.bool_),
    )


def _read_lines(path: Path) -> Iterator[list[str]]:
    """Yield the fields of every line but those of the licence, which begin with a space."""
    try:
        with path.open(encoding="utf-8") as stream:
            for line in stream:
                if line.strip() and not line.startswith(" "):
                    yield line.split()
    except (OSError, UnicodeDecodeError) as error:
        raise ResourceError(f"cannot read {path} as a file of WordNet: {error}") from error


def _read_index(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each word of an index file with the places of its groups."""
    for fields in _read_lines(path):
        try:
            yield fields[0], fields[-int(fields[2]) :]
        except (IndexError, ValueError) as error:
            raise ResourceError(f"{path} is no index of WordNet: {' '.join(fields)[:80]!r}") from error


def _read_groups(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The place of each group in a data file and its single words in lower case; `(a)` and the like are left out."""
    for fields in _read_lines(path):
        try:
            count = int(fields[3], 16)
        except (IndexError, ValueError) as error:
            raise ResourceError(f"{path} is no data file of WordNet: {' '.join(fields)[:80]!r}") from error
        words = (word.partition("(")[0] for word in fields[4 : 4 + 2 * count : 2])
        yield fields[0], {word for word in words if "_" not in word and word == word.lower()}
