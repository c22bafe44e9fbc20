"""Every built-in embedder and property against its contract, and broken ones that it catches."""

from dataclasses import replace

import numpy as np
import pytest

from textgauge import get_metric
from textgauge.encode.embedders import embedder
from textgauge.metrics.properties import PropertyValue, list_properties
from textgauge.testing import check_embedder, check_metric, check_property
from textgauge.testing.embedder_checks import EMBEDDER_CHECKS
from textgauge.testing.property_checks import PROPERTY_CHECKS


@pytest.mark.parametrize("check", PROPERTY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("known", list_properties(), ids=lambda known: known.name)
def test_properties(known, check):
    check(known)


@pytest.mark.parametrize("check", EMBEDDER_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ["minilm", "minilm-int8", "paraphrase-minilm", "wordllama", "whole:minilm"])
def test_embedders(name, check):
    check(embedder(name))


class Lengths:
    """A sound embedder: the length of a text, and its number of vowels."""

    name = identity = "lengths"
    dimension = 2

    def encode(self, texts, *, batch_size=1, progress=None):
        rows = [[len(text), sum(text.count(vowel) for vowel in "aeiou")] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), 2)


class Ranks(Lengths):
    """Its vectors depend on the other texts."""

    def encode(self, texts, **options):
        return super().encode(texts, **options) + np.arange(len(texts), dtype=np.float32)[:, None]


class Inverse(Lengths):
    """It divides by the length of a text, which may be 0."""

    def encode(self, texts, **options):
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 / super().encode(texts, **options)


class Narrow(Lengths):
    """It gives fewer numbers than it declares."""

    def encode(self, texts, **options):
        return super().encode(texts, **options)[:, :1]


def test_a_broken_embedder_is_caught():
    check_embedder(Lengths())
    with pytest.raises(AssertionError, match="other vectors"):
        check_embedder(Ranks())
    with pytest.raises(AssertionError, match="not finite"):
        check_embedder(Inverse())
    with pytest.raises(AssertionError, match="shape"):
        check_embedder(Narrow())


def test_a_broken_property_is_caught():
    known = next(known for known in list_properties() if known.name == "unique")
    check_property(known)
    with pytest.raises(AssertionError, match="outside"):
        check_property(replace(known, compute=lambda *_: PropertyValue(2.0)))
    with pytest.raises(AssertionError, match="misses its own interval"):
        check_property(replace(known, compute=lambda *_: PropertyValue(0.5, 0.6, 0.7)))
    with pytest.raises(AssertionError, match="in another order"):
        check_property(replace(known, compute=lambda found, _: PropertyValue(len(found.corpus.texts[0]) / 100)))


def test_expected_failures_are_named_and_must_fail():
    check_embedder(Ranks(), expected_failures={"check_row_law": "ranks depend on the other texts"})
    with pytest.raises(AssertionError, match="was expected to fail"):
        check_embedder(Lengths(), expected_failures={"check_row_law": "it does not"})
    with pytest.raises(AssertionError, match="no such check"):
        check_metric(get_metric("jaccard"), expected_failures={"check_nothing": "a slip"})
