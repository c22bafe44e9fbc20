"""Texts as words and signs that join to the text again, and a back-off n-gram model that writes texts of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

from textgauge.core import InputError

_INSIDE = "'’"  # signs that belong to a word when letters stand on both sides
_PIECES = re.compile(rf"\s?(?:[^\W_]+(?:[{_INSIDE}][^\W_]+)*|\S)")
_END = ""
_LONGEST = 100
_WRITE, _ORDER = 31, 32


def split_words(text: str) -> list[str]:
    """Return words and signs with the space before them, if any; the text counts as following a space.

    >>> split_words("It's fine, Ann (24).")
    [" It's", ' fine', ',', ' Ann', ' (', '24', ')', '.']
    """
    return _PIECES.findall(" " + " ".join(unicodedata.normalize("NFC", text).split()))


def join_words(pieces: Iterable[str]) -> str:
    """Return the text of words and signs; a space is put between two words that would join into one.

    >>> join_words([" It's", " fine", "24", ","])
    "It's fine 24,"
    """
    text = ""
    for piece in pieces:
        inside = text[-1:] in _INSIDE and text[-2:-1].isalnum()
        text += " " + piece if piece[:1].isalnum() and (text[-1:].isalnum() or inside) and text else piece
    return text.strip()


class NgramGenerator:
    """Words follow the `order` − 1 words before them as in the training texts, smoothed by Witten and Bell.

    A context seen c times with t different followers is used with probability c/(c + t), else one that is a word
    shorter; the next word is drawn from what followed the context. The empty context is always used.
    """

    def __init__(self, *, order: int = 3) -> None:
        if order < 1:
            raise InputError(f"an n-gram model has order 1 or more, not {order}")
        self.order = order
        self._followers: dict[tuple[str, ...], list[str]] = {}
        self._different: dict[tuple[str, ...], set[str]] = {}

    def learn(self, texts: Sequence[str]) -> None:
        """Count the words of more texts."""
        for text in filter(str.strip, texts):
            words = [*split_words(text), _END]
            for place, word in enumerate(words):
                context = self._get_context(words, place)
                for start in range(len(context) + 1):
                    self._followers.setdefault(context[start:], []).append(word)
                    self._different.setdefault(context[start:], set()).add(word)

    def generate(self, n: int, *, seed: int = 0) -> list[str]:
        """Return new texts; each depends on its number and the seed alone."""
        if not self._followers:
            raise InputError("the n-gram model has learned nothing yet")
        texts = []
        for number in range(n):
            rng, text = np.random.default_rng(np.random.SeedSequence([seed, _WRITE, number])), ""
            while not text:
                text = self._write_text(rng)
            texts.append(text)
        return texts

    def _get_context(self, words: list[str], place: int) -> tuple[str, ...]:
        before = words[max(0, place - self.order + 1) : place]
        return (_END, *before) if place < self.order - 1 else tuple(before)

    def _write_text(self, rng: np.random.Generator) -> str:
        words: list[str] = []
        while len(words) < _LONGEST:
            context = self._get_context(words, len(words))
            while context:
                seen = len(self._followers.get(context, ()))
                if seen and rng.random() < seen / (seen + len(self._different[context])):
                    break
                context = context[1:]
            followers = self._followers[context]
            word = followers[int(rng.integers(len(followers)))]
            if word == _END:
                break
            words.append(word)
        return join_words(words)


def write_ngram_corpora(
    texts: Sequence[str], *, steps: int = 8, per_step: int = 1_000, order: int = 3, seed: int = 0
) -> list[list[str]]:
    """Return what an n-gram model writes after it has seen more and more of the texts.

    It sees twice as many at every step, all at the last.

    >>> corpora = write_ngram_corpora(["a b c", "a c b", "b c a", "c a b"], steps=3, per_step=2)
    >>> [len(corpus) for corpus in corpora]
    [2, 2, 2]
    """
    if steps < 1 or len(texts) < 2 ** (steps - 1):
        raise InputError(f"{steps} steps, each with twice the texts, need {2 ** max(steps - 1, 0)} texts or more")
    order_of_texts = np.random.default_rng(np.random.SeedSequence([seed, _ORDER])).permutation(len(texts)).tolist()
    model, corpora, seen = NgramGenerator(order=order), [], 0
    for step in range(steps):
        upto = len(texts) >> (steps - 1 - step)
        model.learn([texts[row] for row in order_of_texts[seen:upto]])
        seen = upto
        corpora.append(model.generate(per_step, seed=seed + step))
    return corpora
