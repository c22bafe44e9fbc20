"""The number of texts that `recommend` asks for is right within a factor of 1.5, by simulation on other texts."""

import numpy as np
import pytest
from benchmarks.power import direct, halves, hits_of

from textgauge import get_metric
from textgauge.data import Corpus
from textgauge.errors import ResourceError
from textgauge.evaluate.protocols import Sources
from textgauge.evaluate.recommend.budget import Clock
from textgauge.evaluate.recommend.texts_needed import Contaminated, needed_texts


@pytest.mark.parametrize("start", [30, 100, 350])
def test_a_known_number_is_found_from_any_first_guess(start):
    from scipy.special import ndtr

    rng = np.random.default_rng(start)
    found = direct(lambda n: rng.binomial(400, ndtr(0.8416 + 2.0 * np.log(n / 100))), start, most=1000, tests=400)
    assert found.count == pytest.approx(100, rel=0.12)
    assert found.low < found.count < found.high < 1.4 * found.low


def test_a_number_that_the_texts_do_not_reach_lies_beyond_them():
    found = direct(lambda n: min(n // 2, 100), 90, most=100, tests=100)
    assert max(found.curve) == 100
    assert found.count > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", ["energy", "pr", "mauve", "irpr", "fid"])
def test_the_number_of_texts_is_right_on_held_out_texts(name):
    try:
        banking, clinc = halves("banking77"), halves("clinc150")
        metric = get_metric(name)
    except ResourceError as error:
        pytest.skip(str(error))
    seen, others = (Sources("", {"a": Corpus.of(a), "b": Corpus.of(b)}) for a, b in zip(banking, clinc, strict=True))
    seen.joint.pool.embeddings(metric.embedder)
    (predicted,) = needed_texts([metric], Contaminated(seen, 0.3), power=0.8, clock=Clock(60.0))
    samples = Contaminated(others, 0.3, 9)
    found = direct(hits_of(metric, samples, 200, 99), round(predicted.count), most=samples.most, tests=200)
    assert 1 / 1.5 < predicted.count / found.count < 1.5, (predicted, found)
