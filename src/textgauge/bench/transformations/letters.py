"""Changes of letters that leave the meaning: capitals, dropped letters, digits for letters, typing errors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from textgauge.bench.transformations.base import randomness, some
from textgauge.bench.transformations.pieces import clusters, pattern

_LOOKALIKES = {"o": "0", "e": "3", "a": "4", "i": "1", "s": "5", "t": "7"}
_DIGITS = _LOOKALIKES | {letter.upper(): digit for letter, digit in _LOOKALIKES.items()}
_BARE_LETTER = r"[oeaistOEAIST](?![\p{M}\u200d])"
_BARE_O = r"[oO](?![\p{M}\u200d])"


def capitals(text: str, seed: int, strength: float) -> str:
    """Turn a share of the small letters into capitals: exactly round(share · letters that have a capital).

    A letter counts if its capital is one character that folds back to it, so not ß or the Turkish ı. Texts
    in scripts without case stay as they are. Source: USMB, with a share of 25 %.

    >>> text = "random capitals"
    >>> changed = capitals(text, 0, 0.25)
    >>> changed.lower() == text, sum(map(str.isupper, changed))
    (True, 4)
    """
    table = {small: small.upper() for small in set(text) if _has_capital(small)}
    places = [place for place, character in enumerate(text) if character in table]
    return _replaced(text, table, places, strength, randomness("capitals", text, seed))


def digits(text: str, seed: int, strength: float) -> str:
    """Write a share of the letters o e a i s t, small or capital, as 0 3 4 1 5 7.

    Letters that carry a combining mark stay. Other scripts stay as they are.

    >>> digits("The old goat is tired", 0, 1.0)
    '7h3 0ld g047 15 71r3d'
    """
    places = [found.start() for found in pattern(_BARE_LETTER).finditer(text)]
    return _replaced(text, _DIGITS, places, strength, randomness("digits", text, seed))


def zeros(text: str, seed: int, strength: float) -> str:
    """Write a share of the letters o, small or capital, as 0; the rest is as for `digits`. Source: USMB.

    >>> zeros("The old goat is tired", 0, 1.0)
    'The 0ld g0at is tired'
    """
    places = [found.start() for found in pattern(_BARE_O).finditer(text)]
    return _replaced(text, _DIGITS, places, strength, randomness("zeros", text, seed))


def dropped_letters(text: str, seed: int, strength: float) -> str:
    """Leave out every r-th letter, r = round(1/strength): the tenth, the twentieth … at 0.1.

    A letter is a grapheme cluster that begins with a letter of any script; white space, digits and signs are neither
    counted nor left out. A text of fewer than r letters stays as it is. There is no chance in it. Source: USMB.

    >>> dropped_letters("abcde fghij, klmno pqrst!", 0, 0.1)
    'abcde fghi, klmno pqrs!'
    """
    found = clusters(text)
    every = round(min(1 / strength, len(found) + 1))
    letters = [place for place, cluster in enumerate(found) if cluster[0].isalpha()]
    for place in letters[every - 1 :: every]:
        found[place] = ""
    return "".join(found)


def typos(text: str, seed: int, strength: float) -> str:
    """Mistype a share of the letters: exchanged with the letter before, doubled or left out, at least one in all.

    Letters are those of `dropped_letters`; the first of a run of letters is never doubled or left out.
    Texts in which no two letters stand together stay as they are.
    """
    found, rng = clusters(text), randomness("typos", text, seed)
    is_letter = np.fromiter((cluster[0].isalpha() for cluster in found), dtype=bool, count=len(found))
    inner = np.flatnonzero(is_letter[1:] & is_letter[:-1]) + 1
    chosen = inner[some(len(inner), strength, rng, least=1)]
    typed = list(found)
    for place, kind in zip(chosen.tolist(), rng.integers(3, size=len(chosen)).tolist(), strict=True):
        before, here = found[place - 1], found[place]
        if kind == 0 and typed[place - 1] == before != here:
            typed[place - 1], typed[place] = here, before
        else:
            typed[place] = "" if kind == 1 else here * 2
    return "".join(typed)


def _has_capital(small: str) -> bool:
    capital = small.upper()
    return small.isalpha() and len(capital) == 1 and capital != small and capital.casefold() == small.casefold()


def _replaced(text: str, table: Mapping[str, str], places: list[int], share: float, rng: np.random.Generator) -> str:
    characters = list(text)
    for chosen in some(len(places), share, rng).tolist():
        characters[places[chosen]] = table[characters[places[chosen]]]
    return "".join(characters)
