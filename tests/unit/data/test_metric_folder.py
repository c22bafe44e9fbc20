"""Folders in the layout of mt-metrics-eval: what is read, how it is chosen, WMT 2021 through it, and bad files."""

import pytest

import textgauge
from textgauge.bench.inputs import read_rated
from textgauge.core.errors import InputError, UnknownName
from textgauge.data.folders import is_metric_folder, load_metric_folder

HUMAN = {"good": [3, 2, None], "bad": [1, 2, 0], "refB": [5, 5, 5]}
METRIC = {"good": [0.9, 0.8, 0.7], "bad": [0.1, None, 0.2]}


def write(root, path, content):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content + "\n", "utf-8")


def scores(systems):
    return "\n".join(f"{name}\t{cell}" for name, cells in systems.items() for cell in cells)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "sources/zh-en.txt", "一\n二\n三")
    write(tmp_path, "references/zh-en.refA.txt", "one cat\r\ntwo cats\r\nthree cats\r")
    write(tmp_path, "references/zh-en.refB.txt", "1 cat\n2 cats\n3 cats")
    write(tmp_path, "system-outputs/zh-en/good.txt", "one cat\ntwo cats\nthree dogs")
    write(tmp_path, "system-outputs/zh-en/bad.txt", "a dog\ntwo\n")
    write(tmp_path, "system-outputs/zh-en/refB.txt", "1 cat\n2 cats\n3 cats")
    write(tmp_path, "human-scores/zh-en.mqm.seg.score", scores(HUMAN))
    write(tmp_path, "human-scores/zh-en.wmt.seg.score", scores({"good": [1, 2, 3], "bad": [4, 5, 6]}))
    write(tmp_path, "metric-scores/zh-en/COMET-20-refA.seg.score", scores(METRIC))
    return tmp_path


def test_segments_with_a_human_score_are_rows_and_references_are_no_systems(folder):
    table = load_metric_folder(str(folder), scores=["COMET-20"])
    assert is_metric_folder(str(folder))
    assert not is_metric_folder(str(folder / "sources"))
    assert table.columns["system"] == ["bad", "bad", "bad", "good", "good"]
    assert table.columns["item"] == [0, 1, 2, 0, 1]
    assert table.columns["rating"] == [1.0, 2.0, 0.0, 3.0, 2.0]
    assert table.columns["left"][2:4] == ["", "one cat"]
    assert table.columns["right"][:2] == ["one cat", "two cats"]
    assert table.columns["COMET-20"] == [0.1, None, 0.2, 0.9, 0.8]


def test_human_scores_reference_and_languages_can_be_named(folder):
    table = load_metric_folder(f"{folder}:zh-en", human="wmt", reference="refB")
    assert table.columns["rating"] == [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]
    assert table.columns["right"][0] == "1 cat"
    found = read_rated(f"{folder}:zh-en", ratings=["wmt"], right="refB", scores=["COMET-20-refA"])
    assert found.columns["rating"].tolist() == table.columns["rating"]
    assert found.scores["COMET-20-refA"][0] == 0.1
    assert found.columns["system"].tolist()[0] == "bad"


def test_scores_of_the_folder_are_ranked_beside_other_metrics(folder):
    found = textgauge.run("agreement", pairs=str(folder), metrics="jaccard,column:COMET-20")
    assert {row.metric for row in found.leaderboard().rows} == {"jaccard", "column:COMET-20"}


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("human-scores/zh-en.mqm.seg.score", scores({"good": [1, 2]}), "good has 2 scores for 3 segments"),
        ("human-scores/zh-en.mqm.seg.score", "good\tfine", "line 1 is no system and score"),
        ("human-scores/zh-en.mqm.seg.score", scores({"other": [1, 2, 3]}), "no system of zh-en has human scores"),
        ("system-outputs/zh-en/good.txt", "one", "1 lines, but the reference has 3"),
        ("system-outputs/en-de/x.txt", "ein", "name the pair of languages, one of 'en-de', 'zh-en'"),
    ],
)
def test_bad_files_are_one_clear_line(folder, path, content, said):
    write(folder, path, content)
    with pytest.raises(InputError, match=said):
        load_metric_folder(str(folder))


def test_unknown_names_are_answered_with_known_ones(folder):
    for names in ({"scores": ["COMET-21"]}, {"human": "mqn"}, {"reference": "refC"}):
        with pytest.raises(UnknownName):
            load_metric_folder(str(folder), **names)
    with pytest.raises(UnknownName, match="zh-en"):
        load_metric_folder(f"{folder}:zh-de")
    with pytest.raises(InputError, match="own systems"):
        read_rated(str(folder), groups={"system": "system"})
