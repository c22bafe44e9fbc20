"""The number of texts that `recommend` asks for is right within a factor of 1.3, by simulation on other texts."""

import numpy as np
import pytest
from benchmarks.power import direct, halves, hits_of

from textgauge import get_metric
from textgauge.bench import Sources
from textgauge.bench.power import Contaminated
from textgauge.bench.recommend import recommend
from textgauge.core.errors import ResourceError
from textgauge.data import Corpus


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
def test_the_number_of_texts_is_right_on_held_out_texts_for_recommended_metrics():
    try:
        banking, clinc = halves("banking77"), halves("clinc150")
    except ResourceError as error:
        pytest.skip(str(error))
    given = {"metrics": "energy,mmd,kid,dc,pr,irpr,jsd", "effect": 0.3, "effort": "thorough"}
    answer = recommend(reference=banking[0], candidate=clinc[0], **given)
    chosen = {metric for one in answer.answers for metric in one.choice[:2]}
    predicted = [row for row in answer.power if row.metric in chosen and row.known]
    held_out = Sources("", {"a": Corpus.of(banking[1]), "b": Corpus.of(clinc[1])})
    samples, ratios = Contaminated(held_out, 0.3, 9), {}
    for row in predicted:
        hits = hits_of(get_metric(row.metric), samples, 200, 99)
        ratios[row.metric] = row.count / direct(hits, round(row.count), most=samples.most, tests=200).count
    assert len(ratios) >= 2, answer.power
    assert all(1 / 1.3 < ratio < 1.3 for ratio in ratios.values()), ratios
