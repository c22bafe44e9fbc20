"""Words replaced by synonyms from WordNet."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from itertools import compress

from textgauge.bench.transformations.base import randomness, some
from textgauge.bench.transformations.pieces import COMMON, pattern, rewritten
from textgauge.encode.wordnet import SynonymTable
from textgauge.encode.wordnet import synonyms as load_table

_WORD = r"(?<![\p{L}\p{M}\p{N}'’-])[A-Za-z]{4,}+(?![\p{L}\p{M}\p{N}'’-])"


def synonyms(text: str, seed: int, strength: float) -> str:
    """Replace a share of the English words that have synonyms, at least one, each by one of them.

    A word has four letters or more, stands in WordNet as it is (so no plurals) and as one part of speech alone, does
    not end in -ing or -ed, and is no word of grammar; its synonyms are the other single words of its first sense.
    Texts without such words stay as they are. Needs the resource `wordnet`; raises ResourceError where it cannot be
    had.
    """
    choices = _choices(load_table())
    found = [match for match in pattern(_WORD).finditer(text) if match[0].lower() in choices]
    rng = randomness("synonyms", text, seed)
    chosen = [found[place] for place in some(len(found), strength, rng, least=1).tolist()]
    options = (choices[match[0].lower()] for match in chosen)
    drawn = [words[int(share * len(words))] for words, share in zip(options, rng.random(len(chosen)), strict=True)]
    changes = ((match.span(), _in_case_of(match[0], word)) for match, word in zip(chosen, drawn, strict=True))
    return rewritten(text, changes)


@lru_cache(maxsize=1)
def _choices(table: SynonymTable) -> dict[str, tuple[str, ...]]:
    """The synonyms of each word that has some."""
    first: dict[str, list[int]] = defaultdict(list)
    members: dict[int, set[str]] = defaultdict(set)
    groups, named, ends = table.groups.tolist(), table.named.tolist(), table.offsets.tolist()
    for row, entry in enumerate(table.entries.tobytes().decode().split("\n")):
        speech, _, word = entry.partition(" ")
        begin, end = ends[row : row + 2]
        if speech.islower() and begin < end:
            first[word].append(groups[begin])
            for group in compress(groups[begin:end], named[begin:end]):
                members[group].add(word)
    sure = {word: found[0] for word, found in first.items() if len(found) == 1 and _is_sure(word)}
    others = ((word, sorted(filter(str.isalpha, members[group] - {word}))) for word, group in sure.items())
    return {word: tuple(words) for word, words in others if words}


def _is_sure(word: str) -> bool:
    """Whether a word is what it seems: `using` is a noun of WordNet, and mostly a verb in texts."""
    return word not in COMMON and not word.endswith(("ing", "ed"))


def _in_case_of(model: str, word: str) -> str:
    return word.upper() if model.isupper() else word.capitalize() if model[0].isupper() else word
