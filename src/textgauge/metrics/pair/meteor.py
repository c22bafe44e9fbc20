"""METEOR: words matched exactly, by stem and by synonym, and a penalty for matches in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.sizes import split_into_runs
from textgauge.data import Pairs
from textgauge.encode.languages import stem_porter
from textgauge.encode.tokenizers import Tokens
from textgauge.metrics.base import VALUE, Part, Range
from textgauge.metrics.pair_metric import Columns, PairMetric
from textgauge.metrics.registry import register

_BLOCK_WORDS = 1_000_000  # words of both sides held at once: tens of megabytes


@dataclass(frozen=True)
class WordNumbers:
    """The distinct words of a pool's tokens, lower-cased: number of each token's word and of each word's stem."""

    of_token: Ints
    stem: Ints
    words: Sequence[str]
    stems: Sequence[str]


def number_words(vocabulary: Sequence[str], used: Ints) -> WordNumbers:
    """Number the lower-cased words and stems of the tokens that are used."""
    words: dict[str, int] = {}
    stems: dict[str, int] = {}
    of_token = np.full(len(vocabulary), -1, dtype=np.int64)
    of_token[used] = [words.setdefault(vocabulary[token].lower(), len(words)) for token in used.tolist()]
    stem = [stems.setdefault(stem_porter(word), len(stems)) for word in words]
    return WordNumbers(of_token, np.array(stem, dtype=np.int64), tuple(words), tuple(stems))


def find_synonyms(words: Sequence[str]) -> Relation:
    """For each word the numbers of the other words among these that WordNet has as its synonyms."""
    from textgauge.encode.wordnet import load_thesaurus

    table = load_thesaurus()
    members: dict[int, list[int]] = {}
    for number, word in enumerate(words):
        for group in table.get_groups_with(word):
            members.setdefault(group, []).append(number)
    rows = ({other for group in table.get_groups_of(word) for other in members.get(group, ())} for word in words)
    return Relation.of([sorted(row - {number}) for number, row in enumerate(rows)])


def count_chunks(left: Ints, right: Ints, pair: Ints, size: int) -> Ints:
    """Count, for each of `size` pairs, the runs of matches that are neighbours on both sides.

    `left` and `right` are the places of matched words, `pair` the pairs they belong to.

    >>> count_chunks(np.array([0, 1, 2]), np.array([4, 5, 3]), np.zeros(3, np.int64), 2).tolist()
    [2, 0]
    """
    order = np.argsort(left)
    left, right, pair = left[order], right[order], pair[order]
    begins = np.ones(len(pair), dtype=np.bool_)
    begins[1:] = (np.diff(left) != 1) | (np.diff(right) != 1) | (np.diff(pair) != 0)
    return np.bincount(pair[begins], minlength=size)


@register
@dataclass(frozen=True, kw_only=True)
class Meteor(PairMetric):
    """How many words of both texts match, in meaning too, and how well their order is kept.

    Left words are matched with right ones, each once: equal words, then words of equal stem, then synonyms of WordNet;
    `stages` sets how far to go, and only `synonym` needs the resource. With precision P = matches / left words and
    recall R = matches / right words, the value is PR / (αP + (1−α)R) · (1 − γ·fragmentation^β), where fragmentation is
    the number of runs of matches that are neighbours on both sides, divided by the matches (1 if there are none).

    `perfect=one`: texts that match wholly in one run have fragmentation 0, as in METEOR 1.5; `penalised`: they have
    1 / matches as others, and then the value equals nltk's. `lookup=stems` looks the synonyms of stems up, as nltk
    does; `words` those of the words themselves, as METEOR 1.5, which finds more (`purchase` is in WordNet, its stem is
    not). Two texts without words score 1 (0 with `penalised`), one without words 0.

    Source: Banerjee and Lavie 2005, Lavie and Agarwal 2007; METEOR 1.5: Denkowski and Lavie 2014.
    """

    name = "meteor"
    label = "METEOR"
    source = "Banerjee & Lavie 2005; Lavie & Agarwal 2007"
    needs = "tokens"
    default_on = "words"
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"), Part("fragmentation"))
    symmetric = False
    ranges = (Range("alpha", 0, 1), Range("beta", 0), Range("gamma", 0, 1))

    stages: Literal["exact", "stem", "synonym"] = "synonym"
    lookup: Literal["stems", "words"] = "stems"
    perfect: Literal["one", "penalised"] = "one"
    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5

    def input_identity(self) -> list[str]:
        from textgauge.encode.wordnet import identify_wordnet

        return [f"wordnet={identify_wordnet()}"] if self.stages == "synonym" else []

    def compute(self, pairs: Pairs) -> Columns:
        tokens = pairs.left.pool.tokens(self.on)
        left, right = tokens.lengths[pairs.left.index], tokens.lengths[pairs.right.index]
        counts = self._counts(pairs, tokens, left + right)
        return self._scores(counts[0].astype(float), counts[1].astype(float), left.astype(float), right.astype(float))

    def _counts(self, pairs: Pairs, tokens: Tokens, lengths: Ints) -> Ints:
        """Matches and chunks of each pair, as two rows."""
        rows = np.unique(np.concatenate([pairs.left.index, pairs.right.index]))
        words = number_words(tokens.vocabulary, np.unique(tokens.take(rows).ids))
        looked_up = words.stems if self.lookup == "stems" else words.words
        relation = find_synonyms(looked_up) if self.stages == "synonym" else None
        counts = np.zeros((2, len(pairs)), dtype=np.int64)
        for block in split_into_runs(lengths, _BLOCK_WORDS):
            left, right = (_make_side(tokens, rows[block], words) for rows in (pairs.left.index, pairs.right.index))
            counts[:, block] = self._block_counts(left, right, words, relation, block.stop - block.start)
        return counts

    def _block_counts(self, left: Side, right: Side, words: WordNumbers, relation: Relation | None, size: int) -> Ints:
        first, second = self._matches(left, right, words, relation)
        pair = left.pair[first]
        return np.stack([np.bincount(pair, minlength=size), count_chunks(first, second, pair, size)])

    def _matches(self, left: Side, right: Side, words: WordNumbers, relation: Relation | None) -> tuple[Ints, Ints]:
        found = [match_same_words(left, right)]
        if self.stages != "exact":
            left, right = left.without(found[0][0]), right.without(found[0][1])
            stems = left.renamed(words.stem), right.renamed(words.stem)
            found.append(match_same_words(*stems))
            if relation is not None:
                left, right = stems if self.lookup == "stems" else (left, right)
                found.append(match_related_words(left.without(found[1][0]), right.without(found[1][1]), relation))
        return np.concatenate([both[0] for both in found]), np.concatenate([both[1] for both in found])

    def _scores(self, matches: Floats, chunks: Floats, left: Floats, right: Floats) -> Columns:
        some = matches > 0
        precision, recall = (np.divide(matches, size, out=np.zeros(len(size)), where=some) for size in (left, right))
        fragmentation = np.divide(chunks, matches, out=np.ones(len(matches)), where=some)
        if self.perfect == "one":
            fragmentation[(matches == left) & (matches == right) & (chunks <= 1)] = 0.0
            nothing = (left == 0) & (right == 0)
            precision[nothing] = recall[nothing] = 1.0
        weight = self.alpha * precision + (1 - self.alpha) * recall
        mean = np.divide(precision * recall, weight, out=np.zeros(len(weight)), where=weight > 0)
        value = (1 - self.gamma * fragmentation**self.beta) * mean
        return {VALUE: value, "precision": precision, "recall": recall, "fragmentation": fragmentation}


def _make_side(tokens: Tokens, rows: Ints, words: WordNumbers) -> Side:
    chosen = tokens.take(rows)
    pair = np.repeat(np.arange(len(rows)), chosen.lengths)
    return Side(pair, words.of_token[chosen.ids], np.arange(len(pair)))


@dataclass(frozen=True)
class Side:
    """The words of one side of many pairs: number of the pair, of the word, and its place in the flat order."""

    pair: Ints
    word: Ints
    place: Ints

    def take(self, chosen: Ints | NDArray[np.bool_]) -> Side:
        """Return a selection of the words."""
        return Side(self.pair[chosen], self.word[chosen], self.place[chosen])

    def renamed(self, names: Ints) -> Side:
        """Return the same places with other numbers for the words."""
        return Side(self.pair, names[self.word], self.place)

    def without(self, places: Ints) -> Side:
        """Return the words at other places than these."""
        return self.take(~np.isin(self.place, places, assume_unique=True))


def match_same_words(left: Side, right: Side) -> tuple[Ints, Ints]:
    """Match equal words; gives the places of both partners.

    >>> side = Side(np.zeros(3, np.int64), np.array([7, 8, 7]), np.arange(3))
    >>> [places.tolist() for places in match_same_words(side, side.take(np.array([1, 2])))]
    [[2, 1], [2, 1]]
    """
    keys = np.concatenate([_join(left), _join(right)])
    _, dense = np.unique(keys, return_inverse=True)
    sides = dense[: len(left.word)], dense[len(left.word) :]
    mine, yours = (_count_from_the_end(side) + len(keys) * side for side in sides)
    _, first, second = np.intersect1d(mine, yours, assume_unique=True, return_indices=True)
    return left.place[first], right.place[second]


def _join(side: Side) -> Ints:
    return side.pair << 32 | side.word


def _count_from_the_end(keys: Ints) -> Ints:
    """For each key, how many equal ones come after it."""
    order = np.argsort(keys[::-1], kind="stable")
    ranked = keys[::-1][order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    counts = np.arange(len(keys)) - np.repeat(starts, np.diff(starts, append=len(keys)))
    found = np.empty(len(keys), dtype=np.int64)
    found[order] = counts
    return found[::-1]


@dataclass(frozen=True)
class Relation:
    """For word w the related words `words[offsets[w]:offsets[w + 1]]`."""

    words: Ints
    offsets: Ints

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Relation:
        """From one list of related words per word."""
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(np.array([word for row in rows for word in row], dtype=np.int64), offsets)


def match_related_words(left: Side, right: Side, relation: Relation) -> tuple[Ints, Ints]:
    """Match words of the left with related words of the right; gives the places of both partners."""
    starts, ends = relation.offsets[left.word], relation.offsets[left.word + 1]
    owner, at = _spread(starts, ends)
    wanted = left.pair[owner] << 32 | relation.words[at]
    keys = _join(right)
    order = np.argsort(keys, kind="stable")
    edge, at = _spread(np.searchsorted(keys[order], wanted), np.searchsorted(keys[order], wanted, side="right"))
    return _choose_greedily(left.place[owner[edge]], right.place[order[at]])


def _spread(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return all numbers of the ranges one after the other, each with the number of its range."""
    lengths = ends - starts
    owner = np.repeat(np.arange(len(starts)), lengths)
    before = np.cumsum(lengths) - lengths
    return owner, np.arange(len(owner)) + np.repeat(starts - before, lengths)


def _choose_greedily(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """From the last places to the first, keep an edge if both its ends are free."""
    order = np.lexsort((right, left))[::-1]
    used: set[int] = set()
    kept: dict[int, int] = {}
    for first, second in zip(left[order].tolist(), right[order].tolist(), strict=True):
        if first not in kept and second not in used:
            kept[first] = second
            used.add(second)
    return np.array(list(kept), dtype=np.int64), np.array(list(kept.values()), dtype=np.int64)
