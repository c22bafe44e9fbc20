"""Two sources whose texts know where they come from, and metrics of known verdict that look at nothing else."""

import hashlib
import math
from dataclasses import dataclass

import numpy as np
import pytest

from textgauge.bench import Plan, Sources, Store, run
from textgauge.bench.results import Results
from textgauge.data import Corpus
from textgauge.metrics import EmbeddingMetric, Part, registry


class Oracle(EmbeddingMetric):
    """A metric that gives `of(gap, comparison)`, where the gap is that of the shares of both sources.

    Others of this folder compute with it in their own way.
    """

    label = "oracle"
    source = "none"
    default_on = "given"
    headline = Part("value", bounds=(-math.inf, math.inf))

    def compute(self, comparison):
        sides = (comparison.reference, comparison.candidate)
        shares = [float(side.embeddings("given").mean()) for side in sides]
        return {"value": self.of(abs(shares[0] - shares[1]), comparison)}


def make_oracle(base, name, of, **declared):
    """A metric whose `of` gives its values."""
    body = {"name": name, "label": name, "of": lambda self, *given: of(*given), **declared}
    return dataclass(frozen=True, kw_only=True)(type(name, (base,), body))


def noise(comparison):
    """A number in [0, 1) that depends on the two sets of texts alone."""
    keys = b"|".join(np.sort(side.keys).tobytes() for side in (comparison.reference, comparison.candidate))
    return int.from_bytes(hashlib.blake2b(keys, digest_size=6).digest(), "big") / 2**48


def smaller_size(comparison):
    return min(len(comparison.reference), len(comparison.candidate))


@dataclass(frozen=True, kw_only=True)
class Constant(Oracle):
    name = "constant"
    at: float = 0.3

    def of(self, gap, comparison):
        return self.at


LIKENESS = Part("value", closer="larger", bounds=(0.0, 1.0))
METRICS = {
    "constant": Constant,
    "perfect": make_oracle(Oracle, "perfect", lambda gap, _: gap),
    "inverted": make_oracle(Oracle, "inverted", lambda gap, _: 1.0 - gap),
    "likeness": make_oracle(Oracle, "likeness", lambda gap, _: 1.0 - gap, headline=LIKENESS),
    "random": make_oracle(Oracle, "random", lambda _, comparison: noise(comparison)),
    "noisy": make_oracle(Oracle, "noisy", lambda gap, comparison: gap + 0.5 * noise(comparison)),
    "biased": make_oracle(Oracle, "biased", lambda _, comparison: 1.0 + 1.0 / smaller_size(comparison)),  # if small
}


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
        monkeypatch.setitem(registry.METRICS, name, kind)

    def judged(name, protocol, *, size, seed=0, **options):
        store = Store(tmp_path / f"{name}-{hash(protocol)}")
        report = run([Plan(protocol, two_sources(size), registry.get_corpus_metrics(name), seed)], store)
        assert not report.failures
        (group,) = Results(store).groups(options)
        (found,) = group.verdicts.values()
        return found

    return judged
