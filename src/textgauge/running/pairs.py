"""Pairs of a run: a table, sample or dataset, or the texts and ratings themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textgauge.corpus import Corpus
from textgauge.errors import InputError
from textgauge.protocols import PairSources

Spec = str | os.PathLike[str] | PairSources


def pairs_of(
    pairs: Spec | None,
    left: str | Sequence[str],
    right: str | Sequence[str],
    rating: str | Sequence[str] | Sequence[float] | None,
    others: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[str, str]]:
    """The options of pairs, of which `spec` names them or is them, and the columns of both sides."""
    if isinstance(left, str) and isinstance(right, str):
        return {**_named(pairs, rating), **others}, (left, right)
    if pairs is not None or isinstance(left, str) or isinstance(right, str):
        raise InputError("--left and --right are columns of --pairs, or both are texts and there are no --pairs")
    return {"spec": given_pairs(left, right, rating), **others}, ("left", "right")


def _named(pairs: Spec | None, rating: str | Sequence[str] | Sequence[float] | None) -> dict[str, Any]:
    ratings = [rating] if isinstance(rating, str) else list(rating or [])
    if not all(isinstance(column, str) for column in ratings):
        raise InputError("--rating names columns of --pairs, or has numbers beside texts as --left and --right")
    spec = pairs if pairs is None or isinstance(pairs, PairSources) else os.fspath(pairs)
    return {name: value for name, value in (("spec", spec), ("ratings", ratings)) if value}


def given_pairs(left: Sequence[str], right: Sequence[str], rating: Any = None) -> PairSources:
    """Pairs of texts, with a rating of each where there are some.

    >>> given_pairs(["a cat", "a dog"], ["one cat", "a cow"], [3, 1]).columns["rating"].tolist()
    [3.0, 1.0]
    """
    sides = Corpus.of(left), Corpus.of(right)
    if len(sides[0]) != len(sides[1]):
        raise InputError(f"pairs need as many left texts as right ones, not {len(sides[0])} and {len(sides[1])}")
    return PairSources("pairs", *sides, {} if rating is None else {"rating": _numbers(rating, len(sides[0]))})


def _numbers(rating: Any, count: int) -> Any:
    try:
        numbers = np.array(rating, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("ratings of texts that are given are numbers, one for each pair") from None
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InputError(f"{count} pairs need {count} finite ratings")
    return numbers
