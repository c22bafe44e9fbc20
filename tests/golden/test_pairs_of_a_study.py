"""All 13,225 pairs of the style-transfer study: values are those of the libraries people trust, where both are there.

Metrics of several tokenizers and METEOR are held against their libraries on our own sentences in the other files.
"""

from collections import Counter

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from textgauge import Pairs, get_metric
from textgauge.data import is_here, load_pairs
from textgauge.encode.tokenizers import get_characters, split_folded_words
from textgauge.encode.word_vectors import get_word_vectors

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_here("yamshchikov14"), reason="yamshchikov14 is not in TEXTGAUGE_DATA"),
]


@pytest.fixture(scope="module")
def study():
    found = load_pairs("yamshchikov14")
    return found.left, found.right


def check(name, study, peer, near=1e-10):
    values = get_metric(name)(left=study[0], right=study[1]).values
    np.testing.assert_allclose(values, [peer(*pair) for pair in zip(*study, strict=True)], rtol=0, atol=near)


KINDS = {"levenshtein": "Levenshtein", "indel": "Indel", "osa": "OSA", "damerau": "DamerauLevenshtein"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("on", "split"), [("characters", get_characters), ("whitespace", str.split)])
def test_edits_are_those_of_rapidfuzz(study, kind, on, split):
    from rapidfuzz import distance

    def peer(left, right):
        left, right = split(left), split(right)
        return 1 - getattr(distance, KINDS[kind]).distance(left, right) / (len(left) + len(right))

    check(f"levenshtein(kind={kind})@{on}", study, peer)


@pytest.mark.parametrize(
    ("name", "kind", "options"),
    [
        ("bleu", "BLEU", {"effective_order": True}),
        ("chrf", "CHRF", {}),
        ("chrf(word_order=2)", "CHRF", {"word_order": 2}),
        ("ter", "TER", {}),  # one variant takes minutes
    ],
)
def test_scores_are_those_of_sacrebleu(study, name, kind, options):
    from sacrebleu import metrics

    library = getattr(metrics, kind)(**options)
    check(name, study, lambda left, right: library.sentence_score(left, [right]).score)


@pytest.mark.parametrize("name", ["rouge1", "rouge2", "rougeL", "rougeLsum"])
@pytest.mark.parametrize("stem", [False, True])
def test_rouge_is_that_of_rouge_score(study, name, stem):
    scorers = pytest.importorskip("rouge_score.rouge_scorer")
    library = scorers.RougeScorer([name], use_stemmer=stem)
    metric = f"{name}(stem={str(stem).lower()})@rouge_score"
    check(metric, study, lambda left, right: library.score(right, left)[name].fmeasure, near=0)


def test_gleu_is_that_of_nltk(study):
    library = pytest.importorskip("nltk.translate.gleu_score")
    check("gleu@whitespace", study, lambda left, right: library.sentence_gleu([right.split()], left.split()), near=0)


@pytest.mark.parametrize(("name", "split"), [("jaccard", split_folded_words), ("overlap", str.split)])
def test_sets_are_those_of_python(study, name, split):
    def peer(left, right):
        left, right = set(split(left)), set(split(right))
        return len(left & right) / len(left | right)

    check(name, study, peer, near=0)


def test_bm25plus_is_that_of_rank_bm25(study):
    library = pytest.importorskip("rank_bm25", reason="rank_bm25 is not installed")
    tokens = [split_folded_words(text) for side in study for text in side]
    scorer, pairs = library.BM25Plus(tokens), len(study[0])
    expected = [scorer.get_batch_scores(tokens[row], [pairs + row])[0] for row in range(pairs)]
    found = get_metric("bm25plus(normalise=false)").measure(Pairs(*study)).values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_word_movers_are_those_of_pot(study):
    ot = pytest.importorskip("ot")
    pairs = Pairs(*study)
    tokens = pairs.left.pool.tokens("words")
    vectors, known = get_word_vectors("wordvec").lookup(tokens.vocabulary)
    table = dict(zip(np.array(tokens.vocabulary)[known].tolist(), vectors[known].astype(np.float64), strict=True))

    def peer(left, right):
        bags = [Counter(word for word in split_folded_words(text) if word in table) for text in (left, right)]
        if not all(any(any(map(str.isalnum, word)) for word in bag) for bag in bags):
            return np.nan  # punctuation alone is no evidence
        X, Y = (np.array([table[word] for word in bag]) for bag in bags)
        return ot.emd2(*(np.array([*bag.values()]) / bag.total() for bag in bags), cdist(X, Y))

    check("wmd", study, peer, near=1e-9)
