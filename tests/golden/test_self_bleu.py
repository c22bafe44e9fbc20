"""Self-BLEU against nltk 3.10.4: the mean of sentence_bleu of each text, the others as references.

SmoothingFunction().method0 is `none`, method1 `floor`, method2 `add1`; weights=[1 / n] * n; tokens by str.split.
"""

import pytest

from textgauge.metrics.corpus.diversity import SelfBleuGap

TRAVEL = [
    "the train leaves at nine",
    "the train leaves at nine from the north",
    "a bus leaves for the coast every hour",
    "every hour a bus leaves for the coast",
    "is there a train for the coast",
    "the the the train",
    "walk",
    "nothing rhymes with orange juice",
]
KITCHEN = [
    "stir the soup and add the salt",
    "add the salt and stir the soup slowly",
    "boil the rice for ten minutes",
    "boil the pasta for ten minutes and add the salt",
    "serve the soup",
    "serve",
]


@pytest.mark.parametrize(
    ("smoothing", "n", "travel", "kitchen"),
    [
        ("none", 2, 0.5398359205738275, 0.6167056881017491),
        ("none", 4, 0.38393675444566483, 0.1696705525708423),
        ("floor", 2, 0.5398359205738275, 0.6238384838152774),
        ("floor", 4, 0.4223693924889259, 0.29389136483576456),
        ("add1", 2, 0.5640033897850949, 0.6670297949344023),
        ("add1", 4, 0.4911068306849561, 0.4634589919339808),
    ],
)
def test_self_bleu_equals_nltk(smoothing, n, travel, kitchen):
    score = SelfBleuGap(n=n, smoothing=smoothing)(reference=TRAVEL, candidate=KITCHEN)
    assert score.parts["reference"] == pytest.approx(travel, abs=1e-12)
    assert score.parts["candidate"] == pytest.approx(kitchen, abs=1e-12)
    assert score.value == pytest.approx(abs(travel - kitchen), abs=1e-12)
