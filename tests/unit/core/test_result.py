"""The JSON of results: one shape for all commands, checked by the shipped schema; saved, loaded, refused if changed."""

import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

import textgauge
from textgauge.cli import make_app
from textgauge.core.errors import InputError
from textgauge.core.result import TableResult, parse_result

SCHEMA = json.loads(files("textgauge.core").joinpath("result.schema.json").read_text("utf-8"))
WORDS = ("red", "blue", "old", "new")
LEFT = [f"a {word} cat {i}" for i in range(10) for word in WORDS]
RIGHT = [f"one {word} dog {i}" for i in range(10) for word in WORDS]


def checked(text):
    found = json.loads(text, parse_constant=pytest.fail)
    jsonschema.validate(found, SCHEMA)
    return found


def test_the_schema_knows_every_command_that_has_formats():
    def paths(group, above=()):
        for name in group:
            if name.startswith("-"):
                continue
            yield from paths(group[name], (*above, name))
            options = group[name].assemble_argument_collection() if group[name].default_command else ()
            if any("--format" in option.names for option in options):
                yield " ".join((*above, name))

    known = set(SCHEMA["properties"]["command"]["enum"])
    found = {"check" if path.startswith("check") else path for path in paths(make_app())}
    assert found - {"figures"} == known  # figures names formats of files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("\n".join(LEFT), "utf-8")
    (tmp_path / "b.txt").write_text("\n".join(RIGHT), "utf-8")
    rated = [f"{a},{b},{i % 5 + 1}" for i, (a, b) in enumerate(zip(LEFT, RIGHT, strict=True))]
    (tmp_path / "rated.csv").write_text("\n".join(["left,right,rating", *rated]), "utf-8")
    return tmp_path


NO_MODELS = ("--embedder", "none", "--grammar", "none", "--plausibility", "none")
KSC = ("run", "ksc", "--source-a", "a.txt", "--source-b", "b.txt", "-m", "jsd@words,zipf@words", "-k", "3", "-n", "8")
CALLS = {
    "compare": ("compare", "a.txt", "b.txt", "-m", "jsd@words,cbdf@words", "--permutations", "39"),
    "compare explained": ("compare", "a.txt", "b.txt", "-m", "cbdf@words", "--explain"),
    "score": ("score", "a.txt", "b.txt", "-m", "jaccard,bleu", "--parts"),
    "score summary": ("score", "a.txt", "b.txt", "-m", "jaccard,bleu", "--summary"),
    "score baseline": ("score", "a.txt", "b.txt", "-m", "jaccard,bleu", "--baseline", "a.txt"),
    "compare candidates": ("compare", "a.txt", "b.txt", "a.txt", "-m", "jsd@words,cbdf@words"),
    "score systems": ("score", "--reference", "a.txt", "b.txt", "--system", "same=a.txt", "-m", "jaccard,bleu"),
    "check": ("check", "copies", "a.txt", "--train", "b.txt", "--max", "5%"),
    "watch": ("watch", "a.txt", "b.txt", "--embedder", "wordllama"),
    "describe": ("describe", "a.txt", "--train", "b.txt", *NO_MODELS),
    "describe alone": ("describe", "a.txt", *NO_MODELS),
    "recommend": ("recommend", "--pairs", "rated.csv", "--rating", "rating", "-m", "jaccard,chrf", "--effort", "quick"),
    "run dry": (*KSC, "--out", "run", "--dry-run"),
    "run": (*KSC, "--out", "run"),
    "train ensemble": ("train", "ensemble", "--pairs", "rated.csv", "--rating", "rating", "-m", "jaccard,chrf",
                       "-o", "model.json", "--resamples", "100"),
    "ls": ("ls", "metrics"),
    "doctor": ("doctor",),
    "datasets ls": ("datasets", "ls"),
    "datasets show": ("datasets", "show", "a.txt"),
    "resources ls": ("resources", "ls"),
    "resources verify": ("resources", "verify"),
    "cache ls": ("cache", "ls"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_json_of_every_command_fits_the_schema_and_jsonl_is_its_rows(run, folder, monkeypatch, name):
    if name.startswith("resources") or name == "doctor":
        monkeypatch.setenv("TEXTGAUGE_CACHE", str(folder / "cache"))  # nothing to read, nothing to fetch
    _, out, err = run(*CALLS[name], "-f", "json")
    found = checked(out)
    assert name.startswith(found["command"])
    assert all(f"warning: {text}" in err for text in found["warnings"])
    if name in ("compare", "score", "describe", "ls"):
        again = [json.loads(line) for line in run(*CALLS[name], "-f", "jsonl")[1].splitlines()]
        assert [row.keys() for row in again] == [row.keys() for row in found["rows"]]


def results():
    yield textgauge.compare(LEFT, RIGHT, metrics="jsd@words,cbdf@words", test=True, permutations=19)
    yield textgauge.score(LEFT, RIGHT, metrics="jaccard,bleu")
    yield textgauge.leaderboard({"item": list("abcdefgh"), "x": [0, 0, 1, 0, 1, 0, 0, 0], "y": [1] * 7 + [0]})
    none = dict.fromkeys(("embedder", "grammar", "plausibility"))
    yield textgauge.describe(generated=LEFT, train=RIGHT, **none)
    found = textgauge.run("ksc", source_a=LEFT, source_b=RIGHT, metrics="jsd@words,zipf@words", k=3, n=8, repetitions=2)
    yield found
    yield found.leaderboard()


def test_every_result_is_saved_loaded_shown_and_drawn(tmp_path):
    for result in results():
        path = result.save(tmp_path / f"{result.command}.json")
        checked(path.read_text("utf-8"))
        again = textgauge.load(path)
        assert (again.answer, again.warnings, again.to_dicts()) == (result.answer, result.warnings, result.to_dicts())
        assert again.details == json.loads(json.dumps(result.details))
        assert len(again.to_polars()) == len(result.to_dicts())
        assert again.plot().to_dict() == result.plot().to_dict()
        for page in (result._repr_html_(), again._repr_html_()):
            assert result.answer.partition('"')[0] in page
            assert "<details>" in page
    again = textgauge.load(textgauge.score(LEFT, RIGHT, baseline=LEFT, metrics="jaccard").save(tmp_path / "two.json"))
    with pytest.raises(InputError, match="no chart"):
        again.plot()


def test_a_changed_number_is_found(tmp_path):
    path = next(results()).save(tmp_path / "found.json")
    found = json.loads(path.read_text("utf-8"))
    found["rows"][0]["value"] += 0.01
    path.write_text(json.dumps(found), "utf-8")
    with pytest.raises(InputError, match="checksum does not match"):
        textgauge.load(path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"schema": 2, "rows": []}', '{"schema": 1}', '{"schema": 1, "rows": [1]}']
)
def test_what_is_no_result_is_refused_in_one_line(tmp_path, text):
    with pytest.raises(InputError):
        parse_result(text)


def test_texts_in_answers_and_warnings_are_escaped():
    page = TableResult("ls", [{"name": "<b>"}], "<i>", ("<u>",))._repr_html_()
    assert not {"<i>", "<b>", "<u>"} & set(page.replace(">", "> ").split())
    assert all(name in page for name in ("&lt;i&gt;", "&lt;b&gt;", "&lt;u&gt;"))


def test_rows_are_had_by_place_and_by_name():
    from textgauge.core.errors import UnknownName

    found = TableResult("ls", [{"metric": "energy", "value": 1}, {"metric": "fid", "value": 2}])
    assert found[0] is found["energy"] is found[np.int64(0)]
    assert [row["value"] for row in found[:2]] == [1, 2]
    assert "fid" in found
    assert "jsd" not in found
    for place in (2, -3):
        with pytest.raises(IndexError, match=f"there is no row {place}: this result has 2"):
            found[place]
    for error in (KeyError, UnknownName):
        with pytest.raises(error, match="fid"):
            found["fidd"]


def test_columns_say_how_rows_are_shown():
    from textgauge.core.result import Column, show_rows
    from textgauge.core.show import format_interval

    columns = [Column("metric"), Column("interval", "low high", format_interval, when="low"), Column("p", when="p")]
    rows = [{"metric": "a", "low": 1.0, "high": 2.0, "p": None}, {"metric": "b", "low": None, "high": None, "p": None}]
    assert show_rows(rows, columns) == [{"metric": "a", "interval": "1 … 2"}, {"metric": "b", "interval": None}]
