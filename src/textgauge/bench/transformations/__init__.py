"""Transformations: seeded changes of a text that keep its meaning, change it, or change it by degrees.

pieces     grapheme clusters, tokens, sentences; what a transformation is; chains; make_generator
changes    capitals, dropped_letters, zeros, digits, typos, synonyms, word_order: meaning kept;
           sentence_shuffle, word_shuffle, entity_swap, number_change, negation: meaning changed;
           insert, remove, fits; needle_insertion, chunk_removal: graded
"""

from __future__ import annotations

from textgauge.bench.transformations.changes import (
    NEEDLE,
    PLACES,
    Place,
    capitals,
    chunk_removal,
    digits,
    dropped_letters,
    entity_swap,
    fits,
    insert,
    needle_insertion,
    negation,
    number_change,
    remove,
    sentence_shuffle,
    synonyms,
    typos,
    word_order,
    word_shuffle,
    zeros,
)
from textgauge.bench.transformations.pieces import Meaning, Transformation, compose, pieces
from textgauge.core.errors import InputError
from textgauge.core.registry import Registry

__all__ = [
    "NEEDLE",
    "PLACES",
    "TRANSFORMATIONS",
    "Meaning",
    "Place",
    "Transformation",
    "compose",
    "fits",
    "get_transformation",
    "insert",
    "pieces",
    "register",
    "remove",
]

TRANSFORMATIONS: Registry[Transformation] = Registry("transformation")


def register(transformation: Transformation) -> Transformation:
    """Make a transformation known by its name; a name in use, or one with `+`, is refused."""
    if not transformation.name or "+" in transformation.name:
        raise InputError("a transformation has a name without +, which joins names")
    return TRANSFORMATIONS.register(transformation)


def get_transformation(name: str) -> Transformation:
    """Give the transformation of that name, or `a+b`: the first and then the second.

    >>> get_transformation("digits")("See you soon"), get_transformation("typos+negation").meaning
    ('533 y0u 500n', 'changed')
    """
    parts = name.split("+")
    return compose(*(TRANSFORMATIONS[part] for part in parts)) if len(parts) > 1 else TRANSFORMATIONS[name]


for _known in (
    Transformation("capitals", "kept", capitals, 0.25, "some small letters as capitals"),
    Transformation("dropped_letters", "kept", dropped_letters, 0.1, "every tenth letter left out"),
    Transformation("zeros", "kept", zeros, 1.0, "the digit 0 for the letter o"),
    Transformation("digits", "kept", digits, 1.0, "digits for letters that look like them"),
    Transformation("typos", "kept", typos, 0.05, "letters exchanged, doubled or left out"),
    Transformation("synonyms", "kept", synonyms, 0.5, "words replaced by synonyms", needs=("wordnet",)),
    Transformation("word_order", "kept", word_order, 1.0, "clauses moved within their sentence"),
    Transformation("negation", "changed", negation, 1.0, "statements negated"),
    Transformation("sentence_shuffle", "changed", sentence_shuffle, 1.0, "sentences in another order"),
    Transformation("word_shuffle", "changed", word_shuffle, 1.0, "words in another order"),
    Transformation("entity_swap", "changed", entity_swap, 1.0, "names exchanged"),
    Transformation("number_change", "changed", number_change, 1.0, "numbers replaced by others"),
    Transformation("needle_insertion", "graded", needle_insertion, 0.25, "foreign words put in"),
    Transformation("chunk_removal", "graded", chunk_removal, 0.25, "a chunk taken out"),
):
    register(_known)
