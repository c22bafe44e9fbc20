"""Planted copies: known flags give known measures, and runs of words find what sets of words do not."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from textgauge.bench import Copies, Observations
from textgauge.bench.inputs import read_two
from textgauge.bench.protocols.copies import KINDS, make_copy
from textgauge.metrics import get_metric

WORDS = np.array([f"word{number}" for number in range(400)])


def _make_documents(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    sentences = [[" ".join(rng.choice(WORDS, 12)).capitalize() + "." for _ in range(6)] for _ in range(30)]
    return [" ".join(parts) for parts in sentences]


@pytest.fixture(scope="module")
def sources():
    return read_two(_make_documents(0), _make_documents(1))


def test_flags_of_any_detector_are_judged(sources) -> None:
    protocol = Copies(n=2, train=20)
    train, texts, columns = protocol.plant(sources, 0)
    assert len(texts) == 2 * 2 * len(KINDS)
    assert texts[0] in train
    flags = columns["copy"] & (columns["kind"] != "edited")
    flags[np.flatnonzero(~columns["copy"])[:1]] = True  # one false alarm, more than 1 % allow
    found = {verdict.measure: verdict for verdict in _judge(Copies(n=2, train=20, false_alarms=0.1), flags, columns)}
    assert found["recall"].value == pytest.approx(1 - 1 / len(KINDS))
    assert found["precision"].value == pytest.approx(14 / 15)
    assert (found["found_edited"].value, found["found_verbatim"].value) == (0.0, 1.0)
    assert found["found_verbatim"].low == pytest.approx(0.3424, abs=1e-4)  # Wilson, 2 of 2
    assert found["alarms_at_50"].value == pytest.approx(1 / 16)
    assert {one.best for one in protocol.measures if one.name.startswith("alarms")} == {"smaller"}
    assert {verdict.measure: verdict.value for verdict in _judge(protocol, flags, columns)}["recall"] == 0.0


def _judge(protocol, flags, columns):
    return protocol.judge(Observations(flags.astype(float), np.zeros(len(flags), dtype=int), columns))


def test_runs_of_words_find_passages_that_sets_of_words_do_not(sources) -> None:
    (batch,) = Copies(n=4, train=30).trials(sources, 0)
    embedded = batch.columns["copy"] & (batch.columns["kind"] == "embedded")
    runs, sets = (batch.compute(get_metric(name))["value"] for name in ("copied(words=8)", "jaccard"))
    assert (runs[batch.columns["copy"] & (batch.columns["kind"] != "paraphrased")] > 0).all()
    assert (runs[~batch.columns["copy"]] == 0).all()
    assert sets[embedded].max() < 0.8
    whole = get_metric("copied(words=8)").matrix(batch.rows, batch.others).max(axis=1)
    assert np.all(whole <= runs + 1e-12)
    assert batch.compute(get_metric("levenshtein"))["value"][0] == 1.0


def test_kinds_of_copies() -> None:
    text = "It rained, and we stayed. " * 5
    assert make_copy(text, "rewrapped", 0, "").split() == text.split()
    assert make_copy(text, "edited", 0, "other words").split()[9] == "words"
    assert make_copy("one two three four", "embedded", 0, "a b") == "a two three b"


def test_a_column_of_flags_is_a_metric_of_the_command(tmp_path, run) -> None:
    for name, seed in (("a.txt", 0), ("b.txt", 1)):
        (tmp_path / name).write_text("\n".join(_make_documents(seed)))
    file = tmp_path / "planted.csv"
    sources = ("--source-a", tmp_path / "a.txt", "--source-b", tmp_path / "b.txt", "--planted", file)
    command = ("run", "copies", *sources, "-n", 2, "-p", "train=20", "--out", tmp_path / "runs")
    code, _, err = run(*command, "-m", "column:mine")
    assert (code, "is not there" in err) == (2, True)
    assert run(*command, "-m", "copied(words=8)")[0] == 0
    frame = pl.read_csv(file)
    assert frame["kind"].to_list().count("train") == 20
    flags = pl.when(pl.col("kind") != "train").then(pl.col("copy") & (pl.col("kind") != "edited"))
    frame.with_columns(mine=flags).write_csv(file)
    code, out, _ = run(*command, "-m", "copied(words=8),column:mine", "-f", "json")
    assert code == 0
    found = {row["metric"]: row["recall"] for row in json.loads(out)["rows"]}
    assert found["column:mine"] == pytest.approx(1 - 1 / len(KINDS))
    code, _, err = run(*command, "-m", "column:mine", "--seed", 1)
    assert (code, "planted.csv does not hold the texts" in err) == (2, True)
