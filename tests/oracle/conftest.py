"""Two sources whose texts know where they come from, and metrics of known verdict that look at nothing else."""

import hashlib
import math
from dataclasses import dataclass

import numpy as np
import pytest

from textgauge.bench import Plan, Store, run
from textgauge.bench.protocols import Sources
from textgauge.bench.results import Results
from textgauge.data import Corpus
from textgauge.metrics import EmbeddingMetric, Part, registry


class Oracle(EmbeddingMetric):
    label = "oracle"
    source = "none"
    default_on = "given"
    headline = Part("value", bounds=(-math.inf, math.inf))

    def of(self, gap, comparison):
        raise NotImplementedError

    def compute(self, comparison):
        sides = (comparison.reference, comparison.candidate)
        shares = [float(side.embeddings("given").mean()) for side in sides]
        return {"value": self.of(abs(shares[0] - shares[1]), comparison)}


def noise(comparison):
    """A number in [0, 1) that depends on the two sets of texts alone."""
    keys = b"|".join(np.sort(side.keys).tobytes() for side in (comparison.reference, comparison.candidate))
    return int.from_bytes(hashlib.blake2b(keys, digest_size=6).digest(), "big") / 2**48


@dataclass(frozen=True, kw_only=True)
class Perfect(Oracle):
    name = "perfect"

    def of(self, gap, comparison):
        return gap


@dataclass(frozen=True, kw_only=True)
class Inverted(Oracle):
    name = "inverted"

    def of(self, gap, comparison):
        return 1.0 - gap


@dataclass(frozen=True, kw_only=True)
class Likeness(Inverted):
    name = "likeness"
    headline = Part("value", closer="larger", bounds=(0.0, 1.0))


@dataclass(frozen=True, kw_only=True)
class Random(Oracle):
    name = "random"

    def of(self, gap, comparison):
        return noise(comparison)


@dataclass(frozen=True, kw_only=True)
class Noisy(Oracle):
    name = "noisy"

    def of(self, gap, comparison):
        return gap + 0.5 * noise(comparison)


@dataclass(frozen=True, kw_only=True)
class Constant(Oracle):
    name = "constant"
    at: float = 0.3

    def of(self, gap, comparison):
        return self.at


@dataclass(frozen=True, kw_only=True)
class Biased(Oracle):
    """1 + 1/s for the smaller side's size s: too large for small samples."""

    name = "biased"

    def of(self, gap, comparison):
        return 1.0 + 1.0 / min(len(comparison.reference), len(comparison.candidate))


METRICS = {kind.name: kind for kind in (Perfect, Inverted, Likeness, Random, Noisy, Constant, Biased)}


def two_sources(size):
    corpora = {
        role: Corpus.of([f"{role} {i}" for i in range(size)], embeddings=np.full((size, 1), float(role == "a")))
        for role in ("a", "b")
    }
    return Sources("a,b", corpora)


@pytest.fixture
def verdicts(tmp_path, monkeypatch):
    """The verdicts of an oracle by measure, by way of a run and its store."""
    for name, kind in METRICS.items():
        monkeypatch.setitem(registry.get_known_metrics(), name, kind)

    def judged(name, protocol, *, size, seed=0, **options):
        store = Store(tmp_path / f"{name}-{hash(protocol)}")
        report = run([Plan(protocol, two_sources(size), registry.get_corpus_metrics(name), seed)], store)
        assert not report.failures
        (found,) = Results(store).judged(options)
        return {verdict.measure: verdict for verdict in found.verdicts}

    return judged
