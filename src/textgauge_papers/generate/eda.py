"""Easy data augmentation: four small changes to a text, without any training."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from textgauge.core import InputError
from textgauge.encode import Synonyms
from textgauge_papers.generate.settings import hash_text, make_generator

Compat = Literal["none", "eda"]
Rng = np.random.Generator

_TRIES = 10  # as in the authors' code, for a word that has synonyms; also for a change that changes something
_NOT_LETTERS = re.compile("[^a-z ]")
# Words that carry grammar rather than meaning: a synonym of theirs would not be one.
_STOP_WORDS = """
a about above after again against all am an and any are as at be because been before being below between both but by can
could did do does doing down during each few for from further had has have having he her here hers herself him himself
his how i if in into is it its itself just me more most my myself no nor not now of off on once only or other our ours
ourselves out over own same she should so some such than that the their theirs them themselves then there these they
this those through to too under until up very was we were what when where which while who whom why will with would you
your yours yourself yourselves i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's
it'll we're we've we'll we'd they're they've they'll they'd that's there's here's what's who's where's let's don't
doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't won't wouldn't can't cannot couldn't shouldn't mustn't
needn't
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True)
class SplitText:
    """A text as its words and the gaps around them: `gaps[i]` before word i, the last gap after all of them."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(gap + word for gap, word in zip(self.gaps, (*self.words, ""), strict=True))

    @classmethod
    def of(cls, text: str) -> SplitText:
        """Split into words: the pieces between white space, without signs at their ends.

        >>> SplitText.of('He said: "Well-done, ok?"').words
        ('He', 'said', 'Well-done', 'ok')
        """
        words, gaps, end = [], [], 0
        for match in re.finditer(r"\S+", text):
            start, stop = match.span()
            while start < stop and _is_sign(text[start]):
                start += 1
            while start < stop and _is_sign(text[stop - 1]):
                stop -= 1
            if start < stop:
                words.append(text[start:stop])
                gaps.append(text[end:start])
                end = stop
        return cls(tuple(words), (*gaps, text[end:]))


Operation = Callable[[SplitText, Rng], SplitText]


def eda(
    texts: Sequence[str],
    *,
    n: int | None = None,
    seed: int = 0,
    alpha_sr: float = 0.1,
    alpha_ri: float = 0.1,
    alpha_rs: float = 0.1,
    p_rd: float = 0.1,
    compat: Compat = "none",
    synonyms: Synonyms | None = None,
) -> list[str]:
    """Return `n` changed texts (by default as many as there are), spread evenly over the texts and in their order.

    Each is one of: synonyms for max(1, ⌊alpha_sr·words⌋) words; max(1, ⌊alpha_ri·words⌋) synonyms of its words put
    in anywhere; max(1, ⌊alpha_rs·words⌋) swaps of two words; every word deleted with probability p_rd. The operations
    take turns; one with parameter 0 is left out. Stop words are neither replaced nor a source of insertions.

    Case and signs stay: a synonym takes the case of the word it replaces, signs keep their place when words move. A
    change that gives the text itself or one of its earlier variants is tried again, then another operation; where none
    helps, the last is taken as it is. `compat="eda"` does as the authors' code: lower case, letters a to z alone,
    results as they come out.

    A text's variants depend on seed, content and their number alone, not on the other texts or their order.
    `synonyms` gives the synonyms of a word; WordNet's by default. Source: Wei and Zou 2019.

    >>> eda(["My card was lost."], n=2, seed=1, alpha_sr=0, alpha_ri=0)
    ['was card My lost.', 'My card was.']
    """
    _check(texts, n, {"alpha_sr": alpha_sr, "alpha_ri": alpha_ri, "alpha_rs": alpha_rs, "p_rd": p_rd}, compat)
    if synonyms is None and (alpha_sr or alpha_ri):
        from textgauge.encode import load_thesaurus

        synonyms = load_thesaurus().get_synonyms
    lookup = _Lookup(synonyms or (lambda _: ()))
    offered: list[tuple[float, Operation]] = [
        (alpha_sr, lambda text, rng: replace_words(text, alpha_sr, lookup, rng)),
        (alpha_ri, lambda text, rng: insert_words(text, alpha_ri, lookup, rng)),
        (alpha_rs, lambda text, rng: swap_words(text, alpha_rs, rng)),
        (p_rd, lambda text, rng: delete_words(text, p_rd, rng)),
    ]
    operations = [operation for strength, operation in offered if strength]
    if not operations:
        raise InputError("eda needs at least one operation: all of alpha_sr, alpha_ri, alpha_rs and p_rd are 0")
    counts = _counts(texts, len(texts) if n is None else n, seed)
    made: list[str] = []
    of_text: dict[str, list[str]] = {}
    for text, count in zip(texts, counts, strict=True):
        earlier = of_text.setdefault(text, [])
        for _ in range(count):
            made.append(_variant(text, earlier, seed, operations, compat))
            earlier.append(made[-1])
    return made


def replace_words(text: SplitText, alpha: float, lookup: _Lookup, rng: Rng) -> SplitText:
    """Synonyms for some different words, everywhere they stand."""
    wanted = _number(text, alpha)
    new: dict[str, str] = {}
    different = list(dict.fromkeys(text.words))
    for place in rng.permutation(len(different)).tolist():
        known = lookup(different[place])
        if known and len(new) < wanted:
            new[different[place]] = _copy_case(known[int(rng.integers(len(known)))], different[place])
    return SplitText(tuple(new.get(word, word) for word in text.words), text.gaps)


def insert_words(text: SplitText, alpha: float, lookup: _Lookup, rng: Rng) -> SplitText:
    """Synonyms of some words, put in at random places."""
    words, gaps = list(text.words), list(text.gaps)
    for _ in range(_number(text, alpha) if words else 0):
        for _ in range(_TRIES):
            known = lookup(words[int(rng.integers(len(words)))])
            if known:
                place = int(rng.integers(len(words) + 1))
                words.insert(place, known[int(rng.integers(len(known)))])
                gaps.insert(place + (place == 0), " ")
                break
    return SplitText(tuple(words), tuple(gaps))


def swap_words(text: SplitText, alpha: float, rng: Rng) -> SplitText:
    """Return words exchanged two by two; signs stay where they are."""
    words = list(text.words)
    for _ in range(_number(text, alpha) if len(words) > 1 else 0):
        i, j = rng.choice(len(words), 2, replace=False).tolist()
        words[i], words[j] = words[j], words[i]
    return SplitText(tuple(words), text.gaps)


def delete_words(text: SplitText, p: float, rng: Rng) -> SplitText:
    """Leave out each word, and the gap before it, with probability p; at least one stays."""
    if len(text.words) < 2:
        return text
    kept = rng.random(len(text.words)) >= p
    if not kept.any():
        kept[int(rng.integers(len(kept)))] = True
    places = np.flatnonzero(kept).tolist()
    gaps = [text.gaps[0], *(text.gaps[place] for place in places[1:]), text.gaps[-1]]
    return SplitText(tuple(text.words[place] for place in places), tuple(gaps))


class _Lookup:
    """Synonyms of words, remembered; none for stop words."""

    def __init__(self, synonyms: Synonyms) -> None:
        self._synonyms = synonyms
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, word: str) -> tuple[str, ...]:
        lower = word.lower().replace("’", "'")
        if lower not in self._known:
            self._known[lower] = () if lower in STOP_WORDS else self._synonyms(lower)
        return self._known[lower]


def _variant(text: str, earlier: list[str], seed: int, operations: list[Operation], compat: Compat) -> str:
    key, turns, number = hash_text(text), len(operations), len(earlier)
    first = int(make_generator(seed, key, 1).integers(turns)) + number
    rng = make_generator(seed, key, 2, number)
    if compat == "eda":
        lower = text.lower().replace("’", "").replace("'", "")
        return str(operations[first % turns](SplitText.of(" ".join(_NOT_LETTERS.sub(" ", lower).split())), rng))
    parsed, changed = SplitText.of(text), text
    for turn in range(turns):
        for _ in range(_TRIES):
            changed = str(operations[(first + turn) % turns](parsed, rng))
            if changed != text and changed not in earlier:
                return changed
    return changed


def _counts(texts: Sequence[str], n: int, seed: int) -> list[int]:
    """Return how many variants each text gets; who gets one more is decided by content, not by place."""
    every, more = divmod(n, len(texts))
    lots = [int(make_generator(seed, hash_text(text), 0).integers(2**62)) for text in texts]
    chosen = set(sorted(range(len(texts)), key=lambda row: (lots[row], row))[:more])
    return [every + (row in chosen) for row in range(len(texts))]


def _number(text: SplitText, alpha: float) -> int:
    return max(1, int(alpha * len(text.words)))


def _copy_case(word: str, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PSC"


def _check(texts: Sequence[str], n: int | None, strengths: dict[str, float], compat: str) -> None:
    if not texts:
        raise InputError("eda needs at least one text")
    if n is not None and n < 1:
        raise InputError(f"n is at least 1, not {n}")
    if compat not in ("none", "eda"):
        raise InputError(f"compat is none or eda, not {compat!r}")
    for name, value in strengths.items():
        if not 0 <= value <= 1:
            raise InputError(f"{name} is a share between 0 and 1, not {value}")
