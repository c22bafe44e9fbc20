"""What a report says of a run, computed anew: standings by plain code, the counts behind them from the cells."""

import json
import math
import re
from collections import defaultdict
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import spearmanr

from textgauge.bench import Store
from textgauge.bench.leaderboard import rank_metrics
from textgauge.bench.results import Results
from textgauge.metrics import get_metric

# What is resampled, where it is not documents: pairs, folds, queries.
UNITS = {"agreement": None, "clustering": ["fold"], "retrieval": ["query"]}

FIRST = ": metrics by overall score"
SENTENCES = re.compile(
    r"(?P<title>[^:]+): (?P<answer>.*?\.)"
    r"(?: (?P<unranked>`[^.]*) ha(?:s|ve) no overall score here\.)?"
    r" This rests on (?P<few>\d+)(?: to (?P<many>\d+))? (?P<things>repetitions|resampled units)"
    r" (?:with|of) (?P<data>.*)\."
)


class Tables(HTMLParser):
    """The tables of a page: under its caption, rows of cells as the CSV has them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self.title = self.place = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        if tag == "caption":
            self.place, self.title = tag, ""
        elif tag == "strong" and self.place == "caption":
            self.place = tag
        elif tag == "tr":
            self.found[self.title].append([])
        elif tag in ("td", "th"):
            self.place = "cell"
            self.found[self.title][-1].append(known.get("data-value", known.get("data-name", "")))
            self.exact = "data-value" in known or "data-name" in known

    def handle_endtag(self, tag):
        if tag in ("strong", "td", "th"):
            self.place = ""

    def handle_data(self, data):
        if self.place == "strong":
            self.title += data
            self.found.setdefault(self.title, [])
        elif self.place == "cell" and not self.exact:
            self.found[self.title][-1][-1] += data.strip()

    def rows(self, title: str) -> list[dict[str, str]]:
        """The rows of one table."""
        names, *rows = self.found[title]
        return [dict(zip(names, cells, strict=True)) for cells in rows]


def cells_of(folder: Path) -> dict[str, list[tuple[dict, pl.DataFrame]]]:
    """All cells of a run by protocol: what the manifest says of each, and its rows."""
    found = defaultdict(list)
    for path in sorted((folder / "manifests").glob("*.json")):
        manifest = json.loads(path.read_text("utf-8"))
        for cell in manifest["cells"]:
            frame = pl.read_parquet(folder / "cells" / cell["name"][:2] / f"{cell['name']}.parquet")
            found[manifest["protocol"]["name"]].append((cell | manifest["protocol"], frame))
    return found


def rests_on(cells: list[tuple[dict, pl.DataFrame]], protocol: str) -> int:
    """Repetitions, or how many things were resampled: counted in the cells of one metric."""
    metric = cells[0][0]["metric"]
    mine = [(about, frame) for about, frame in cells if about["metric"] == metric]
    if "repetitions" in mine[0][0]["parameters"]:
        return mine[0][0]["parameters"]["repetitions"]
    columns, whole = UNITS.get(protocol, ["document"]), pl.concat([frame for _, frame in mine])
    return len(whole) if columns is None else whole.select(columns).n_unique()


def standings(items: list) -> dict[str, float]:
    """The overall score of each metric.

    The mean over columns; in a column the mean over measures, of a measure the mean over data sets.
    """
    metrics = list(dict.fromkeys(item.metric for item in items))
    groups = defaultdict(dict)
    for item in items:
        groups[(item.data, item.fingerprint, item.protocol, item.seed)][item.metric] = item.verdicts
    counting = [m for _, _, protocol, _ in groups for m in protocol.measures if not m.detail and _has_two_ends(m)]
    # What says what a metric is like, not how good it is, counts only where nothing else does.
    qualities = any(measure.quality for measure in counting)
    columns = defaultdict(lambda: defaultdict(list))
    for (_, _, protocol, _), of in groups.items():
        for measure in protocol.measures:
            named = [[v for v in of.get(metric, ()) if v.measure == measure.name] for metric in metrics]
            if measure.detail or not any(found and found[0].values for found in named):
                continue
            if _has_two_ends(measure) and (measure.quality or not qualities):
                columns[measure.column or measure.name][measure.name].append([_share(f, measure) for f in named])
    means = [np.mean([np.mean(sets, axis=0) for sets in of.values()], axis=0) for of in columns.values()]
    whole = np.mean([mean for mean in means if not np.isnan(mean).all()], axis=0)
    return dict(zip(metrics, whole.tolist(), strict=True))


def _has_two_ends(measure) -> bool:
    return measure.best == "larger" and math.isfinite(measure.high)


def _share(found: list, measure) -> float:
    """The mean of the values, as a share of the way from the worst to the best."""
    if not found or np.isnan(found[0].values).all():
        return math.nan
    return float(np.clip((np.nanmean(found[0].values) - measure.low) / (measure.high - measure.low), 0, 1))


def check_report(folder: Path, lines: list[str]) -> None:
    """Every sentence of the report's summary, the tables they come from, its path and its size."""
    store, page = folder / "run", (folder / "report.html").read_text("utf-8")
    path, *said, size = lines
    assert path == str(folder / "report.html")
    assert size == f"{(folder / 'report.html').stat().st_size / 1e6:.1f} MB; open it in any browser"
    cells, judged, tables = cells_of(store), Results(Store(store)).judged(), Tables(page)
    *boards, compared, found = said
    titles = [name.removesuffix(FIRST) for name in tables.found if name.endswith(FIRST)]
    called = {item.protocol.heading: item.protocol.name for item in judged}
    groups = [title for title in titles if title not in called or called[title] == "agreement"]
    for line, title in zip(boards, groups, strict=True):
        said = SENTENCES.fullmatch(line)
        assert said, f"nothing checks this line: {line}"
        _check_sentences(said.groupdict(), title, called, cells, judged, tables)
    assert sorted(called[title] for title in titles if title in called) == sorted(cells)
    tested = [row for row in tables.rows("Distances, metric by metric") if row["p_adjusted"]]
    rejecting = sum(float(row["p_adjusted"]) <= 0.05 for row in tested)
    assert compared.startswith(f"Two corpora (compare.json): Different: {rejecting} of {len(tested)} metrics reject")
    copies = next(row for row in tables.rows("Properties") if row["property"] == "near_copies")
    assert found.startswith("Generated texts (describe.json): ")
    assert f"{100 * float(copies['value']):.3g} %" in found
    assert float(copies["low"]) > float(copies["test"])
    if "ksc" in cells:
        _check_ksc(cells["ksc"], tables.rows("Known mixtures: all numbers"))
    if "agreement" in cells:
        _check_agreement(cells["agreement"], tables.rows("Agreement with people: all numbers"))


def _check_sentences(
    said: dict[str, str | None], title: str, called: dict, cells: dict, judged: list, tables: Tables
) -> None:
    protocols = [name for heading, name in called.items() if heading.lower() in title.lower()]
    mine = [item for item in judged if item.protocol.name in protocols]
    overall, board = standings(mine), rank_metrics(mine)
    ranked = [row for row in board if row.rank is not None]
    assert said["title"] == mine[0].protocol.purpose
    assert [row.metric for row in ranked] == sorted(
        (m for m in overall if not math.isnan(overall[m])), key=lambda m: (-round(overall[m], 12), m)
    )
    assert said["answer"] == board.answer
    assert ranked[0].metric in said["answer"]
    assert names(said["unranked"]) == [row.metric for row in board if row.rank is None]
    counts = [rests_on(cells[name], name) for name in protocols]
    assert [int(said["few"]), int(said["many"] or said["few"])] == [min(counts), max(counts)]
    repeated = ["repetitions" in cells[name][0][0]["parameters"] for name in protocols]
    assert {"repetitions": all(repeated), "resampled units": not any(repeated)}[said["things"]]
    assert set(names(said["data"])) == {about["data"] for name in protocols for about, _ in cells[name]}
    rows = tables.rows(f"{title}{FIRST}")
    assert [(line["metric"], int(line["tier"])) for line in rows[: len(ranked)]] == [
        (row.metric, row.tier) for row in ranked
    ]
    for line in rows[: len(ranked)]:
        assert math.isclose(float(line["overall"]), overall[line["metric"]], rel_tol=1e-9)


def names(listed: str | None) -> list[str]:
    """What stands between backticks."""
    return re.findall("`([^`]+)`", listed or "")


def _check_ksc(cells: list[tuple[dict, pl.DataFrame]], verdicts: list[dict[str, str]]) -> None:
    """Accuracy by looking at all pairs of pairs: of [a, b] within [c, d], the inner should be nearer; ties half."""
    found = defaultdict(list)
    for about, frame in cells:
        distances = np.asarray(get_metric(about["metric"]).orient(frame["value"].to_numpy()))
        spans = list(zip(frame["i"].to_list(), frame["j"].to_list(), distances.tolist(), strict=True))
        right = [
            0.5 if math.isclose(inner[2], outer[2], rel_tol=1e-9, abs_tol=1e-12) else float(inner[2] < outer[2])
            for one, other in combinations(spans, 2)
            for inner, outer in ((one, other), (other, one))
            if outer[0] <= inner[0] and inner[1] <= outer[1]
        ]
        found[about["metric"]].append(np.mean(right))
    _same(found, "accuracy", verdicts)


def _check_agreement(cells: list[tuple[dict, pl.DataFrame]], verdicts: list[dict[str, str]]) -> None:
    found = {}
    for about, frame in cells:
        near = -np.asarray(get_metric(about["metric"]).orient(frame["value"].to_numpy()))
        found[about["metric"]] = [spearmanr(near, frame["rating"].to_numpy()).statistic]
    _same(found, "spearman", verdicts)


def _same(found: dict[str, list[float]], measure: str, verdicts: list[dict[str, str]]) -> None:
    shown = {line["metric"]: float(line["value"]) for line in verdicts if line["measure"] == measure}
    assert shown.keys() == found.keys()
    for metric, values in found.items():
        assert math.isclose(shown[metric], float(np.mean(values)), rel_tol=1e-9), metric
