"""Seeded changes of a text: of letters, words, order and facts, and by degrees with needles and removed chunks."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Any, Literal, get_args

import numpy as np

from textgauge.bench.transformations.pieces import (
    AUXILIARIES,
    CLOSERS,
    COMMON,
    ENDS,
    FRONTED,
    LEANING,
    NEGATED,
    PRONOUNS,
    TRAILING,
    Span,
    clusters,
    declare,
    join_texts,
    make_generator,
    pattern,
    piece_spans,
    replace_spans,
    sentence_spans,
    some,
)
from textgauge.core.errors import InputError
from textgauge.encode.wordnet import SynonymTable, load_thesaurus

_LOOKALIKES = {"o": "0", "e": "3", "a": "4", "i": "1", "s": "5", "t": "7"}
_DIGITS = _LOOKALIKES | {letter.upper(): digit for letter, digit in _LOOKALIKES.items()}
_BARE_LETTER = r"[oeaistOEAIST](?![\p{M}\u200d])"
_BARE_O = r"[oO](?![\p{M}\u200d])"


@declare("kept", 0.25, "some small letters as capitals")
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
    return _replace_letters(text, table, places, strength, make_generator("capitals", text, seed))


@declare("kept", 1.0, "digits for letters that look like them")
def digits(text: str, seed: int, strength: float) -> str:
    """Write a share of the letters o e a i s t, small or capital, as 0 3 4 1 5 7.

    Letters that carry a combining mark stay. Other scripts stay as they are.

    >>> digits("The old goat is tired", 0, 1.0)
    '7h3 0ld g047 15 71r3d'
    """
    places = [found.start() for found in pattern(_BARE_LETTER).finditer(text)]
    return _replace_letters(text, _DIGITS, places, strength, make_generator("digits", text, seed))


@declare("kept", 1.0, "the digit 0 for the letter o")
def zeros(text: str, seed: int, strength: float) -> str:
    """Write a share of the letters o, small or capital, as 0; the rest is as for `digits`. Source: USMB.

    >>> zeros("The old goat is tired", 0, 1.0)
    'The 0ld g0at is tired'
    """
    places = [found.start() for found in pattern(_BARE_O).finditer(text)]
    return _replace_letters(text, _DIGITS, places, strength, make_generator("zeros", text, seed))


@declare("kept", 0.1, "every tenth letter left out")
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


@declare("kept", 0.05, "letters exchanged, doubled or left out")
def typos(text: str, seed: int, strength: float) -> str:
    """Mistype a share of the letters: exchanged with the letter before, doubled or left out, at least one in all.

    Letters are those of `dropped_letters`; the first of a run of letters is never doubled or left out.
    Texts in which no two letters stand together stay as they are.
    """
    found, rng = clusters(text), make_generator("typos", text, seed)
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


def _replace_letters(
    text: str, table: Mapping[str, str], places: list[int], share: float, rng: np.random.Generator
) -> str:
    characters = list(text)
    for chosen in some(len(places), share, rng).tolist():
        characters[places[chosen]] = table[characters[places[chosen]]]
    return "".join(characters)


_WORD = r"(?<![\p{L}\p{M}\p{N}'’-])[A-Za-z]{4,}+(?![\p{L}\p{M}\p{N}'’-])"


@declare("kept", 0.5, "words replaced by synonyms", needs=("wordnet",))
def synonyms(text: str, seed: int, strength: float) -> str:
    """Replace a share of the English words that have synonyms, at least one, each by one of them.

    A word has four letters or more, stands in WordNet as it is (so no plurals) and as one part of speech alone, does
    not end in -ing or -ed, and is no word of grammar; its synonyms are the other single words of its first sense.
    Texts without such words stay as they are. Needs the resource `wordnet`; raises ResourceError where it cannot be
    had.
    """
    choices = _list_choices(load_thesaurus())
    found = [match for match in pattern(_WORD).finditer(text) if match[0].lower() in choices]
    rng = make_generator("synonyms", text, seed)
    chosen = [found[place] for place in some(len(found), strength, rng, least=1).tolist()]
    options = (choices[match[0].lower()] for match in chosen)
    drawn = [words[int(share * len(words))] for words, share in zip(options, rng.random(len(chosen)), strict=True)]
    changes = ((match.span(), _copy_capitals(match[0], word)) for match, word in zip(chosen, drawn, strict=True))
    return replace_spans(text, changes)


@lru_cache(maxsize=1)
def _list_choices(table: SynonymTable) -> dict[str, tuple[str, ...]]:
    """Return the synonyms of each word that has some."""
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
    # A word may not be what it seems: `using` is a noun of WordNet, and mostly a verb in texts.
    plain = {word for word in first if word not in COMMON and not word.endswith(("ing", "ed"))}
    sure = {word: found[0] for word, found in first.items() if len(found) == 1 and word in plain}
    others = ((word, sorted(filter(str.isalpha, members[group] - {word}))) for word, group in sure.items())
    return {word: tuple(words) for word, words in others if words}


def _copy_capitals(model: str, word: str) -> str:
    return word.upper() if model.isupper() else word.capitalize() if model[0].isupper() else word


_COMMA = rf",(?=\s++(?!(?:{'|'.join(sorted(LEANING))})\b))|[،，]"
_TRAILING = rf"(?<!\s)\s++(?={'|'.join(sorted(TRAILING))}\b)"
_ENCLOSED = frozenset('"“”„«»()[]{}「」『』（）')


@declare("changed", 1.0, "words in another order")
def word_shuffle(text: str, seed: int, strength: float) -> str:
    """Shuffle a share of the tokens, at least two, among their places; white space stays where it is.

    Tokens are those of `pieces`. A text with two different tokens always changes. Source: USMB.
    """
    return _shuffle(text, piece_spans(text), strength, make_generator("word_shuffle", text, seed))


@declare("changed", 1.0, "sentences in another order")
def sentence_shuffle(text: str, seed: int, strength: float) -> str:
    """Shuffle a share of the sentences, at least two, among their places; white space stays where it is.

    Where there is one sentence, or all are the same, the two halves of its tokens change places, so that a text with
    two different tokens always changes. Source: USMB.

    >>> sentence_shuffle("It rained. We left.", 0, 1.0), sentence_shuffle("one two three four", 0, 1.0)
    ('We left. It rained.', 'three four one two')
    """
    spans = sentence_spans(text)
    changed = _shuffle(text, spans, strength, make_generator("sentence_shuffle", text, seed))
    return changed if changed != text else _turn_halves(text, piece_spans(text))


@declare("kept", 1.0, "clauses moved within their sentence")
def word_order(text: str, seed: int, strength: float) -> str:
    """Move a clause in a share of the sentences that allow it, at least in one: a paraphrase by order alone.

    `Because X, Y.` and its like become `Y because X.`, and the other way round; the two sides of the comma nearest
    the middle change places in other sentences. Sentences with quotes or brackets, or without a comma and one of
    these words, stay as they are.

    >>> word_order("When it rains, the garden smiles. We stay because we like it.", 0, 1.0)
    'The garden smiles when it rains. Because we like it, we stay.'
    """
    moved = [(span, _move_clause(text[slice(*span)])) for span in sentence_spans(text)]
    movable = [(span, new) for span, new in moved if new != text[slice(*span)]]
    chosen = some(len(movable), strength, make_generator("word_order", text, seed), least=1)
    return replace_spans(text, (movable[place] for place in chosen.tolist()))


def _shuffle(text: str, spans: list[Span], share: float, rng: np.random.Generator) -> str:
    old = [text[start:end] for start, end in spans]
    places = some(len(old), share, rng, least=2)
    new = list(old)
    for place, origin in zip(places.tolist(), rng.permutation(places).tolist(), strict=True):
        new[place] = old[origin]
    if new == old:
        other = next((place for place, part in enumerate(old) if part != old[0]), 0)
        new[:1], new[other : other + 1] = old[other : other + 1], old[:1]
    return replace_spans(text, zip(spans, new, strict=True))


def _turn_halves(text: str, spans: list[Span]) -> str:
    old = [text[start:end] for start, end in spans]
    half = len(old) // 2
    turned = [*old[half:], *old[:half]]
    return replace_spans(text, zip(spans, turned if turned != old else [*old[1:], *old[:1]], strict=True))


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
    return _begin_clause(right.strip()) + between + gap + _continue_clause(left) if right.strip() else body


def _begin_clause(clause: str) -> str:
    capital = clause[0].upper()
    return (capital if len(capital) == 1 else clause[0]) + clause[1:]


def _continue_clause(clause: str) -> str:
    first = clause.split(maxsplit=1)[:1]
    known = first and first[0] != "I" and first[0].lower() in COMMON
    return clause[0].lower() + clause[1:] if known else clause


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


@declare("changed", 1.0, "names exchanged")
def entity_swap(text: str, seed: int, strength: float) -> str:
    """Exchange a share of the different names, at least two, wherever they stand.

    A name is a run of words with a capital and more letters that does not begin its sentence (or elsewhere does not).
    Where there are not two, runs that begin a sentence count too, common English words aside. Names go round in a
    circle, so each chosen one is replaced. Texts with fewer than two names, and scripts without
    capitals, stay as they are.

    >>> entity_swap("Then Anna called Bert. Bert was out.", 0, 1.0)
    'Then Bert called Anna. Anna was out.'
    """
    within, initial = _find_names(text)
    known = {text[slice(*span)] for span in within}
    spans = sorted(within + [span for span in initial if len(known) < 2 or text[slice(*span)] in known])
    names = list(dict.fromkeys(text[slice(*span)] for span in spans))
    if len(names) < 2:
        return text
    rng = make_generator("entity_swap", text, seed)
    circle = [names[place] for place in rng.permutation(some(len(names), strength, rng, least=2)).tolist()]
    other = dict(zip(circle, [*circle[1:], *circle[:1]], strict=True))
    found = ((span, text[slice(*span)]) for span in spans)
    return replace_spans(text, ((span, other.get(name, name)) for span, name in found))


@declare("changed", 1.0, "numbers replaced by others")
def number_change(text: str, seed: int, strength: float) -> str:
    """Replace a share of the numbers, at least one, by other numbers with as many digits.

    Digits stay in their script. A number is a run of decimal digits, so `3.14` has two. A number of several digits that
    does not begin with 0 still does not. Texts without digits stay as they are.

    >>> changed = number_change("It took 12 of us 365 days", 0, 1.0)
    >>> [len(word) for word in changed.split()], "12" in changed, "365" in changed
    ([2, 4, 2, 2, 2, 3, 4], False, False)
    """
    found = [match.span() for match in pattern(r"\p{Nd}++").finditer(text)]
    rng = make_generator("number_change", text, seed)
    chosen = some(len(found), strength, rng, least=1).tolist()
    return replace_spans(
        text, ((found[place], _draw_other_number(text[slice(*found[place])], rng)) for place in chosen)
    )


def _find_names(text: str) -> tuple[list[Span], list[Span]]:
    """Return where names stand within sentences, and where those stand that begin one."""
    within: list[Span] = []
    initial: list[Span] = []
    for begin, end in sentence_spans(text):
        for number, found in enumerate(pattern(_NAME).finditer(text, begin, end)):
            start, stop = found.span()
            first, _, rest = found[0].partition(" ")
            if first.lower() in COMMON:
                start = stop - len(rest)
            if start < stop:
                begins = number == 0 and start == found.start() and not any(map(str.isalnum, text[begin:start]))
                (initial if begins else within).append((start, stop))
    return within, initial


def _draw_other_number(number: str, rng: np.random.Generator) -> str:
    old = np.array([unicodedata.decimal(digit) for digit in number])
    zeros = [ord(digit) - value for digit, value in zip(number, old.tolist(), strict=True)]
    lowest = np.zeros(len(old), dtype=int)
    lowest[0] = len(old) > 1 and old[0] > 0
    new = rng.integers(lowest, 10)
    if np.array_equal(new, old):
        new[-1] = (new[-1] + rng.integers(1, 10)) % 10
    return "".join(chr(zero + value) for zero, value in zip(zeros, new.tolist(), strict=True))


@declare("changed", 1.0, "statements negated")
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
        return _deny_text(text)
    chosen = some(len(found), strength, make_generator("negation", text, seed), least=1)
    return replace_spans(text, ((found[place].span(), _negate(found[place])) for place in chosen.tolist()))


def _negate(found: Any) -> str:
    if found["can"]:
        return str(found["can"])
    if found["cut"]:
        return _copy_case(found["cut"], _STEMS.get(found["cut"].lower(), found["cut"]))
    return str(found[0].removesuffix(found["not"])) if found["not"] else f"{found[0]} not"


def _copy_case(model: str, word: str) -> str:
    return word.upper() if model.isupper() else model[0] + word[1:]


def _deny_text(text: str) -> str:
    start = len(text) - len(text.lstrip())
    first = pattern(r"\p{L}").search(text)
    scripts = (script for script in _DENIALS if first and pattern(script).match(first[0]))
    return text[:start] + _DENIALS.get(next(scripts, ""), _DENIAL) + text[start:]


Place = Literal["beginning", "middle", "end"]
PLACES: tuple[Place, ...] = get_args(Place)

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


def fits(text: str, share: float) -> bool:
    """Return whether a share of a text's tokens comes to half a token or more, so that it can be put in or taken out.

    >>> fits("one two three four five", 0.1), fits("one two three four five", 0.05)
    (True, False)
    """
    return share * len(piece_spans(text)) >= 0.5


def insert(text: str, needle: str | Sequence[str], *, share: float, place: Place = "middle") -> str:
    """Put round(share · n) tokens of a needle, at least one, into a text of n tokens.

    They are the first tokens of the needle, which is repeated where it is too short; tokens are those of `pieces`. They
    go before the first token, before token n // 2 (counted from 0), or after the last; the rest of the text keeps its
    spaces. Raises InputError where the share is no share or does not fit, or the needle has no token.

    >>> insert("one two three  four", "in the hay", share=0.5, place="middle")
    'one two in the three  four'
    """
    spans = piece_spans(text)
    count = _count_tokens(len(spans), share, place)
    words = _take_first_tokens(needle if isinstance(needle, str) else " ".join(needle), count)
    cut = {"beginning": spans[0][0], "middle": spans[len(spans) // 2][0], "end": spans[-1][1]}[place]
    return join_texts(join_texts(text[:cut], words), text[cut:])


def remove(text: str, *, share: float, place: Place = "middle") -> str:
    """Take round(share · n) tokens in a row, at least one, out of a text of n tokens.

    They are the first ones, those in the middle (as many before as after, or one fewer), or the last; the rest
    keeps its spaces. Raises InputError where the share is no share or does not fit.

    >>> remove("one two three  four", share=0.5, place="beginning")
    'three  four'
    """
    spans = piece_spans(text)
    count = _count_tokens(len(spans), share, place)
    first = {"beginning": 0, "middle": (len(spans) - count) // 2, "end": len(spans) - count}[place]
    if first and first + count == len(spans):
        return text[: spans[first - 1][1]] + text[spans[-1][1] :]
    after = spans[first + count][0] if first + count < len(spans) else spans[-1][1]
    return join_texts(text[: spans[first][0]], text[after:])


@declare("graded", 0.25, "foreign words put in")
def needle_insertion(text: str, seed: int, strength: float) -> str:
    """Put the built-in needle into a text at a place drawn by the seed; a text that is too short comes back."""
    place = PLACES[int(make_generator("needle_insertion", text, seed).integers(len(PLACES)))]
    return insert(text, NEEDLE, share=strength, place=place) if fits(text, strength) else text


@declare("graded", 0.25, "a chunk taken out")
def chunk_removal(text: str, seed: int, strength: float) -> str:
    """Take a chunk out of a text at a place drawn by the seed; a text that is too short comes back."""
    place = PLACES[int(make_generator("chunk_removal", text, seed).integers(len(PLACES)))]
    return remove(text, share=strength, place=place) if fits(text, strength) else text


def _count_tokens(tokens: int, share: float, place: Place) -> int:
    if not 0 < share <= 1:
        raise InputError(f"share is above 0 and at most 1, not {share}")
    if place not in PLACES:
        raise InputError(f"place is one of {', '.join(PLACES)}, not {place!r}")
    if share * tokens < 0.5:
        raise InputError(f"{share:.0%} of {tokens} tokens is less than half a token; ask `fits` first")
    return max(1, round(share * tokens))


def _take_first_tokens(needle: str, count: int) -> str:
    spans = piece_spans(needle)
    if not spans:
        raise InputError("the needle has no token")
    times, rest = divmod(count, len(spans))
    whole = needle[spans[0][0] : spans[-1][1]]
    between = join_texts(whole, whole)[len(whole) : -len(whole)]
    return between.join([whole] * times + [needle[spans[0][0] : spans[rest - 1][1]]] * bool(rest))
