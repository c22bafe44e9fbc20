"""Built-in articles: news from a grammar, with summaries of known worth and comparisons of them.

Every sentence is our own (CC0). A summary states the gist in other words than the article. The graded ones are: good;
wrong, with one of four facts changed; thin, which says too little; jumbled, with its words in disorder; and one of an
article on another topic.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations

from textgauge.data.samples import grammar
from textgauge.data.samples.grammar import Template, Writer, parse, pick
from textgauge.data.tasks.card import ClusteringTexts, ComparedSummaries, Documents, RatedSummaries, RetrievalSet

NAME = "sample:articles"
# What each kind of summary is worth: overall, accuracy, coverage, coherence.
GRADES = {
    "good": (5.0, 5.0, 5.0, 5.0),
    "wrong": (4.0, 3.0, 5.0, 5.0),
    "thin": (3.0, 5.0, 2.0, 5.0),
    "jumbled": (2.0, 3.0, 3.0, 1.0),
    "elsewhere": (1.0, 1.0, 1.0, 5.0),
}
_ASPECTS = ("overall", "accuracy", "coverage", "coherence")
_PER_TOPIC = 10
_FEWEST_DETAILS = 2
LIBRARY = "sample:library"
INTENTS = "sample:intents"
_PER_LABEL = 40
_LABELS_PER_DOMAIN = 3


@dataclass(frozen=True)
class Topic:
    """What articles of one kind are written from; a group holds wordings of one sentence."""

    name: str
    slots: dict[str, tuple[Template, ...]]
    lead: tuple[Template, ...]
    body: tuple[tuple[Template, ...], ...]
    details: tuple[tuple[Template, ...], ...]
    summary: tuple[Template, ...]
    thin: tuple[Template, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Article:
    """One article, its summary, and a summary of each grade."""

    name: str
    sentences: tuple[str, ...]
    summary: str
    graded: dict[str, str]

    @property
    def text(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)


def article_documents() -> Documents:
    """The articles with one summary each."""
    found = articles()
    return Documents(NAME, *_columns([(article.name, article.text, article.summary) for article in found]))


def article_ratings() -> RatedSummaries:
    """The articles with a summary of each grade."""
    rows = [(article, kind) for article in articles() for kind in GRADES]
    ids, texts, summaries = _columns([(article.name, article.text, article.graded[kind]) for article, kind in rows])
    ratings = {aspect: tuple(GRADES[kind][n] for _, kind in rows) for n, aspect in enumerate(_ASPECTS)}
    return RatedSummaries(NAME, ids, texts, summaries, ratings)


def article_comparisons() -> ComparedSummaries:
    """Every two graded summaries of an article; the better one stands first or second by chance."""
    rng = random.Random("articles: comparisons")  # noqa: S311
    rows = []
    for article in articles():
        for better, worse in combinations(GRADES, 2):
            chosen = int(rng.random() * 2)
            pair = [article.graded[better], article.graded[worse]]
            rows.append((article.name, article.text, pair[chosen], pair[1 - chosen], chosen))
    ids, texts, first, second, chosen_ones = zip(*rows, strict=True)
    return ComparedSummaries(NAME, ids, texts, first, second, chosen_ones)


@cache
def articles() -> tuple[Article, ...]:
    """All articles, topic by topic."""
    topics = _topics()
    drafts = [[_draft(topic, n) for n in range(_PER_TOPIC)] for topic in topics]
    found = []
    for t, group in enumerate(drafts):
        other = drafts[(t + 1) % len(topics)]
        found += [_with_elsewhere(article, other[n].graded["good"]) for n, article in enumerate(group)]
    return tuple(found)


def _with_elsewhere(article: Article, summary: str) -> Article:
    return Article(article.name, article.sentences, article.summary, {**article.graded, "elsewhere": summary})


def _draft(topic: Topic, n: int) -> Article:
    rng = random.Random(f"articles: {topic.name} {n}")  # noqa: S311
    writer = Writer({}, lambda values: pick(topic.slots[values], rng), rng)
    bound: dict[str, str] = {}
    sentences = tuple(_sentence(writer, group, bound) for group in _plan(topic, rng))
    first, second = _two(topic.summary, rng)
    good = _sentence(writer, (second,), bound)
    graded = {
        "good": good,
        "wrong": _sentence(writer, (second,), _falsified(topic, bound, rng)),
        "thin": _sentence(writer, topic.thin, bound),
        "jumbled": _jumbled(good, rng),
    }
    return Article(f"{topic.name}-{n + 1}", sentences, _sentence(writer, (first,), bound), graded)


def _plan(topic: Topic, rng: random.Random) -> list[tuple[Template, ...]]:
    """The lead, then the body in order with some details anywhere between."""
    groups = list(topic.body)
    spare = list(topic.details)
    count = _FEWEST_DETAILS + int(rng.random() * (len(spare) - _FEWEST_DETAILS + 1))
    for _ in range(count):
        detail = spare.pop(int(rng.random() * len(spare)))
        groups.insert(int(rng.random() * (len(groups) + 1)), detail)
    return [topic.lead, *groups]


def _sentence(writer: Writer, wordings: Sequence[Template], bound: dict[str, str]) -> str:
    """One wording written out, each sentence of it with a capital."""
    parts = writer.write(pick(wordings, writer.rng), bound).split(". ")
    return ". ".join(part[0].upper() + part[1:] for part in parts)


def _two(wordings: Sequence[Template], rng: random.Random) -> tuple[Template, Template]:
    left = list(wordings)
    first = left.pop(int(rng.random() * len(left)))
    return first, pick(left, rng)


def _falsified(topic: Topic, bound: dict[str, str], rng: random.Random) -> dict[str, str]:
    """The values without one of the facts, to be drawn again; the true one stays under another name and is avoided."""
    changed = pick(topic.facts, rng)
    return {f"true {name}" if name == changed else name: value for name, value in bound.items()}


def _jumbled(text: str, rng: random.Random) -> str:
    return " ".join(sorted(text.split(), key=lambda _: rng.random()))


@cache
def _topics() -> tuple[Topic, ...]:
    source = tomllib.loads((files("textgauge.data.samples") / "grammars" / "articles.toml").read_text("utf-8"))
    return tuple(
        Topic(
            name,
            {slot: _parsed(values) for slot, values in topic["slots"].items()},
            _parsed(topic["lead"]),
            tuple(map(_parsed, topic["body"])),
            tuple(map(_parsed, topic["details"])),
            _parsed(topic["summary"]),
            _parsed(topic["thin"]),
            tuple(topic["facts"]),
        )
        for name, topic in source.items()
    )


def _parsed(wordings: Sequence[str]) -> tuple[Template, ...]:
    return tuple(map(parse, wordings))


def _columns(rows: Sequence[tuple[str, str, str]]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    first, second, third = zip(*rows, strict=True)
    return first, second, third


def library() -> RetrievalSet:
    """Notes of a household library with questions in other words; one to three notes answer a question."""
    source = tomllib.loads((files("textgauge.data.samples") / "grammars" / "library.toml").read_text("utf-8"))
    texts: dict[str, str] = {}
    queries: dict[str, str] = {}
    relevant: dict[str, frozenset[str]] = {}
    for n, subject in enumerate(source["subjects"], 1):
        answers = subject.get("answers", [])
        notes = {f"note-{n}-{k}": text for k, text in enumerate((*answers, *subject["near"]), 1)}
        texts |= notes
        if answers:
            queries[f"question-{n}"] = subject["query"]
            relevant[f"question-{n}"] = frozenset(list(notes)[: len(answers)])
    return RetrievalSet(LIBRARY, tuple(texts), tuple(texts.values()), tuple(queries), tuple(queries.values()), relevant)


def intents() -> ClusteringTexts:
    """The first three intents of each domain of the built-in grammars, forty texts each, as `domain/intent`."""
    rows = [row for domain in grammar.DOMAINS for row in _of_domain(domain)]
    texts, labels = zip(*rows, strict=True)
    return ClusteringTexts(INTENTS, texts, labels)


def _of_domain(domain: str) -> list[tuple[str, str]]:
    source = grammar.load(domain)
    found: dict[str, list[str]] = {intent: [] for intent in list(source.intents)[:_LABELS_PER_DOMAIN]}
    for text, intent in grammar.texts(source, seed=0):
        if intent in found and len(found[intent]) < _PER_LABEL:
            found[intent].append(text)
        if all(len(texts) == _PER_LABEL for texts in found.values()):
            break
    return [(text, f"{domain}/{intent}") for intent, texts in found.items() for text in texts]
