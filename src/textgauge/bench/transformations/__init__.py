"""Transformations: seeded changes of a text that keep its meaning, change it, or change it by degrees.

pieces     grapheme clusters, tokens, sentences; what a transformation is, chains, all by name
changes    the transformations; insert, remove, fits
"""

from textgauge.bench.transformations.changes import NEEDLE, PLACES, Place, fits, insert, remove
from textgauge.bench.transformations.pieces import (
    TRANSFORMATIONS,
    Meaning,
    Transformation,
    compose,
    get_transformation,
    pieces,
    register,
)

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
