"""What a comparison warns of, besides what the command's own test looks for."""

from textgauge.data import Comparison
from textgauge.measure.comparing import find_confounds
from textgauge.metrics import get_corpus_metrics

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
