"""Options from textgauge.toml and pyproject.toml: defaults that the command line overrules, mistakes in one line."""

import json

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("a red cat\na red dog\na cow\n")
    (tmp_path / "b.txt").write_text("one cat\none dog\na cow\n")
    return tmp_path


COMPARE = ("compare", "a.txt", "b.txt", "-f", "json")


@pytest.mark.parametrize(("name", "above"), [("textgauge.toml", ""), ("pyproject.toml", "tool.textgauge.")])
def test_a_table_per_command_gives_defaults(run, folder, name, above):
    (folder / name).write_text(f'\ufeff[{above}compare]\nmetrics = "jsd@words"\npermutations = 19\ntest = true\n')
    (row,) = json.loads(run(*COMPARE)[1])["rows"]
    assert (row["metric"], round(20 * row["p_value"], 9) % 1) == ("jsd@words", 0)
    assert f"defaults of compare are those of {name}" in run(*COMPARE)[2]
    assert json.loads(run(*COMPARE, "-m", "zipf@words")[1])["rows"][0]["metric"] == "zipf@words"


def test_commands_of_a_group_and_lists(run, folder):
    (folder / "textgauge.toml").write_text('[datasets.show]\nn = 1\n[compare]\nmetrics = ["jsd@words", "zipf@words"]\n')
    assert len(json.loads(run("datasets", "show", "a.txt", "-f", "json")[1])["rows"]) == 1
    assert len(json.loads(run(*COMPARE)[1])["rows"]) == 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[compare]\npermutation = 9", "--permutations"),
        ("[compere]\nseed = 1", "compere"),
        ("[compare]\npermutations = [1]", "permutations"),
        ("[compare", "textgauge.toml"),
        ("compare = 3", "[compare]"),
        ('[compare]\nscheduler = "tcp://127.0.0.1:9"', "scheduler"),
        ('[compare]\noutput = "elsewhere.json"', "output"),
        ('[compare]\nmetrics = "judge@http://host/v1#model"', "metrics"),
        ('[score]\nmetrics = ["chrf", "judge"]', "service"),
        ('[compare]\nembedder = "api:model"', "service"),
        ('[describe]\nclean_to = "elsewhere.csv"', "clean_to"),
    ],
)
def test_a_mistake_is_one_line(run, folder, text, complaint):
    (folder / "textgauge.toml").write_text(text)
    code, out, err = run(*COMPARE)
    assert (code, out, err.count("textgauge: ")) == (2, "", 1)
    assert err.count("\n") <= 2  # with the line that names the file
    assert complaint in err


def test_the_pyproject_of_another_tool_is_left_alone(run, folder):
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert run(*COMPARE, "-m", "jsd@words")[0] == 0
    for text in ("[project", "tool = 3"):
        (folder / "pyproject.toml").write_text(text)
        assert run(*COMPARE, "-m", "jsd@words")[0] == 0
    (folder / "pyproject.toml").write_text("[tool]\ntextgauge = 3")
    assert "[tool.textgauge.compare]" in run(*COMPARE)[2]
