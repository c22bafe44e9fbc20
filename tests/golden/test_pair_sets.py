"""Word sets against nltk 3.10.4 (stored numbers) and, on full-size data, against published means.

from nltk.metrics import jaccard_distance      # of both sets of str.split, or of textgauge's words
[1 - jaccard_distance(left, right) for left, right in PAIRS + SCRIPTS]
"""

import numpy as np
import pytest
from tests.golden.pairs import LEFT, RIGHT

from textgauge import get_metric
from textgauge.data import is_here
from textgauge_papers.datasets import yamshchikov14

EXPECTED = {
    "overlap": [
        0.3571428571, 1.0, 0.1666666667, 0.3, 0.1428571429, 0.6666666667, 0.0, 0.1428571429, 1.0, 0.0769230769,
        0.1428571429, 0.0, 0.0, 1.0, 0.125, 0.5, 0.2857142857, 0.0, 0.3333333333, 0.5, 0.2, 0.6666666667,
    ],
    "jaccard": [
        0.75, 1.0, 0.3333333333, 0.3636363636, 0.2857142857, 0.6666666667, 0.3181818182, 0.4285714286, 1.0,
        0.0833333333, 0.1428571429, 0.0, 0.0, 1.0, 0.4, 0.8, 0.2857142857, 0.5, 0.3333333333, 1.0, 1.0, 0.6666666667,
    ],
}  # fmt: skip
# Yamshchikov et al. 2021, tables 1 and 2, word overlap: paraphrases, then random pairs.
PUBLISHED = {
    "Bible": (0.47, 0.10), "Paralex": (0.43, 0.13), "Paraphrase": (0.31, 0.02), "GYAFC_formal": (0.50, 0.08),
    "GYAFC_informal": (0.32, 0.05), "GYAFC_rewrites": (0.47, 0.06), "Yelp": (0.45, 0.06),
}  # fmt: skip


@pytest.fixture(scope="module")
def items():
    if not is_here("yamshchikov14"):
        pytest.skip("yamshchikov14 is not in TEXTGAUGE_DATA")
    return list(yamshchikov14())


@pytest.mark.parametrize("name", EXPECTED)
def test_values_are_those_of_nltk(name):
    values = get_metric(name)(left=LEFT, right=RIGHT).values
    np.testing.assert_allclose(values, EXPECTED[name], rtol=0, atol=1e-9)


@pytest.mark.slow
def test_overlap_has_the_published_means(items):
    values = get_metric("overlap")(left=[item.left for item in items], right=[item.right for item in items]).values
    splits = np.array([item.split for item in items])
    wanted = {
        f"{name}{tail}": value
        for name, pair in PUBLISHED.items()
        for tail, value in zip(("", "_random"), pair, strict=True)
    }
    near = [abs(values[splits == split].mean() - value) <= 0.02 for split, value in wanted.items()]
    assert sum(near) >= 12
