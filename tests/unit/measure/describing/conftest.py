"""Backends without models: letters as meaning, exclamation marks as errors, length as surprise."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from tests.toys import Letters

from textgauge.encode.embedders import EMBEDDERS
from textgauge.encode.encoders import Encoder


class Marks:
    name, signature = "marks", "marks(1)"

    def errors(self, texts):
        return np.array([text.count("!") for text in texts], dtype=np.int64)

    def lengths(self, texts):
        return np.array([len(text.split()) for text in texts], dtype=np.int64)


class Lengths:
    name = "lengths"

    def __init__(self, representative):
        self.signature = f"lengths({len(representative or ())})"

    def surprise(self, texts):
        words = [text.split() for text in texts]
        nats = np.array([float(sum(map(len, one))) for one in words])
        return nats, np.array([len(one) for one in words], dtype=np.int64)


@pytest.fixture(autouse=True)
def backends(monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_NO_CACHE", "1")
    monkeypatch.setitem(EMBEDDERS, "letters", Encoder(Letters))
    models = SimpleNamespace(get_language_model=lambda name, *, representative=None: Lengths(representative))
    monkeypatch.setitem(sys.modules, "textgauge.encode.grammar", SimpleNamespace(get_grammar_checker=lambda _: Marks()))
    monkeypatch.setitem(sys.modules, "textgauge.encode.language_models", models)
