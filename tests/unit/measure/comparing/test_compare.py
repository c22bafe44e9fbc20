"""Seeds, and what is computed how often."""

import pickle
from unittest.mock import patch

import numpy as np
import pytest

from textgauge import compare, get_metric
from textgauge.data import Comparison
from textgauge.metrics import get_corpus_metrics
from textgauge.metrics.cautions import find_confounds
from textgauge.metrics.corpus.mauve import Mauve
from textgauge.metrics.uncertainty import NullValues

RNG = np.random.default_rng(0)
NO_NULL = NullValues(1.0, np.ones(3), "")
REFERENCE, CANDIDATE = RNG.normal(size=(40, 6)), RNG.normal(size=(40, 6)) + 0.5


def keys(metrics, **options):
    return [score.metric for score in compare(reference=REFERENCE, candidate=CANDIDATE, metrics=metrics, **options)]


@pytest.mark.parametrize("given", ["mauve(seed=0)", Mauve(seed=0)], ids=str)
def test_a_seed_given_by_name_wins(given):
    assert keys([given], seed=7) == ["mauve@given"]
    assert keys(["mauve(seed=3)"], seed=7) == ["mauve(seed=3)@given"]


def test_a_metric_without_a_seed_takes_that_of_the_comparison():
    assert keys("mauve,energy,classifier.f1", seed=7) == [
        "mauve(seed=7)@given",
        "energy@given",
        "classifier.f1(seed=7)@given",
    ]
    assert keys("mauve") == ["mauve@given"]


@pytest.mark.parametrize("name", ["energy", "c2st", "irpr", "energy.coefficient"])
def test_an_interval_does_not_compute_the_value_again(name):
    counted = []
    kind = type(get_metric(name))
    original = kind.compute

    def compute(self, comparison):
        counted.append(name)
        return original(self, comparison)

    with patch.object(kind, "compute", compute), patch.object(kind, "null_values", return_value=NO_NULL):
        rows = np.random.default_rng(1).normal(size=(400, 6))
        (score,) = compare(reference=rows[:200], candidate=rows[200:] + 0.5, metrics=name, ci=True)
    assert score.low <= score.high
    assert len(counted) == 1


def test_a_report_can_be_sent_to_another_process():
    report = compare(["a cat", "a dog"], ["a cow", "a hen"], metrics="jsd@words")
    assert pickle.loads(pickle.dumps(report)).readable() == report.readable()


def test_typical_words_are_words_not_punctuation_marks():
    reference = [f"no, {word}, no." for word in "abcdefghij" * 4]
    candidate = [f"yes: {word}? yes!" for word in "abcdefghij" * 4]
    report = compare(reference=reference, candidate=candidate, metrics="jsd@words")
    assert report.answer.endswith("Typical words of the reference: no; of the candidate: yes.")
    assert {row["term"] for row in report.terms.top(3, "candidate")} == {"yes", "!", ":"}


def test_a_small_raw_p_value_is_no_answer():
    rows = np.random.default_rng(29).normal(size=(60, 5))
    names = "energy,medoid,pr,dc,irpr,fid"
    report = compare(reference=rows[:30], candidate=rows[30:], metrics=names, test=True, permutations=199)
    assert min(score.p_value for score in report) <= 0.05
    assert report.answer.startswith("No difference found: none of 6 metrics")


def test_the_usual_metrics_of_embeddings_need_no_texts():
    found = {score.metric for score in compare(REFERENCE, CANDIDATE, test=False)}
    assert {"energy@given", "pr@given", "mauve@given"} <= found
    assert not any(get_metric(name).reads_texts for name in found)
    assert "energy@given" in compare(REFERENCE, {"one": CANDIDATE, "two": REFERENCE + 1}, test=False).metrics


LONG = "many words " * 150


def said(metrics, texts):
    comparison = Comparison(texts, [f"candidate {text}" for text in texts])
    return [line for line in find_confounds(comparison, get_corpus_metrics(metrics)) if "longer than" in line]


def test_texts_longer_than_the_encoder_reads_are_counted():
    texts = [LONG, *(f"short text {row}" for row in range(60))]
    line = "2 of 122 texts are longer than minilm reads (254 tokens): use whole:minilm to embed the full text"
    assert said("energy,pr@minilm", texts) == [line]
    assert len(said("energy@minilm|paraphrase-minilm", texts)) == 2
    assert said("energy@whole:minilm,jsd,energy@wordllama,energy@jaccard", texts) == []
    assert said("energy", texts[1:]) == []
