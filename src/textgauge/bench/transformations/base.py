"""What a transformation is, how several are chained, and where their randomness comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError

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
        """This one, then the other."""
        return compose(self, other)


def compose(*transformations: Transformation) -> Transformation:
    """One after the other, named `a+b`, each with a seed of its own from the seed and its place.

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
        apply=partial(_in_turn, parts),
        about=", then ".join(part.about for part in parts),
        needs=tuple(dict.fromkeys(need for part in parts for need in part.needs)),
        parts=parts,
    )


def randomness(name: str, text: str, seed: int) -> np.random.Generator:
    """A generator that depends on seed, transformation and the content of the text alone."""
    content = f"{name}|{seed}|{text}".encode("utf-8", "surrogatepass")
    return np.random.default_rng(np.frombuffer(hashlib.blake2b(content, digest_size=16).digest(), dtype="<u4"))


def some(count: int, share: float, rng: np.random.Generator, *, least: int = 0) -> NDArray[np.int64]:
    """Draw round(share · count) of the places 0 … count − 1, and `least` where there are as many, in order.

    With the same generator a larger share takes all that a smaller one takes.
    """
    wanted = max(least, round(share * count))
    return np.sort(rng.permutation(count)[:wanted])


def _in_turn(parts: tuple[Transformation, ...], text: str, seed: int, strength: float) -> str:
    for place, part in enumerate(parts):
        text = part(text, seed=_seed_at(seed, place), strength=strength * part.strength)
    return text


def _seed_at(seed: int, place: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}|{place}".encode(), digest_size=6).digest(), "little")


def _check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise InputError(f"strength is a share from 0 to 1, not {share}")
