"""The page of a run: its numbers are the store's, it is whole in itself, and nothing in a corpus can act on it."""

import base64
import hashlib
import re
import shutil
import zlib
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from tests.toys import take_samples

from textgauge.bench import Ksc, Plan, Size, Sources, Store, run
from textgauge.bench.leaderboard import group_boards, rank_metrics
from textgauge.bench.results import Results, sum_times
from textgauge.core.show import format_duration
from textgauge.data import Corpus, load_texts
from textgauge.metrics import get_corpus_metrics
from textgauge.report import figures as draw
from textgauge.report.page import render_page
from textgauge.report.page.result_files import ResultFile
from textgauge.report.page.tables import make_anchor, make_board_table, make_table, make_verdict_table
from textgauge.report.page.texts import make_texts

HOSTILE = "</script><script>alert('x')</script><b>&\"\x00\x1b\n<!-- `code`"
KSC = Ksc(k=4, n=10, repetitions=3)
SIZE = Size(smallest=5, step=10, total=30, large=40, draws=3, repetitions=3)
METRICS = ("cbdf@words", "jsd@words", "zipf@words")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = Store(tmp_path_factory.mktemp("run"))
    run([Plan(each, Sources(HOSTILE, take_samples()), get_corpus_metrics(METRICS)) for each in (KSC, SIZE)], made)
    return made


@pytest.fixture(scope="module")
def found(store):
    ((board, single),) = group_boards(Results(store).groups())
    return [board, *single]


class Parsed(HTMLParser):
    """The elements of a page with their attributes, and the text of each kind of element."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text, self._open = [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        for tag in set(self._open):
            self.text.setdefault(tag, []).append(data)

    def having(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]


def hostile():
    texts = make_texts("Texts", {"text": [HOSTILE, "b"], "x": [0.0, 1.0], "y": [0.0, 1.0]})
    return ResultFile("r", "r", (make_table("Rows", [{"text": HOSTILE, "contribution": 0.25}]),), texts=texts)


@pytest.fixture(scope="module")
def html(store):
    return render_page([store], [hostile()], title=HOSTILE)


@pytest.fixture(scope="module")
def parsed(html):
    return Parsed(html)


@pytest.fixture
def _undrawn(monkeypatch):
    """No figures: they take most of the time."""
    monkeypatch.setattr("textgauge.report.page.html.KINDS", {})


def numbers(table):
    """The rows of a table as the CSV of the page has them."""
    names = [column.name for column in table.columns]
    return [dict(zip(names, (cell.value for cell in row), strict=True)) for row in table.rows]


def test_boards_hold_the_numbers_of_the_leaderboard(store, found):
    groups = Results(store).groups()
    assert [[one.name for one in board.protocols] for board in found] == [["ksc", "size"], ["ksc"], ["size"]]
    for board in found:
        of = [group for group in groups if group.protocol in board.protocols]
        assert numbers(make_board_table(board)) == [
            {name: row[name] for name in numbers(make_board_table(board))[0]} for row in rank_metrics(of).to_dicts()
        ]


def test_verdicts_are_those_of_the_store(store, found):
    rows = numbers(make_verdict_table(found[1]))
    (group,) = (group for group in Results(store).groups() if group.protocol == KSC)
    said = [(metric, verdict) for metric, of in group.verdicts.items() for verdict in of.values()]
    assert len(rows) == len(said) == 15
    for row, (metric, verdict) in zip(rows, said, strict=True):
        assert (row["metric"], row["measure"], row["value"]) == (metric, verdict.measure, verdict.value)
        assert (row["low"], row["high"], row["repetitions"]) == (verdict.low, verdict.high, 3)


def test_every_metric_has_a_row_a_card_and_a_signature(store, parsed):
    text = "".join(parsed.text["main"])
    for cell in store.manifests()[0]["cells"]:
        assert cell["signature"] in text
        assert cell["fingerprint"] in text
    assert {a["id"] for tag, a in parsed.elements if a.get("class") == "card"} == {
        make_anchor(metric) for metric in METRICS
    }
    assert "Kilgarriff 2001" in "".join(parsed.text["details"])


def test_the_cost_of_a_card_is_the_mean_of_the_stored_seconds(store, parsed):
    cells = [c for m in store.manifests() for c in m["cells"] if c["metric"] == "jsd@words" and "ksc" in c["protocol"]]
    paths = [store.folder / "cells" / cell["name"][:2] / f"{cell['name']}.parquet" for cell in cells]
    import polars as pl

    frame = pl.concat([pl.read_parquet(path) for path in paths])
    cost = next(c for c in sum_times([Results(store)]) if (c["metric"], c["protocol"]) == ("jsd@words", "ksc"))
    assert (cost["trials"], cost["failed"]) == (len(frame), 0)
    assert cost["each"] == pytest.approx(frame["seconds"].mean())
    assert f"{format_duration(cost['each'])} a trial (ksc, mean of {len(frame)})" in "".join(parsed.text["details"])


def test_what_comes_from_data_is_text(parsed):
    assert not [tag for tag, _ in parsed.elements if tag == "b"]
    assert [a.get("type") for tag, a in parsed.elements if tag == "script" and "src" in a] == []
    running = [a for tag, a in parsed.elements if tag == "script" and "type" not in a]
    assert len(running) == 1
    assert "alert('x')" in "".join(parsed.text["td"])
    assert "\x00" not in "".join(parsed.text["main"])
    assert parsed.text["h1"] == [HOSTILE.replace("\x00", "�").replace("\x1b", "�")]


def test_only_the_pages_own_scripts_and_styles_run(html, parsed):
    policy = next(a["content"] for tag, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy")
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    library = zlib.decompress(base64.b64decode(re.search(r'id="library">([^<]+)<', html)[1])).decode()
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert allowed == {_hash(text) for text in (*script, *style, library)}
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def _hash(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_nothing_is_loaded_and_no_attribute_acts(parsed):
    for tag, attributes in parsed.elements:
        assert not {"src", "srcset", "action", "style"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")], tag
    assert all(target.startswith("#") for target in parsed.having("href"))


def test_ids_are_unique_and_everything_pointed_at_exists(parsed):
    ids = parsed.having("id")
    assert len(ids) == len(set(ids))
    names = ("aria-labelledby", "aria-describedby", "aria-controls", "for")
    pointed = [target for name in names for value in parsed.having(name) for target in value.split()]
    assert {*pointed, *(target[1:] for target in parsed.having("href"))} <= set(ids)
    assert len(pointed) > 20


def test_headings_descend_one_level_at_a_time(parsed):
    levels = [int(tag[1]) for tag, _ in parsed.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[:2] == [1, 2]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_columns_have_scopes_and_tables_captions(parsed):
    count = sum(tag == "table" for tag, _ in parsed.elements)
    assert sum(tag == "caption" for tag, _ in parsed.elements) == count > 5
    assert {a.get("scope") for tag, a in parsed.elements if tag == "th"} == {"col", "row"}


def test_every_figure_of_the_registry_is_in_the_page(store, html, parsed):
    made = list(draw.draw_figures(Results(store).groups()))
    names = [a["data-name"] for tag, a in parsed.elements if tag == "figure" and "data-name" in a]
    assert names == [figure.name for figure in made]
    plots = [a for tag, a in parsed.elements if tag == "div" and a.get("role") == "img"]
    assert all(a["aria-label"] for a in plots)
    assert len(plots) == len(made)


def test_the_same_run_gives_the_same_bytes_and_a_small_page(store, html):
    assert render_page([store], [hostile()], title=HOSTILE) == html
    assert len(html.encode()) < 1_000_000


@pytest.mark.usefixtures("_undrawn")
def test_a_missing_cell_is_said_and_the_rest_is_shown(store, tmp_path):
    copy = Store(tmp_path / "copy")
    shutil.copytree(store.folder, copy.folder)
    next(copy.folder.glob("cells/*/*.parquet")).unlink()
    count = sum(len(manifest["cells"]) for manifest in copy.manifests())
    assert f"1 of {count} results are missing" in "".join(Parsed(render_page([copy])).text["li"])


@pytest.mark.usefixtures("_undrawn")
def test_several_runs_share_a_page(store, tmp_path):
    other = Store(tmp_path / "other")
    corpora = {role: Corpus.of(load_texts("sample:banking", limit=40).texts) for role in ("a", "b")}
    run([Plan(Ksc(k=3, n=5, repetitions=2), Sources("other data", corpora), get_corpus_metrics("jsd@words"))], other)
    text = "".join(Parsed(render_page([store, other])).text["main"])
    assert "other data" in text
    assert "2 to 3 repetitions" in text


def test_a_run_without_a_result_says_so(store, tmp_path):
    copy = Store(tmp_path / "copy")
    shutil.copytree(store.folder / "manifests", copy.folder / "manifests")
    parsed = Parsed(render_page([copy]))
    assert "results are missing" in "".join(parsed.text["li"])
    assert "figure" not in parsed.text


def test_a_report_opens_each_result_file_once_and_changes_none(store, tmp_path, monkeypatch):
    copy = Store(tmp_path / "copy")
    shutil.copytree(store.folder, copy.folder)
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in copy.folder.rglob("*") if path.is_file()}
    opened = []
    read = Store.read
    monkeypatch.setattr(Store, "read", lambda self, cell: opened.append(cell.name) or read(self, cell))
    render_page([copy])
    assert sorted(opened) == sorted(path.stem for path in copy.folder.glob("cells/*/*.parquet"))
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in copy.folder.rglob("*") if path.is_file()}
    assert after == before
