"""Built-in data of the tasks; every sentence is written for this package (CC0).

The articles are news, with summaries that state the gist in other words. The graded ones are: good; wrong, with one of
four facts changed; thin, which says too little; jumbled, with its words in disorder; and one of an article on another
topic. The library holds notes on a household with questions.
"""

from __future__ import annotations

import random
import tomllib
from itertools import combinations

from textgauge.data.formats import read_table
from textgauge.data.samples import DOMAINS, FOLDER, sample
from textgauge.data.tables import TextTable
from textgauge.data.tasks.card import ClusteringTexts, ComparedSummaries, Documents, RatedSummaries, RetrievalSet

ARTICLES, LIBRARY, INTENTS = "sample:articles", "sample:library", "sample:intents"
# What each kind of summary is worth: overall, accuracy, coverage, coherence.
GRADES = {
    "good": (5.0, 5.0, 5.0, 5.0),
    "wrong": (4.0, 3.0, 5.0, 5.0),
    "thin": (3.0, 5.0, 2.0, 5.0),
    "jumbled": (2.0, 3.0, 3.0, 1.0),
    "elsewhere": (1.0, 1.0, 1.0, 5.0),
}
_ASPECTS = ("overall", "accuracy", "coverage", "coherence")
_PER_LABEL = 40
_CLUSTERED = {
    "banking": ("card_delivery", "lost_card", "declined_payment"),
    "cooking": ("preheat", "chop", "fry"),
    "support": ("crash", "login", "slow"),
    "travel": ("find_flight", "train", "hotel"),
}


def load_article_documents() -> Documents:
    """Return the articles with one summary each."""
    columns = _read_articles().columns
    return Documents(ARTICLES, *(tuple(columns[name]) for name in ("name", "text", "summary")))


def load_article_ratings() -> RatedSummaries:
    """Return the articles with a summary of each grade."""
    columns = _read_articles().columns
    rows = [(place, kind) for place in range(len(columns["name"])) for kind in GRADES]
    ids, texts = (tuple(columns[name][place] for place, _ in rows) for name in ("name", "text"))
    summaries = tuple(columns[kind][place] for place, kind in rows)
    ratings = {aspect: tuple(GRADES[kind][n] for _, kind in rows) for n, aspect in enumerate(_ASPECTS)}
    return RatedSummaries(ARTICLES, ids, texts, summaries, ratings)


def load_article_comparisons() -> ComparedSummaries:
    """Return every two graded summaries of an article; the better one stands first or second by chance."""
    columns = _read_articles().columns
    rng = random.Random("articles: comparisons")  # noqa: S311
    rows = []
    for place, (name, text) in enumerate(zip(columns["name"], columns["text"], strict=True)):
        for better, worse in combinations(GRADES, 2):
            chosen = int(rng.random() * 2)
            pair = [columns[better][place], columns[worse][place]]
            rows.append((name, text, pair[chosen], pair[1 - chosen], chosen))
    return ComparedSummaries(ARTICLES, *zip(*rows, strict=True))


def load_library() -> RetrievalSet:
    """Return notes of a household library with questions in other words; one to three notes answer a question."""
    source = tomllib.loads((FOLDER / "library.toml").read_text("utf-8"))
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


def load_intents() -> ClusteringTexts:
    """Return the first forty texts of three intents of each domain, labelled `domain/intent`."""
    rows = []
    for domain in DOMAINS:
        corpus = sample(domain)
        for intent in _CLUSTERED[domain]:
            texts = [text for text, label in zip(corpus.texts, corpus.labels or (), strict=True) if label == intent]
            rows += [(text, f"{domain}/{intent}") for text in texts[:_PER_LABEL]]
    return ClusteringTexts(INTENTS, *zip(*rows, strict=True))


def _read_articles() -> TextTable:
    return read_table(FOLDER / "articles.csv.gz")
