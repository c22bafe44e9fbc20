"""Numbers of bert-score 0.3.13 on torch 2.13.0 (CPU).

GREEDY: `bert_score.utils.greedy_cos_idf` on the vectors and weights of `greedy_case`, masks of ones.

The others: `BERTScorer(model_type=folder, num_layers=6, device="cpu")` with the folder that `peer_model` of
benchmarks/encoder.py writes around the resource `minilm`, pair by pair (`scorer.score([left], [right], batch_size=1)`),
because padding inside a batch lifts negative cosines to 0. IDF: with `idf=True, idf_sents=` all texts of the pairs.
"""

import numpy as np
import pytest
from tests.golden.pairs import PAIRS, REFERENCES, SCRIPTS

from textgauge.core.errors import ResourceError
from textgauge.data import Corpus, Pairs
from textgauge.encode.resources import locate
from textgauge.metrics import get_metric
from textgauge.metrics.numerics.moments import to_unit
from textgauge.metrics.pair.embedding import HeldTexts, f1, match_greedily

COLUMNS = ("precision", "recall", "value")
# Tokens left and right, precision, recall, F1.
GREEDY = [
    (4, 4, 0.1664467, 0.4650058, 0.2451449),
    (3, 7, 0.1121102, 0.3765398, 0.1727779),
    (9, 5, 0.3778987, 0.3865578, 0.3821792),
    (12, 12, 0.4956369, 0.558164, 0.5250455),
    (3, 3, 0.2943475, 0.1181316, 0.1685988),
    (20, 11, 0.4829462, 0.5970001, 0.5339505),
]
# Precision, recall, F1 of PAIRS, then SCRIPTS.
PLAIN = [
    (0.958959, 0.916025, 0.937001), (1.0, 1.0, 1.0), (0.804282, 0.484843, 0.604985),
    (0.763722, 0.89031, 0.822172), (0.800022, 0.746505, 0.772338), (0.809746, 0.896307, 0.85083),
    (0.750819, 0.750924, 0.750872), (0.588079, 0.588079, 0.588079), (0.926647, 0.926648, 0.926647),
    (0.720311, 0.736266, 0.728201), (0.895732, 0.895732, 0.895732), (0.261105, 0.254233, 0.257623),
    (0.799851, 0.799851, 0.799851), (1.0, 1.0, 1.0), (0.87284, 0.909941, 0.891004),
    (0.925344, 0.865862, 0.894615), (0.753046, 0.820723, 0.785429), (0.912679, 0.874634, 0.893252),
    (0.798193, 0.745368, 0.770877), (1.0, 1.0, 1.0), (0.39069, 0.403756, 0.397116),
    (0.81101, 0.855085, 0.832464),
]  # fmt: skip
IDF = [
    (0.957939, 0.905376, 0.930916), (1.0, 1.0, 1.0), (0.826572, 0.456309, 0.588008),
    (0.781575, 0.896697, 0.835187), (0.786682, 0.72958, 0.757056), (0.825373, 0.896307, 0.859378),
    (0.738208, 0.736063, 0.737134), (0.565185, 0.620064, 0.591354), (0.926647, 0.926648, 0.926647),
    (0.734464, 0.750556, 0.742423), (0.89408, 0.89408, 0.89408), (0.261105, 0.258775, 0.259935),
    (0.799851, 0.799851, 0.799851), (1.0, 1.0, 1.0), (0.860998, 0.907331, 0.883557),
    (0.929741, 0.861214, 0.894166), (0.739211, 0.822815, 0.778775), (0.906219, 0.857716, 0.881301),
    (0.788454, 0.733022, 0.759728), (1.0, 1.0, 1.0), (0.378762, 0.392421, 0.385471),
    (0.81155, 0.849388, 0.830038),
]  # fmt: skip
SEVERAL = [(0.947321, 0.988471, 0.967459), (0.969335, 0.969335, 0.969335), (0.695411, 0.663272, 0.678961)]


def greedy_case(rng, m, n):
    """Vectors and weights of a made-up pair; the first and last token of a text have weight 0."""
    X = rng.normal(size=(m, 16)).astype(np.float32) + 0.5
    Y = rng.normal(size=(n, 16)).astype(np.float32) + 0.5
    x, y = rng.random(m), rng.random(n)
    x[[0, -1]] = y[[0, -1]] = 0
    return X.astype(np.float32), Y.astype(np.float32), x, y


def test_greedy_matching_is_theirs():
    rng = np.random.default_rng(7)
    cases = [greedy_case(rng, m, n) for m, n, *_ in GREEDY]
    right = HeldTexts(
        to_unit(np.concatenate([Y for _, Y, *_ in cases])),
        np.concatenate([y for *_, y in cases]),
        np.cumsum([0, *(n for _, n, *_ in GREEDY)]),
    )
    for row, (X, _, x, _) in enumerate(cases):
        left = HeldTexts(to_unit(X), x, np.array([0, len(X)]))
        alone, among = match_greedily(left, right.take(np.array([row]))), match_greedily(left, right)
        np.testing.assert_allclose([*alone[0], *alone[1], *f1(*alone)], GREEDY[row][2:], rtol=0, atol=1e-6)
        np.testing.assert_allclose([side[row] for side in among], GREEDY[row][2:4], rtol=0, atol=1e-6)


@pytest.fixture
def _minilm():
    try:
        locate("minilm")
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("_minilm")
@pytest.mark.parametrize(("name", "expected"), [("bertscore", PLAIN), ("bertscore(idf=true)", IDF)])
def test_whole_scores_are_theirs(name, expected):
    left, right = map(list, zip(*PAIRS, *SCRIPTS, strict=True))
    found = get_metric(name).compute(Pairs(left, right))
    np.testing.assert_allclose(np.stack([found[column] for column in COLUMNS], axis=1), expected, rtol=0, atol=2e-6)


@pytest.mark.usefixtures("_minilm")
def test_several_references():
    found = get_metric("bertscore")(left=[text for text, _ in REFERENCES], right=[texts for _, texts in REFERENCES])
    columns = [found.parts["precision"], found.parts["recall"], found.values]
    np.testing.assert_allclose(np.stack(columns, axis=1), SEVERAL, rtol=0, atol=2e-6)


@pytest.mark.usefixtures("_minilm")
def test_the_matrix_of_real_texts():
    left, right = map(list, zip(*PAIRS, *SCRIPTS, strict=True))
    matrix = get_metric("bertscore").matrix(Corpus.of(left), Corpus.of(right))
    np.testing.assert_allclose(matrix.diagonal(), [row[2] for row in PLAIN], rtol=0, atol=2e-6)
