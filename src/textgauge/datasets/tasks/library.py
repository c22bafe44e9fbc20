"""Built-in short sets for clustering and retrieval: intents from the grammars, and a library of household notes."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from textgauge.datasets import grammar
from textgauge.datasets.tasks.card import LabelledTexts, Retrieval

LIBRARY = "sample:library"
INTENTS = "sample:intents"
_PER_LABEL = 40
_LABELS_PER_DOMAIN = 3


def library() -> Retrieval:
    """Notes of a household library with questions in other words; one to three notes answer a question."""
    source = tomllib.loads((files("textgauge.datasets") / "grammars" / "library.toml").read_text("utf-8"))
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
    return Retrieval(LIBRARY, tuple(texts), tuple(texts.values()), tuple(queries), tuple(queries.values()), relevant)


def intents() -> LabelledTexts:
    """The first three intents of each domain of the built-in grammars, forty texts each, as `domain/intent`."""
    rows = [row for domain in grammar.DOMAINS for row in _of_domain(domain)]
    texts, labels = zip(*rows, strict=True)
    return LabelledTexts(INTENTS, texts, labels)


def _of_domain(domain: str) -> list[tuple[str, str]]:
    source = grammar.load(domain)
    found: dict[str, list[str]] = {intent: [] for intent in list(source.intents)[:_LABELS_PER_DOMAIN]}
    for text, intent in grammar.texts(source, seed=0):
        if intent in found and len(found[intent]) < _PER_LABEL:
            found[intent].append(text)
        if all(len(texts) == _PER_LABEL for texts in found.values()):
            break
    return [(text, f"{domain}/{intent}") for intent, texts in found.items() for text in texts]
