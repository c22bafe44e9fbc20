"""METEOR: words matched exactly, by stem and by synonym, and a penalty for matches in another order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.data import Pairs
from textgauge.encode.languages import stem_porter
from textgauge.encode.wordnet import identify_wordnet, load_thesaurus
from textgauge.metrics.base import VALUE, Part, Range
from textgauge.metrics.pair_metric import Columns, PairMetric, divide
from textgauge.metrics.registry import register

Stage = dict[str, tuple[str, Collection[str]]]  # of each word the key it is found by, and the keys that it matches


def find_synonyms(words: Collection[str]) -> dict[str, set[str]]:
    """Return for each word the other words among these that WordNet has as its synonyms."""
    table = load_thesaurus()
    members: dict[int, list[str]] = {}
    for word in words:
        for group in table.get_groups_with(word):
            members.setdefault(group, []).append(word)
    return {
        word: {other for group in table.get_groups_of(word) for other in members.get(group, ())} - {word}
        for word in words
    }


def match_words(left: Sequence[str], right: Sequence[str], stages: Iterable[Stage]) -> list[tuple[int, int]]:
    """Match words, each once, from the last to the first; gives the places of both partners in the order of the left.

    >>> match_words("a b a".split(), "b a".split(), [{"a": ("a", "a"), "b": ("b", "b")}])
    [(1, 0), (2, 1)]
    """
    found: dict[int, int] = {}
    for stage in stages:
        open_places: dict[str, list[int]] = {}
        taken = set(found.values())
        for place, word in enumerate(right):
            if place not in taken:
                open_places.setdefault(stage[word][0], []).append(place)
        for place in range(len(left) - 1, -1, -1):
            if place not in found:
                partners = [places for key in stage[left[place]][1] if (places := open_places.get(key))]
                if partners:
                    found[place] = max(partners, key=lambda places: places[-1]).pop()
    return sorted(found.items())


_BEAM = 40  # partial alignments that are kept, as METEOR 1.5 does


def align_words(left: Sequence[str], right: Sequence[str], stages: Sequence[Stage]) -> list[tuple[int, int]]:
    """Match words, each once, in any stage: the most matches, then the fewest runs, then the least distance of places.

    >>> equal = {word: (word, (word,)) for word in ("he", "laughed")}
    >>> align_words(["he", "he", "laughed", "he"], ["he", "laughed"], [equal])
    [(1, 0), (2, 1)]
    """
    options: list[list[int]] = []
    for word in left:
        keys = [(stage, set(stage[word][1])) for stage in stages]
        options.append([at for at, other in enumerate(right) if any(stage[other][0] in own for stage, own in keys)])
    # Less matches, runs, distance, places taken on the right, and the matches themselves.
    beam: list[tuple[int, int, int, int, tuple[tuple[int, int], ...]]] = [(0, 0, 0, 0, ())]
    for place, partners in enumerate(options):
        if not partners:
            continue
        found = {(taken, matches[-1:]): state for state in beam for *_, taken, matches in [state]}
        for less, runs, away, taken, matches in beam:
            for at in partners:
                if not taken >> at & 1:
                    new = matches[-1:] != ((place - 1, at - 1),)
                    state = (less - 1, runs + new, away + abs(place - at), taken | 1 << at, (*matches, (place, at)))
                    key = (state[3], state[4][-1:])
                    found[key] = min(found.get(key, state), state)
        beam = sorted(found.values())[:_BEAM]
    return list(beam[0][-1])


def count_chunks(matches: Sequence[tuple[int, int]]) -> int:
    """Count the runs of matches that are neighbours on both sides.

    >>> count_chunks([(0, 4), (1, 5), (2, 3)])
    2
    """
    breaks = sum((a + 1, b + 1) != after for (a, b), after in pairwise(matches))
    return breaks + 1 if matches else 0


@register
class Meteor(PairMetric):
    """How many words of both texts match, in meaning too, and how well their order is kept.

    Left words are matched with right ones, each once: equal words, then words of equal stem, then synonyms of WordNet;
    `stages` sets how far to go, and only `synonym` needs the resource. With precision P = matches / left words and
    recall R = matches / right words, the value is PR / (αP + (1−α)R) · (1 − γ·fragmentation^β), where fragmentation is
    the number of runs of matches that are neighbours on both sides, divided by the matches (1 if there are none).

    `perfect=one`: texts that match wholly in one run have fragmentation 0, as in METEOR 1.5; `penalised`: they have
    1 / matches as others, and then the value equals nltk's. `lookup=stems` looks the synonyms of stems up, as nltk
    does; `words` those of the words themselves, as METEOR 1.5, which finds more (`purchase` is in WordNet, its stem is
    not). `alignment=fewest` looks for the matching with the most matches and the fewest runs, in all stages at once, as
    METEOR 1.5 does; `last` takes the last open word stage by stage, as nltk does, and may find more runs where words
    repeat. Two texts without words score 1 (0 with `penalised`), one without words 0.

    Source: Banerjee and Lavie 2005, Lavie and Agarwal 2007; METEOR 1.5: Denkowski and Lavie 2014.
    """

    name, label, source = "meteor", "METEOR", "Banerjee & Lavie 2005; Lavie & Agarwal 2007"
    needs, default_on = "tokens", "words"
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"), Part("fragmentation"))
    symmetric = False
    ranges = (Range("alpha", 0, 1), Range("beta", 0), Range("gamma", 0, 1))

    stages: Literal["exact", "stem", "synonym"] = "synonym"
    lookup: Literal["stems", "words"] = "stems"
    alignment: Literal["last", "fewest"] = "last"
    perfect: Literal["one", "penalised"] = "one"
    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5

    def input_identity(self) -> list[str]:
        return [f"wordnet={identify_wordnet()}"] if self.stages == "synonym" else []

    def compute(self, pairs: Pairs) -> Columns:
        tokens = pairs.left.pool.tokens(self.on)
        rows = np.unique(np.concatenate([pairs.left.index, pairs.right.index]))
        words = {token: tokens.vocabulary[token].lower() for token in np.unique(tokens.take(rows).ids).tolist()}
        texts = {row: [words[token] for token in tokens[row].tolist()] for row in rows.tolist()}
        stages, counts = self._list_stages(set(words.values())), np.zeros((4, len(pairs)))
        for number, sides in enumerate(zip(pairs.left.index.tolist(), pairs.right.index.tolist(), strict=True)):
            left, right = (texts[row] for row in sides)
            matches = (match_words if self.alignment == "last" else align_words)(left, right, stages)
            counts[:, number] = len(matches), count_chunks(matches), len(left), len(right)
        return self._compute_scores(*counts)

    def _list_stages(self, words: set[str]) -> list[Stage]:
        stages: list[Stage] = [{word: (word, (word,)) for word in words}]
        if self.stages != "exact":
            stems = {word: stem_porter(word) for word in words}
            stages.append({word: (stem, (stem,)) for word, stem in stems.items()})
        if self.stages == "synonym":
            keys = stems if self.lookup == "stems" else {word: word for word in words}
            synonyms = find_synonyms(set(keys.values()))
            stages.append({word: (key, synonyms[key]) for word, key in keys.items()})
        return stages

    def _compute_scores(self, matches: Floats, chunks: Floats, left: Floats, right: Floats) -> Columns:
        precision, recall = divide(matches, left), divide(matches, right)
        fragmentation = np.where(matches > 0, divide(chunks, matches), 1.0)
        if self.perfect == "one":
            fragmentation[(matches == left) & (matches == right) & (chunks <= 1)] = 0.0
            nothing = (left == 0) & (right == 0)
            precision[nothing] = recall[nothing] = 1.0
        mean = divide(precision * recall, self.alpha * precision + (1 - self.alpha) * recall)
        value = (1 - self.gamma * fragmentation**self.beta) * mean
        return {VALUE: value, "precision": precision, "recall": recall, "fragmentation": fragmentation}
