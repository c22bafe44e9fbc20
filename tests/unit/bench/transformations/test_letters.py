"""Changes of letters: exact numbers, and scripts with rules of their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.bench.pieces import clusters
from textgauge.bench.transformations import TRANSFORMATIONS

CAPITALS, DROPPED, DIGITS, TYPOS = (
    TRANSFORMATIONS[name] for name in ("capitals", "dropped_letters", "digits", "typos")
)
SHARES = st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.9, 1.0])
MIXED = st.one_of(
    st.text(), st.lists(st.sampled_from([*"abeost TOS,.1", "é", "e\u0301", "ß", "क्षि", "今", "👍🏽"])).map("".join)
)


@given(text=MIXED, share=SHARES, seed=st.integers(0, 99))
def test_capitals_are_exact_in_number_and_fold_back(text: str, share: float, seed: int) -> None:
    changed = CAPITALS(text, seed=seed, strength=share)
    able = sum(
        c.isalpha() and c != c.upper() and len(c.upper()) == 1 and c.upper().casefold() == c.casefold() for c in text
    )
    assert len(changed) == len(text)
    assert sum(a != b for a, b in zip(text, changed, strict=True)) == round(share * able)
    assert changed.casefold() == text.casefold()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("straße ﬁnden", "STRAßE ﬁNDEN"),
        ("ısı ışık", "ıSı ışıK".replace("ş", "Ş")),
        ("μέγας ǆ", "ΜΈΓΑΣ Ǆ"),
        ("नमस्ते 今天 سلام", "नमस्ते 今天 سلام"),
        ("e\u0301te\u0301", "E\u0301TE\u0301"),
    ],
)
def test_capitals_of_special_letters(text: str, expected: str) -> None:
    assert CAPITALS(text, strength=1) == expected


@given(text=MIXED, share=SHARES)
def test_every_nth_letter_is_dropped_and_nothing_else(text: str, share: float) -> None:
    every, seen, kept = round(1 / share), 0, []
    for cluster in clusters(text):
        seen += cluster[0].isalpha()
        kept.append("" if cluster[0].isalpha() and seen % every == 0 else cluster)
    assert DROPPED(text, strength=share) == ("".join(kept) if text.strip() else text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abcdefghij klmnopqrst", "abcdefghi klmnopqrs"),
        ("a b c d e f g h i j k", "a b c d e f g h i  k"),
        ("12345 67890, abc", "12345 67890, abc"),
        ("abcdefghi", "abcdefghi"),
        ("今天天气很好我们去公园", "今天天气很好我们去园"),
        ("abcdefghie\u0301!", "abcdefghi!"),
        ("abcdefghi👍🏽क्षिj", "abcdefghi👍🏽j"),
    ],
)
def test_dropped_letters_by_hand(text: str, expected: str) -> None:
    assert DROPPED(text) == expected


@given(text=MIXED, share=SHARES, seed=st.integers(0, 99))
def test_digits_are_exact_in_number_and_can_be_read_back(text: str, share: float, seed: int) -> None:
    changed = DIGITS(text, seed=seed, strength=share)
    whole = DIGITS(text)
    touched, able = (sum(a != b for a, b in zip(text, new, strict=True)) for new in (changed, whole))
    assert touched == round(share * able)
    back = {"0": "o", "3": "e", "4": "a", "1": "i", "5": "s", "7": "t"}
    assert all(a == b or back[b] == a.lower() for a, b in zip(text, whole, strict=True))


@given(text=MIXED, seed=st.integers(0, 99))
def test_one_typo_is_one_exchange_doubling_or_omission(text: str, seed: int) -> None:
    changed, old = TYPOS(text, seed=seed, strength=1e-9), clusters(text)
    able = [place for place in range(1, len(old)) if old[place][0].isalpha() and old[place - 1][0].isalpha()]
    options = {text} if not able else set()
    for place in able:
        before, here = old[place - 1], old[place]
        for new in ([here, before], [before, here, here], [before]):
            options.add("".join([*old[: place - 1], *new, *old[place + 1 :]]))
    assert changed in options
    if able:
        assert changed != text


def test_typos_are_of_all_kinds_in_all_scripts() -> None:
    assert {TYPOS("abc", seed=seed) for seed in range(60)} == {"bac", "abbc", "ac", "acb", "abcc", "ab"}
    assert {TYPOS("क्षिति", seed=seed) for seed in range(30)} == {"तिक्षि", "क्षितिति", "क्षि"}
    assert TYPOS("a 1 b 👍🏽", strength=1) == "a 1 b 👍🏽"
