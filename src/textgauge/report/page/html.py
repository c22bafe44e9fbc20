"""One page with everything that runs and results say: no network, no script but its own.

Specifications of figures are packed small, with words for those who do not see them.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from textgauge.bench.leaderboard import Leaderboard, RankedMetric, group_boards
from textgauge.bench.results import Group, Results, list_verdict_warnings, sum_times
from textgauge.bench.store import Store
from textgauge.core.charts import get_drawing_library
from textgauge.core.errors import InputError
from textgauge.core.show import Row, format_decimals, format_duration, make_printable
from textgauge.metrics import CorpusMetric, get_metric
from textgauge.metrics.base import get_parameters
from textgauge.report.figures import KINDS, draw_figures
from textgauge.report.page import tables
from textgauge.report.page.result_files import ResultFile
from textgauge.report.page.tables import PageTable
from textgauge.stats.decisions import format_leader, split_answer

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

Summary = list[tuple[str, list[str]]]

_SCRIPTS = ("theme.js", "tables.js", "texts.js", "figures.js")
_DIGITS = 6  # of data: as many as tooltips show
_PANELS = 40  # that words list at most
_INFINITE = {math.inf: "∞", -math.inf: "−∞"}


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
    kinds = list(_draw_kinds(found))
    results = sorted(results, key=lambda result: not result.finding)
    spent, warned = sum_times(runs), [text for run in runs for text in list_verdict_warnings(run, run.groups())]
    rows = [row for result in results for row in result.rows]
    named = [*(row.metric for board in single for row in board), *(str(row["metric"]) for row in rows)]
    summary = [(board.purpose, tables.format_board(board)) for board, _ in groups]
    summary += [(result.heading, list(result.sentences)) for result in results if result.sentences]
    content = {
        "title": title or (results[0].heading if len(results) == 1 and not runs else "Text metrics, measured"),
        "answers": _make_answers([board for board, _ in groups], results),
        "warnings": [f"{tables.capitalise(text)}." for text in dict.fromkeys(warned)],
        "groups": [(_prepare_board(board), [_prepare_board(one) for one in of]) for board, of in groups],
        "results": [_prepare_result(result) for result in results],
        "kinds": kinds,
        "cards": [_describe_metric(name, single, spent) for name in sorted({*named}) if tables.find_metric(name)],
        "provenance": _make_provenance(runs, rows),
        "version": version("textgauge"),
    }
    return _render(content), summary


def _make_answers(boards: Sequence[Leaderboard], results: Sequence[ResultFile]) -> list[dict[str, str]]:
    """Return what each card of an answer says in a few letters, where there are several."""
    made = [
        {"kind": "concern" if result.finding else "plain", "heading": result.heading, "target": f"result-{n}"}
        | {"shown": next(filter(None, _split_verdict(result)))}
        for n, result in enumerate(results, 1)
        if result.sentences
    ]
    made += [
        {"kind": "best", "heading": f"First for {board.purpose[:1].lower()}{board.purpose[1:]}"}
        | {"target": f"board-{n}", "shown": format_leader(board.top)}
        for n, board in enumerate(boards, 1)
    ]
    return made if len(made) > 1 else []


def _split_verdict(result: ResultFile) -> list[str]:
    """Return the outcome of a result in a few letters, empty where it has none, and the sentences behind it."""
    if result.finding:
        return [result.finding, *result.sentences]
    first, *rest = result.sentences or ("",)
    shown, more = split_answer(first)
    return [shown, tables.capitalise(more), *rest]


def _prepare_result(result: ResultFile) -> dict[str, Any]:
    shown, *sentences = _split_verdict(result)
    packed = None if result.texts is None else _pack(result.texts.content)
    return {"file": result, "shown": shown, "sentences": list(filter(None, sentences)), "packed": packed}


def _prepare_board(board: Leaderboard) -> dict[str, Any]:
    first, *others = {protocol.name: protocol for protocol in board.protocols}.values()
    ready = next((row for row in board if row.rank and tables.find_metric(row.metric)), None)
    said = tables.format_board(board)
    if ready is not None and not any(tables.find_metric(name) for name in board.top):
        said.append(f"First without training: `{ready.metric}`, overall {format_decimals(ready.overall)}.")
    return {
        "board": board,
        "about": [] if others else inspect.cleandoc(type(first).__doc__ or "").split("\n\n"),
        "question": "" if others else first.question,
        "said": said,
        "leader": format_leader(board.top),
        "ranking": tables.make_board_table(board),
        "verdicts": tables.make_verdict_table(board),
    }


def _describe_metric(key: str, boards: Sequence[Leaderboard], spent: Sequence[Row]) -> dict[str, Any]:
    """Return the card of a metric: what it declares about itself, what it cost, and what the run measured of it."""
    metric = get_metric(key)
    what, *definition = split_docstring(type(metric).__doc__ or "")
    rows = [(board, row) for board in boards for row in board if row.metric == key]
    low, high = (_INFINITE.get(end, f"{end:g}") for end in metric.bounds)
    facts = {
        "Compares": "two corpora" if isinstance(metric, CorpusMetric) else "two texts",
        "Values": f"{low} to {high}; {metric.closer} is closer",
        "Symmetric": "yes" if metric.symmetric else "no",
        "Input": metric.on,
        "Parameters": ", ".join(f"{name}={getattr(metric, name)}" for name in get_parameters(type(metric))),
        "Parts": ", ".join(part.name for part in metric.parts),
        "Cost": "; ".join(_format_cost(cost) for cost in spent if cost["metric"] == metric.key),
        "Source": metric.source,
    }
    return {
        "key": key,
        "anchor": tables.make_anchor(key),
        "label": "" if what.startswith(metric.label) else f"{metric.label}.",
        "what": what,
        "definition": definition,
        "places": [(board.heading, _format_place(row, len(board))) for board, row in rows],
        "facts": {term: text for term, text in facts.items() if text},
        "measured": [(board.heading, _format_measures(row)) for board, row in rows],
    }


def split_docstring(doc: str) -> list[str]:
    """Return the first sentence of a docstring and the paragraphs after it, without examples and the source.

    >>> split_docstring("One line.\\n\\n    A formula, and\\n    more. Source: Lin 1991.\\n\\n    >>> 1")
    ['One line.', 'A formula, and more.']
    """
    head, *rest = inspect.cleandoc(doc).split("\n\n")
    parts = [" ".join(part.split()) for part in rest if not part.startswith(">>>")]
    bare = [part.partition("Source: ")[0].strip() for part in parts]
    return [" ".join(head.split()), *filter(None, bare)]


def _format_cost(cost: Row) -> str:
    failed = f", {cost['failed']:,} failed" if cost["failed"] else ""
    return f"{format_duration(cost['each'])} a trial ({cost['protocol']}, mean of {cost['trials']:,}{failed})"


def _format_measures(row: RankedMetric) -> str:
    known = {name.replace("_", " "): value for name, value in row.measures.items() if not math.isnan(value)}
    return ", ".join(f"{name} {format_decimals(value)}" for name, value in known.items())


def _format_place(row: RankedMetric, count: int) -> str:
    if math.isnan(row.overall):
        return "not ranked"
    return f"rank {row.rank} of {count}, overall {format_decimals(row.overall)}"


def _make_provenance(found: Sequence[Results], rows: Sequence[dict[str, Any]]) -> list[PageTable]:
    """Return a table of runs and one of signatures; `rows` are those that carry a signature of their own."""
    manifests = [(one.store, manifest) for one in found for manifest in one.manifests]
    runs = [_describe_run(store, manifest) for store, manifest in manifests]
    cells = [(cell["metric"], cell["signature"]) for _, manifest in manifests for cell in manifest["cells"]]
    given = [(row["metric"], row["signature"]) for row in rows if row.get("metric") and row.get("signature")]
    signed = [{"metric": metric, "signature": signature} for metric, signature in dict.fromkeys([*cells, *given])]
    named = [("Runs", runs), ("Signatures: everything that decides a number", signed)]
    return [tables.make_table(title, of) for title, of in named if of]


def _describe_run(store: Store, manifest: dict[str, Any]) -> dict[str, Any]:
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
    """Return a sentence as HTML: all of it escaped, options and what stands between backticks as code.

    >>> format_prose("`a<b>` & --c")
    Markup('<code>a&lt;b&gt;</code> &amp; <code class="option">--c</code>')
    """
    from markupsafe import Markup, escape

    parts = re.split(r"(`[^`]*`|(?<!\S)--[a-z][a-z-]*)", make_printable(text).replace(" %", "\u00a0%"))
    kinds = {"`": Markup("<code>{}</code>"), "-": Markup('<code class="option">{}</code>')}
    return Markup().join(
        kinds[part[0]].format(part.strip("`")) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def _draw_kinds(found: Sequence[Group]) -> Iterator[dict[str, Any]]:
    """Yield all figures that groups give, kind by kind: a reader chooses among those of a kind by their titles."""
    for name in KINDS:
        made = [
            _prepare_drawing(one.name, one.chart.to_dict(validate=False)) for one in draw_figures(found, kinds=[name])
        ]
        titles = [drawing["title"] for drawing in made]
        for drawing in made:
            is_alone = titles.count(drawing["title"]) == 1
            drawing["choice"] = drawing["title"] + ("" if is_alone else f" ({drawing['about'] or drawing['name']})")
        if made:
            yield {"title": name.replace("_", " ").capitalize(), "drawings": made}


def _prepare_drawing(name: str, spec: dict[str, Any]) -> dict[str, str]:
    """Return a figure: the name of its files, its title and first line, words that stand for it, and what is drawn."""
    title, *lines = _list_titles(spec.get("title"))
    sentences = [line if line.endswith(".") else f"{line}." for line in lines if line]
    words = " ".join([*sentences, _describe_panels(spec)]).strip()
    data = {key: _split_columns(rows) for key, rows in spec.pop("datasets", {}).items()}
    packed = _pack(json.dumps({"spec": spec, "data": data}, separators=(",", ":")))
    return {"name": name, "title": title or name, "about": "".join(lines[:1]), "words": words, "packed": packed}


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
