"""Logs of evaluation harnesses. The files in logs/ were written by Inspect 0.3.285, lm-evaluation-harness 0.4.13,
promptfoo, DeepEval 4.3.1 and mteb 2.26.24 with mock models, those of every_eval_ever by its 0.3.0 from a log of
Inspect; HELM is written here as its schema says."""

import json
import zipfile
from pathlib import Path

import pytest

import textgauge
from textgauge.core.errors import InputError
from textgauge.core.settings import limit_sizes
from textgauge.data.logs import LOGS
from textgauge.data.source import load_table

LOGS_FOLDER = Path(__file__).parent / "logs"
REAL = {
    "colours-first.eval": (12, "mockllm/first", {"includes", "match"}),
    "colours.json": (2, "mockllm/first", {"includes", "match"}),
    "samples_colours_2026-11-18T16-51-55.885281.jsonl": (6, "logs", {"exact_match"}),
    "promptfoo.json": (12, "first", {"score", "colour"}),
    "deepeval.json": (6, "first", {"Exact Match"}),
    "every-eval_samples.jsonl": (12, "openai/openai/first", {"includes:accuracy", "match:accuracy"}),
}
ROLES = {"system", "item", "data_set", "repetition", "text", "reference", "input"}


@pytest.mark.parametrize("name", REAL)
def test_logs_of_harnesses_have_systems_items_texts_and_scores(name):
    rows, system, metrics = REAL[name]
    found = load_table(LOGS_FOLDER / name)
    assert len(found.rows) == rows
    assert found.columns["system"][0] == system
    assert set(found.columns) - ROLES == metrics
    assert all(0 <= value <= 1 for metric in metrics for value in found.get_numbers(metric))
    assert all(found.get_filled("text"))
    assert all(found.get_filled("reference"))
    with limit_sizes(2_000):  # in many pieces
        assert load_table(LOGS_FOLDER / name) == found


@pytest.mark.parametrize("name", ["colours-first.eval", "every-eval_samples.jsonl"])
def test_epochs_are_repetitions_of_an_item(name):
    found = load_table(LOGS_FOLDER / name).columns
    assert sorted(zip(found["item"], map(int, found["repetition"]), strict=True)) == [
        (f"q{n}", r) for n in range(6) for r in (1, 2)
    ]


def test_wrong_answers_of_inspect_count_0():
    found = load_table(LOGS_FOLDER / "colours-first.eval").columns
    assert found["includes"][found["item"].index("q2")] == 0.0


def test_repetitions_of_promptfoo_are_one_item():
    assert len(set(load_table(LOGS_FOLDER / "promptfoo.json").columns["item"])) == 3


def test_a_log_is_ranked_compared_and_described_by_its_path():
    logs = [LOGS_FOLDER / "colours-first.eval", LOGS_FOLDER / "colours-second.eval"]
    board = textgauge.leaderboard(logs, score="includes")
    assert [(row.system, row.score) for row in board] == [("mockllm/first", 5 / 6), ("mockllm/second", 0.5)]
    left, right = (f"{logs[0]}:{column}" for column in ("text", "reference"))
    assert len(textgauge.score(left, right, metrics="jaccard")[0]) == 12
    assert textgauge.describe(logs[0]).rows


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def test_helm_takes_model_and_texts_from_the_files_of_its_folder(tmp_path):
    name = {"name": "exact_match", "split": "test"}
    stats = [{"name": name, "mean": 1.0}, {"name": {"name": "num_output_tokens"}, "mean": 4.0}]
    copy = {"instance_id": "id1", "train_trial_index": 0, "perturbation": {"name": "typos"}, "stats": stats}
    write(tmp_path / "per_instance_stats.json", [{"instance_id": "id1", "train_trial_index": 0, "stats": stats}, copy])
    write(tmp_path / "run_spec.json", {"name": "colours:model=a_b", "adapter_spec": {"model": "a/b"}})
    instance = {
        "id": "id1",
        "input": {"text": "Sky?"},
        "references": [{"output": {"text": "blue"}, "tags": ["correct"]}],
    }
    state = {"instance": instance, "train_trial_index": 0, "result": {"completions": [{"text": " blue"}]}}
    write(tmp_path / "scenario_state.json", {"request_states": [state]})
    found = load_table(tmp_path)
    expected = {"system": "a/b", "data_set": "colours", "item": "id1", "repetition": 0, "exact_match": 1.0}
    expected |= {"text": " blue", "reference": "blue", "input": "Sky?"}
    assert {key: cells for key, (cells,) in found.columns.items()} == expected


def test_a_folder_of_mteb_results_is_a_board_of_models_by_tasks():
    board = textgauge.leaderboard(LOGS_FOLDER / "mteb")
    assert {row.system for row in board} == {"made/words-13", "made/words-3"}
    assert all(row.n == 4 for row in board)
    files = (LOGS_FOLDER / "mteb" / "made__words-13" / "r1").glob("Made*.json")
    scores = [json.loads(file.read_text())["scores"]["test"][0]["main_score"] for file in files]
    assert {row.system: row.score for row in board}["made/words-13"] == pytest.approx(sum(scores) / 4)


def test_subsets_of_a_task_of_mteb_are_averaged(tmp_path):
    for model, lead in (("a__b", 0.2), ("c__d", 0.0)):
        write(tmp_path / model / "rev" / "model_meta.json", {"name": model})
        for task in range(9):
            subsets = [{"hf_subset": part, "main_score": lead + task / 20 + part_score}
                       for part, part_score in (("en", 0.0), ("de", 0.1))]  # fmt: skip
            content = {"task_name": f"task{task}", "mteb_version": "2", "scores": {"test": subsets}}
            write(tmp_path / model / "rev" / f"task{task}.json", content)
    board = textgauge.leaderboard(tmp_path)
    assert [row.system for row in board] == ["a/b", "c/d"]
    assert board[0].score == pytest.approx(0.45)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.harness)
def test_a_record_that_only_looks_like_a_log_is_one_line(log, tmp_path):
    path = write(tmp_path / "log.jsonl", dict.fromkeys(log.keys, 3))
    with pytest.raises(InputError, match=log.harness) as caught:
        load_table(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", sorted({*REAL, "mteb/made__words-3/r1/Made0STS.json"} - {"colours-first.eval"}))
def test_a_log_that_was_cut_off_is_one_line(name, tmp_path):
    content = (LOGS_FOLDER / name).read_bytes()
    path = tmp_path / Path(name).name
    path.write_bytes(content[: int(0.7 * len(content))])
    with pytest.raises(InputError, match=path.name) as caught:
        textgauge.leaderboard(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
def test_a_damaged_archive_is_one_line(share, tmp_path):
    content = (LOGS_FOLDER / "colours-first.eval").read_bytes()
    (tmp_path / "cut.eval").write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match=r"cut\.eval"):
        load_table(tmp_path / "cut.eval")


def test_an_archive_without_a_header_or_too_large_is_refused(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "other.eval", "w") as archive:
        archive.writestr("samples/1.json", "{}")
    with pytest.raises(InputError, match=r"other\.eval"):
        load_table(tmp_path / "other.eval")
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "50000")
    with pytest.raises(InputError, match="TEXTGAUGE_MAX_BYTES"):
        load_table(LOGS_FOLDER / "colours-first.eval")
