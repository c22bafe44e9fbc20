"""Modified Kneser–Ney: an n-gram model of a corpus, exact, whole arrays at a time.

    P(w | h)  = (a(hw) − D(a(hw))) / Σ_v a(hv) + γ(h) · P(w | h')          h' = h without its first word
    γ(h)      = (D1·N1(h) + D2·N2(h) + D3·N3+(h)) / Σ_v a(hv)             Nk(h) = words v with a(hv) = k
    D_k       = k − (k + 1) · Y · t(k+1) / t(k),  Y = t1 / (t1 + 2·t2)    t(k) = n-grams of the order with a = k
    a(g)      = occurrences of g at the highest order and where g begins with <s>, else the different words before it
    P(w | )   below the first order is 1 / (words + 2): all words, </s> and <unk>, which so gets its share

Small corpora have no n-grams with some of the counts 1 to 4, or discounts outside 0 < D_k ≤ k: that order then takes
the discounts 0.5, 1 and 1.5. An unseen context leaves P(w | h'). A text is scored as <s> w1 … wm </s>; <s> is given,
the other m + 1 tokens are scored. A word that the corpus does not have is <unk>.
Source: Chen & Goodman 1998; <s> and the fallback as in Heafield et al. 2013.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.settings import split_into_runs
from textgauge.encode.language_models import Surprise
from textgauge.encode.tokenizers import Tokenizer, Tokens, get_tokenizer

SPECIAL = ("<s>", "</s>", "<unk>")
BEGIN, END, UNKNOWN = range(3)
ABSENT = -1
FALLBACK = (0.5, 1.0, 1.5)
VERSION = 1
_CHARACTERS_AT_ONCE = 4_000_000


def train(texts: Sequence[str], *, order: int = 3, on: str = "words") -> NgramModel:
    """Train a model on texts, split by a tokenizer; every text is its own sequence, empty ones are left out.

    >>> model = train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> nats, tokens = model.surprise(["the cat ran", "ran the the", ""])
    >>> np.exp(nats[:2] / tokens[:2]), tokens
    (array([ 2.57, 16.22]), array([4, 4, 0]))
    """
    splitter = get_tokenizer(on)
    tokens = splitter.encode(texts)
    if not len(tokens.ids):
        raise InputError("kneser-ney needs a representative corpus with words in it")
    params = ",".join([f"order={order}"] * (order != 3) + [f"tokenizer={on}"] * (on != "words"))
    digest = hashlib.blake2b(digest_size=8)
    for text in sorted(texts):  # sorted: the order of the texts cannot change a number
        digest.update(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    signature = f"kneser-ney(order={order},tokenizer={on},representative={digest.hexdigest()},version={VERSION})"
    name = f"kneser-ney({params})" if params else "kneser-ney"
    words = (*SPECIAL, *(word for word in tokens.vocabulary if word not in SPECIAL))
    numbers = {word: number for number, word in enumerate(words)} | dict.fromkeys(SPECIAL, UNKNOWN)
    ids = np.array([numbers[word] for word in tokens.vocabulary], dtype=np.int64)[tokens.ids]
    full = np.concatenate([tokens.offsets[:1], tokens.offsets[1:][tokens.lengths > 0]])
    levels = tuple(_smooth(count_ngrams(*add_marks(ids, full), len(words), order)))
    return NgramModel(name, signature, splitter, numbers, levels)


@dataclass(frozen=True)
class NgramModel:
    """A language model that scores texts, split by a tokenizer, with a table of n-grams.

    `numbers` has the row of each word in the first level: 0, 1, 2 are <s>, </s> and <unk>; the marks in a text are no
    words.
    """

    name: str
    signature: str
    tokenizer: Tokenizer
    numbers: dict[str, int]
    levels: tuple[NgramLevel, ...]

    def surprise(self, texts: Sequence[str]) -> Surprise:
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        blocks = (self.tokenizer.encode(texts[some]) for some in split_into_runs(sizes, _CHARACTERS_AT_ONCE))
        parts = [(np.empty(0), np.empty(0, dtype=np.int64)), *map(self._surprise, blocks)]
        return np.concatenate([nats for nats, _ in parts]), np.concatenate([tokens for _, tokens in parts])

    def _surprise(self, tokens: Tokens) -> Surprise:
        """Return −ln P of each text in nats, and its tokens with </s>; both 0 for a text without tokens."""
        numbers = np.array([self.numbers.get(token, UNKNOWN) for token in tokens.vocabulary], dtype=np.int64)
        ids, places = add_marks(numbers[tokens.ids], tokens.offsets)
        text = np.cumsum(places == 0) - 1
        nats = np.bincount(text, weights=-self.compute_log_probabilities(ids), minlength=len(tokens))
        scored = np.where(tokens.lengths > 0, tokens.lengths + 1, 0)
        return np.where(scored > 0, nats, 0.0), scored

    def compute_log_probabilities(self, ids: Ints) -> Floats:
        """Return ln P of each token given those before it in its text; 0 for <s>, which is not scored."""
        rows, logs = ids, self.levels[0].log_probability[ids]
        for level, below in zip(self.levels[1:], self.levels, strict=False):
            context = np.concatenate([[ABSENT], rows[:-1]])
            context[ids == BEGIN] = ABSENT
            known = context != ABSENT
            rows = np.where(known, level.find(context * len(self.numbers) + ids), ABSENT)
            logs = logs + np.where(known, below.log_backoff[context], 0.0)
            if (rows != ABSENT).any():
                logs = np.where(rows != ABSENT, level.log_probability[rows], logs)
        return np.where(ids == BEGIN, 0.0, logs)


@dataclass(frozen=True)
class NgramLevel:
    """The n-grams of one order, sorted by key; the key is row of the first n − 1 words in the level below × words +
    last word, so that any order fits into 64 bits. Logarithms are natural.
    """

    keys: Ints
    log_probability: Floats
    log_backoff: Floats

    def find(self, keys: Ints) -> Ints:
        """Return the row of each key, −1 where there is none."""
        if not len(self.keys):
            return np.full(len(keys), ABSENT, dtype=np.int64)
        order = np.argsort(keys)  # looked up in order, neighbours lie together in memory: three times faster
        rows = np.empty(len(keys), dtype=np.int64)
        rows[order] = np.searchsorted(self.keys, keys[order])
        rows = np.minimum(rows, len(self.keys) - 1)
        return np.where(self.keys[rows] == keys, rows, ABSENT)


def add_marks(ids: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """Put <s> and </s> around each text; return the tokens and the place of each in its text.

    >>> add_marks(np.array([7, 8, 9]), np.array([0, 2, 3]))[0].tolist()
    [0, 7, 8, 1, 0, 9, 1]
    """
    lengths = np.diff(offsets) + 2
    ends = np.cumsum(lengths)
    places = np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)
    marked = np.full(len(places), BEGIN, dtype=np.int64)
    marked[ends - 1] = END
    marked[(places > 0) & (places < np.repeat(lengths, lengths) - 1)] = ids
    return marked, places


@dataclass(frozen=True)
class Counts:
    """The n-grams of one order: sorted keys, occurrences, and the rows of what they begin and end with, both one
    word shorter.
    """

    keys: Ints
    count: Ints
    prefix: Ints
    suffix: Ints


def count_ngrams(ids: Ints, places: Ints, words: int, order: int) -> list[Counts]:
    """Count the n-grams of all orders."""
    count = np.bincount(ids[ids != BEGIN], minlength=words)
    nothing = np.zeros(words, dtype=np.int64)
    tables, rows = [Counts(np.arange(words), count, nothing, nothing)], ids
    for length in range(2, order + 1):
        here = np.flatnonzero(places >= length - 1)
        keys = rows[here - 1] * words + ids[here]
        unique, first, row, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        tables.append(Counts(unique, count, unique // words, rows[here[first]]))
        rows = np.full(len(ids), ABSENT, dtype=np.int64)
        rows[here] = row.reshape(-1)
    return tables


def _smooth(tables: list[Counts]) -> Iterator[NgramLevel]:
    """Yield the levels of a table: probabilities of n-grams, and γ of each as a context of the order above."""
    below = np.full(1, 1.0 / (len(tables[0].keys) - 1))
    probabilities, backoffs = [], []
    for table, longer in zip(tables, [*tables[1:], None], strict=True):
        counts = table.count
        if longer is not None:
            before = np.bincount(longer.suffix, minlength=len(table.keys))
            counts = np.where(before > 0, before, counts)  # only what begins with <s> has nothing before it
        taken = np.array([0.0, *compute_discounts(counts)])
        kind = np.minimum(counts, 3)
        total = np.bincount(table.prefix, weights=counts, minlength=len(below))
        # Whole numbers first, so that the order of the words cannot change how the sum rounds.
        left = sum(taken[k] * np.bincount(table.prefix[kind == k], minlength=len(below)) for k in (1, 2, 3))
        gamma = np.divide(left, total, out=np.ones(len(below)), where=total > 0)
        below = (counts - taken[kind]) / total[table.prefix] + gamma[table.prefix] * below[table.suffix]
        probabilities.append(below)
        backoffs.append(gamma)
    probabilities[0][BEGIN] = 0.0  # it is given, never predicted
    backoffs = [*backoffs[1:], np.ones(len(tables[-1].keys))]
    for table, probability, backoff in zip(tables, probabilities, backoffs, strict=True):
        logs = np.log(probability, out=np.full(len(probability), -np.inf), where=probability > 0)
        yield NgramLevel(table.keys, logs, np.log(backoff))


def compute_discounts(counts: Ints) -> tuple[float, float, float]:
    """Return D1, D2 and D3+ of one order.

    >>> compute_discounts(np.array([1] * 8 + [2] * 4 + [3] * 2 + [4]))
    (0.5, 1.25, 2.0)
    >>> compute_discounts(np.array([1, 1, 5]))
    (0.5, 1.0, 1.5)
    """
    t1, t2, t3, t4 = (int(t) for t in np.bincount(np.minimum(counts, 5), minlength=6)[1:5])
    if not (t1 and t2 and t3 and t4):
        return FALLBACK
    y = t1 / (t1 + 2 * t2)
    discounts = (1 - 2 * y * t2 / t1, 2 - 3 * y * t3 / t2, 3 - 4 * y * t4 / t3)
    return discounts if min(discounts) > 0 else FALLBACK
