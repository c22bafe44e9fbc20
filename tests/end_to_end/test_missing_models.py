"""A missing model leaves out the metrics that need it, and only those."""

import json
import math
from dataclasses import replace

import pytest

import textgauge
from textgauge.core.errors import ResourceError
from textgauge.encode import embedders
from textgauge.encode.encoders import Encoder

LEFT, RIGHT = ["a red cat", "a red dog", "a cow"], ["one cat", "one dog", "a cow"]
LINE = "resource 'absent' is not on this machine; run: textgauge resources fetch absent"


class Absent:
    name = identity = "absent"
    dimension, max_length = 2, 10
    tried = 0

    def encode(self, texts, **_):
        Absent.tried += 1
        raise ResourceError(LINE)


@pytest.fixture(autouse=True)
def _embedder(monkeypatch):
    monkeypatch.setitem(embedders.EMBEDDERS, "absent", Encoder(Absent))
    monkeypatch.setattr(Absent, "tried", 0)


def test_compare_measures_what_it_can_and_looks_for_a_model_once():
    metrics = "energy@absent,jsd@words,fid@absent,pr@absent"
    report = textgauge.compare(reference=LEFT, candidate=RIGHT, metrics=metrics, test=True, permutations=19)
    alone = textgauge.compare(reference=LEFT, candidate=RIGHT, metrics="jsd@words", test=True, permutations=19)
    assert [score.reason for score in report] == [LINE, None, LINE, LINE]
    assert replace(report["jsd@words"], seconds=0.0).to_dict() == replace(alone["jsd@words"], seconds=0.0).to_dict()
    assert math.isnan(report["fid@absent"].value)
    assert Absent.tried == 1


def test_compare_with_a_foreign_corpus_and_explanations():
    report = textgauge.compare(
        reference=LEFT * 4,
        candidate=RIGHT * 4,
        metrics="energy@absent,energy@levenshtein",
        foreign=["x y", "z"] * 6,
        explain=True,
    )
    assert math.isnan(report["energy@absent"].foreign_share)
    assert not math.isnan(report["energy@levenshtein"].foreign_share)


def test_score_measures_what_it_can():
    report = textgauge.score(left=LEFT, right=RIGHT, metrics="cosine@absent,jaccard")
    assert (report["cosine@absent"].reason, report["jaccard"].reason) == (LINE, None)
    missing, found = report.summary()
    assert (missing.undefined, math.isnan(missing.mean), found.undefined) == (3, True, 0)


def test_the_error_is_raised_where_nothing_is_left():
    with pytest.raises(ResourceError, match="fetch absent"):
        textgauge.compare(reference=LEFT, candidate=RIGHT, metrics="energy@absent,fid@absent")
    with pytest.raises(ResourceError, match="fetch absent"):
        textgauge.score(left=LEFT, right=RIGHT, metrics="cosine@absent")


@pytest.mark.parametrize(
    ("command", "metrics"),
    [(("compare",), "energy@absent,jsd@words,fid@absent"), (("score", "--summary"), "cosine@absent,jaccard")],
)
def test_the_commands_say_how_to_fetch_it(run, tmp_path, command, metrics):
    for name, texts in (("a.txt", LEFT), ("b.txt", RIGHT)):
        (tmp_path / name).write_text("\n".join(texts))
    given = (*command, tmp_path / "a.txt", tmp_path / "b.txt", "-m", metrics)
    code, out, err = run(*given, "-f", "json")
    assert code == 0
    assert [row["reason"] for row in json.loads(out)["rows"]][:2] == [LINE, None]
    assert err.count(LINE) == 1
    assert run(*given)[0] == 0


@pytest.mark.parametrize(("command", "python"), [("compare", textgauge.compare), ("score", textgauge.score)])
def test_no_metric_at_all_is_one_clear_line(run, tmp_path, command, python):
    (tmp_path / "a.txt").write_text("a cat\na dog\n")
    code, _, err = run(command, tmp_path / "a.txt", tmp_path / "a.txt", "-m", "")
    assert (code, err) == (2, "textgauge: name at least one metric with -m; `textgauge ls metrics` lists them\n")
    names = ("reference", "candidate") if command == "compare" else ("left", "right")
    with pytest.raises(textgauge.TextgaugeError, match="at least one metric with `metrics`"):
        python(**dict.fromkeys(names, LEFT), metrics=[])


def test_names_of_metrics_ignore_case():
    assert textgauge.get_metric("FID").key == "fid"
    assert textgauge.get_metric("RougeL@words") == textgauge.get_metric("rougeL@words")
