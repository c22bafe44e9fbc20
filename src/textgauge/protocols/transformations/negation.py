"""Negation: statements turned into their contrary."""

from __future__ import annotations

from typing import Any

from textgauge.protocols.transformations.base import randomness, some
from textgauge.protocols.transformations.english import AUXILIARIES, NEGATED, PRONOUNS
from textgauge.protocols.transformations.pieces import pattern, rewritten

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
