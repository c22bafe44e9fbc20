"""Modified Kneser–Ney: an n-gram model of a corpus, exact, whole arrays at a time.

    P(w | h)  = (a(hw) − D(a(hw))) / Σ_v a(hv) + γ(h) · P(w | h')          h' = h without its first word
    γ(h)      = (D1·N1(h) + D2·N2(h) + D3·N3+(h)) / Σ_v a(hv)             Nk(h) = words v with a(hv) = k
    D_k       = k − (k + 1) · Y · t(k+1) / t(k),  Y = t1 / (t1 + 2·t2)    t(k) = n-grams of the order with a = k
    a(g)      = occurrences of g at the highest order and where g begins with <s>, else the different words before it
    P(w | )   below the first order is 1 / (words + 2): all words, </s> and <unk>, which so gets its share

Small corpora have no n-grams with some of the counts 1 to 4, or discounts outside 0 < D_k ≤ k: that order then takes
the discounts 0.5, 1 and 1.5. An unseen context leaves P(w | h').
Source: Chen & Goodman 1998; <s> and the fallback as in Heafield et al. 2013.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.encode.language_models.ngrams import (
    ABSENT,
    BEGIN,
    SPECIAL,
    UNKNOWN,
    Framed,
    NgramLevel,
    NgramModel,
    Ngrams,
    SpacedTokenizer,
    framed,
)
from textgauge.encode.tokenizers import Tokenizer, Tokens, tokenizer, words_of

FALLBACK = (0.5, 1.0, 1.5)
VERSION = 1


@dataclass(frozen=True)
class Counts:
    """The n-grams of one order: sorted keys, occurrences, and the rows of what they begin and end with, both one
    word shorter.
    """

    keys: Ints
    count: Ints
    prefix: Ints
    suffix: Ints


def train(texts: Sequence[str], *, order: int = 3, on: str = "words") -> NgramModel:
    """Train a model on texts, split by a tokenizer; every text is its own sequence, empty ones are left out.

    >>> model = train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> nats, tokens = model.surprise(["the cat ran", "ran the the", ""])
    >>> np.exp(nats[:2] / tokens[:2]), tokens
    (array([ 2.57, 16.22]), array([4, 4, 0]))
    """
    splitter = _splitter(on)
    tokens = splitter.encode(texts)
    if not len(tokens.ids):
        raise InputError("kneser-ney needs a representative corpus with words in it")
    signature = f"kneser-ney(order={order},tokenizer={on},representative={_digest(texts)},version={VERSION})"
    return NgramModel(_name(order, on), signature, estimate(tokens, order), splitter)


def _splitter(on: str) -> Tokenizer:
    return SpacedTokenizer(words_of) if on == "words" else tokenizer(on)


def _name(order: int, on: str) -> str:
    params = ",".join([f"order={order}"] * (order != 3) + [f"tokenizer={on}"] * (on != "words"))
    return f"kneser-ney({params})" if params else "kneser-ney"


def _digest(texts: Sequence[str]) -> str:
    # Sorted: the order of the texts cannot change a number.
    whole = hashlib.blake2b(digest_size=8)
    for text in sorted(texts):
        whole.update(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    return whole.hexdigest()


def estimate(tokens: Tokens, order: int) -> Ngrams:
    """Turn tokenized texts into a table of n-grams up to an order."""
    words = (*SPECIAL, *(word for word in tokens.vocabulary if word not in SPECIAL))
    numbers = {word: number for number, word in enumerate(words)} | dict.fromkeys(SPECIAL, UNKNOWN)
    ids = np.array([numbers[word] for word in tokens.vocabulary], dtype=np.int64)[tokens.ids]
    full = np.concatenate([tokens.offsets[:1], tokens.offsets[1:][tokens.lengths > 0]])
    tables = counted(framed(ids, full), len(words), order)
    return Ngrams(words, tuple(_levels(tables)))


def counted(text: Framed, words: int, order: int) -> list[Counts]:
    """Count the n-grams of all orders."""
    everything = np.arange(words)
    count = np.bincount(text.ids[text.ids != BEGIN], minlength=words)
    nothing = np.zeros(words, dtype=np.int64)
    tables, rows = [Counts(everything, count, nothing, nothing)], text.ids
    for length in range(2, order + 1):
        here = np.flatnonzero(text.place >= length - 1)
        keys = rows[here - 1] * words + text.ids[here]
        unique, first, row, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        tables.append(Counts(unique, count, unique // words, rows[here[first]]))
        rows = np.full(len(text.ids), ABSENT, dtype=np.int64)
        rows[here] = row.reshape(-1)
    return tables


def adjusted(table: Counts, longer: Counts | None) -> Ints:
    """Give a(g): how many different words stand before each n-gram; occurrences where nothing can or none is kept."""
    if longer is None:
        return table.count
    before = np.bincount(longer.suffix, minlength=len(table.keys))
    # Only what begins with <s> has nothing before it.
    return np.where(before > 0, before, table.count)


def discounts(counts: Ints) -> tuple[float, float, float]:
    """Give D1, D2 and D3+ of one order.

    >>> discounts(np.array([1] * 8 + [2] * 4 + [3] * 2 + [4]))
    (0.5, 1.25, 2.0)
    >>> discounts(np.array([1, 1, 5]))
    (0.5, 1.0, 1.5)
    """
    t1, t2, t3, t4 = (int(t) for t in np.bincount(np.minimum(counts, 5), minlength=6)[1:5])
    if not (t1 and t2 and t3 and t4):
        return FALLBACK
    y = t1 / (t1 + 2 * t2)
    found = (1 - 2 * y * t2 / t1, 2 - 3 * y * t3 / t2, 3 - 4 * y * t4 / t3)
    return found if min(found) > 0 else FALLBACK


def _levels(tables: list[Counts]) -> list[NgramLevel]:
    below = np.full(1, 1.0 / (len(tables[0].keys) - 1))
    probabilities, backoffs = [], []
    for table, longer in zip(tables, [*tables[1:], None], strict=True):
        weight, below = _smoothed(table, adjusted(table, longer), below)
        probabilities.append(below)
        backoffs.append(weight)
    probabilities[0][BEGIN] = 0.0  # it is given, never predicted
    backoffs = [*backoffs[1:], np.ones(len(tables[-1].keys))]
    return [
        NgramLevel(table.keys, _log(probability), np.log(backoff))
        for table, probability, backoff in zip(tables, probabilities, backoffs, strict=True)
    ]


def _smoothed(table: Counts, counts: Ints, below: Floats) -> tuple[Floats, Floats]:
    """Give γ of each context, 1 where it has no words after it, and the probability of each n-gram."""
    taken = np.array([0.0, *discounts(counts)])
    kind = np.minimum(counts, 3)
    contexts = len(below)
    total = np.bincount(table.prefix, weights=counts, minlength=contexts)
    # Whole numbers first, so that the order of the words cannot change how the sum rounds.
    left = sum(taken[k] * np.bincount(table.prefix[kind == k], minlength=contexts) for k in (1, 2, 3))
    gamma = np.divide(left, total, out=np.ones(contexts), where=total > 0)
    probability = (counts - taken[kind]) / total[table.prefix] + gamma[table.prefix] * below[table.suffix]
    return gamma, probability


def _log(probability: Floats) -> Floats:
    return np.log(probability, out=np.full(len(probability), -np.inf), where=probability > 0)
