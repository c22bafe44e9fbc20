"""Stems of English words: Porter's algorithm with the departures that rouge-score and nltk's METEOR build on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

_VOWELS = frozenset("aeiou")

_IRREGULAR = {
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
} | {word: word for word in ("sky", "news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed")}

_SECOND = {
    **{"ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al"},
    **{"entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al"},
    **{"iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble"},
    **{"fulli": "ful", "logi": "log"},
}
_THIRD = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_FOURTH = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=1 << 17)
def porter(word: str) -> str:
    """Give the lower-cased stem of an English word.

    Porter's five steps, with the changes of his own later program (`bli`, `logi`, words of two letters stay) and of
    nltk's default mode: a list of irregular words, `-ies` and `-ied` in words of four letters, `y` after a consonant
    at any place but the second, `-fulli`, `-alli` before another ending. Source: Porter 1980.

    >>> [porter(word) for word in ("running", "Relational", "flies", "dies", "happy", "sky")]
    ['run', 'relat', 'fli', 'die', 'happi', 'sky']
    """
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if len(word) <= 2:
        return lower
    stem = _final_y(_past(_plural(lower)))
    stem = _replaced(_second(stem), _THIRD)
    return _final_e(_fourth(stem))


def _shape(word: str) -> str:
    """The word as a string of v (vowels) and c (consonants); y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(stem: str) -> int:
    return _shape(stem).count("vc")


def _is_short(stem: str) -> bool:
    """Whether it ends in consonant, vowel, consonant other than w, x, y; or is just a vowel and a consonant."""
    shape = _shape(stem)
    return shape == "vc" or (shape.endswith("cvc") and stem[-1] not in "wxy")


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word:
            return _mended(stem) if "v" in _shape(stem) else word
    return word


def _mended(stem: str) -> str:
    """Restore the end of a stem that lost -ed or -ing."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    shape = _shape(stem)
    if len(stem) > 1 and stem[-1] == stem[-2] and shape[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if shape.count("vc") == 1 and _is_short(stem) else stem


def _final_y(word: str) -> str:
    return word[:-1] + "i" if len(word) > 2 and word.endswith("y") and _shape(word)[-2] == "c" else word


def _second(word: str) -> str:
    while word.endswith("alli") and _measure(word[:-4]):
        word = word[:-2]
    return _replaced(word, _SECOND)


def _replaced(word: str, rules: Mapping[str, str]) -> str:
    """Apply the first rule whose ending fits, if what is before it has a vowel-consonant group."""
    ending = _ending(word, tuple(rules))
    stem = word[: len(word) - len(ending)]
    # The l of -logi belongs to what is measured: geology and theology have only vowels before it.
    return stem + rules[ending] if ending and _measure(stem + "l" * (ending == "logi")) else word


def _fourth(word: str) -> str:
    ending = _ending(word, _FOURTH)
    stem = word[: len(word) - len(ending)]
    return stem if ending and _measure(stem) > 1 and (ending != "ion" or stem[-1] in "st") else word


def _ending(word: str, endings: tuple[str, ...]) -> str:
    """The first listed ending that the word has, or nothing; most words have none, which one call tells."""
    return next(filter(word.endswith, endings)) if word.endswith(endings) else ""


def _final_e(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        word = word[:-1] if measure > 1 or (measure == 1 and not _is_short(word[:-1])) else word
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
