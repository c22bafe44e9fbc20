"""Rated pairs with several references: from lists in a table to one value per candidate."""

import json

import numpy as np
import pytest

from textgauge.bench.inputs import read_rated
from textgauge.bench.protocols.agreement import Agreement
from textgauge.core.errors import InputError
from textgauge.data import Pairs
from textgauge.metrics import get_metric

ROWS = [
    {"out": "a red cat", "refs": ["one dog", "a red dog"], "score": 3},
    {"out": "tea", "refs": ["tea"], "score": 5},
    {"out": "x y", "refs": ["z", "x", "x y z"], "score": 1},
]


def _table(folder, rows):
    path = folder / "rated.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def test_lists_of_references_give_one_value_per_candidate(tmp_path):
    sources = read_rated(_table(tmp_path, ROWS), left="out", right="refs", ratings=["score"])
    (batch,) = Agreement().trials(sources, 0)
    metric = get_metric("jaccard")
    expected = [0.5, 1.0, 2 / 3]
    assert len(batch) == 3
    np.testing.assert_allclose(batch.compute(metric)["value"], expected)
    np.testing.assert_allclose(batch.compact([metric]).compute(metric)["value"], expected)
    assert [batch.one(metric, trial)[0]["value"] for trial in range(3)] == pytest.approx(expected)


def test_references_count_in_the_fingerprint(tmp_path):
    first = read_rated(_table(tmp_path, ROWS), left="out", right="refs", ratings=["score"]).fingerprint
    moved = [ROWS[0] | {"refs": ["one dog"]}, ROWS[1] | {"refs": ["a red dog", "tea"]}, ROWS[2]]
    assert read_rated(_table(tmp_path, moved), left="out", right="refs", ratings=["score"]).fingerprint != first


@pytest.mark.parametrize("refs", [[], "text", [1]])
def test_a_row_without_references_is_named(tmp_path, refs):
    with pytest.raises(InputError, match="line 2"):
        read_rated(_table(tmp_path, [ROWS[0], ROWS[1] | {"refs": refs}]), left="out", right="refs", ratings=["score"])


def test_taking_items_keeps_their_references_in_order():
    pairs = Pairs.of(["a", "b", "c"], [["1", "2"], ["3"], ["4", "5"]])
    some = pairs.take([2, 0])
    assert (some.left.texts, some.right.texts) == (("c", "c", "a", "a"), ("4", "5", "1", "2"))
    assert some.items.tolist() == [0, 0, 1, 1]
    assert pairs.take([]).n_items == 0


def test_sources_are_found_among_all_pairs_whatever_the_limit(tmp_path):
    """Sets a and b share all left texts, c has its own; a tenth of the pairs would hardly show it."""
    rows = [
        {"left": f"{'other' if part == 'c' else 'text'} {i}", "right": f"{part} {i}", "score": i % 5, "part": part}
        for part in "abc"
        for i in range(60)
    ]
    how = {"left": "left", "right": "right", "ratings": ["score"], "groups": {"set": "part"}, "limit": 18}
    columns = read_rated(_table(tmp_path, rows), **how, with_sources=True).columns
    pairs = set(zip(columns["set"].tolist(), columns["source"].tolist(), strict=True))
    assert len(pairs) == 3
    assert len({source for part, source in pairs if part in "ab"}) == 1
    assert len({source for _, source in pairs}) == 2
    assert "source" not in read_rated(_table(tmp_path, rows), **how).columns
