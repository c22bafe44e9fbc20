"""Copied passages, cleaned files and labels, as `describe` and `check copies` say them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from textgauge import describe
from textgauge.measure.lists import cut_words

PASSAGE = "a quick brown fox jumps over the lazy dog today"
TRAIN = [f"Once upon a time, {PASSAGE}, and then it slept.", "nothing else is here", "The end."]
TEXTS = [f"Look: {PASSAGE.upper()}!", "something of its own", "Something of its own!", "the end", PASSAGE]
LIGHT = {"embedder": None, "grammar": None, "plausibility": None}


def test_the_answer_names_near_copies_and_passages() -> None:
    found = describe(TEXTS, train=TRAIN, **LIGHT)
    assert found.answer.startswith(
        "None of 5 texts are near copies of train texts (0 %). 2 of 5 contain a passage of 8 or "
    )
    assert (found["copied_passages"].value, found["longest_passage"].value) == (0.4, 10.0)
    assert found["copied_passages"].backend == "runs>=8@alphanumeric"
    rows = found.list_texts("passages").to_dicts()
    assert [(row["index"], row["start"], row["match_index"], row["match_start"]) for row in rows] == [
        (0, 1, 0, 4),
        (4, 0, 0, 4),
    ]
    assert rows[0]["passage"] == f"{PASSAGE.upper()}!"
    assert found.per_text["contained"].to_list() == [False, False, False, False, True]
    assert (
        "None contain a passage of 11 or more words of train"
        in describe(TEXTS, train=TRAIN, passage=11, **LIGHT).answer
    )


def test_the_recall_of_the_limits_is_that_of_planted_copies() -> None:
    usual, stricter = (describe(TEXTS, train=TRAIN, passage=words, **LIGHT) for words in (8, 9))
    found = usual.details["planted_copies"]
    assert (found["texts"], found["near_copy"], found["passage"]) == ("sentences", 0.9, 8)
    assert f"{100 * found['recall']:.3g} % of 800 planted copies" in usual.notes[-1]
    assert stricter.details["planted_copies"]["passage"] == 10
    assert describe(TEXTS, against=TRAIN, **LIGHT).details["planted_copies"]["near_copy"] is None
    assert not describe(TEXTS, **LIGHT).details
    assert not describe(TEXTS, train=TRAIN, passage=50, **LIGHT).details


def test_passages_are_found_across_two_files_and_within_one() -> None:
    across = describe(TEXTS, against=TRAIN, **LIGHT)
    assert across.answer.endswith("2 of 5 contain a passage of 8 or more words of the other file; the longest has 10.")
    within = describe(TEXTS, **LIGHT)
    assert within.answer.endswith("2 of 5 contain a passage of 8 or more words of another text; the longest has 10.")
    assert within.per_text["passage_index"].to_list() == [4, None, None, None, 0]


def test_what_is_left_out_says_why_and_keeps_the_first() -> None:
    found = describe([*TEXTS, "its own something of"], train=TRAIN, **LIGHT)
    said = [(row["index"], row["reason"], row["match_in"], row["match_index"]) for row in found.clean().to_dicts()]
    assert said == [
        (2, "duplicate", "generated", 1),
        (3, "equal to a text of train", "train", 2),
        (4, "contained in a text of train", "train", 0),
        (5, "near duplicate", "generated", 1),
    ]
    assert found.clean(["passages"])["index"].to_list() == [0, 4]


def test_equal_texts_with_other_labels_are_listed() -> None:
    found = describe(TEXTS, label=["a", "b", "c", "d", "e"], **LIGHT)
    rows = [
        (row["index"], row["label"], row["match_index"], row["match_label"])
        for row in found.lists()["labels"].to_dicts()
    ]
    assert rows == [(1, "b", 2, "c"), (2, "c", 1, "b"), (0, "a", 4, "e"), (4, "e", 0, "a")]
    assert describe(TEXTS, label=["a"] * 5, **LIGHT).list_texts("labels").is_empty()


@pytest.mark.filterwarnings("ignore:.*blank texts")
def test_the_cleaned_file_keeps_columns_and_never_replaces_what_is_read(tmp_path: Path, run: Any) -> None:
    source, train = tmp_path / "texts.jsonl", tmp_path / "train.txt"
    rows = [{"id": number, "text": text} for number, text in enumerate(["", *TEXTS])]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    train.write_text("\n".join(TRAIN))
    command = ["describe", source, "--train", train, *(part for name in LIGHT for part in (f"--{name}", "none"))]
    code, _, err = run(*command, "--clean-to", source)
    assert code == 2
    assert "is read: choose another file" in err
    code, _, _ = run(*command, "--clean-to", tmp_path / "clean.jsonl", "--clean", "duplicates,copies")
    assert code == 0
    kept = [json.loads(line) for line in (tmp_path / "clean.jsonl").read_text().splitlines()]
    assert kept == [rows[0], rows[1], rows[2]]
    assert (tmp_path / "clean.removed.csv").read_text().splitlines()[1].startswith("generated,3,duplicate,generated,2,")


def test_a_check_limits_the_share_of_texts_with_passages(tmp_path: Path, run: Any) -> None:
    for name, texts in {"texts.txt": [f"{PASSAGE} {row}" for row in range(30)], "train.txt": TRAIN}.items():
        (tmp_path / name).write_text("\n".join(texts))
    command = ("check", "copies", tmp_path / "texts.txt", "--train", tmp_path / "train.txt", "--max-passages", "1%")
    code, out, _ = run(*command)
    assert code == 1
    assert "share of texts with a copied passage" in out


def test_a_part_of_a_text_is_cut_by_words() -> None:
    assert cut_words("“We’re…” he said — 42 times.", 2, 3) == "he said — 42"
