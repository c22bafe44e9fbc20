"""The notation of sentence templates."""

from __future__ import annotations

import random

import pytest

from textgauge.core.errors import InputError
from textgauge.data.samples.grammar import Writer, parse


def all_of(source: str, *, rules=None, lists=None) -> set[str]:
    rng = random.Random(0)
    rules = {name: parse(text) for name, text in (rules or {}).items()}
    writer = Writer(rules, lambda name: parse(rng.choice(lists[name])), rng)
    return {writer.write(parse(source), {}) for _ in range(300)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plain", {"plain"}),
        ("(a|b) c", {"a c", "b c"}),
        ("a [b] c", {"a b c", "a c"}),
        ("x [a|b]", {"x", "x a", "x b"}),
        ("(a;b)", {"a b", "b a"}),
        ("5( |-)minute[s]", {"5 minute", "5 minutes", "5-minute", "5-minutes"}),
        ("[([ ]%)| percent]", {"", "%", "percent"}),
    ],
)
def test_every_reading_is_written(source, expected):
    assert all_of(source) == expected


def test_rules_and_lists():
    assert all_of("<hi> {who}", rules={"hi": "(hi|hey)"}, lists={"who": ["Ann", "[dear ]Bob"]}) == {
        "hi Ann", "hi Bob", "hi dear Bob", "hey Ann", "hey Bob", "hey dear Bob"
    }  # fmt: skip


def test_a_slot_keeps_its_value_and_two_slots_differ():
    assert all_of("{x} {x}", lists={"x": ["1", "2"]}) == {"1 1", "2 2"}
    written = all_of("{x:a} {x:b}", lists={"x": list("123456789")})
    assert len(written) > 50
    assert not [pair for pair in written if pair[0] == pair[-1]]
    assert all_of("{x:a} {x:b}", lists={"x": ["1"]}) == {"1 1"}


@pytest.mark.parametrize("source", ["(a", "a)", "[a", "a]", "(a]", "<a", "a}", "a|b", "{a"])
def test_unbalanced_templates_are_refused(source):
    with pytest.raises(InputError, match="bracket"):
        parse(source)
