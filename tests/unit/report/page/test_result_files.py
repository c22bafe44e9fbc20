"""Results that are not runs become tables and cards: the columns of a known command first, telling words marked."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textgauge.core.errors import InputError
from textgauge.core.files import seal_json
from textgauge.report.page import read_result, render_page
from textgauge.report.page.result_files import ResultFile
from textgauge.report.page.tables import MOST_ROWS, make_cell, make_table
from textgauge.report.page.texts import make_texts

COMPARED = [
    {"metric": "energy", "value": 0.2, "low": 0.1, "high": 0.3, "p_value": 0.01, "null": 0.05, "n_reference": 30,
     "n_candidate": 30, "reason": None, "interval": "u-statistic", "signature": "energy(root=false)|v1"},
    {"metric": "fid", "value": None, "low": None, "high": None, "p_value": None, "null": None, "n_reference": 30,
     "n_candidate": 30, "reason": "too few texts", "interval": None, "signature": "fid|v1"},
]  # fmt: skip


def written(folder, content, command="compare", answer="As saved."):
    path = folder / "result.json"
    if isinstance(content, list):
        content = {"schema": 1, "command": command, "answer": answer, "rows": content, "warnings": []}
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def shown(table):
    return [column.name for column in table.columns if not column.hidden]


def test_rows_of_compare(tmp_path):
    result = read_result(written(tmp_path, COMPARED))
    (table,) = result.tables
    assert shown(table)[:4] == ["metric", "value", "null", "reason"]
    assert table.columns[1].wide
    assert {"low", "high", "p_value", "n_reference"} < set(shown(table))
    energy, fid = (row[1] for row in table.rows)
    assert energy.mark.tick < energy.mark.low < energy.mark.at < energy.mark.high
    assert (fid.shown, fid.mark) == ("–", None)
    text = render_page((), [result])
    assert "energy(root=false)|v1" in text
    assert 'href="#metric-energy"' in text


DESCRIBED = [
    {"corpus": "generated", "property": "near_copies", "value": 0.55, "low": 0.48, "high": 0.62, "test": 0.115,
     "train": None, "backend": "synsim", "reason": None, "worse_than": "test"},
    {"corpus": "generated", "property": "unique", "value": 1.0, "low": 0.96, "high": 1.0, "test": 1.0, "train": 1.0,
     "backend": "form", "reason": None, "worse_than": None},
]  # fmt: skip


def test_rows_of_describe_stand_beside_test_and_train_and_say_what_is_worse(tmp_path):
    result = read_result(written(tmp_path, DESCRIBED, "describe"))
    (table,) = result.tables
    names = [column.name for column in table.columns if not (column.hidden or column.extra)]
    assert names == ["property", "value", "test", "train", "about"]
    assert table.flagged == {0}
    mark = next(cell.mark for cell in table.rows[0] if cell.mark)
    assert mark.tick < mark.low < mark.at < mark.high
    assert [row[0].shown for row in table.rows] == ["near copies ↓", "unique ↑"]
    assert result.finding == "55 % near copies"


def test_a_corpus_by_itself_has_shares_on_a_whole_scale_and_counts_on_none(tmp_path):
    alone = dict.fromkeys(("low", "high", "test", "train", "worse_than"))
    rows = [DESCRIBED[1] | alone | {"property": name, "value": n} for name, n in (("texts", 800), ("unique", 0.5))]
    result = read_result(written(tmp_path, rows, "describe"))
    count, share = (row[1].mark for row in result.tables[0].rows)
    assert (result.heading, count, share.at) == ("Texts (result.json)", None, 50)


def test_a_saved_result_brings_its_answer_and_its_warnings(tmp_path):
    saved = {"schema": 1, "command": "compare", "answer": "Different: as saved.", "rows": COMPARED, "warnings": ["few"]}
    result = read_result(written(tmp_path, seal_json(saved)))
    assert (result.sentences, result.warnings) == (("Different: as saved.",), ("few",))
    assert "<li>few</li>" in render_page((), [result])


def test_long_tables_and_texts_are_cut_and_say_so():
    table = make_table("t", [{"n": n} for n in range(MOST_ROWS + 1)])
    assert len(table.rows) == MOST_ROWS
    assert table.about == f"The first {MOST_ROWS} of {MOST_ROWS + 1} rows."
    assert make_cell("x" * 1_500).shown.endswith("x … (500 characters more)")


def test_cells_keep_the_exact_value_where_it_is_not_shown():
    assert (make_cell(1 / 3).shown, make_cell(1 / 3).exact) == ("0.333", repr(1 / 3))
    assert (make_cell(12).exact, make_cell("a").exact, make_cell(0.5).exact) == (None, None, None)
    assert replace(make_cell(0.5), note="0.4–0.6").exact == "0.5"
    assert (make_cell(True).shown, make_cell(True).exact, make_cell(True).numeric) == ("yes", "True", False)
    assert (make_cell(float("nan")).shown, make_cell(float("inf")).exact) == ("–", "")


SCORED = [{"metric": "bleu", "mean": 0.2, "low": 0.1, "high": 0.3, "n": 30, "reason": None, "signature": "bleu|v1"}]


HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(COMPARED[0])), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([COMPARED, SCORED]), st.dictionaries(st.sampled_from([*COMPARED[0], "mean", "n", "x"]), HOSTILE))
def test_hostile_results_are_tables_or_one_line(tmp_path, rows, changes):
    try:
        result = read_result(written(tmp_path, [{**rows[0], **changes}, *rows]))
    except InputError as error:
        message = str(error)
    else:
        message = ""
        assert render_page((), [result])
    assert "\n" not in message


def unpacked(texts):
    return json.loads(texts.content)


TEXTS = {
    "source": ["reference", "candidate", "candidate"],
    "index": [4, 0, 1],
    "text": ["A <b>card</b>", "by flight", "by flight"],
    "nearest": ["by flight", "A <b>card</b>", "A <b>card</b>"],
    "distance": [0.5, 0.25, None],
    "contribution.energy": [0.3, 0.2, -0.1],
    "contribution.irpr": [0.1, 0.2, 0.3],
    "x": [0.0, 1.0, 2.0],
    "y": [1.0, 0.0, 1.0],
}


def test_texts_of_a_saved_comparison_are_found_by_each_of_its_numbers(tmp_path):
    terms = [{"term": "flight", "z": 3.0}, {"term": "card", "z": -3.0}, {"term": "by", "z": 1.0}]
    saved = {"schema": 1, "command": "compare", "answer": "Different.", "rows": COMPARED, "details": {"terms": terms}}
    result = read_result(written(tmp_path, {**saved, "texts": TEXTS}))
    content = unpacked(result.texts)
    assert result.texts.choices == ("energy", "irpr", "distance")
    assert [content["pool"][at] for at in content["texts"][0]["at"]] == TEXTS["text"]
    assert [content["pool"][at] for at in content["texts"][1]["at"]] == TEXTS["nearest"]
    assert [tag["heading"] for tag in content["tags"]] == ["source"]
    assert content["telling"] == {"reference": ["card"], "candidate": ["flight"]}
    assert content["map"] == [TEXTS["x"], TEXTS["y"]]
    page = render_page((), [result])
    assert '<a href="#result-1-texts" data-by="energy">' in page
    assert "<b>card" not in page


def test_items_of_two_systems_are_sorted_by_their_change(tmp_path):
    rows = [
        {"metric": "ter", "of": "mean", "value": 0.5, "baseline": 0.25, "difference": 0.25, "low": 0.1, "high": 0.4}
    ]
    texts = {"index": [0, 1], "reference": ["a", "b"], "text.candidate": ["c", "d"], "text.baseline": ["e", "f"]}
    texts |= {"ter.candidate": [0.5, 0.25], "ter.baseline": [0.25, 0.5]}
    result = read_result(written(tmp_path, {"schema": 1, "command": "score", "rows": rows, "texts": texts}))
    content = unpacked(result.texts)
    assert [one["heading"] for one in content["texts"]] == ["reference", "baseline", "candidate"]
    (choice,) = content["choices"]
    assert (choice["sort"], choice["first"]) == ([-0.25, 0.25], "ascending")
    assert choice["under"] == [None, [0.25, 0.5], [0.5, 0.25]]
    mark = next(cell.mark for cell in result.tables[0].rows[0] if cell.mark)
    assert mark.zero < mark.low < mark.at < mark.high


def test_systems_and_slices_are_a_matrix_on_one_scale(tmp_path):
    rows = [
        {"metric": metric, "system": system, "value": value, "low": value - 0.1, "high": value + 0.1, "rank": rank}
        for metric, values in (("bleu", (0.9, 0.2)), ("chrf", (0.8, 0.4)))
        for rank, (system, value) in enumerate(zip(("b", "a"), values, strict=True), 1)
    ]
    result = read_result(written(tmp_path, rows, "score"))
    (table,) = result.tables
    assert [column.name for column in table.columns] == ["system", "bleu", "chrf"]
    assert [[cell.value for cell in row] for row in table.rows] == [["b", 0.9, 0.8], ["a", 0.2, 0.4]]
    assert [cell.best for cell in table.rows[0]] == [False, True, True]
    assert table.rows[1][1].mark.high < table.rows[0][1].mark.low
    assert len(result.folded[0].rows) == 4
    sliced = [{**COMPARED[0], "slice": name, "candidate": "c", "differs": name == "s2"} for name in ("s1", "s2")]
    assert read_result(written(tmp_path, sliced)).tables[0].flagged == {1}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_tables_of_texts(tmp_path, ending):
    import polars as pl

    frame = pl.DataFrame({"corpus": ["g", "g"], "text": ["=1+1", "b"], "copied": [0.5, None]})
    path = tmp_path / f"each.{ending}"
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[ending](path)
    result = read_result(path)
    content = unpacked(result.texts)
    assert (result.heading, result.texts.choices, content["pool"]) == ("each", ("copied",), ["=1+1", "b"])
    assert content["choices"][0]["sort"] == [0.5, None]
    frame.select("copied").write_csv(tmp_path / "none.csv")
    with pytest.raises(InputError, match="texts"):
        read_result(tmp_path / "none.csv")


def test_a_system_may_lack_a_metric():
    assert make_texts("t", {"text.a": ["x"], "text.b": ["y"], "chrf.a": [0.5]}).choices == ("chrf",)


def test_ten_thousand_long_texts_are_a_page_of_less_than_five_megabytes():
    rng = np.random.default_rng(0)
    words = np.array([f"w{n:x}" for n in range(5_000)])
    texts = [" ".join(words[rng.integers(0, 5_000, 200)]) for _ in range(10_001)]
    made = make_texts("t", {"source": ["a", "b"] * 5_001, "text": texts, "contribution.energy": [0.1] * 10_001}, 10_001)
    page = render_page((), [ResultFile("t", "t", (), texts=made)])
    assert len(unpacked(made)["texts"][0]["at"]) == 10_000
    assert "10,000 texts of 10,001" in made.about
    assert len(page) < 5e6


NEAR_COPIES = [
    {
        "corpus": "generated",
        "property": "near_copies",
        "value": 0.55,
        "low": 0.48,
        "high": 0.62,
        "test": 0.115,
        "worse_than": "test",
    }
]
TESTED = [{"metric": "jsd@words", "value": 0.25, "p_value": 0.01, "n_reference": 30, "n_candidate": 30, "reason": None}]


def test_near_copies_come_first_and_no_sentence_twice(tmp_path):
    for name, rows in (("describe", NEAR_COPIES), ("compare", TESTED)):
        saved = {"schema": 1, "command": name, "answer": f"Different: {name} says so.", "rows": rows}
        (tmp_path / f"{name}.json").write_text(json.dumps(saved), encoding="utf-8")
    made = render_page((), [read_result(tmp_path / f"{name}.json") for name in ("compare", "describe")])
    first, second = made.split('<a class="answer ')[1:]
    assert first.startswith("concern")
    assert "<strong>55 % near copies</strong>" in first
    assert "<strong>Different</strong>" in second
    assert made.index('class="result concern"') < made.index('<p class="shown">Different</p>')
    assert made.count("says so.") == 2


def test_pages_of_a_leaderboard_of_scores_and_of_a_judge(tmp_path):
    rows = [
        {"metric": "score", "system": name, "score": at, "low": at - 0.1, "high": at + 0.1, "rank": n, "rank_low": 1,
         "rank_high": 2, "tied_with": other}
        for n, (name, at, other) in enumerate((("a", 0.8, "b"), ("b", 0.7, "a")), 1)
    ]  # fmt: skip
    (table,) = read_result(written(tmp_path, rows, "leaderboard")).tables
    assert [column.name for column in table.columns if not (column.hidden or column.extra)][:2] == ["system", "rank"]
    assert table.rows[1][1].shown == "1–2"
    assert table.rows[0][2].mark.at > table.rows[1][2].mark.at
    judged = [{"measure": "kappa", "of": "judge and people", "value": 0.8, "low": 0.7, "high": 0.9, "n": 9}]
    saved = {"schema": 1, "command": "judge", "rows": judged, "details": {"disagreements": [{"line": 3, "judge": "0"}]}}
    result = read_result(written(tmp_path, saved))
    assert [table.title for table in result.folded] == ["Where they differ most"]
    assert result.tables[0].rows[0][2].note == "0.7 … 0.9"
