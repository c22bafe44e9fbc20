from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.data import Pairs
from textgauge.encode.languages import stem_porter
from textgauge.metrics import get_metric
from textgauge.metrics.pair import meteor

# Groups of synonyms for the tests; `run` leads to `jog`, not the other way, as irregular forms do.
LEADS = {"car": {"auto"}, "auto": {"car"}, "run": {"jog"}, "big": {"large", "huge"}, "large": {"big"}, "huge": {"big"}}
WORDS = ["car", "auto", "cars", "run", "jog", "running", "big", "large", "huge", "the", "The", "a", "हिन्दी"]

texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


def synonyms(words):
    return {word: LEADS.get(word, set()) & words for word in words}


@pytest.fixture
def small_wordnet(monkeypatch):
    monkeypatch.setattr(meteor, "find_synonyms", synonyms)


def twin(left, right, *, stages, lookup):
    """Matches and chunks, one word after the other."""
    a, b = ([[place, word.lower()] for place, word in enumerate(text.split())] for text in (left, right))
    found = []

    def stage(fits):
        for one in a[::-1]:
            partner = next((two for two in b[::-1] if fits(one[1], two[1])), None)
            if partner:
                found.append((one[0], partner[0]))
                a.remove(one)
                b.remove(partner)

    stage(lambda one, two: one == two)
    if stages != "exact":
        stage(lambda one, two: stem_porter(one) == stem_porter(two))
    if stages == "synonym":
        seen = stem_porter if lookup == "stems" else str
        stage(lambda one, two: seen(two) in LEADS.get(seen(one), ()))
    found.sort()
    return len(found), bool(found) + sum((j[0] - i[0], j[1] - i[1]) != (1, 1) for i, j in pairwise(found))


@pytest.mark.parametrize("stages", ["exact", "stem", "synonym"])
@pytest.mark.parametrize("lookup", ["stems", "words"])
def test_matches_and_chunks_are_those_of_a_plain_twin(small_wordnet, stages, lookup):
    metric = get_metric(f"meteor(stages={stages},lookup={lookup},perfect=penalised)@whitespace")

    @settings(max_examples=30)
    @given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
    def check(pairs):
        columns = metric.compute(Pairs([left for left, _ in pairs], [right for _, right in pairs]))
        for row, (left, right) in enumerate(pairs):
            matches, chunks = twin(left, right, stages=stages, lookup=lookup)
            sizes = len(left.split()), len(right.split())
            assert columns["precision"][row] == (matches / sizes[0] if matches else 0.0)
            assert columns["recall"][row] == (matches / sizes[1] if matches else 0.0)
            assert columns["fragmentation"][row] == (chunks / matches if matches else 1.0)

    check()


def test_a_perfect_match_may_be_penalised():
    scores = {
        perfect: get_metric(f"meteor(stages=stem,perfect={perfect})")(left=["a red car"], right=["a red car"])
        for perfect in ("one", "penalised")
    }
    assert scores["one"].values[0] == 1.0
    assert scores["one"].parts["fragmentation"][0] == 0.0
    assert scores["penalised"].values[0] == pytest.approx(1 - 0.5 / 27)


def test_texts_without_words():
    left, right = ["", " ", "", "word"], ["", "\n", "word", ""]
    scores = get_metric("meteor(stages=stem)")(left=left, right=right)
    np.testing.assert_array_equal(scores.values, [1, 1, 0, 0])
    np.testing.assert_array_equal(scores.parts["precision"], [1, 1, 0, 0])
    penalised = get_metric("meteor(stages=stem,perfect=penalised)")(left=left, right=right)
    np.testing.assert_array_equal(penalised.values, [0, 0, 0, 0])
