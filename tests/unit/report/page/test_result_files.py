"""Results that are not runs become tables and cards: the columns of a known command first, telling words marked."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textgauge.core.errors import InputError
from textgauge.core.files import seal_json
from textgauge.report.page import make_table, read_result, read_texts, render_page
from textgauge.report.page.tables import MOST_ROWS, make_cell

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
    assert {"low", "high", "p_value", "n_reference"} < set(shown(table))
    energy, fid = (row[1] for row in table.rows)
    assert energy.mark.tick < energy.mark.low < energy.mark.at < energy.mark.high
    assert (fid.shown, fid.mark) == ("–", None)
    text = render_page((), [result])
    assert "energy(root=false)|v1" in text
    assert 'href="#metric-energy"' in text


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("{", "JSON"), ([], "rows"), ("[" * 100_000, "nested"), ("", "empty"), ({"rows": []}, "schema")],
)
def test_what_is_no_result_is_one_line(tmp_path, content, complaint):
    with pytest.raises(InputError, match=complaint):
        read_result(written(tmp_path, content))


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
    assert [row[0].shown for row in table.rows] == ["near copies ↓", "unique ↑"]
    assert [finding.shown for finding in result.findings] == ["55 %"]


def test_a_saved_result_brings_its_answer_and_its_warnings(tmp_path):
    saved = {"schema": 1, "command": "compare", "answer": "Different: as saved.", "rows": COMPARED, "warnings": ["few"]}
    result = read_result(written(tmp_path, seal_json(saved)))
    assert (result.sentences, result.warnings) == (("Different: as saved.",), ("few",))
    assert "<li>few</li>" in render_page((), [result])


def test_a_saved_result_that_was_changed_is_refused(tmp_path):
    sealed = seal_json({"schema": 1, "command": "compare", "answer": None, "rows": COMPARED, "warnings": []})
    with pytest.raises(InputError, match="not what was saved"):
        read_result(written(tmp_path, {**sealed, "rows": COMPARED[:1]}))


def test_long_tables_and_texts_are_cut_and_say_so():
    table = make_table("t", [{"n": n} for n in range(MOST_ROWS + 1)])
    assert len(table.rows) == MOST_ROWS
    assert table.about == f"The first {MOST_ROWS} of {MOST_ROWS + 1} rows."
    assert make_cell("x" * 1_500).shown.endswith("x … (500 characters more)")


def test_cells_keep_the_exact_value_where_it_is_not_shown():
    assert (make_cell(1 / 3).shown, make_cell(1 / 3).exact) == ("0.3333", repr(1 / 3))
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


def written_texts(folder, rows):
    path = folder / "texts.json"
    path.write_text(json.dumps({"schema": 1, "rows": rows}), encoding="utf-8")
    return path


def test_explanations_are_a_table_per_kind_and_metric_the_strongest_first(tmp_path):
    rows = [
        {"kind": "text", "metric": "energy", "side": "reference", "text": "weak", "contribution": 0.1, "distance": 0.2},
        {"kind": "text", "metric": "energy", "side": "candidate", "text": "far", "contribution": 0.1, "distance": 0.9},
        {"kind": "text", "metric": "energy", "side": "candidate", "text": "strong", "contribution": -0.5},
        {"kind": "text", "metric": "irpr", "side": "candidate", "text": "other", "contribution": 0.5},
        {"kind": "term", "term": "card", "z": 1.0},
        {"kind": "term", "term": "flight", "z": -3.0},
    ]
    energy, irpr, terms = read_texts(written_texts(tmp_path, rows))
    assert (energy.title, energy.of, energy.few) == ("Texts by what they add to energy", "energy", 5)
    assert [row[1].shown for row in energy.rows] == ["strong", "far", "weak"]
    assert irpr.title == "Texts by what they add to irpr"
    assert (terms.title, [row[0].shown for row in terms.rows]) == (
        "Words that separate the corpora",
        ["flight", "card"],
    )


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_texts_of_tables(tmp_path, ending):
    import polars as pl

    frame = pl.DataFrame({"text": ["=1+1", "b"], "copied": [0.5, None]})
    path = tmp_path / f"each.{ending}"
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[ending](path)
    (table,) = read_texts(path)
    assert table.title == "each"
    assert [cell.value for row in table.rows for cell in row] == ["=1+1", 0.5, "b", None]


def test_words_that_speak_for_the_side_of_a_text_are_marked(tmp_path):
    rows = [
        {
            "kind": "text",
            "metric": "energy",
            "side": "candidate",
            "text": "A <b>flight</b> by card",
            "contribution": 1.0,
        },
        {"kind": "term", "term": "flight", "z": 3.0},
        {"kind": "term", "term": "card", "z": -3.0},
        {"kind": "term", "term": "by", "z": 1.0},
    ]
    tables = read_texts(written_texts(tmp_path, rows))
    assert tables[0].rows[0][1].parts == (("A <b>", False), ("flight", True), ("</b> by card", False))
    assert "A &lt;b&gt;<mark>flight</mark>&lt;/b&gt; by card" in render_page(texts=tables)


def test_near_copies_come_first_with_what_was_changed_marked(tmp_path):
    rows = [
        {"text": "all new words", "nearest_train": "nothing alike", "syntactic": 0.1},
        {"text": "lock my small card", "nearest_train": "Lock my card", "syntactic": 0.9},
    ]
    (table,) = read_texts(written_texts(tmp_path, rows))
    assert (table.of, table.rows[0][0].value) == ("near_copies", "lock my small card")
    assert [part for part, marked in table.rows[0][0].parts if marked] == ["small"]


NEAR_COPIES = [
    {
        "corpus": "generated",
        "property": "near_copies",
        "value": 0.55,
        "low": 0.48,
        "high": 0.62,
        "test": 0.115,
        "worse_than": "test",
    },
]
TESTED = [
    {"metric": "jsd@words", "value": 0.25, "p_value": 0.01, "n_reference": 30, "n_candidate": 30, "reason": None},
]


def test_near_copies_are_the_first_card_and_lead_to_their_texts(tmp_path):
    for name, rows in (("describe", NEAR_COPIES), ("compare", TESTED)):
        saved = {"schema": 1, "command": name, "answer": "Different: 1 of 1 metric.", "rows": rows}
        (tmp_path / f"{name}.json").write_text(json.dumps(saved), encoding="utf-8")
    texts = [{"text": "lock my card", "nearest_train": "lock my card", "syntactic": 1.0}]
    (tmp_path / "texts.json").write_text(json.dumps({"schema": 1, "rows": texts}), encoding="utf-8")
    results = [read_result(tmp_path / f"{name}.json") for name in ("compare", "describe")]
    made = render_page((), results, read_texts(tmp_path / "texts.json"))
    first, second = made.split('<article class="answer ')[1:]
    assert first.startswith("concern")
    assert "55 % near copies" in first
    assert 'href="#texts-of-near-5f-copies"' in first
    assert 'id="texts-of-near-5f-copies"' in made
    assert second.startswith("plain")
    assert '<p class="shown">Different</p>' in second
