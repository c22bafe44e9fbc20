"""Protocols by name: plug-ins, families, and a protocol of one's own run by `textgauge.run`."""

from dataclasses import dataclass
from importlib import metadata
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import textgauge
from textgauge.bench import CorpusBatch, Measure, Protocol, Sources, find_protocols, list_protocols, register_protocol
from textgauge.bench.inputs import TwoCorpora
from textgauge.bench.protocols import base
from textgauge.bench.protocols.base import summarise_repetitions
from textgauge.data import Corpus, Draws


@dataclass(frozen=True, kw_only=True)
class Halves(Protocol):
    """Whether two halves of a source are closer than the two sources."""

    name = "halves"
    data = TwoCorpora()
    figures = ("box",)
    measures = (Measure("halves_apart", about="1 where the halves are closer"),)

    n: int = 10

    def trials(self, sources, seed):
        joint, first = sources.joint, len(sources.corpora["a"])
        place = np.arange(len(joint))
        left = np.array([place < self.n, place < self.n])
        right = np.array([(place >= self.n) & (place < first), place >= first])
        yield CorpusBatch(0, joint, Draws(left, right), {"kind": np.array(["same", "other"])})

    def judge(self, observations):
        same, other = (observations.of("kind", kind).value[0] for kind in ("same", "other"))
        return [summarise_repetitions("halves_apart", [float(same < other)])]


@pytest.fixture
def registry(monkeypatch):
    """A registry that is put back afterwards."""
    monkeypatch.setattr(base.PROTOCOLS, "_entries", dict(base.PROTOCOLS))


def test_a_family_is_a_name_of_several_protocols():
    assert [kind.name for kind in find_protocols("alignment")] == ["axis", "comparisons"]
    assert [kind.name for kind in find_protocols("ksc")] == ["ksc"]
    assert find_protocols("nobody") == []


@pytest.mark.usefixtures("registry")
def test_a_registered_protocol_runs_by_its_name():
    register_protocol(Halves)
    words = [f"the {animal} sat down {i}" for i in range(10) for animal in ("cat", "dog")]
    cards = [f"pay bill {i} by card" for i in range(20)]
    run = textgauge.run("halves", source_a=words, source_b=cards, metrics="jsd@words")
    assert run.to_dicts()[0]["halves_apart"] == 1.0
    assert list(run.figures()) == ["box-a-b-halves"]


@pytest.mark.usefixtures("registry")
def test_packages_name_their_protocols_by_entry_point(monkeypatch):
    plugin = EntryPoint("halves", f"{__name__}:Halves", "textgauge.protocols")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [plugin] if group == plugin.group else [])
    monkeypatch.setattr(EntryPoint, "load", lambda self: Halves)
    monkeypatch.setattr(base.PROTOCOLS, "_is_loaded", False)
    assert list_protocols()["halves"] is Halves


@dataclass(frozen=True, kw_only=True)
class OfVectors(Halves):
    name = "of_vectors"


def given(texts):
    vectors = np.eye(4)
    sides = [Corpus.of(texts and texts[place : place + 2], embeddings=vectors[place : place + 2]) for place in (0, 2)]
    return Sources("a,b", dict(zip("ab", sides, strict=True)))


def test_metrics_read_the_embeddings_that_are_given():
    found = OfVectors.metrics_for("energy,pr@wordllama", given(list("abcd")))
    assert [metric.embedder for metric in found] == ["given", "wordllama"]
    assert [one.key for one in OfVectors.metrics_for("energy,jsd", given(list("abcd")))] == ["energy@given", "jsd"]
