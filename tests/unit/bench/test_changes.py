"""Changes of letters, statements and order: exact numbers, and scripts with rules of their own."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.bench.pieces import clusters, pieces, sentence_spans
from textgauge.bench.transformations import TRANSFORMATIONS

CAPITALS, DROPPED, DIGITS = (TRANSFORMATIONS[name] for name in ("capitals", "dropped_letters", "digits"))
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


@given(text=MIXED, share=SHARES)
def test_every_nth_letter_is_dropped_and_nothing_else(text: str, share: float) -> None:
    every, seen, kept = round(1 / share), 0, []
    for cluster in clusters(text):
        seen += cluster[0].isalpha()
        kept.append("" if cluster[0].isalpha() and seen % every == 0 else cluster)
    assert DROPPED(text, strength=share) == ("".join(kept) if text.strip() else text)


@given(text=MIXED, share=SHARES, seed=st.integers(0, 99))
def test_digits_are_exact_in_number_and_can_be_read_back(text: str, share: float, seed: int) -> None:
    changed = DIGITS(text, seed=seed, strength=share)
    whole = DIGITS(text)
    touched, able = (sum(a != b for a, b in zip(text, new, strict=True)) for new in (changed, whole))
    assert touched == round(share * able)
    back = {"0": "o", "3": "e", "4": "a", "1": "i", "5": "s", "7": "t"}
    assert all(a == b or back[b] == a.lower() for a, b in zip(text, whole, strict=True))


WORDS, SENTENCES = TRANSFORMATIONS["word_shuffle"], TRANSFORMATIONS["sentence_shuffle"]
TEXTS = st.one_of(
    st.text(),
    st.lists(st.sampled_from(["One.", "Two!", "three", "is", "not", "four,", "今", "天。", "नमस्ते", "a", "a"])).map(
        " ".join
    ),
)


@pytest.mark.parametrize("shuffle", [WORDS, SENTENCES], ids=["words", "sentences"])
@given(text=TEXTS, seed=st.integers(0, 9), strength=st.sampled_from([0.01, 0.5, 1.0]))
def test_a_shuffle_keeps_the_parts_and_changes_the_text(shuffle, text: str, seed: int, strength: float) -> None:
    changed = shuffle(text, seed=seed, strength=strength)
    assert Counter(changed) == Counter(text)
    assert (changed != text) == (len(set(pieces(text))) > 1)


def test_white_space_stays_where_it_is() -> None:
    changed = WORDS("aa\tbb\n\ncc  dd ", seed=1)
    assert [character for character in changed if character.isspace()] == list("\t\n\n   ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. J. Smith left. He ran!", ["Dr. J. Smith left.", "He ran!"]),
        ('He said "go." Then? (Yes.) No', ['He said "go."', "Then?", "(Yes.)", "No"]),
        ("今天好。他说：“好吗？！”走了", ["今天好。", "他说：“好吗？！”", "走了"]),
        ("वह गया। मैं आया।", ["वह गया।", "मैं आया।"]),
        ("هل ذهب؟ نعم.", ["هل ذهب؟", "نعم."]),
        ("A title\n\nA line\nbroken here", ["A title", "A line\nbroken here"]),
        ("It cost 3.14 dollars . ok", ["It cost 3.14 dollars .", "ok"]),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_sentences_by_hand(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == expected


BY_HAND = {
    "capitals": [
        ("straße ﬁnden", "STRAßE ﬁNDEN"),
        ("ısı ışık", "ıSı ışıK".replace("ş", "Ş")),
        ("μέγας ǆ", "ΜΈΓΑΣ Ǆ"),
        ("नमस्ते 今天 سلام", "नमस्ते 今天 سلام"),
        ("e\u0301te\u0301", "E\u0301TE\u0301"),
    ],
    "dropped_letters": [
        ("abcdefghij klmnopqrst", "abcdefghi klmnopqrs"),
        ("a b c d e f g h i j k", "a b c d e f g h i  k"),
        ("12345 67890, abc", "12345 67890, abc"),
        ("abcdefghi", "abcdefghi"),
        ("今天天气很好我们去公园", "今天天气很好我们去园"),
        ("abcdefghie\u0301!", "abcdefghi!"),
        ("abcdefghi👍🏽क्षिj", "abcdefghi👍🏽j"),
    ],
    "negation": [
        ("This is good.", "This is not good."),
        ("This is not good.", "This is good."),
        ("This isn't good.", "This is good."),
        ("It’s late. I'm tired. They're not here.", "It’s not late. I'm not tired. They're here."),
        ("WE CAN'T. Won't you? She cannot.", "WE CAN. Will you? She can."),
        ("We ca n't go; it is n't far.", "We ca n't go; it is far."),
        ("I do, you don't, he has\nnot.", "I do not, you do, he has."),
        ("May and Will sing; you may sing, we will.", "May and Will sing; you may not sing, we will not."),
        ("His thesis-is-done island.", "It is not true that His thesis-is-done island."),
        ("  Birds fly.", "  It is not true that Birds fly."),
        ("今天下雨。", "并非今天下雨。"),
        ("वह जाता है।", "यह सच नहीं है कि वह जाता है।"),
        ("Птицы летят.", "Неверно, что Птицы летят."),
        ("ذهب الولد.", "ليس صحيحًا أن ذهب الولد."),
        ("👍🏽", "It is not true that 👍🏽"),
    ],
    "sentence_shuffle": [
        ("one two three four", "three four one two"),
        ("one two", "two one"),
        ("a b a b", "b a b a"),
        ("word", "word"),
        ("今天下雨", "下雨今天"),
        ("Same. Same.", "Same. Same."),
    ],
    "word_order": [
        ("If it rains, will you come?", "Will you come if it rains?"),
        ("Because I was ill, she and Bob left.", "She and Bob left because I was ill."),
        ("I stayed because it rained.", "Because it rained, I stayed."),
        ("In 1990, he moved.", "He moved, in 1990."),
        ("He paid 1,000 euros.", "He paid 1,000 euros."),
        ("He came, and she left.", "He came, and she left."),
        ('He said, "go".', 'He said, "go".'),
        ("今天下雨，我们不去。", "我们不去，今天下雨。"),
        ("بعد الظهر، ذهب الولد.", "ذهب الولد، بعد الظهر."),
        ("जब वह आया, मैं गया।", "मैं गया, जब वह आया।"),
        ("Birds fly south.", "Birds fly south."),
        ("ends with a comma,", "ends with a comma,"),
    ],
}


@pytest.mark.parametrize(("name", "text", "expected"), [(name, *row) for name, rows in BY_HAND.items() for row in rows])
def test_changes_by_hand(name: str, text: str, expected: str) -> None:
    assert TRANSFORMATIONS[name](text, strength=1 if name == "capitals" else None) == expected
