"""Samples of real text; each test is skipped where the package's data is not on this machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from textgauge.core.errors import InputError, ResourceError
from textgauge.data.samples import bible, list_samples, sample, sample_pairs
from textgauge.data.samples.grammar import plain
from textgauge.encode.resources import available


def needs(*names: str) -> None:
    missing = [name for name in names if not available(name)]
    if missing:
        pytest.skip(f"not on this machine: {', '.join(missing)}")


@pytest.mark.parametrize("card", [card for card in list_samples() if card.needs], ids=lambda card: card.name)
def test_size_and_determinism(card):
    needs(*card.needs)
    draw = sample if card.kind == "texts" else sample_pairs
    whole = draw(card.name)
    assert len(whole) == card.size
    assert draw(card.name, n=50, seed=3) == draw(card.name, n=50, seed=3)
    assert draw(card.name, n=50, seed=3) != draw(card.name, n=50, seed=4)


def test_assistant_utterances():
    needs("home-assistant-intents", "ovos-skill-weather", "ovos-skill-date-time")
    corpus = sample("assistant")
    assert len({plain(text) for text in corpus.texts}) == len(corpus) >= 3000
    assert len(set(corpus.labels)) == 73
    assert not [text for text in corpus.texts if re.search(r"[<>{}\[\]|]|  ", text) or not text.strip()]


def test_known_verses():
    needs("bible-kjv", "bible-web")
    assert bible.verses("kjv")[1001001] == "In the beginning God created the heaven and the earth."
    assert bible.verses("web")[19023001] == "Yahweh is my shepherd: I shall lack nothing."


def test_verses_are_distinct_and_labelled_by_book():
    needs("bible-web")
    corpus = sample("bible-web")
    assert len(set(corpus.texts)) == len(corpus)
    assert len(set(corpus.labels)) == 66
    assert corpus.labels[0] == "Genesis"
    assert corpus.labels[-1] == "Revelation"
    assert not any("[" in text or "`" in text for text in corpus.texts)
    with pytest.raises(InputError, match="distinct"):
        sample("bible-web", n=40_000)


def test_versions_are_aligned():
    needs("bible-kjv", "bible-ylt")
    pairs = sample_pairs("bible-kjv-ylt", n=2000)
    where = {version: {text: number for number, text in bible.verses(version).items()} for version in ("kjv", "ylt")}
    for left, right in zip(pairs.left, pairs.right, strict=True):
        assert where["kjv"][left] == where["ylt"][right]
        assert plain(left) != plain(right)


def test_grades_are_what_they_say():
    needs("bible-web", "bible-kjv")
    pairs = sample_pairs("bible-graded", n=2000)
    web, kjv = ({text: number for number, text in bible.verses(version).items()} for version in ("web", "kjv"))
    assert [pairs.grade.count(grade) for grade in (0, 1, 2, 3)] == [500] * 4
    for left, right, grade in zip(pairs.left, pairs.right, pairs.grade, strict=True):
        assert bible.relation(web[left], kjv[right]) == grade


def test_a_strange_data_module_is_refused():
    with pytest.raises(ResourceError, match="expected form"):
        bible.parse_verses("import os", Path("x.py"))


def test_a_data_module_is_cut_at_its_offsets():
    text = "In the [first] day` x"
    source = f'bible = Bible("""{text}""",\n{{1001001: 0, 1001002: 15}},\n{{1001001: 14, 1001002: 21}},\n{{}})'
    assert bible.parse_verses(source, Path("x.py")) == {1001001: "In the first", 1001002: "day' x"}
