"""Edit similarity against the textbook recursion, its variants and its edges."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge import get_metric
from textgauge.core.errors import ParameterError

KINDS = ["levenshtein", "indel", "osa", "damerau"]
TEXTS = st.text(alphabet="ab cé\u0301\ud800👍", max_size=12)


def edits(s, t):
    row = list(range(len(t) + 1))
    for i, a in enumerate(s, start=1):
        previous, row = row, [i]
        for j, b in enumerate(t, start=1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b)))
    return row[-1]


def value(name, left, right):
    return float(get_metric(name)(left=[left], right=[right]).values[0])


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_equals_the_textbook(pairs):
    from textgauge.encode.tokenizers import get_characters

    values = get_metric("levenshtein")(left=[s for s, _ in pairs], right=[t for _, t in pairs]).values
    for (left, right), found in zip(pairs, values, strict=True):
        s, t = get_characters(left), get_characters(right)
        whole = len(s) + len(t)
        assert found == ((whole - edits(s, t)) / whole if whole else 1.0)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_token_level_equals_the_textbook(left, right):
    s, t = left.split(), right.split()
    longest = max(len(s), len(t))
    assert value("levenshtein(norm=max)@whitespace", left, right) == pytest.approx(
        1 - edits(s, t) / longest if longest else 1.0, abs=1e-15
    )


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


@pytest.mark.parametrize(("name", "words"), [("levenshtein", 3_000_000), ("levenshtein@words", 30_000)])
def test_long_texts(name, words):
    long = "ab " * words
    assert value(name, long, long) == 1.0
    assert value(name, long, "") == 0.0
    assert 0 < value(name, long, "ab ab") < 0.001
