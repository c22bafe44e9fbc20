"""Texts in pieces: grapheme clusters, tokens, sentences; pieces put in or taken out; English words of grammar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, Literal, get_args

from textgauge.core.errors import InputError

Span = tuple[int, int]
Place = Literal["beginning", "middle", "end"]
PLACES: tuple[Place, ...] = get_args(Place)
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


@lru_cache(maxsize=8)  # a document is changed in many ways, one after the other
def piece_spans(text: str) -> tuple[Span, ...]:
    """Return where each token begins and ends."""
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
        over = _ends_sentence(text[start:stop]) or (over and closing)
    return spans


def _ends_sentence(word: str) -> bool:
    bare = word.rstrip(CLOSERS)
    if not bare.endswith(tuple(ENDS)):
        return False
    initial = len(bare) == 2 and bare[0].isupper() and bare[1] == "."
    return not initial and bare.lower() not in ABBREVIATIONS


def join_texts(left: str, right: str) -> str:
    """Put two texts together, with a space where two words would run into one.

    >>> join_texts("one", "two"), join_texts("one ", "two"), join_texts("你", "好")
    ('one two', 'one two', '你好')
    """
    unspaced = pattern(rf"[{_UNSPACED}{_SPACE}]")
    apart = not left or not right or unspaced.match(left[-1]) or unspaced.match(right[0])
    return left + right if apart else f"{left} {right}"


def replace_spans(text: str, changes: Iterable[tuple[Span, str]]) -> str:
    """Put new words in the place of parts that follow each other."""
    parts, done = [], 0
    for (start, end), new in changes:
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


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
    words = needle if isinstance(needle, str) else " ".join(needle)
    tokens = piece_spans(words)
    if not tokens:
        raise InputError("the needle has no token")
    times, rest = divmod(_count_tokens(len(spans), share, place), len(tokens))
    whole = words[tokens[0][0] : tokens[-1][1]]
    between = join_texts(whole, whole)[len(whole) : -len(whole)]
    words = between.join([whole] * times + [words[tokens[0][0] : tokens[rest - 1][1]]] * bool(rest))
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


def _count_tokens(tokens: int, share: float, place: Place) -> int:
    if not 0 < share <= 1:
        raise InputError(f"share is above 0 and at most 1, not {share}")
    if place not in PLACES:
        raise InputError(f"place is one of {', '.join(PLACES)}, not {place!r}")
    if share * tokens < 0.5:
        raise InputError(f"{share:.0%} of {tokens} tokens is less than half a token; ask `fits` first")
    return max(1, round(share * tokens))


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
