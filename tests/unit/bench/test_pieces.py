"""Needles and chunks: exact to the token at every share and place, the rest untouched."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from textgauge.bench.pieces import PLACES, clusters, fits, insert, piece_spans, pieces, remove
from textgauge.bench.transformations import NEEDLE, TRANSFORMATIONS
from textgauge.core.errors import InputError

INSERTED = (0.05, 0.10, 0.25, 0.50, 1.00)
REMOVED = (0.05, 0.10, 0.25, 0.50)
TEXTS = {
    "english": "When the storm came, Mary closed the windows.\n\n  She did not call,\tfor the phone was dead. " * 3,
    "hindi": "मैं किताबें पढ़ता हूँ। वह गाती है और हम सुनते हैं। " * 4,
    "arabic": "ذهب الولد إلى المدرسة، ثم عاد إلى البيت مساءً. " * 5,
    "chinese": "今天天气很好，我们去公园散步。\n他说：“好吗？”然后走了。" * 2,
    "thai": "วันนี้อากาศดีมาก เราไปสวนสาธารณะ" * 2,
    "mixed": "hello世界world 👩‍👩‍👧 ok你好 abc今天 def" * 5,
}
NEEDLES = {"english": NEEDLE, "chinese": "海边的灯塔每晚都亮着。", "short": "hay", "tokens": ["two", "words"]}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("share", INSERTED)
@pytest.mark.parametrize("needle", NEEDLES.values(), ids=NEEDLES)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_insertions_are_exact(text: str, needle, share: float, place) -> None:
    old, new = pieces(text), pieces(insert(text, needle, share=share, place=place))
    count, given_tokens = round(share * len(old)), pieces(needle if isinstance(needle, str) else " ".join(needle))
    start = {"beginning": 0, "middle": len(old) // 2, "end": len(old)}[place]
    expected = [given_tokens[number % len(given_tokens)] for number in range(count)]
    assert new == [*old[:start], *expected, *old[start:]]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("share", REMOVED)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_removals_are_exact(text: str, share: float, place) -> None:
    old, new = pieces(text), pieces(remove(text, share=share, place=place))
    count = round(share * len(old))
    start = {"beginning": 0, "middle": (len(old) - count) // 2, "end": len(old) - count}[place]
    assert new == [*old[:start], *old[start + count :]]


@pytest.mark.parametrize(
    ("place", "expected"),
    [("beginning", " x y a  b\tc\nd "), ("middle", " a  b\tx y c\nd "), ("end", " a  b\tc\nd x y ")],
)
def test_insertion_keeps_the_spaces(place, expected: str) -> None:
    assert insert(" a  b\tc\nd ", "x y z", share=0.5, place=place) == expected


def test_what_is_glued_stays_apart() -> None:
    assert remove("hello世界world", share=0.5, place="middle") == "hello world"
    assert insert("今天", "灯塔", share=1) == "今灯塔天"
    assert insert("今天", ["a", "b"], share=1) == "今a b天"
    assert insert("ab今cd", "x", share=0.3, place="middle") == "ab x今cd"


@given(
    words=st.lists(st.sampled_from(["a", "né", "今天", "👍🏽", "क्षि", "ก็"]), min_size=1, max_size=60),
    share=st.floats(0.01, 1),
    place=st.sampled_from(PLACES),
)
def test_any_share_that_fits_is_exact(words: list[str], share: float, place) -> None:
    text = " ".join(words)
    n = len(pieces(text))
    count = max(1, round(share * n))
    assert fits(text, share) == (share * n >= 0.5)
    assume(fits(text, share))
    assert len(pieces(insert(text, NEEDLE, share=share, place=place))) == n + count
    assert len(pieces(remove(text, share=share, place=place))) == n - count


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a b c", {"share": 0.0}, "above 0"),
        ("a b c", {"share": 1.5}, "above 0"),
        ("a b c", {"share": float("nan")}, "above 0"),
        ("a b c", {"share": 0.5, "place": "top"}, "beginning, middle, end"),
        (" ".join("a" * 9), {"share": 0.05}, "of 9 tokens"),
        (" ".join("a" * 4), {"share": 0.1}, "of 4 tokens"),
    ],
)
def test_shares_that_do_not_fit_and_bad_options_are_named(text: str, options, message: str) -> None:
    for change in (lambda: insert(text, "x", **options), lambda: remove(text, **options)):
        with pytest.raises(InputError, match=message):
            change()
    if "tokens" in message:
        for name in ("needle_insertion", "chunk_removal"):
            assert TRANSFORMATIONS[name](text, strength=options["share"]) == text


@example(text=" \u094daa")
@given(text=st.text("a1 今天ก็é👍🏽\u0301\u200d🇩🇪क्षि\n"))
def test_tokens_are_what_is_not_white_space_and_no_cluster_is_cut(text: str) -> None:
    whole = clusters(text)
    assert "".join(whole) == text
    ends, place = {0}, 0
    for cluster in whole:
        place += len(cluster)
        ends.add(place)
    for span in piece_spans(text):
        assert set(span) <= ends


@given(text=st.text(st.one_of(st.characters(), st.sampled_from("🇩🇪👍🏽\u0301\u200dक्षि\u0600 \r\n"))))
def test_clusters_cut_nowhere_that_unicode_does_not(text: str) -> None:
    regex = pytest.importorskip("regex")
    cuts = {0, *(found.end() for found in regex.finditer(r"\X", text))}
    place = 0
    for cluster in clusters(text) if "\r\n" not in text else ():
        place += len(cluster)
        assert place in cuts
