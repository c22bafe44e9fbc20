"""Edit similarity: its variants and its edges."""

import pytest

from textgauge import get_metric
from textgauge.core.errors import InputError, ParameterError

KINDS = ["levenshtein", "indel", "osa", "damerau"]


def value(name, left, right):
    return float(get_metric(name)(left=[left], right=[right]).values[0])


def test_kinds_count_different_edits():
    found = {kind: 10 * (1 - value(f"levenshtein(kind={kind})", "ab cd", "ba dc")) for kind in KINDS}
    assert found == pytest.approx({"levenshtein": 4, "indel": 4, "osa": 2, "damerau": 2})
    assert value("levenshtein(kind=osa)", "ca", "abc") == pytest.approx(2 / 5)
    assert value("levenshtein(kind=damerau)", "ca", "abc") == pytest.approx(3 / 5)
    assert value("levenshtein(kind=indel)", "abcd", "wxyz") == 0.0
    assert value("levenshtein", "abcd", "wxyz") == 0.5


def test_indel_has_no_norm_by_the_longer_text():
    with pytest.raises(ParameterError, match="norm is sum"):
        get_metric("levenshtein(kind=indel,norm=max)")


@pytest.mark.parametrize(("name", "words"), [("levenshtein", 300_000), ("levenshtein@words", 30_000)])
def test_long_texts(name, words):
    long = "ab " * words
    assert value(name, long, long) == 1.0
    assert value(name, long, "") == 0.0
    assert 0 < value(name, long, "ab ab") < 0.001


@pytest.mark.parametrize(("name", "words"), [("levenshtein", 300_000), ("ter", 20_000), ("rougeL", 0)])
def test_texts_too_long_for_edits_are_refused(name, words):
    left, right = "ab " * words, "ba " * words
    if words:
        with pytest.raises(InputError, match="TEXTGAUGE_MAX_EDIT_CELLS"):
            value(name, left, right)
    with pytest.raises(InputError, match="TEXTGAUGE_MAX_CHARACTERS"):
        value(name, "a" * 1_000_001, "b")
