"""Transformations: seeded changes of a text that keep its meaning, change it, or change it by degrees.

What a transformation is; then those of letters, words, order and statements, and by degrees with needles and removed
chunks.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from textgauge.bench.pieces import (
    AUXILIARIES,
    CLOSERS,
    COMMON,
    ENDS,
    FRONTED,
    LEANING,
    NEGATED,
    PLACES,
    PRONOUNS,
    TRAILING,
    Span,
    clusters,
    fits,
    insert,
    pattern,
    piece_spans,
    remove,
    replace_spans,
    sentence_spans,
)
from textgauge.core.errors import InputError
from textgauge.core.registry import Registry
from textgauge.encode.wordnet import SynonymTable, load_thesaurus

Meaning = Literal["kept", "changed", "graded"]
Change = Callable[[str, float, np.random.Generator], str]


@dataclass(frozen=True)
class Transformation:
    """A pure function of text, seed and strength, and what it does to the meaning.

    `meaning` is kept, changed, or graded: the more strength, the more is changed. Strength is a share from 0 (nothing
    happens) to 1; `strength` is the usual one. `needs` names the resources it reads. Empty text and white space come
    back as they are.

    >>> TRANSFORMATIONS["digits"]("See you soon"), TRANSFORMATIONS["digits"]("See you soon", strength=0)
    ('533 y0u 500n', 'See you soon')
    """

    name: str
    meaning: Meaning
    change: Change
    strength: float
    about: str
    needs: tuple[str, ...] = ()

    def __call__(self, text: str, *, seed: int = 0, strength: float | None = None) -> str:
        """Transform a text; the same text, seed and strength give the same result."""
        share = self.strength if strength is None else strength
        if not 0 <= share <= 1:
            raise InputError(f"strength is a share from 0 to 1, not {share}")
        if not share or not text.strip():
            return text
        content = f"{self.name}|{seed}|{text}".encode("utf-8", "surrogatepass")
        words = np.frombuffer(hashlib.blake2b(content, digest_size=16).digest(), dtype="<u4")
        return self.change(text, share, np.random.default_rng(words))


TRANSFORMATIONS: Registry[Transformation] = Registry("transformation")


def _declare(meaning: Meaning, strength: float, about: str, *needs: str) -> Callable[[Change], Change]:
    """Make a function known as a transformation, under its own name."""

    def declare(change: Change) -> Change:
        TRANSFORMATIONS.register(Transformation(change.__name__, meaning, change, strength, about, needs))
        return change

    return declare


def _choose(count: int, share: float, rng: np.random.Generator, least: int) -> list[int]:
    """Draw round(share · count) of the places 0 … count − 1, and `least` where there are as many, in order.

    With the same generator a larger share takes all that a smaller one takes.
    """
    return sorted(rng.permutation(count)[: max(least, round(share * count))].tolist())


def _change_some(
    text: str, changes: Sequence[tuple[Span, str]], share: float, rng: np.random.Generator, least: int = 1
) -> str:
    return replace_spans(text, [changes[place] for place in _choose(len(changes), share, rng, least)])


_LOOKALIKES = {"o": "0", "e": "3", "a": "4", "i": "1", "s": "5", "t": "7"}
_DIGITS = _LOOKALIKES | {letter.upper(): digit for letter, digit in _LOOKALIKES.items()}
_NO_MARK = r"(?![\p{M}\u200d])"


@_declare("kept", 0.25, "some small letters as capitals")
def capitals(text: str, share: float, rng: np.random.Generator) -> str:
    """Turn a share of the small letters into capitals: exactly round(share · letters that have a capital).

    A letter counts if its capital is one character that folds back to it, so not ß or the Turkish ı. Texts
    in scripts without case stay as they are. Source: USMB, with a share of 25 %.

    >>> changed = TRANSFORMATIONS["capitals"]("random capitals")
    >>> changed.lower(), sum(map(str.isupper, changed))
    ('random capitals', 4)
    """
    table = {small: small.upper() for small in set(text) if _has_capital(small)}
    changes = [((place, place + 1), table[small]) for place, small in enumerate(text) if small in table]
    return _change_some(text, changes, share, rng, least=0)


@_declare("kept", 1.0, "digits for letters that look like them")
def digits(text: str, share: float, rng: np.random.Generator) -> str:
    """Write a share of the letters o e a i s t, small or capital, as 0 3 4 1 5 7.

    Letters that carry a combining mark stay. Other scripts stay as they are.

    >>> TRANSFORMATIONS["digits"]("The old goat is tired")
    '7h3 0ld g047 15 71r3d'
    """
    letters = pattern(f"[{''.join(_DIGITS)}]{_NO_MARK}").finditer(text)
    return _change_some(text, [(found.span(), _DIGITS[found[0]]) for found in letters], share, rng, least=0)


@_declare("kept", 1.0, "the digit 0 for the letter o")
def zeros(text: str, share: float, rng: np.random.Generator) -> str:
    """Write a share of the letters o, small or capital, as 0; the rest is as for `digits`. Source: USMB.

    >>> TRANSFORMATIONS["zeros"]("The old goat is tired")
    'The 0ld g0at is tired'
    """
    changes = [(found.span(), "0") for found in pattern(f"[oO]{_NO_MARK}").finditer(text)]
    return _change_some(text, changes, share, rng, least=0)


@_declare("kept", 0.1, "every tenth letter left out")
def dropped_letters(text: str, share: float, rng: np.random.Generator) -> str:
    """Leave out every r-th letter, r = round(1/share): the tenth, the twentieth … at 0.1.

    A letter is a grapheme cluster that begins with a letter of any script; white space, digits and signs are neither
    counted nor left out. A text of fewer than r letters stays as it is. There is no chance in it. Source: USMB.

    >>> TRANSFORMATIONS["dropped_letters"]("abcde fghij, klmno pqrst!")
    'abcde fghi, klmno pqrs!'
    """
    found = clusters(text)
    every = round(min(1 / share, len(found) + 1))
    letters = [place for place, cluster in enumerate(found) if cluster[0].isalpha()]
    for place in letters[every - 1 :: every]:
        found[place] = ""
    return "".join(found)


def _has_capital(small: str) -> bool:
    capital = small.upper()
    return small.isalpha() and len(capital) == 1 and capital != small and capital.casefold() == small.casefold()


_WORD = r"(?<![\p{L}\p{M}\p{N}'’-])[A-Za-z]{4,}+(?![\p{L}\p{M}\p{N}'’-])"


@_declare("kept", 0.5, "words replaced by synonyms", "wordnet")
def synonyms(text: str, share: float, rng: np.random.Generator) -> str:
    """Replace a share of the English words that have synonyms, at least one, each by one of them.

    A word has four letters or more, stands in WordNet as it is (so no plurals) and as one part of speech alone, does
    not end in -ing or -ed, and is no word of grammar; its synonyms are the other single words of its first sense.
    Texts without such words stay as they are. Needs the resource `wordnet`; raises ResourceError where it cannot be
    had.
    """
    choices = _list_choices(load_thesaurus())
    found = [match for match in pattern(_WORD).finditer(text) if match[0].lower() in choices]
    chosen = [found[place] for place in _choose(len(found), share, rng, least=1)]
    changes = []
    for match, place in zip(chosen, rng.random(len(chosen)), strict=True):
        words = choices[match[0].lower()]
        old, new = match[0], words[int(place * len(words))]
        new = new.upper() if old.isupper() else new.capitalize() if old[0].isupper() else new
        changes.append((match.span(), new))
    return replace_spans(text, changes)


@lru_cache(maxsize=1)
def _list_choices(table: SynonymTable) -> dict[str, tuple[str, ...]]:
    first: dict[str, list[int]] = defaultdict(list)
    for entry, groups in table.groups.items():
        speech, _, word = entry.partition(" ")
        if speech.islower():
            first[word].append(groups[0])
    # A word may not be what it seems: `using` is a noun of WordNet, and mostly a verb in texts.
    plain = {word for word in first if word not in COMMON and not word.endswith(("ing", "ed"))}
    sure = {word: found[0] for word, found in first.items() if len(found) == 1 and word in plain}
    others = ((word, sorted(filter(str.isalpha, {*table.members[group]} - {word}))) for word, group in sure.items())
    return {word: tuple(words) for word, words in others if words}


_COMMA = rf",(?=\s++(?!(?:{'|'.join(sorted(LEANING))})\b))|[،，]"
_TRAILING = rf"(?<!\s)\s++(?={'|'.join(sorted(TRAILING))}\b)"
_ENCLOSED = frozenset('"“”„«»()[]{}「」『』（）')


@_declare("changed", 1.0, "words in another order")
def word_shuffle(text: str, share: float, rng: np.random.Generator) -> str:
    """Shuffle a share of the tokens, at least two, among their places; white space stays where it is.

    Tokens are those of `pieces`. A text with two different tokens always changes. Source: USMB.
    """
    return _shuffle(text, piece_spans(text), share, rng)


@_declare("changed", 1.0, "sentences in another order")
def sentence_shuffle(text: str, share: float, rng: np.random.Generator) -> str:
    """Shuffle a share of the sentences, at least two, among their places; white space stays where it is.

    Where there is one sentence, or all are the same, the two halves of its tokens change places, so that a text with
    two different tokens always changes. Source: USMB.

    >>> shuffle = TRANSFORMATIONS["sentence_shuffle"]
    >>> shuffle("It rained. We left."), shuffle("one two three four")
    ('We left. It rained.', 'three four one two')
    """
    changed = _shuffle(text, sentence_spans(text), share, rng)
    if changed != text:
        return changed
    spans = piece_spans(text)
    old = [text[start:end] for start, end in spans]
    half = len(old) // 2
    turned = [*old[half:], *old[:half]]
    return replace_spans(text, zip(spans, turned if turned != old else [*old[1:], *old[:1]], strict=True))


@_declare("kept", 1.0, "clauses moved within their sentence")
def word_order(text: str, share: float, rng: np.random.Generator) -> str:
    """Move a clause in a share of the sentences that allow it, at least in one: a paraphrase by order alone.

    `Because X, Y.` and its like become `Y because X.`, and the other way round; the two sides of the comma nearest
    the middle change places in other sentences. Sentences with quotes or brackets, or without a comma and one of
    these words, stay as they are.

    >>> TRANSFORMATIONS["word_order"]("When it rains, the garden smiles. We stay because we like it.")
    'The garden smiles when it rains. Because we like it, we stay.'
    """
    moved = [(span, _move_clause(text[slice(*span)])) for span in sentence_spans(text)]
    return _change_some(text, [(span, new) for span, new in moved if new != text[slice(*span)]], share, rng)


def _shuffle(text: str, spans: Sequence[Span], share: float, rng: np.random.Generator) -> str:
    old = [text[start:end] for start, end in spans]
    places = _choose(len(old), share, rng, least=2)
    new = list(old)
    for place, origin in zip(places, rng.permutation(places).tolist(), strict=True):
        new[place] = old[origin]
    if new == old:
        other = next((place for place, part in enumerate(old) if part != old[0]), 0)
        new[:1], new[other : other + 1] = old[other : other + 1], old[:1]
    return replace_spans(text, zip(spans, new, strict=True))


def _move_clause(sentence: str) -> str:
    if not _ENCLOSED.isdisjoint(sentence):
        return sentence
    body = sentence.rstrip(ENDS + CLOSERS)
    end = sentence[len(body) :]
    commas = [found.span() for found in pattern(_COMMA).finditer(body)]
    first = body.split(maxsplit=1)[:1]
    trailing = pattern(_TRAILING).search(body)
    if commas and first[0].lower() in FRONTED:
        body = _swap_clauses(body, commas[0], "")
    elif commas:
        body = _swap_clauses(body, min(commas, key=lambda span: abs(2 * span[0] - len(body))), None)
    elif trailing:
        body = _swap_clauses(body, trailing.span(), ",")
    return body + end


def _swap_clauses(body: str, cut: Span, mark: str | None) -> str:
    """Exchange what stands before and after a cut, with another mark between them if one is given."""
    left, right = body[: cut[0]], body[cut[1] :]
    gap = right[: len(right) - len(right.lstrip())] or (" " if mark is not None else "")
    between = body[slice(*cut)] if mark is None else mark
    begun = right.strip()
    if not begun:
        return body
    capital = begun[0].upper()
    first = next(iter(left.split(maxsplit=1)), "I")
    rest = left[0].lower() + left[1:] if first != "I" and first.lower() in COMMON else left
    return (capital if len(capital) == 1 else begun[0]) + begun[1:] + between + gap + rest


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


@_declare("changed", 1.0, "statements negated")
def negation(text: str, share: float, rng: np.random.Generator) -> str:
    """Negate a share of the English auxiliaries, at least one: is → is not, isn't → is, will not → will.

    Where there is none, the text is denied as a whole: `It is not true that` goes before it, or the same in a
    language of its first letter's script. So every text that is more than white space changes. Words are those of
    English: other languages are changed without care for their grammar. Source: USMB.

    >>> TRANSFORMATIONS["negation"]("It was late and I can't stay, but she will not go.")
    'It was not late and I can stay, but she will go.'
    >>> TRANSFORMATIONS["negation"]("Birds fly south.")
    'It is not true that Birds fly south.'
    """
    changes = [(found.span(), _negate(found)) for found in pattern(_VERB).finditer(text)]
    if changes:
        return _change_some(text, changes, share, rng)
    start = len(text) - len(text.lstrip())
    first = pattern(r"\p{L}").search(text)
    denial = next((words for script, words in _DENIALS.items() if first and pattern(script).match(first[0])), _DENIAL)
    return text[:start] + denial + text[start:]


def _negate(found: Any) -> str:
    if found["can"]:
        return str(found["can"])
    if found["cut"]:
        cut, stem = found["cut"], _STEMS.get(found["cut"].lower(), found["cut"])
        return str(stem.upper() if cut.isupper() else cut[0] + stem[1:])
    return str(found[0].removesuffix(found["not"])) if found["not"] else f"{found[0]} not"


NEEDLE = (
    "Every autumn the ferry brings two carpenters to the island, and they mend whatever summer has broken. "
    "First come the wooden steps near our harbour, because salt eats nails faster than anyone believes. "
    "Then a loose shutter, three fence posts, the bench where fishermen drink coffee. "
    "Nobody pays them with money; families offer smoked eel, wool socks, jars of plum jam, sometimes an old clock. "
    "My grandmother kept a list of these gifts inside her kitchen drawer, written in pencil on brown paper. "
    "While sorting it last week I noticed that one name returns each year without any present beside it. "
    "Perhaps he repaired things for pleasure, or maybe someone forgot to thank him. "
    "Tomorrow I shall cross over early, carry warm bread up past the chapel, knock at his blue door and ask. "
    "If nobody answers, children playing along the beach will surely know which way that quiet man went, "
    "since little happens here which their sharp eyes do not see."
)


@_declare("graded", 0.25, "foreign words put in")
def needle_insertion(text: str, share: float, rng: np.random.Generator) -> str:
    """Put the built-in needle into a text at a place drawn by the seed; a text that is too short comes back."""
    place = PLACES[int(rng.integers(len(PLACES)))]
    return insert(text, NEEDLE, share=share, place=place) if fits(text, share) else text


@_declare("graded", 0.25, "a chunk taken out")
def chunk_removal(text: str, share: float, rng: np.random.Generator) -> str:
    """Take a chunk out of a text at a place drawn by the seed; a text that is too short comes back."""
    place = PLACES[int(rng.integers(len(PLACES)))]
    return remove(text, share=share, place=place) if fits(text, share) else text
