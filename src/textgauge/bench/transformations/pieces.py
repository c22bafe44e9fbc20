"""Texts in pieces (grapheme clusters, words, sentences), and what a transformation of a text is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError
from textgauge.core.registry import Registry

Span = tuple[int, int]
ENDS = ".!?…。！？．؟۔।॥"
CLOSERS = "\"'’”»)]」』）】"
_SPACE = r"\s\x1c-\x1f"  # what str.split takes for white space
# What \X does not do well: it counts all flags before a flag, and does not know yet (Unicode 15.1, rule GB9c) that the
# consonants of a conjunct stay together.
_EXTEND = r"\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}"
_CLUSTER = (
    rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}[{_EXTEND}]*+"
    r"|\X(?:(?<=[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d]\u200d?)(?=\p{L})\X)*+)"
)
# Thai, Lao, Tibetan, Burmese, Khmer, kana and ideographs, with their own signs: scripts without spaces between words.
_UNSPACED = (
    r"\u0e00-\u109f\u1780-\u17ff\u3001-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U0001b000-\U0001b16f\U00020000-\U000323af"
)
_WORD = rf"[^{_SPACE}]++"
_GAP = rf"(?:(?=[{_SPACE}]){_CLUSTER})++"
_PIECE = rf"{_GAP}|((?=[{_UNSPACED}]){_CLUSTER}|(?:(?![{_SPACE}{_UNSPACED}]){_CLUSTER})++)"
# Where tokens are more than what stands between white space: such scripts, and clusters that white space is part of.
_DELICATE = rf"[{_UNSPACED}]|[{_SPACE}][{_EXTEND}]|\p{{GCB=Prepend}}[{_SPACE}]"


@cache
def pattern(source: str) -> Any:
    """Compile a pattern of the `regex` package, which knows clusters and categories of Unicode."""
    import regex  # type: ignore[import-untyped]

    return regex.compile(source)


def clusters(text: str) -> list[str]:
    """Split a text into grapheme clusters: a letter with its marks, an emoji with its modifiers.

    >>> clusters("né👍🏽क्षि")
    ['n', 'é', '👍🏽', 'क्षि']
    """
    return list(text) if text.isascii() else pattern(_CLUSTER).findall(text)


def pieces(text: str) -> list[str]:
    """Split a text into tokens.

    A token is what stands between white space. Of scripts that are written without spaces (Chinese, Japanese, Thai,
    Lao, Khmer, Burmese, Tibetan) each grapheme cluster is a token.

    >>> pieces("Well, नमस्ते 你好!")
    ['Well,', 'नमस्ते', '你', '好', '!']
    """
    return [text[start:end] for start, end in piece_spans(text)]


def piece_spans(text: str) -> list[Span]:
    """Return where each token begins and ends."""
    return list(_find_pieces(text))


@lru_cache(maxsize=8)  # a document is changed in many ways, one after the other
def _find_pieces(text: str) -> tuple[Span, ...]:
    if text.isascii() or not pattern(_DELICATE).search(text):
        return tuple(found.span() for found in pattern(_WORD).finditer(text))
    return tuple(found.span(1) for found in pattern(_PIECE).finditer(text) if found[1])


def sentence_spans(text: str) -> list[Span]:
    """Return where each sentence begins and ends.

    A sentence ends after a word with . ! ? … or their like in other scripts, closing quotes included, and before an
    empty line; not after English titles and initials (`Dr.`, `J.`). White space between sentences belongs to none.
    """
    spans: list[Span] = []
    over = False
    for start, stop in piece_spans(text):
        begun, end = spans[-1] if spans else (start, start)
        # Signs that follow without a space are tokens of their own in Chinese and the like.
        closing = start == end and not text[start:stop].strip(CLOSERS + ENDS)
        if not spans or (over and not closing) or text.count("\n", end, start) > 1:
            spans.append((start, stop))
        else:
            spans[-1] = (begun, stop)
        over = ends_sentence(text[start:stop]) or (over and closing)
    return spans


def ends_sentence(word: str) -> bool:
    """Return whether a sentence ends with this word."""
    bare = word.rstrip(CLOSERS)
    if not bare.endswith(tuple(ENDS)):
        return False
    initial = len(bare) == 2 and bare[0].isupper() and bare[1] == "."
    return not initial and bare.lower() not in ABBREVIATIONS


def is_unspaced(text: str) -> bool:
    """Return whether a text begins with a script without spaces."""
    return pattern(rf"[{_UNSPACED}]").match(text) is not None


def join_texts(left: str, right: str) -> str:
    """Put two texts together, with a space where two words would run into one.

    >>> join_texts("one", "two"), join_texts("one ", "two"), join_texts("你", "好")
    ('one two', 'one two', '你好')
    """
    apart = not left or not right or left[-1].isspace() or right[0].isspace()
    return left + right if apart or is_unspaced(left[-1]) or is_unspaced(right) else f"{left} {right}"


def replace_spans(text: str, changes: Iterable[tuple[Span, str]]) -> str:
    """Put new words in the place of parts that follow each other."""
    parts, done = [], 0
    for (start, end), new in changes:
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def _split_words(line: str) -> frozenset[str]:
    return frozenset(line.split())


ABBREVIATIONS = _split_words("mr. mrs. ms. dr. prof. st. vs. e.g. i.e. cf. fig. no. gen. sen. rep. gov.")
# `may` and `will` are not here: with a capital they are a month and a name.
AUXILIARIES = _split_words("am is are was were can could would shall should might must has have had do does did")
NEGATED = _split_words("is are was were do does did has have had could would should might must need")
PRONOUNS = _split_words("i you he she it we they that there this what who")
# Clauses that may stand before or after what they belong to, and those of them that are safe to bring forward.
FRONTED = _split_words("because although though when whenever while if unless until since after before as once whereas")
TRAILING = _split_words("because although unless whereas while until whenever")
# Words after a comma that lean on what went before.
LEANING = _split_words("and but or nor so yet for which who whom whose where that then not")
# Words that begin a sentence with a capital without being names.
COMMON = FRONTED.union(
    AUXILIARIES,
    PRONOUNS,
    _split_words("a an the these those some any each every all both many most few several no not only also even just"),
    _split_words("my your his her its our their here which whose where why how be been may will yes"),
    _split_words("and but or nor so yet for in on at by with from to of about under over between into through during"),
    _split_words("against without then now today yesterday tomorrow later soon never always often sometimes perhaps"),
    _split_words("maybe however therefore"),
)


Meaning = Literal["kept", "changed", "graded"]
Apply = Callable[[str, int, float], str]


@dataclass(frozen=True)
class Transformation:
    """A pure function of text, seed and strength, and what it does to the meaning.

    `meaning` is kept, changed, or graded: the more strength, the more is changed. Strength is a share from 0 (nothing
    happens) to 1; `strength` is the usual one. `needs` names the resources it reads. Empty text and white space come
    back as they are.

    >>> shout = Transformation("shout", "kept", lambda text, seed, strength: text.upper(), about="all in capitals")
    >>> shout("hello"), shout("hello", strength=0)
    ('HELLO', 'hello')
    """

    name: str
    meaning: Meaning
    apply: Apply
    strength: float = 1.0
    about: str = ""
    needs: tuple[str, ...] = ()
    parts: tuple[Transformation, ...] = ()

    def __post_init__(self) -> None:
        if self.meaning not in get_args(Meaning):
            raise InputError(f"meaning is one of {', '.join(get_args(Meaning))}, not {self.meaning!r}")
        _check_share(self.strength)

    def __call__(self, text: str, *, seed: int = 0, strength: float | None = None) -> str:
        """Transform a text; the same text, seed and strength give the same result."""
        share = self.strength if strength is None else strength
        _check_share(share)
        return self.apply(text, seed, share) if share and text.strip() else text

    def __or__(self, other: Transformation) -> Transformation:
        """Return this one, then the other."""
        return compose(self, other)


def compose(*transformations: Transformation) -> Transformation:
    """Return one after the other, named `a+b`, each with a seed of its own from the seed and its place.

    Meaning is changed if that of any part is, else graded if that of any part is. Strength scales the usual strength
    of each part; the usual one is 1.

    >>> drop = Transformation("drop", "kept", lambda text, seed, strength: text[1:])
    >>> twice = drop | drop
    >>> twice.name, twice.meaning, twice("abc")
    ('drop+drop', 'kept', 'c')
    """
    parts = tuple(part for given in transformations for part in given.parts or (given,))
    if not parts:
        raise InputError("nothing to compose")
    meanings = {part.meaning for part in parts}
    return Transformation(
        name="+".join(part.name for part in parts),
        meaning=next(meaning for meaning in ("changed", "graded", "kept") if meaning in meanings),
        apply=partial(_apply_in_turn, parts),
        about=", then ".join(part.about for part in parts),
        needs=tuple(dict.fromkeys(need for part in parts for need in part.needs)),
        parts=parts,
    )


def make_generator(name: str, text: str, seed: int) -> np.random.Generator:
    """Return a generator that depends on seed, transformation and the content of the text alone."""
    content = f"{name}|{seed}|{text}".encode("utf-8", "surrogatepass")
    return np.random.default_rng(np.frombuffer(hashlib.blake2b(content, digest_size=16).digest(), dtype="<u4"))


def some(count: int, share: float, rng: np.random.Generator, *, least: int = 0) -> NDArray[np.int64]:
    """Draw round(share · count) of the places 0 … count − 1, and `least` where there are as many, in order.

    With the same generator a larger share takes all that a smaller one takes.
    """
    wanted = max(least, round(share * count))
    return np.sort(rng.permutation(count)[:wanted])


def _apply_in_turn(parts: tuple[Transformation, ...], text: str, seed: int, strength: float) -> str:
    for place, part in enumerate(parts):
        digest = hashlib.blake2b(f"{seed}|{place}".encode(), digest_size=6).digest()
        text = part(text, seed=int.from_bytes(digest, "little"), strength=strength * part.strength)
    return text


def _check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise InputError(f"strength is a share from 0 to 1, not {share}")


TRANSFORMATIONS: Registry[Transformation] = Registry("transformation")


def register(transformation: Transformation) -> Transformation:
    """Make a transformation known by its name; a name in use, or one with `+`, is refused."""
    if not transformation.name or "+" in transformation.name:
        raise InputError("a transformation has a name without +, which joins names")
    return TRANSFORMATIONS.register(transformation)


def get_transformation(name: str) -> Transformation:
    """Return the transformation of that name, or `a+b`: the first and then the second.

    >>> get_transformation("digits")("See you soon"), get_transformation("typos+negation").meaning
    ('533 y0u 500n', 'changed')
    """
    parts = name.split("+")
    return compose(*(TRANSFORMATIONS[part] for part in parts)) if len(parts) > 1 else TRANSFORMATIONS[name]


def declare(meaning: Meaning, strength: float, about: str, needs: tuple[str, ...] = ()) -> Callable[[Apply], Apply]:
    """Make a function known as a transformation of its name."""

    def name(apply: Apply) -> Apply:
        register(Transformation(apply.__name__, meaning, apply, strength, about, needs))
        return apply

    return name
