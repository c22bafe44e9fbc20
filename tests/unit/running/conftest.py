"""Two small corpora in memory and as files, the command, a metric that fails now and then."""

import json
from dataclasses import dataclass

import pytest

from textgauge.metrics import Part, TokenMetric, registry

COLOURS, ANIMALS = ("red", "green", "blue"), ("cat", "dog", "bird", "cow")
A = [f"the {colour} {animal} sat down {i}" for i in range(4) for colour in COLOURS for animal in ANIMALS]
B = [f"pay the {what} number {i} by card" for i in range(12) for what in ("rent", "fee", "bill", "loan")]


@pytest.fixture
def corpora():
    return {"a": A, "b": B}


@pytest.fixture
def files(tmp_path):
    """The same texts as files."""
    for name, texts in (("a", A), ("b", B)):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts), encoding="utf-8")
    return {name: str(tmp_path / f"{name}.txt") for name in "ab"}


@pytest.fixture
def rated(tmp_path):
    """A table of rated pairs, two raters, two sets; its columns by name."""
    rows = {
        "x": [f"{text} today" for text in A[:12]],
        "y": [f"{text} today" for text in (*A[:4], *A[5:9], *B[:4])],
        "first": [3, 3, 3, 3, 2, 2, 1, 2, 0, 0, 1, 0],
        "second": [3, 3, 2, 3, 1, 2, 2, 2, 0, 1, 0, 0],
        "part": ["p", "q"] * 6,
    }
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (tmp_path / "rated.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "rated.csv", rows


@pytest.fixture
def command(run):
    """Run `textgauge ...` in this process, which must go well; gives standard output and standard error."""

    def call(*args):
        code, out, err = run(*args)
        assert not code, err
        return out, err

    return call


@pytest.fixture
def board(command):
    """The rows of `textgauge leaderboard`."""
    return lambda folder, *args: json.loads(command("leaderboard", folder, "-f", "json", *args)[0])


@dataclass(frozen=True, kw_only=True)
class Fragile(TokenMetric):
    name = "fragile"
    label = "fragile"
    source = "none"
    headline = Part("value")

    def compute(self, comparison):
        if comparison.reference.keys.min() % 3 == 0:
            raise ZeroDivisionError("just so")
        return {"value": 0.5}


@pytest.fixture
def fragile(monkeypatch):
    monkeypatch.setitem(registry.known_metrics(), "fragile", Fragile)
