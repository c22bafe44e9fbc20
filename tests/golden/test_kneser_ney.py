"""Kneser–Ney models against KenLM 0.3.0 on an ARPA file of the same table.

Made by writing the levels of `train(corpus(), order=ORDER)` to model.arpa and, in an environment of its own:

    model = kenlm.Model("model.arpa")
    for text in QUERIES: print(sum(score for score, *_ in model.full_scores(text)))

KenLM keeps logarithms as 32-bit floats, hence the tolerance of a few 1e-7 of each.
"""

import random

import numpy as np
import pytest

from textgauge.encode.language_models.kneser_ney import train

QUERIES = [
    "w0 w1 w2 w0 w3",
    "w0 w0 w0",
    "w39 w38 unseen w1 w0",
    "unseen words only",
    "w5",
    "w2 w1 w0 w1 w2 w1 w0 w1 w7 w12 w3 w0 w0 w5",
]


def corpus():
    """400 texts of a chain in which small numbers are frequent."""
    draw = random.Random(0)
    texts = []
    for _ in range(400):
        words = [int(40 * draw.random() ** 3) for _ in range(1 + int(9 * draw.random()))]
        texts.append(" ".join(f"w{(word + last) // 2}" for word, last in zip(words, [0, *words], strict=False)))
    return texts


KENLM = {
    2: [-5.84194991, -2.24265638, -12.45877767, -10.09741759, -2.20249373, -18.37478828],
    3: [-5.47246292, -2.10560963, -12.39627373, -10.07826638, -2.42179328, -20.16231459],
    5: [-5.98945463, -2.09150526, -12.62656617, -10.07826638, -2.40903103, -21.94469982],
}


@pytest.mark.parametrize("order", [2, 3, 5])
def test_as_kenlm_scores_it(order):
    model = train(corpus(), order=order)
    nats, tokens = model.surprise(QUERIES)
    kenlm = -np.log(10) * np.array(KENLM[order])
    np.testing.assert_allclose(nats, kenlm, rtol=1e-6)
    np.testing.assert_allclose(np.exp(nats / tokens), np.exp(kenlm / tokens), rtol=1e-6)
