"""What may be said about two corpora, and about two metrics."""

import ast
import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import textgauge
from textgauge.stats.decisions import (
    format_baseline,
    format_comparison,
    format_leaders,
    format_properties,
    format_ranking,
    format_slices,
    format_standing,
    is_better,
    is_different,
    judge_intervals,
    split_answer,
)

SOURCES = Path(textgauge.__file__).parent
SAYS = re.compile(
    r"\b(better than|worse than|tied with|statistically tied|is nearer than|differs from|agrees (less|more)|"
    r"beats|significantly|[Dd]ifferent: |No difference|no difference)\b"
)
# Definitions, which say what a word means and nothing about data.
DEFINITIONS = {
    "A tier ends only where every metric above is better than every metric below.",
    " is better than its best, ",
    "Those that are worse than in real texts first; all are folded below.",
    "Dot: the difference from the baseline; line: its interval; rule: no difference.",
}

ENDS = st.tuples(st.floats(-1, 1), st.floats(0, 1)).map(lambda ends: (ends[0], ends[0] + ends[1]))


def test_a_test_rejects_up_to_its_level():
    assert is_different(10 / 200)
    assert is_different(0.1 + 0.2, alpha=0.3)
    assert not is_different(0.0501)
    assert is_different(0.0501, alpha=0.1)
    assert not is_different(float("nan"))


@pytest.mark.parametrize(
    ("p", "sentence"),
    [
        ((0.01, 0.2, 0.3), 'Different: 1 of 3 metrics rejects "same source" (5 % level).'),
        ((0.01,), 'Different: m0 rejects "same source" (5 % level).'),
        (
            (0.5, float("nan")),
            'No difference found: none of 2 metrics rejects "same source" (5 % level); '
            "that does not prove that there is none.",
        ),
    ],
)
def test_the_sentence_counts_rejections(p, sentence):
    assert format_comparison({f"m{row}": value for row, value in enumerate(p)}) == sentence


@given(st.lists(ENDS, min_size=1, max_size=3))
def test_one_interval_that_reaches_0_is_enough_to_say_nothing(intervals):
    assert is_better(*intervals) == (min(low for low, _ in intervals) > 0)


def test_an_interval_that_does_not_exist_is_no_support():
    assert not is_better((0.1, 0.2), (float("nan"), float("nan")))


@given(st.lists(ENDS, min_size=1, max_size=3))
def test_a_verdict_turns_round_with_the_difference(intervals):
    turned = judge_intervals(*((-high, -low) for low, high in intervals))
    other = {"better than": "worse than", "worse than": "better than", "tied with": "tied with"}
    assert turned == other[judge_intervals(*intervals)]
    assert (judge_intervals(*intervals) == "better than") == is_better(*intervals)


def spoken(path):
    """The strings of a module without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.value


DECIDES = re.compile(
    r"(?<!self)\.(low|high) *[<>]=? *0\b"  # an end of a difference's interval
    r"|\bp(_\w+)? *<=? *(0\.\d|alpha|ALPHA)"
)


def test_numbers_that_decide_are_compared_in_one_module():
    deciding = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for path in SOURCES.rglob("*.py")
        if path.name != "decisions.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if DECIDES.search(line)
    ]
    assert deciding == []
    assert DECIDES.search("holds = gap.low > 0")
    assert DECIDES.search("shown = p <= 0.05")


def test_sentences_that_decide_stand_in_one_module():
    modules = [path for path in SOURCES.rglob("*.py") if path.name != "decisions.py"]
    found = [(path.name, text) for path in modules for text in spoken(path) if SAYS.search(text)]
    assert [entry for entry in found if entry[1] not in DEFINITIONS] == []
    assert any(SAYS.search(text) for text in spoken(SOURCES / "stats" / "decisions.py"))


NOBODY = "No system is better than all others"
SENTENCES = [
    (
        partial(format_properties, list("abcdef"), copies_said=True),
        "Worse than in real texts: a, b, c, d and 2 more (95 % confidence).",
    ),
    (
        partial(format_baseline, dict.fromkeys("abcdef", 0.01), dict.fromkeys("abcdef", True), alpha=0.1),
        "Better than the baseline by a, b, c, d, e and f (10 % level).",
    ),
    (partial(format_standing, list("abcdef"), 6), "a, b, c, d and 2 more are statistically tied with it"),
    (partial(format_standing, [], 1), "it is better than the other metric"),
    (partial(format_ranking, [], [], "these texts"), "Nothing is ranked: these measures have no common scale."),
    (partial(format_ranking, ["fid"], [], "these texts"), "Only one metric is ranked: fid."),
    (
        partial(format_ranking, ["fid", "pr", "dc"], ["pr", "dc"], "new texts"),
        "No metric is better than all others: fid comes first, statistically tied with all others (new texts).",
    ),
    (
        partial(format_ranking, list("abcdef"), ["b"], "new texts"),
        "Best: a, statistically tied with b; better than the other 4 metrics (95 % confidence, new texts).",
    ),
    (
        partial(format_leaders, "system", {"fid": list("abc")}, 3, 0.9),
        f"{NOBODY}: all 3 tied by fid (90 % confidence, new texts from these sources).",
    ),
    (
        partial(format_leaders, "candidate", {"fid": list("abc"), "pr": ["a"]}, 4),
        "Nearest to the reference: a by pr; a, b and c tied by fid (95 % confidence, new texts from these sources).",
    ),
    (
        partial(format_slices, ["news"], 3),
        "1 of 3 slices differs (false discovery rate 5 %): news. In the others no difference was found.",
    ),
]


@pytest.mark.parametrize(("say", "sentence"), SENTENCES)
def test_sentences_are_these(say, sentence):
    assert say() == sentence


def test_only_a_comparison_has_an_outcome():
    found = format_comparison({"fid": 0.2})
    assert split_answer(found) == ("No difference found", found.removeprefix("No difference found: "))
    assert split_answer("Best: fid: 1") == ("", "Best: fid: 1")
