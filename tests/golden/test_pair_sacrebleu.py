"""BLEU, chrF and TER against sacrebleu: stored numbers of our own pairs."""

from importlib.metadata import version

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.golden.pair_ngrams import BLEU, CANDIDATES, CHRF, SEVERAL, TER, numbers
from tests.golden.pairs import LEFT, RIGHT

import textgauge
from textgauge import get_metric
from textgauge.data import Pairs
from textgauge.encode.tokenizers import get_tokenizer

FLOOR = {"smooth_method": "floor", "smooth_value": 0.1}


def test_no_text_is_kept_by_sacrebleu():
    from sacrebleu.tokenizers import tokenizer_13a, tokenizer_re, tokenizer_ter

    kinds = tokenizer_13a.Tokenizer13a, tokenizer_re.TokenizerRegexp, tokenizer_ter.TercomTokenizer
    before = [kind.__call__.cache_info() for kind in kinds]
    textgauge.score(["one text"], ["another text"], metrics="bleu,ter")
    assert [kind.__call__.cache_info() for kind in kinds] == before


@given(st.lists(st.sampled_from([*"a1.,- \n&'!é\t$(", "&quot;", "&amp;", "<skipped>", "-\n", "\u00a0"])).map("".join))
def test_13a_splits_as_sacrebleu_does_though_piece_by_piece(text):
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    assert get_tokenizer("13a").encode([text]).strings(0) == Tokenizer13a()(text.rstrip()).split()


@pytest.mark.parametrize("name", [*BLEU, *CHRF, *TER])
def test_scores_are_those_of_sacrebleu(name):
    metric, stored = get_metric(name), numbers(name)
    single, several = metric(left=LEFT, right=RIGHT), metric(left=CANDIDATES, right=SEVERAL)
    np.testing.assert_allclose(single.values, stored["pairs"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(several.values, stored["several"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", [*BLEU, *CHRF, *TER])
def test_the_score_of_a_set_is_that_of_sacrebleu(name):
    metric, stored = get_metric(name), numbers(name)
    for pairs, expected in (
        (Pairs(LEFT, RIGHT), stored["set"]),
        (Pairs.of(CANDIDATES, SEVERAL), stored["set_several"]),
    ):
        sums = metric.statistics(pairs).sum(axis=0)
        assert 100 * metric.of_statistics(np.stack([sums, sums])) == pytest.approx([expected] * 2, abs=1e-10)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bleu", ("BLEU", {})),
        ("bleu(smoothing=floor,lowercase=true)@whitespace", ("BLEU", {"tokenize": "none", "lowercase": True} | FLOOR)),
        ("chrf", ("CHRF", {})),
        ("chrf(word_order=2,smoothing=epsilon)", ("CHRF", {"word_order": 2, "eps_smoothing": True})),
        ("ter(normalized=true)", ("TER", {"normalized": True})),
    ],
)
@pytest.mark.parametrize("references", [1, 2])
def test_a_score_is_cited_as_sacrebleu_writes_it(name, arguments, references):
    from sacrebleu import metrics

    left = ["the cat sat on the mat today", "we like green tea very much"]
    right = [["the cat sat on a mat today"] * references, ["we do like green tea much"] * references]
    kind, settings = arguments
    theirs = getattr(metrics, kind)(**settings)
    found = theirs.corpus_score(left, [list(texts) for texts in zip(*right, strict=True)])
    line = f"{found.name}|{theirs.get_signature()} = {found.score:.1f}"
    report = textgauge.score(left, right, metrics=name)
    assert report.citations == (report.summary()[0].sacrebleu,) == (line,)
    assert str(report).splitlines()[-1] == line


def test_a_score_that_sacrebleu_does_not_have_is_not_cited():
    names = "jaccard,bleu(order=2),bleu@words,chrf(beta=1.5)"
    assert textgauge.score(["a cat"], ["a dog"], metrics=names).citations == ()
    short = textgauge.score(["a"], [["a", "b"]], metrics="bleu").citations
    assert short == (f"BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:{version('sacrebleu')} = 0.0",)
    varied = textgauge.score(["a b c d e", "f"], [["a b c d e"], ["f", "g"]], metrics="bleu").citations
    assert varied[0].startswith("BLEU|nrefs:var|")
