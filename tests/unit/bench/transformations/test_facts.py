"""Changes of statements, order and facts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.bench.pieces import sentence_spans
from textgauge.bench.transformations import TRANSFORMATIONS, pieces

NEGATION, SENTENCES, WORDS, ORDER, NAMES, NUMBERS = (
    TRANSFORMATIONS[name]
    for name in ("negation", "sentence_shuffle", "word_shuffle", "word_order", "entity_swap", "number_change")
)
TEXTS = st.one_of(
    st.text(),
    st.lists(st.sampled_from(["One.", "Two!", "three", "is", "not", "four,", "今", "天。", "नमस्ते", "a", "a"])).map(
        " ".join
    ),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
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
)
def test_negation_by_hand(text: str, expected: str) -> None:
    assert NEGATION(text) == expected


@given(text=TEXTS.filter(str.strip), seed=st.integers(0, 9), strength=st.sampled_from([0.01, 0.5, 1.0]))
def test_negation_changes_every_text(text: str, seed: int, strength: float) -> None:
    assert NEGATION(text, seed=seed, strength=strength) != text


@pytest.mark.parametrize("shuffle", [WORDS, SENTENCES], ids=["words", "sentences"])
@given(text=TEXTS, seed=st.integers(0, 9), strength=st.sampled_from([0.01, 0.5, 1.0]))
def test_a_shuffle_keeps_the_parts_and_changes_the_text(shuffle, text: str, seed: int, strength: float) -> None:
    changed = shuffle(text, seed=seed, strength=strength)
    assert Counter(changed) == Counter(text)
    assert (changed != text) == (len(set(pieces(text))) > 1)


def test_a_small_share_of_words_moves_two() -> None:
    text = " ".join(map(str, range(100)))
    moved = [
        sum(a != b for a, b in zip(text.split(), WORDS(text, seed=s, strength=0.02).split(), strict=True))
        for s in range(9)
    ]
    assert set(moved) == {2}


def test_white_space_stays_where_it_is() -> None:
    changed = WORDS("aa\tbb\n\ncc  dd ", seed=1)
    assert [character for character in changed if character.isspace()] == list("\t\n\n   ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two three four", "three four one two"),
        ("one two", "two one"),
        ("a b a b", "b a b a"),
        ("word", "word"),
        ("今天下雨", "下雨今天"),
        ("Same. Same.", "Same. Same."),
    ],
)
def test_a_single_sentence_is_turned(text: str, expected: str) -> None:
    assert SENTENCES(text) == expected


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
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
)
def test_clauses_are_moved(text: str, expected: str) -> None:
    assert ORDER(text) == expected


@given(text=TEXTS, seed=st.integers(0, 9))
def test_moving_clauses_keeps_the_words(text: str, seed: int) -> None:
    text = text.replace(",", ", ")
    bare = [Counter(new.casefold().replace(",", "").split()) for new in (text, ORDER(text, seed=seed))]
    if text.isascii():
        assert {word.strip(".!?") for word in bare[0]} == {word.strip(".!?") for word in bare[1]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yesterday Anna met Bert.", "Yesterday Bert met Anna."),
        ("Anna met Bert.", "Bert met Anna."),
        ("The King of Spain called New York's mayor.", "The New York of King called Spain's mayor."),
        ("I think he is here.", "I think he is here."),
        ("Only Anna is here.", "Only Anna is here."),
        ("Вчера же Анна видела Петра.", "Вчера же Петра видела Анна."),
        ("Dann traf Jean-Luc oft Zoe\u0308.", "Dann traf Zoe\u0308 oft Jean-Luc."),
        ("今天 أحمد नमस्ते", "今天 أحمد नमस्ते"),
    ],
)
def test_names_are_exchanged(text: str, expected: str) -> None:
    assert expected in {NAMES(text, seed=seed) for seed in range(9)}


def test_every_name_is_another_one_afterwards() -> None:
    names = ["Anna", "Bert", "Carla", "Doris", "Emil"]
    text = "we saw " + " and ".join(names)
    for seed in range(20):
        new = [word for word in NAMES(text, seed=seed).split() if word[0].isupper()]
        assert sorted(new) == names
        assert all(a != b for a, b in zip(names, new, strict=True))
        two = [word for word in NAMES(text, seed=seed, strength=0.1).split() if word[0].isupper()]
        assert sum(a != b for a, b in zip(names, two, strict=True)) == 2


@given(
    numbers=st.lists(st.integers(0, 10**20), min_size=1, max_size=9),
    seed=st.integers(0, 99),
    share=st.sampled_from([0.01, 0.5, 1.0]),
)
def test_numbers_keep_their_length_and_change(numbers: list[int], seed: int, share: float) -> None:
    old = [str(number) for number in numbers]
    new = NUMBERS(" and ".join(old), seed=seed, strength=share).split(" and ")
    assert [len(number) for number in new] == [len(number) for number in old]
    assert all(len(number) == 1 or number[0] != "0" for number in new)
    assert sum(a != b for a, b in zip(old, new, strict=True)) == max(1, round(share * len(old)))


@pytest.mark.parametrize(
    ("text", "digits"), [("१२ किताबें", "०१२३४५६७८९"), ("عام ١٩٩٩", "٠١٢٣٤٥٦٧٨٩"), ("007", "0123456789")]
)
def test_digits_stay_in_their_script(text: str, digits: str) -> None:
    changed = NUMBERS(text)
    assert changed != text
    assert [c in digits for c in changed] == [c in digits for c in text]
