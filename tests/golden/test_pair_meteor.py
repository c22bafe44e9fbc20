"""METEOR against nltk and the program of its authors, on our own sentences, and against published means.

Numbers made with nltk 3.10.4 and the WordNet 3.0 of the resource `wordnet`, its carriage returns taken out:
single_meteor_score(tokens(right), tokens(left), wordnet=reader), and meteor_score for several references. Those of
METEOR 1.5 (meteor-1.5.jar, sha256 1e57b4c7…) on the tokens of `words`:
java -jar meteor-1.5.jar LEFT RIGHT -l en -q -p "0.9 3.0 0.5 0.5" -m "exact stem" -w "1.0 1.0"
"""

import numpy as np
import pytest
from tests.golden.pairs import LEFT, REFERENCES, RIGHT

from textgauge.core.errors import ResourceError
from textgauge.data import is_here, load_pairs
from textgauge.encode import resources
from textgauge.metrics import get_metric

NLTK = {
    "words": (
        *(0.90504587, 0.99768519, 0.33482143, 0.27777778, 0.32327586, 0.41666667, 0.43896484, 0.36507937, 0.5),
        *(0.28571429, 0.125, 0.0, 0.0, 0.5, 0.29069767, 0.74284067),
        *(0.24390244, 0.63295347, 0.46875, 0.98148148, 0.98148148, 0.47619048),
    ),
    "whitespace": (
        *(0.80176768, 0.99768519, 0.18382353, 0.24590164, 0.17688679, 0.41666667, 0.09345794, 0.25, 0.5),
        *(0.28571429, 0.125, 0.0, 0.0, 0.5, 0.1010101, 0.69041667),
        *(0.24390244, 0.0, 0.46875, 0.625, 0.16666667, 0.47619048),
    ),
}
NLTK_REFERENCES = (0.91463415, 0.79375, 0.12820513)
NLTK_OTHER_WEIGHTS = (0.77894737, 0.95, 0.24285714, 0.32307692, 0.18888889, 0.35)  # alpha=.5, beta=1, gamma=.3, split()
NLTK_WITHOUT_SYNONYMS = (  # a reader whose synsets are empty; tokens of `words`
    *(0.90504587, 0.99768519, 0.33482143, 0.27777778, 0.32327586, 0.41666667),
    *(0.43896484, 0.36507937, 0.5, 0.21428571, 0.125, 0.0),
)

METEOR_15 = (
    *(0.90504587, 1.0, 0.33482143, 0.27777778, 0.32327586, 0.78125, 0.43896484, 0.36507937, 0.5, 0.21428571, 0.125),
    *(0.0, 0.0, 1.0, 0.58764175, 0.83221219, 0.24390244, 0.63295347, 0.46875, 1.0, 1.0, 0.47619048),
)
REPEATING = [5, 14, 15]  # pairs in which a word repeats, so that several matchings are possible
POSSESSIVE = 14  # the program's stems leave out 's

# Table 1 and 2 of Yamshchikov et al. 2021.
PUBLISHED = {
    "Bible": 0.6, "Paralex": 0.49, "Paraphrase": 0.4, "GYAFC_informal": 0.4, "GYAFC_formal": 0.6, "Yelp": 0.54,
    "GYAFC_rewrites": 0.57, "Bible_random": 0.11, "Paralex_random": 0.13, "Paraphrase_random": 0.02,
    "GYAFC_informal_random": 0.06, "GYAFC_formal_random": 0.08, "GYAFC_rewrites_random": 0.06, "Yelp_random": 0.06,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder():
    try:
        return resources.locate("wordnet")
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("tokenizer", NLTK)
def test_values_are_those_of_nltk(tokenizer, folder):
    scores = get_metric(f"meteor(perfect=penalised)@{tokenizer}")(left=LEFT, right=RIGHT)
    np.testing.assert_allclose(scores.values, NLTK[tokenizer], atol=1e-8)


def test_of_several_references_the_best_counts(folder):
    left, right = zip(*REFERENCES, strict=True)
    scores = get_metric("meteor(perfect=penalised)")(left=left, right=right)
    np.testing.assert_allclose(scores.values, NLTK_REFERENCES, atol=1e-8)


def test_other_weights(folder):
    metric = get_metric("meteor(perfect=penalised,alpha=0.5,beta=1,gamma=0.3)@whitespace")
    np.testing.assert_allclose(metric(left=LEFT[:6], right=RIGHT[:6]).values, NLTK_OTHER_WEIGHTS, atol=1e-8)


def test_without_synonyms_no_resource_is_needed():
    scores = get_metric("meteor(stages=stem,perfect=penalised)")(left=LEFT[:12], right=RIGHT[:12])
    np.testing.assert_allclose(scores.values, NLTK_WITHOUT_SYNONYMS, atol=1e-8)


def test_values_are_those_of_the_authors_program():
    found = get_metric("meteor(stages=stem,alignment=fewest)")(left=LEFT, right=RIGHT).values
    np.testing.assert_allclose(np.delete(found, POSSESSIVE), np.delete(METEOR_15, POSSESSIVE), atol=1e-8)
    greedy = get_metric("meteor(stages=stem)")(left=LEFT, right=RIGHT).values
    assert np.flatnonzero(np.abs(greedy - METEOR_15) > 1e-8).tolist() == REPEATING
    assert (greedy[REPEATING] < np.array(METEOR_15)[REPEATING]).all()


def all_pairs():
    if not is_here("yamshchikov14"):
        pytest.skip("the data folder has no yamshchikov14")
    return load_pairs("yamshchikov14")


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["meteor", "meteor(perfect=penalised)@whitespace", "meteor(lookup=words)"])
def test_set_means_are_those_published(metric, folder):
    all_pairs()
    pairs = {name: load_pairs(f"yamshchikov14/{name}") for name in PUBLISHED}
    means = {name: get_metric(metric)(left=some.left, right=some.right).mean for name, some in pairs.items()}
    assert sum(abs(means[name] - PUBLISHED[name]) <= 0.02 for name in PUBLISHED) >= 13
