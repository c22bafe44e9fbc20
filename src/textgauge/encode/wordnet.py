"""Synonyms from WordNet: its files are read once into a compact table, which loads quickly from then on.

The files are those of the resource `wordnet` (WordNet 3.0): `index.*`, `data.*` and `*.exc` for noun, verb, adj, adv.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from textgauge.core.errors import ResourceError
from textgauge.core.files import replace_file
from textgauge.core.settings import get_cache_root, make_cache_folder, read_stored_bytes
from textgauge.encode.resources import get_cached_folder, locate

_FORMAT = 2
_SPEECH = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
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
T = TypeVar("T")
Synsets = frozenset[int]
Synonyms = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class SynonymTable:
    """Groups of words that mean the same, by number, and the lower-case single words of each.

    An entry is a letter of part of speech and a word: `n dog` for a word of the index, `N mice` for an irregular form.
    A group that leads from a word need not have it as a member: it may spell it in capitals.
    """

    groups: dict[str, list[int]]
    members: list[list[str]]

    def get_groups_of(self, word: str) -> Synsets:
        """Return the groups of a lower-case word through its base forms: irregular ones as listed, else by ending."""
        found: set[int] = set()
        for speech, (last, endings) in _ENDINGS.items():
            if (irregular := self.groups.get(f"{speech.upper()} {word}")) is not None:
                found.update(irregular)
                continue
            forms = [word]
            if word.endswith(last):
                forms += [word.removesuffix(old) + new for old, new in endings if word.endswith(old)]
            found.update(group for form in forms for group in self.groups.get(f"{speech} {form}", ()))
        return frozenset(found)

    def get_groups_with(self, word: str) -> Synsets:
        """Return the groups that hold this very word."""
        groups = (group for speech in _SPEECH for group in self.groups.get(f"{speech} {word}", ()))
        return frozenset(group for group in groups if word in self.members[group])

    def get_synonyms(self, word: str) -> tuple[str, ...]:
        """Return the other words of all groups of a word, sorted; none for a word that WordNet does not have.

        Inflected words lead to the groups of their base form, and what is found there is not inflected again.
        """
        lower = word.lower()
        words = {other for group in self.get_groups_of(lower) for other in self.members[group]}
        return tuple(sorted(words - {lower}))


def load_thesaurus() -> SynonymTable:
    """Return the synonym table; WordNet is fetched, and the table made, where they are not here yet.

    Raises ResourceError, in one line that says what to do, where WordNet cannot be had.
    """
    return _load_or_make_table(locate("wordnet"), identify_wordnet())


def identify_wordnet() -> str:
    """Return which WordNet is used: a short digest of its files."""
    return get_cached_folder("wordnet").name.rpartition("-")[2]


@lru_cache(maxsize=2)
def _load_or_make_table(folder: Path, digest: str) -> SynonymTable:
    kept = get_cache_root() / "synonyms" / f"{digest}-{_FORMAT}.json.gz"
    with contextlib.suppress(OSError, ValueError, TypeError, EOFError, zlib.error):  # missing or damaged
        return SynonymTable(**json.loads(gzip.decompress(read_stored_bytes(kept))))
    table = read_wordnet(folder)
    with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
        make_cache_folder(kept.parent)
        with replace_file(kept, named_by_user=False) as part:
            part.write_bytes(gzip.compress(json.dumps(vars(table)).encode()))
    return table


def read_wordnet(folder: Path) -> SynonymTable:
    """Make the table from the files of a WordNet."""
    groups: dict[str, list[int]] = {}
    members: list[list[str]] = []
    numbers: dict[tuple[str, str], int] = {}
    for speech, part in _SPEECH.items():
        names = {place: words for place, words in _read_lines(folder / f"data.{part}", _read_group) if words}
        index = _read_lines(folder / f"index.{part}", lambda fields: (fields[0], fields[-int(fields[2]) :]))
        for word, places in index:
            for place in filter(names.get, places):
                number = numbers.setdefault((speech, place), len(numbers))
                members += [[]] * (number == len(members))
                groups.setdefault(f"{speech} {word}", []).append(number)
                if word in names[place]:
                    members[number] = [*members[number], word]
        for form, *bases in _read_lines(folder / f"{part}.exc", list):
            # An irregular form without groups stays: it is a sign that no ending may be removed.
            found = {group for word in (form, *bases) for group in groups.get(f"{speech} {word}", ())}
            groups[f"{speech.upper()} {form}"] = sorted(found)
    return SynonymTable(groups, members)


def _read_lines(path: Path, read: Callable[[list[str]], T]) -> Iterator[T]:
    """Yield what is read from the fields of every line but those of the licence, which begin with a space."""
    try:
        with path.open(encoding="utf-8") as stream:
            for line in stream:
                if line.strip() and not line.startswith(" "):
                    yield read(line.split())
    except (OSError, UnicodeDecodeError) as error:
        raise ResourceError(f"cannot read {path} as a file of WordNet: {error}") from error
    except (IndexError, ValueError) as error:
        raise ResourceError(f"{path} is no file of WordNet: {line[:80]!r}") from error


def _read_group(fields: list[str]) -> tuple[str, set[str]]:
    """Return the place of a group in a data file and its single words in lower case, `(a)` and the like left out."""
    words = (word.partition("(")[0] for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2])
    return fields[0], {word for word in words if "_" not in word and word == word.lower()}
