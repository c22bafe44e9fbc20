"""The number of texts that `recommend` asks for is right within a factor of 1.5, by simulation on other texts."""

from dataclasses import dataclass

import numpy as np
import pytest

from textgauge import get_metric
from textgauge.corpus import Corpus
from textgauge.datasets import load_texts
from textgauge.errors import ResourceError
from textgauge.protocols import Sources
from textgauge.recommending.budget import Clock
from textgauge.recommending.needed import needed_texts
from textgauge.recommending.samples import Contaminated, simulated_power

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Checked:
    """A predicted number of texts, and the power found at 1/1.5, 1 and 1.5 times that number on held-out texts."""

    count: float
    powers: tuple[float, float, float]


def checked(name: str, a: str, b: str, *, effect: float, seconds: float = 60.0, tests: int = 100) -> Checked:
    """Predict on one half of the texts of two datasets, simulate tests on the other half."""
    metric, halves = get_metric(name), [_halves(load_texts(spec).texts) for spec in (a, b)]
    near = Sources("predicted", {"a": halves[0][0], "b": halves[1][0]})
    near.joint.pool.embeddings(metric.embedder)
    (found,) = needed_texts([metric], Contaminated(near, effect), power=0.8, clock=Clock(seconds))
    given = {"reference": halves[0][1], "candidate": halves[1][1], "effect": effect, "tests": tests}
    powers = [
        simulated_power(metric, n=round(found.count * share), permutations=99, seed=9, **given)
        for share in (1 / 1.5, 1.0, 1.5)
    ]
    return Checked(found.count, (powers[0], powers[1], powers[2]))


def _halves(texts) -> list[Corpus]:
    order = np.random.default_rng(0).permutation(len(texts))
    return [Corpus.of([texts[i] for i in rows]) for rows in np.array_split(order, 2)]


@pytest.mark.parametrize("name", ["energy", "pr", "mauve", "irpr", "fid"])
def test_the_number_of_texts_is_right_on_held_out_texts(name):
    try:
        found = checked(name, "banking77", "clinc150", effect=0.3)
    except ResourceError as error:
        pytest.skip(str(error))
    # The size with a power of 80 % lies between the outer two, 1.5 times to either side.
    assert found.powers[0] < 0.8 < found.powers[2], found
