"""Changes of facts: names exchanged, numbers replaced."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np

from textgauge.bench.transformations.base import randomness, some
from textgauge.bench.transformations.pieces import (
    AUXILIARIES,
    COMMON,
    NEGATED,
    PRONOUNS,
    Span,
    pattern,
    rewritten,
    sentence_spans,
)

_CAPITALISED = r"(?<![\p{L}\p{M}\p{N}])\p{Lu}[\p{L}\p{M}\p{N}]++(?:-[\p{L}\p{M}\p{N}]++)*+"
_NAME = rf"{_CAPITALISED}(?:\ {_CAPITALISED})*+"
_STEMS = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
_NOT = r"(?P<not>\s++(?:not|n['’]t)\b)?"
_VERB = (
    rf"(?<![\w'’-])(?i:(?P<cut>{'|'.join(sorted(NEGATED | _STEMS.keys()))})n['’]t|(?P<can>can)not)(?!\w)"
    rf"|(?<![\w'’-])(?:(?i:{'|'.join(sorted(AUXILIARIES))})|may|will)(?![\w'’-]){_NOT}"
    rf"|(?<![\w'’-])(?i:(?:{'|'.join(sorted(PRONOUNS))})['’](?:s|m|re|ll|ve))(?![\w'’-]){_NOT}"
)
# "It is not true that", in the language most often written with the script of the first letter.
_DENIALS = {
    r"[\p{Hiragana}\p{Katakana}]": "次のことは事実ではない：",
    r"\p{Han}": "并非",
    r"\p{Hangul}": "다음은 사실이 아니다: ",
    r"\p{Cyrillic}": "Неверно, что ",
    r"\p{Greek}": "Δεν είναι αλήθεια ότι ",
    r"\p{Arabic}": "ليس صحيحًا أن ",
    r"\p{Hebrew}": "לא נכון ש",
    r"\p{Devanagari}": "यह सच नहीं है कि ",
    r"\p{Thai}": "ไม่จริงที่",
}
_DENIAL = "It is not true that "


def entity_swap(text: str, seed: int, strength: float) -> str:
    """Exchange a share of the different names, at least two, wherever they stand.

    A name is a run of words with a capital and more letters that does not begin its sentence (or elsewhere does not).
    Where there are not two, runs that begin a sentence count too, common English words aside. Names go round in a
    circle, so each chosen one is replaced. Texts with fewer than two names, and scripts without
    capitals, stay as they are.

    >>> entity_swap("Then Anna called Bert. Bert was out.", 0, 1.0)
    'Then Bert called Anna. Anna was out.'
    """
    within, initial = _names(text)
    known = {text[slice(*span)] for span in within}
    spans = sorted(within + [span for span in initial if len(known) < 2 or text[slice(*span)] in known])
    names = list(dict.fromkeys(text[slice(*span)] for span in spans))
    if len(names) < 2:
        return text
    rng = randomness("entity_swap", text, seed)
    circle = [names[place] for place in rng.permutation(some(len(names), strength, rng, least=2)).tolist()]
    other = dict(zip(circle, [*circle[1:], *circle[:1]], strict=True))
    found = ((span, text[slice(*span)]) for span in spans)
    return rewritten(text, ((span, other.get(name, name)) for span, name in found))


def number_change(text: str, seed: int, strength: float) -> str:
    """Replace a share of the numbers, at least one, by other numbers with as many digits.

    Digits stay in their script. A number is a run of decimal digits, so `3.14` has two. A number of several digits that
    does not begin with 0 still does not. Texts without digits stay as they are.

    >>> changed = number_change("It took 12 of us 365 days", 0, 1.0)
    >>> [len(word) for word in changed.split()], "12" in changed, "365" in changed
    ([2, 4, 2, 2, 2, 3, 4], False, False)
    """
    found = [match.span() for match in pattern(r"\p{Nd}++").finditer(text)]
    rng = randomness("number_change", text, seed)
    chosen = some(len(found), strength, rng, least=1).tolist()
    return rewritten(text, ((found[place], _other_number(text[slice(*found[place])], rng)) for place in chosen))


def _names(text: str) -> tuple[list[Span], list[Span]]:
    """Where names stand within sentences, and where those stand that begin one."""
    within: list[Span] = []
    initial: list[Span] = []
    for begin, end in sentence_spans(text):
        for number, found in enumerate(pattern(_NAME).finditer(text, begin, end)):
            start, stop = found.span()
            first, _, rest = found[0].partition(" ")
            if first.lower() in COMMON:
                start = stop - len(rest)
            if start < stop:
                begins = number == 0 and start == found.start() and not _has_word(text[begin:start])
                (initial if begins else within).append((start, stop))
    return within, initial


def _has_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _other_number(number: str, rng: np.random.Generator) -> str:
    old = np.array([unicodedata.decimal(digit) for digit in number])
    zeros = [ord(digit) - value for digit, value in zip(number, old.tolist(), strict=True)]
    lowest = np.zeros(len(old), dtype=int)
    lowest[0] = len(old) > 1 and old[0] > 0
    new = rng.integers(lowest, 10)
    if np.array_equal(new, old):
        new[-1] = (new[-1] + rng.integers(1, 10)) % 10
    return "".join(chr(zero + value) for zero, value in zip(zeros, new.tolist(), strict=True))


def negation(text: str, seed: int, strength: float) -> str:
    """Negate a share of the English auxiliaries, at least one: is → is not, isn't → is, will not → will.

    Where there is none, the text is denied as a whole: `It is not true that` goes before it, or the same in a
    language of its first letter's script. So every text that is more than white space changes. Words are those of
    English: other languages are changed without care for their grammar. Source: USMB.

    >>> negation("It was late and I can't stay, but she will not go.", 0, 1.0)
    'It was not late and I can stay, but she will go.'
    >>> negation("Birds fly south.", 0, 1.0)
    'It is not true that Birds fly south.'
    """
    found = list(pattern(_VERB).finditer(text))
    if not found:
        return _denied(text)
    chosen = some(len(found), strength, randomness("negation", text, seed), least=1)
    return rewritten(text, ((found[place].span(), _negated(found[place])) for place in chosen.tolist()))


def _negated(found: Any) -> str:
    if found["can"]:
        return str(found["can"])
    if found["cut"]:
        return _in_case_of(found["cut"], _STEMS.get(found["cut"].lower(), found["cut"]))
    return str(found[0].removesuffix(found["not"])) if found["not"] else f"{found[0]} not"


def _in_case_of(model: str, word: str) -> str:
    return word.upper() if model.isupper() else model[0] + word[1:]


def _denied(text: str) -> str:
    start = len(text) - len(text.lstrip())
    first = pattern(r"\p{L}").search(text)
    scripts = (script for script in _DENIALS if first and pattern(script).match(first[0]))
    return text[:start] + _DENIALS.get(next(scripts, ""), _DENIAL) + text[start:]
