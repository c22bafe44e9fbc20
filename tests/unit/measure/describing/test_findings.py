"""What is called worse than real texts is worse by the interval of the difference, for all properties together."""

import math

import numpy as np
import pytest

from textgauge import describe
from textgauge.data import sample
from textgauge.measure.findings import find_worse, name_gravest, sort_by_gravity
from textgauge.metrics.properties.base import PropertyValue

COPIES = PropertyValue(0.55, 0.48, 0.62)
NOTHING = PropertyValue(math.nan, math.nan, math.nan)


def worse(found, *, test=NOTHING, train=NOTHING, names=("near_copies",), corpora=1):
    real = train if math.isnan(test.value) else test
    known = [] if math.isnan(real.value) else names
    return find_worse(dict.fromkeys(known, found.subtract(real)), 0.95, corpora)


REAL, NEAR = PropertyValue(0.115, 0.08, 0.17), PropertyValue(0.46, 0.43, 0.49)
NAMES = ("near_copies", "unique", "distinct", "grammar", "plausibility", "covered")


@pytest.mark.parametrize(
    ("found", "options", "expected"),
    [
        (COPIES, {"test": REAL}, ["near_copies"]),
        (COPIES, {"train": REAL}, ["near_copies"]),  # where test has none
        (REAL, {"test": COPIES}, []),
        (REAL, {"test": COPIES, "names": ("unique",)}, ["unique"]),
        (PropertyValue(0.55, 0.1, 0.9), {"test": PropertyValue(0.115, 0.1, 0.13)}, []),  # its own interval is wide
        (COPIES, {"test": PropertyValue(0.46, 0.40, 0.53)}, []),  # the interval of real texts counts too
        (PropertyValue(0.55), {"test": PropertyValue(0.115, 0.1, 0.13)}, []),  # nothing is known about the error
        (COPIES, {"test": PropertyValue(0.115)}, []),
        (COPIES, {"test": NOTHING}, []),
        (COPIES, {"test": NEAR}, ["near_copies"]),
        (COPIES, {"test": NEAR, "names": NAMES}, []),  # several properties hold together
        (COPIES, {"test": NEAR, "corpora": len(NAMES)}, []),  # and so does one property of as many corpora
    ],
)
def test_what_is_worse_by_the_interval_of_the_difference_is_called_so(found, options, expected):
    assert worse(found, **options) == expected


def test_missing_topics_are_found_and_texts_of_one_source_seldom_called_worse():
    rng = np.random.default_rng(4)
    topics = [rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 9) for _ in range(8)]

    def write(count, kinds):
        return ["".join(rng.choice(topics[rng.integers(kinds)], 12)) for _ in range(count)]

    how = {"embedder": "letters", "grammar": "none", "plausibility": "none"}
    found = {4: 0, 8: 0}
    for kinds in found:
        for _ in range(20):
            said = describe(write(60, kinds), train=write(300, 8), held_out=write(60, 8), **how)
            found[kinds] += said["semantic_recall"].worse_than == "train"
    assert found[8] <= 2
    assert found[4] >= 12


@pytest.mark.slow
def test_equal_sources_are_seldom_called_worse():
    texts, false = list(sample("banking").texts), 0
    for seed in range(60):
        order = np.random.default_rng([seed, 3]).permutation(len(texts))
        parts = [[texts[row] for row in order[150 * part : 150 * (part + 1)]] for part in range(3)]
        false += any(row["worse_than"] for row in describe(parts[0], train=parts[1], held_out=parts[2]).to_dicts())
    assert false / 60 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 60)


def row(name, value, low, high, *, worse_than=None, **real):
    return {"corpus": "generated", "property": name, "value": value, "low": low, "high": high, **real} | {
        "worse_than": worse_than
    }


def test_what_is_worse_is_said_the_gravest_first():
    rows = [
        row("plausibility", 10.08, 9.37, 10.8, test=6.3, worse_than="test"),
        row("covered", 0.7, 0.64, 0.76, train=0.95, worse_than="train"),
        row("near_copies", 0.55, 0.4808, 0.6174, test=0.115, worse_than="test"),
    ]
    assert [row["property"] for row in sort_by_gravity([*rows, row("unique", 0.9, 0.8, 1.0)])] == [
        "near_copies", "covered", "plausibility", "unique"
    ]  # fmt: skip
    assert (name_gravest(rows), name_gravest(rows[:1])) == ("55 % near copies", "10.1 plausibility")


def test_what_is_not_worse_and_what_is_said_in_other_numbers_is_left_out():
    other = row("semantic_f1", 0.1, 0.0, 0.2, test=0.9, worse_than="test")
    assert not name_gravest([row("near_copies", 0.55, 0.1, 0.9, test=0.115), other])
