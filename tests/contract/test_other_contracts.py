"""Every built-in embedder, property and protocol against its contract, and broken ones that it catches."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.contract.property_checks import check_property
from tests.contract.protocol_data import SMALL, case_of

from textgauge import get_metric
from textgauge.bench import Ksc, Verdict, list_protocols
from textgauge.bench.protocols import base as protocols
from textgauge.core.errors import ParameterError
from textgauge.encode.embedders import get_embedder
from textgauge.metrics.base import INFINITY, POSITIVE
from textgauge.metrics.properties import PropertyValue, list_properties
from textgauge.report.figures import KINDS
from textgauge.testing import check_embedder, check_metric, check_protocol
from textgauge.testing.protocol_checks import PROTOCOL_CHECKS


@pytest.mark.parametrize("known", list_properties(), ids=lambda known: known.name)
def test_properties(known):
    check_property(known)


@pytest.mark.parametrize("name", ["minilm", "minilm-int8", "paraphrase-minilm", "wordllama", "whole:minilm"])
def test_embedders(name):
    check_embedder(get_embedder(name))


@pytest.mark.parametrize("name", list_protocols())
def test_protocols(name):
    case = case_of(list_protocols()[name](**SMALL.get(name, {})))
    for check in PROTOCOL_CHECKS:
        check(case)


@pytest.mark.parametrize("kind", list_protocols().values(), ids=list_protocols())
def test_declarations_of_protocols(kind):
    made = kind()
    assert kind.heading
    assert kind.question.endswith("?")
    assert kind.data.about
    assert kind.measures
    assert made.metrics_for(kind.default_metrics, None)
    assert set(kind.figures) <= set(KINDS)
    assert kind.name in made.key
    assert made.title
    assert made.summary
    for name, least, most in kind.ranges:
        outside = [0 if least == POSITIVE else least - 1, *([most + 1] if most < INFINITY else [])]
        for value in outside:
            with pytest.raises(ParameterError, match=f"{name}={value} must be "):
                kind(**{name: value})


class Lengths:
    """A sound embedder: the length of a text, and its number of vowels."""

    name = identity = "lengths"
    dimension = 2

    def encode(self, texts, *, batch_size=1):
        rows = [[len(text), sum(text.count(vowel) for vowel in "aeiou")] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), 2)


def change_rows(change, **members):
    """An embedder like `Lengths`, whose rows are changed."""
    encode = {"encode": lambda self, texts, **_: change(Lengths.encode(self, texts))}
    return type("Changed", (Lengths,), encode | members)()


RANKS = change_rows(lambda rows: rows + np.arange(len(rows), dtype=np.float32)[:, None])
BROKEN_EMBEDDERS = {
    "other vectors": RANKS,
    "not finite": change_rows(lambda rows: 1 / rows),
    "shape": change_rows(lambda rows: rows[:, :1]),
    "same vector": change_rows(np.ones_like),
    "needs a name": change_rows(lambda rows: rows, name=""),
}


@pytest.mark.parametrize(("message", "broken"), BROKEN_EMBEDDERS.items(), ids=BROKEN_EMBEDDERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_broken_embedder_is_caught(message, broken):
    check_embedder(Lengths())
    with pytest.raises(AssertionError, match=message):
        check_embedder(broken)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("outside", {"compute": lambda *_: PropertyValue(2.0)}),
        ("is no name", {"name": "No name"}),
        ("misses its own interval", {"compute": lambda *_: PropertyValue(0.5, 0.6, 0.7)}),
        ("in another order", {"compute": lambda found, _: PropertyValue(len(found.corpus.texts[0]) / 100)}),
    ],
)
def test_a_broken_property_is_caught(message, change):
    known = next(known for known in list_properties() if known.name == "unique")
    check_property(known)
    with pytest.raises(AssertionError, match=message):
        check_property(replace(known, **change))


def test_expected_failures_are_named_and_must_fail():
    check_embedder(RANKS, expected_failures={"check_row_law": "ranks depend on the other texts"})
    with pytest.raises(AssertionError, match="was expected to fail"):
        check_embedder(Lengths(), expected_failures={"check_row_law": "it does not"})
    with pytest.raises(AssertionError, match="no such check"):
        check_metric(get_metric("jaccard"), expected_failures={"check_nothing": "a slip"})


def broken(monkeypatch, **methods):
    """A protocol like known-similarity corpora, registered under a name of its own, with some methods replaced."""
    own = {"__doc__": "Mixtures.", "__module__": __name__, "name": "broken", "key": protocols.Protocol.key, **methods}
    kind = dataclass(frozen=True, kw_only=True)(type("Broken", (Ksc,), own))
    monkeypatch.setitem(globals(), "Broken", kind)
    monkeypatch.setitem(protocols.PROTOCOLS, "broken", kind)
    return kind(**SMALL["ksc"])


def unseeded(self, sources, seed):
    return Ksc.trials(self, sources, np.random.SeedSequence().entropy)


def in_order(self, sources, seed):
    for batch in Ksc.trials(self, sources, seed):
        rolled = np.roll(batch.draws.left, 1, axis=1)
        yield replace(batch, draws=replace(batch.draws, left=rolled))


def short_columns(self, sources, seed):
    for batch in Ksc.trials(self, sources, seed):
        yield replace(batch, columns={name: column[:-1] for name, column in batch.columns.items()})


def changing(self, observations):
    found = Ksc.judge(self, observations)
    observations.value[:1] += 1e-12
    return found


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"key": property(lambda self: "broken()")}, "lacks its version"),
        ({"trials": lambda self, sources, seed: iter(())}, "no trials"),
        ({"trials": unseeded}, "the same seed gives other trials"),
        ({"trials": in_order}, "the order of the texts matters"),
        ({"trials": short_columns}, "cells for"),
        ({"judge": lambda self, observations: [Verdict("accuracy", 1.5)]}, "better than its best"),
        ({"judge": lambda self, observations: [Verdict("accuracy", float("nan"))]}, "NaN without a reason"),
        ({"judge": lambda self, observations: [Verdict("accuracy", 0.5)]}, "without any value gets a measure"),
        ({"judge": lambda self, observations: [Verdict("speed", 0.5)]}, "not declared"),
        ({"judge": changing}, "changes the observations"),
    ],
    ids=["version", "empty", "unseeded", "order", "columns", "bounds", "reason", "undefined", "undeclared", "impure"],
)
def test_a_broken_protocol_is_caught(monkeypatch, methods, message):
    with pytest.raises(AssertionError, match=message):
        check_protocol(broken(monkeypatch, **methods))


def test_a_sound_protocol_passes_and_one_that_is_not_registered_does_not(monkeypatch):
    sound = broken(monkeypatch)
    check_protocol(sound)
    monkeypatch.delitem(protocols.PROTOCOLS, "broken")
    with pytest.raises(AssertionError, match="not registered"):
        check_protocol(sound)
    check_protocol(sound, expected_failures={"check_declared": "it is not registered"})
