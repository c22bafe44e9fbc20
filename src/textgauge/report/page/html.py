"""One page with everything that runs and results say: no network, no script but its own.

Specifications of figures are packed small, with words for those who do not see them.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from textgauge.bench.leaderboard import Leaderboard, group_boards
from textgauge.bench.results import Group, Results, list_verdict_warnings, sum_times
from textgauge.bench.store import Store
from textgauge.core.charts import get_drawing_library
from textgauge.core.errors import InputError
from textgauge.core.show import make_printable
from textgauge.report.figures import KINDS, draw_figures
from textgauge.report.page.cards import (
    AnswerCard,
    list_untrained,
    make_board_card,
    make_cards,
    make_result_card,
    split_verdict,
)
from textgauge.report.page.result_files import ResultFile
from textgauge.report.page.tables import (
    PageTable,
    capitalise,
    format_board,
    make_board_table,
    make_table,
    make_verdict_table,
)
from textgauge.stats.decisions import format_leader

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

Summary = list[tuple[str, list[str]]]

_SCRIPTS = ("theme.js", "tables.js", "texts.js", "figures.js")
_DIGITS = 6  # of data: as many as tooltips show
_PANELS = 40  # that words list at most


def render_page(*content: Any, **options: Any) -> str:
    """Return the page alone; arguments as for `render_page_and_summary`."""
    return render_page_and_summary(*content, **options)[0]


def render_page_and_summary(
    stores: Sequence[Store] = (),
    results: Sequence[ResultFile] = (),
    *,
    title: str | None = None,
) -> tuple[str, Summary]:
    """Return an HTML page of results, what is wrong with texts first, then of runs; and the sentences of its summary.

    The same content gives the same bytes. Whatever comes from a corpus is escaped; the page's policy lets no other
    script run, nothing load.
    """
    if not (stores or results):
        raise InputError("there is nothing to report: give the folder of a run or a JSON file of results")
    runs = [Results(store) for store in stores]
    found = [group for run in runs for group in run.groups()]
    groups = sorted(group_boards(found), key=lambda group: group[0].groups[0].protocol.of)
    single = [board for _, of in groups for board in of]
    kinds = list(draw_kinds(found))
    results = sorted(results, key=lambda result: not result.findings)
    spent, warned = sum_times(runs), [text for run in runs for text in list_verdict_warnings(run, run.groups())]
    rows = [row for result in results for row in result.rows]
    named = [*(row.metric for board in single for row in board), *(str(row["metric"]) for row in rows)]
    summary = [(board.purpose, format_board(board)) for board, _ in groups]
    summary += [(result.heading, list(result.sentences)) for result in results if result.sentences]
    content = {
        "title": title or (results[0].heading if len(results) == 1 and not runs else "Text metrics, measured"),
        "answers": _make_answers([board for board, _ in groups], results),
        "warnings": [f"{capitalise(text)}." for text in dict.fromkeys(warned)],
        "groups": [(_prepare_board(board), [_prepare_board(one) for one in of]) for board, of in groups],
        "results": [_prepare_result(result) for result in results],
        "kinds": kinds,
        "cards": make_cards(named, single, spent),
        "provenance": _make_provenance(runs, rows),
        "version": version("textgauge"),
    }
    return _render(content), summary


def _make_answers(boards: Sequence[Leaderboard], results: Sequence[ResultFile]) -> list[AnswerCard]:
    """Return a card for each answer where there are several."""
    said = [(n, result) for n, result in enumerate(results, 1) if result.sentences]
    made = [make_result_card(result, f"result-{n}") for n, result in said]
    made += [make_board_card(board, f"board-{n}") for n, board in enumerate(boards, 1)]
    return made if len(made) > 1 else []


def _prepare_result(result: ResultFile) -> dict[str, Any]:
    shown, sentences = split_verdict(result)
    packed = None if result.texts is None else _pack(result.texts.content)
    return {"file": result, "shown": shown, "sentences": list(filter(None, sentences)), "packed": packed}


def _prepare_board(board: Leaderboard) -> dict[str, Any]:
    first, *others = {protocol.name: protocol for protocol in board.protocols}.values()
    return {
        "board": board,
        "about": [] if others else inspect.cleandoc(type(first).__doc__ or "").split("\n\n"),
        "question": "" if others else first.question,
        "said": [*format_board(board), *list_untrained(board)],
        "leader": format_leader(board.top),
        "ranking": make_board_table(board),
        "verdicts": make_verdict_table(board),
    }


def _make_provenance(found: Sequence[Results], rows: Sequence[dict[str, Any]]) -> list[PageTable]:
    """Return a table of runs and one of signatures; `rows` are those that carry a signature of their own."""
    manifests = [(one.store, manifest) for one in found for manifest in one.manifests]
    runs = [_run(store, manifest) for store, manifest in manifests]
    cells = [(cell["metric"], cell["signature"]) for _, manifest in manifests for cell in manifest["cells"]]
    given = [(row["metric"], row["signature"]) for row in rows if row.get("metric") and row.get("signature")]
    signed = [{"metric": metric, "signature": signature} for metric, signature in dict.fromkeys([*cells, *given])]
    tables = [("Runs", runs), ("Signatures: everything that decides a number", signed)]
    return [make_table(title, of) for title, of in tables if of]


def _run(store: Store, manifest: dict[str, Any]) -> dict[str, Any]:
    given = manifest["protocol"]["parameters"]
    return {
        "run": store.folder.resolve().name,
        "protocol": manifest["protocol"]["name"],
        "parameters": ", ".join(f"{name}={value}" for name, value in given.items()),
        "data": manifest["data"]["name"],
        "fingerprint": manifest["data"]["fingerprint"],
        "seed": manifest["seed"],
        "metrics": len({cell["metric"] for cell in manifest["cells"]}),
        "results": len(manifest["cells"]),
        "versions": ", ".join(manifest["versions"]),
    }


def _render(content: dict[str, Any]) -> str:
    script = "\n".join(_read_file(name) for name in _SCRIPTS)
    style = _read_file("page.css")
    whole = get_drawing_library() if content["kinds"] else ""
    hashes = " ".join(f"'sha256-{_compute_digest(text)}'" for text in (script, whole) if text)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'sha256-{_compute_digest(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {"policy": policy, "script": script, "style": style, "library": _pack(whole) if whole else ""}
    return _load_templates().get_template("page.html").render(**content, **parts)


def _compute_digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _read_file(name: str) -> str:
    return (files(__package__) / "files" / name).read_text(encoding="utf-8")


@cache
def _load_templates() -> jinja2.Environment:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: make_printable(value) if type(value) is str else value,
    )
    made.filters["prose"] = format_prose
    return made


def format_prose(text: str) -> Markup:
    """Return a sentence as HTML: all of it escaped, what stands between backticks as code.

    >>> format_prose("`a<b>` & c")
    Markup('<code>a&lt;b&gt;</code> &amp; c')
    """
    from markupsafe import Markup, escape

    parts = re.split("`([^`]*)`", make_printable(text).replace(" %", "\u00a0%"))
    return Markup().join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


@dataclass(frozen=True)
class Drawing:
    """One figure: the name of its files, its title and first line, words that stand for it, and what is drawn."""

    name: str
    title: str
    about: str
    words: str
    packed: str


@dataclass(frozen=True)
class DrawingGroup:
    """All figures of one kind: a reader chooses among them."""

    title: str
    drawings: tuple[Drawing, ...]

    def choices(self) -> list[str]:
        """Return what a reader chooses by: titles, with what is drawn where several have the same."""
        titles = [drawing.title for drawing in self.drawings]
        return [f"{d.title} ({d.about or d.name})" if titles.count(d.title) > 1 else d.title for d in self.drawings]


def draw_kinds(found: Sequence[Group]) -> Iterator[DrawingGroup]:
    """Yield all figures that groups give, kind by kind."""
    for name, kind in KINDS.items():
        drawn = draw_figures(found, kinds=[name])
        made = tuple(_prepare_drawing(figure.name, figure.chart.to_dict(validate=False)) for figure in drawn)
        if made:
            yield DrawingGroup(kind.title, made)


def _prepare_drawing(name: str, spec: dict[str, Any]) -> Drawing:
    title, *lines = _list_titles(spec.get("title"))
    sentences = [line if line.endswith(".") else f"{line}." for line in lines if line]
    words = " ".join([*sentences, _describe_panels(spec)]).strip()
    data = {key: _split_columns(rows) for key, rows in spec.pop("datasets", {}).items()}
    packed = _pack(json.dumps({"spec": spec, "data": data}, separators=(",", ":")))
    return Drawing(name, title or name, lines[0] if lines else "", words, packed)


def _pack(text: str) -> str:
    """Return a text compressed in base 64: a fifth of the size, and no character of it can end an element."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _split_columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the data by columns and without digits that nobody sees."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_round_value(row.get(name)) for row in rows] for name in names}


def _round_value(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _describe_panels(spec: dict[str, Any]) -> str:
    """Return the titles of the panels, which name metrics and often their numbers."""
    parts = [", ".join(filter(None, _list_titles(panel.get("title")))) for panel in spec.get("concat", ())]
    named = [part for part in parts if part]
    more = f"; and {len(named) - _PANELS} more" if len(named) > _PANELS else ""
    return f"Panels: {'; '.join(named[:_PANELS])}{more}." if named else ""


def _list_titles(title: Any) -> list[str]:
    """Title and subtitles of a chart, the title first; empty where it has none."""
    if not isinstance(title, dict):
        return [title if isinstance(title, str) else ""]
    text, beneath = (
        [lines] if isinstance(lines, str) else list(lines or ()) for lines in (title.get("text"), title.get("subtitle"))
    )
    return [*(text or [""]), *beneath]
