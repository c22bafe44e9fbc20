"""Results in notebooks: escaped HTML, frames that equal the rows, charts that can be drawn."""

import json
import shutil
import string
import subprocess
import sys
import types

import numpy as np
import pytest

from textgauge import compare, get_metric, score
from textgauge.bench.leaderboard import Leaderboard, RankedMetric
from textgauge.core.errors import InputError, MissingExtra
from textgauge.core.result import Result
from textgauge.core.show import (
    build_table,
    format_cell,
    format_hidden_columns,
    get_table_width,
    make_printable,
    render_html,
    render_latex,
    render_markdown,
    render_text,
    shorten_line,
)
from textgauge.metrics import PairScores

REFERENCE, CANDIDATE = ["a red cat", "a red dog", "a blue dog"], ["one cat", "one dog", "a cow"]


def results():
    board = Leaderboard(
        (
            RankedMetric("<i>a</i>", {"accuracy": 0.9}, 0.9, rank=1, rank_low=1, rank_high=2, tier=1),
            RankedMetric("b", {}, float("nan")),
        ),
        (),
    )
    return {
        "compare": compare(reference=REFERENCE, candidate=CANDIDATE, metrics="jsd@words,cbdf@words", test=True),
        "score": score(left=REFERENCE, right=CANDIDATE, metrics="jaccard,levenshtein"),
        "leaderboard": board,
        "one score": get_metric("jsd@words")(reference=REFERENCE, candidate=CANDIDATE),
        "pair scores": get_metric("jaccard")(left=REFERENCE, right=CANDIDATE),
    }


@pytest.mark.parametrize("kind", ["compare", "score", "leaderboard", "one score", "pair scores"])
class TestEveryResult:
    def test_frames_equal_the_rows(self, kind, monkeypatch):
        result = results()[kind]
        names = {name for row in result.to_dicts() for name in row}
        expected = [{name: row.get(name) for name in names} for row in result.to_dicts()]
        assert [{name: row[name] for name in names} for row in result.to_polars().to_dicts()] == expected
        written = json.loads(result.to_json())
        assert (written["rows"] if isinstance(result, Result) else written) == result.to_dicts()
        monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=list))
        assert result.to_pandas() == result.to_dicts()

    def test_without_pandas_the_install_line_is_said(self, kind, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingExtra, match=r"pip install 'textgauge\[pandas\]'"):
            results()[kind].to_pandas()

    def test_html_has_a_cell_for_every_value(self, kind):
        result = results()[kind]
        page = result._repr_html_().rpartition("<summary>")[2]
        assert page.count("<tr>") == 1 + len(result.to_dicts())
        assert page.count("<th ") == len({name for row in result.to_dicts() for name in row})
        assert "<i>" not in page


def test_a_histogram_counts_every_defined_pair():
    from textgauge.measure.score_report import draw_spread

    values = np.array([0.1, 0.2, np.nan, 0.2, np.inf])
    made = draw_spread([PairScores(metric="m", values=values), PairScores(metric="n", values=values[2:3])]).to_dict()
    bins = [made["datasets"][panel["layer"][0]["data"]["name"]] for panel in made["vconcat"]]
    assert sum(row["pairs"] for row in bins[0]) == 3
    assert bins[1] == []
    assert "undefined for 1 pairs" in made["vconcat"][0]["title"]["text"]


def test_nothing_in_a_table_acts():
    page = render_html(
        [{"<b>": "<img src=x onerror=alert(1)>", "quote\"'": "\x00\x1b[2J\u202eabc", "x": None, "y": True}]
    )
    assert "<img" not in page
    assert "<b>" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert not set(page) & {"\x00", "\x1b", "\u202e"}


def test_printable_keeps_words_and_line_ends():
    assert make_printable("zwei\n\tWörter 你好 👍🏽") == "zwei\n\tWörter 你好 👍🏽"
    assert shorten_line("  a\r\n b\x9b c ", 20) == "a b\ufffd c"
    assert len(shorten_line("x" * 100, 10)) == 10


NAMES = ("rank", "metric", "overall", "interval", "weighted_accuracy")
BOARD = [
    dict(zip(NAMES, ("1 (1–2)", "energy", 0.9741, "0.9663 … 0.9818", 0.99), strict=True)),
    dict(zip(NAMES, ("2 (1–2)", "sliced_wasserstein", 0.9, "0.8 … 1", 1.0), strict=True)),
]


@pytest.mark.parametrize("width", [60, 70, 80, 100, 160])
def test_a_table_breaks_no_number_and_no_word_at_any_width(width, monkeypatch):
    monkeypatch.setattr("textgauge.core.show.get_table_width", lambda: width)
    text = render_text(BOARD)
    assert max(map(len, text.splitlines()[:-1])) <= width
    text = " ".join(text.split())
    hidden = build_table(BOARD, width)[1]
    for name in NAMES[: len(NAMES) - len(hidden)]:
        assert all(format_cell(row[name]) in text for row in BOARD)
        assert all(word in text for word in name.split("_"))
    assert (format_hidden_columns(hidden) in text) == bool(hidden) == (width < 70)


def test_a_column_of_sentences_is_broken_between_words(monkeypatch):
    monkeypatch.setattr("textgauge.core.show.get_table_width", lambda: 60)
    about = "share of generated texts that are worded like a text of the training data"
    lines = render_text([{"property": "near_copies", "value": 0.47, "what it is": about}]).splitlines()
    assert len(lines) > 3
    assert " ".join(" ".join(line[20:].strip() for line in lines[2:]).split()) == about


def test_a_table_on_a_terminal_is_as_wide_as_it(monkeypatch):
    monkeypatch.setattr("sys.stdout", types.SimpleNamespace(isatty=lambda: True))
    monkeypatch.setenv("COLUMNS", "97")
    assert get_table_width() == 97
    monkeypatch.setattr("sys.stdout", types.SimpleNamespace(isatty=lambda: False))
    assert get_table_width() == 160


SCORED = [
    {"metric": "bleu", "system": "a_1", "value": "0.5 ↑", "interval": "0.4 … 0.6", "left ↓": 3.0},
    {"metric": "bleu", "system": "b", "value": "0.75 ↑", "interval": "–", "left ↓": 2.0},
    {"metric": "ter", "system": string.printable, "value": "-0.5 ↓", "interval": "0.4 … 0.6", "left ↓": None},
    {"metric": "ter", "system": "[*] Größe ąđ 中 − χ²", "value": "0.25 ↓", "interval": "0.4 … 0.6", "left ↓": 2.5},
]


def test_latex_has_texts_left_and_the_best_value_of_each_metric_bold():
    assert render_markdown([]) == render_latex([]) == ""
    made = render_latex(SCORED)
    assert made.startswith("\\begin{tabular}{llrrr}")
    bold = [cell.strip() for cell in made.replace("\\\\", "&").split("&") if "textbf" in cell]
    assert bold == [r"\textbf{0.75 $\uparrow$}", r"\textbf{2}", r"\textbf{$-$0.5 $\downarrow$}"]
    assert "{[}{*}] Größe a? ? $-$ $\\chi$$^2$" in made


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on the path")
def test_pdflatex_sets_what_is_printed(tmp_path):
    head = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
    (tmp_path / "t.tex").write_text(f"{head}{render_latex(SCORED)}\n\\end{{document}}", encoding="utf-8")
    asked = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "t.tex"]
    assert subprocess.run(asked, cwd=tmp_path, check=False, capture_output=True).returncode == 0


def test_numbers_have_as_many_digits_as_asked_for():
    report = compare(reference=REFERENCE, candidate=CANDIDATE, metrics="jsd@words")
    exact = report["jsd@words"].value
    assert f"& {exact:.2g} $" in report.to_latex(digits=2)
    assert f"& {exact:.6g} $" in report.to_latex(digits=6)
    with pytest.raises(InputError, match="digits"):
        report.to_latex(digits=0)
