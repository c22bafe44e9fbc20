"""Transformations: seeded changes of a text that keep its meaning, change it, or change it by degrees.

base       what a transformation is; chains; randomness
registry   all of them by name
pieces     grapheme clusters, tokens, sentences
letters    capitals, dropped_letters, digits, typos        meaning kept
synonyms   synonyms                                        meaning kept
order      word_order (kept), sentence_shuffle and word_shuffle (changed)
negation   negation                                        meaning changed
facts      entity_swap, number_change                      meaning changed
needles    insert, remove, fits; needle_insertion, chunk_removal: graded
"""

from textgauge.protocols.transformations.base import Meaning, Transformation, compose
from textgauge.protocols.transformations.needles import NEEDLE, PLACES, Place, fits, insert, remove
from textgauge.protocols.transformations.pieces import pieces
from textgauge.protocols.transformations.registry import (
    SEMANTIC,
    SUPERFICIAL,
    TRANSFORMATIONS,
    get_transformation,
    register,
)

__all__ = [
    "NEEDLE",
    "PLACES",
    "SEMANTIC",
    "SUPERFICIAL",
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
