"""Texts that an encoder or tokenizer cannot read: NaN with the reason, or a warning that names what fits."""

import numpy as np
import pytest

from textgauge import compare, score
from textgauge.core.errors import MissingExtra, UnknownName
from textgauge.data import Corpus, Pool
from textgauge.metrics import get_metric
from textgauge.metrics.cautions import find_unread, get_scripts, get_unknown_shares

THAI = ["แมวนั่งบนเสื่อ", "วันนี้อากาศดีมาก"]
CHINESE = ["我喜欢在公园里散步", "今天天气很好"]
ENGLISH = ["a cat sat on the mat", "the weather is fine today"]


def test_scripts_and_unknown_pieces_of_a_pool():
    pool = Pool(["plain", "Größe", THAI[0], CHINESE[0], "私は猫が好きです", "…", "", f"cat {THAI[0]}"])
    assert get_scripts(pool).tolist() == ["LATIN", "LATIN", "THAI", "CJK", "HIRAGANA", "", "LATIN", "THAI"]
    shares = get_unknown_shares(pool)
    assert shares[[0, 1, 5, 6]].tolist() == [0, 0, 0, 0]
    assert shares[2] == 1
    assert 0 < shares[7] < 1
    assert find_unread(Corpus(pool, np.arange(8)), "minilm").tolist() == [False, False, True, *[False] * 5]
    assert not find_unread(Corpus(pool, np.arange(8)), "wordllama").any()


@pytest.mark.parametrize("name", ["cosine", "bertscore", "contextual_l2", "cosine(scale=unit)", "bertscore.recall"])
def test_unrelated_texts_of_unknown_pieces_have_no_value(name):
    metric = get_metric(name)
    texts = [*THAI, *ENGLISH]
    found = metric(left=[THAI[0], THAI[0], THAI[0], ENGLISH[0]], right=[THAI[1], THAI[0], ENGLISH[0], ENGLISH[1]])
    assert np.isnan(found.values).tolist() == [True, False, True, False]
    assert found.values[1] == metric.value_at_identity
    assert "does not know" in found.reason
    matrix = metric.matrix(Corpus.of(texts), Corpus.of(texts))
    assert np.isnan(matrix).tolist() == [[r != c and min(r, c) < 2 for c in range(4)] for r in range(4)]
    np.testing.assert_allclose(matrix[2, 3], found.values[3], rtol=1e-6)


def test_corpora_of_unknown_pieces_have_no_distance():
    sides = ([THAI[side] + "ก" * i for i in range(6)] for side in (0, 1))
    report = compare(**dict(zip(("reference", "candidate"), sides, strict=True)), metrics="energy,fid,jsd,jsd@words")
    assert [score.reason is None for score in report] == [False, False, False, True]
    assert "does not know" in report["energy"].reason
    assert any("not in Latin script" in text for text in report.warnings)


@pytest.mark.parametrize(
    ("name", "texts", "said"),
    [
        ("bleu", CHINESE, "use bleu@char, or bleu@zh for Chinese"),
        ("gleu", THAI, "use gleu@char, or gleu@zh for Chinese"),
        ("jaccard", THAI, "use jaccard@char"),
        ("cosine", CHINESE, "minilm was trained on English"),
        ("cosine", THAI, "unknown to minilm"),
        ("wmd", THAI, "100% of the words have no vector"),
    ],
)
def test_texts_in_a_script_that_is_not_read_carry_a_warning(name, texts, said):
    report = score(left=texts, right=texts[::-1], metrics=name)
    assert said in " ".join(report.warnings)
    assert said in report.summary()[0].to_dict()["warning"]


@pytest.mark.parametrize("name", ["bleu@zh", "bleu@char", "jaccard", "chrf", "levenshtein"])
def test_chinese_split_as_it_should_be_carries_none(name):
    assert score(left=CHINESE, right=CHINESE[::-1], metrics=name).warnings == ()


def test_english_carries_no_warning():
    report = score(left=ENGLISH, right=ENGLISH[::-1], metrics="bleu,cosine,bertscore,wmd,rouge1")
    assert report.warnings == ()
    assert report.summary()[0].to_dict()["warning"] is None


@pytest.mark.parametrize("name", ["wmd", "rwmd", "wordvec_cosine", "wmd(stopwords=drop)"])
def test_punctuation_alone_is_no_evidence(name):
    left, right = ["Kubernetes misconfigured.", "A cat sat."], ["Tocilizumab hepatotoxicity.", "A kubernetes sat."]
    found = get_metric(name)(left=left, right=right)
    assert np.isnan(found.values).tolist() == [True, False]
    assert "no word with a vector" in found.reason
    np.testing.assert_allclose(found.parts["unknown"], [1.0, 1 / 6])
    assert found.warnings


def test_a_tokenizer_whose_package_is_missing_says_what_to_install(monkeypatch):
    monkeypatch.setattr("textgauge.encode.tokenizers.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'sacrebleu\[ja\]'"):
        get_metric("bleu@ja-mecab")(left=["a"], right=["b"])
    with pytest.raises(UnknownName, match="unknown tokenizer"):
        get_metric("bleu@mecab-xx")(left=["a"], right=["b"])
