"""Graded changes: a needle put into a text, a chunk taken out of it, with an exact number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from textgauge.bench.transformations.base import randomness
from textgauge.bench.transformations.pieces import joined, piece_spans
from textgauge.core.errors import InputError

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
    """Whether a share of a text's tokens comes to half a token or more, so that it can be put in or taken out.

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
    count = _count(len(spans), share, place)
    words = _first_tokens(needle if isinstance(needle, str) else " ".join(needle), count)
    cut = {"beginning": spans[0][0], "middle": spans[len(spans) // 2][0], "end": spans[-1][1]}[place]
    return joined(joined(text[:cut], words), text[cut:])


def remove(text: str, *, share: float, place: Place = "middle") -> str:
    """Take round(share · n) tokens in a row, at least one, out of a text of n tokens.

    They are the first ones, those in the middle (as many before as after, or one fewer), or the last; the rest
    keeps its spaces. Raises InputError where the share is no share or does not fit.

    >>> remove("one two three  four", share=0.5, place="beginning")
    'three  four'
    """
    spans = piece_spans(text)
    count = _count(len(spans), share, place)
    first = {"beginning": 0, "middle": (len(spans) - count) // 2, "end": len(spans) - count}[place]
    if first and first + count == len(spans):
        return text[: spans[first - 1][1]] + text[spans[-1][1] :]
    after = spans[first + count][0] if first + count < len(spans) else spans[-1][1]
    return joined(text[: spans[first][0]], text[after:])


def needle_insertion(text: str, seed: int, strength: float) -> str:
    """Put the built-in needle into a text at a place drawn by the seed; a text that is too short comes back."""
    place = PLACES[int(randomness("needle_insertion", text, seed).integers(len(PLACES)))]
    return insert(text, NEEDLE, share=strength, place=place) if fits(text, strength) else text


def chunk_removal(text: str, seed: int, strength: float) -> str:
    """Take a chunk out of a text at a place drawn by the seed; a text that is too short comes back."""
    place = PLACES[int(randomness("chunk_removal", text, seed).integers(len(PLACES)))]
    return remove(text, share=strength, place=place) if fits(text, strength) else text


def _count(tokens: int, share: float, place: Place) -> int:
    if not 0 < share <= 1:
        raise InputError(f"share is above 0 and at most 1, not {share}")
    if place not in PLACES:
        raise InputError(f"place is one of {', '.join(PLACES)}, not {place!r}")
    if share * tokens < 0.5:
        raise InputError(f"{share:.0%} of {tokens} tokens is less than half a token; ask `fits` first")
    return max(1, round(share * tokens))


def _first_tokens(needle: str, count: int) -> str:
    spans = piece_spans(needle)
    if not spans:
        raise InputError("the needle has no token")
    times, rest = divmod(count, len(spans))
    whole = needle[spans[0][0] : spans[-1][1]]
    between = joined(whole, whole)[len(whole) : -len(whole)]
    return between.join([whole] * times + [needle[spans[0][0] : spans[rest - 1][1]]] * bool(rest))
