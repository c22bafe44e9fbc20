"""Writes a page for every paper whose claims are in a ledger, what holds of all papers into docs/results.md, and the
page of Kour's table 3.

python -m benchmarks.ledgers RUNS/ledgers.json RUNS/kour2022-table3.json docs

A ledger is what `textgauge reproduce --format json` prints, of one paper or of all; several files may be given. A paper
that is in none of them keeps its page and what is said of it. The table is what `textgauge reproduce kour2022 --tables
--format json` prints.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from textgauge.core.show import Row
from textgauge_papers import PAPERS
from textgauge_papers.kour2022_tables import MIXED, SEVEN
from textgauge_papers.ledger import OUTCOMES, count_findings, summarise_findings

COLUMNS = ("claim", "paper", "ours", "interval", "why", "deviation", "data")
TABLE3 = "kour2022-table3"
_VARIANTS = ("definition", "paper", "conjecture")
_FAR, _MOST = 2.0, 999
_UNLIKE = ("CHI", "ZIPF")  # the metrics whose released form does not give the published numbers


def cell(value: object) -> str:
    """A cell of a Markdown table."""
    return "" if value is None else str(value).replace("|", "\\|")


def table(columns: tuple[str, ...], rows: list[Row]) -> str:
    """Rows as a Markdown table."""
    lines = [columns, ["---"] * len(columns), *([cell(row.get(name)) for name in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_PAPER = "These are findings of the paper, checked by running its experiments again with textgauge"
_ABOUT = {"beyond": "These are questions that the papers leave open"}


def paper_page(name: str, rows: list[Row], seconds: float | None) -> str:
    """The ledger of one paper: what holds, one row a finding; then how ours differ, the claims, and their criteria."""
    short = summarise_findings(rows)
    parts = [f"# {name}\n\n{describe_outcomes(short)}\n\n{count_findings(rows)}."]
    parts[0] += f" The run took {seconds / 60:.1f} minutes of processor time." if seconds else ""
    parts += [f"\n{_ABOUT.get(name, _PAPER)}; [results](../results.md) explains the words.\n"]
    parts += [table(("finding", "outcome", "claims", "seen"), short), *list_deviations(rows)]
    for outcome in OUTCOMES:
        own = [row for row in rows if row["outcome"] == outcome]
        parts += [f"\n## Claims: {outcome}\n", section(own)] if own else []
    parts += ["\n## Criteria\n", *(f"- {rule}" for rule in dict.fromkeys(row["criterion"] for row in rows))]
    return "\n".join(parts) + "\n"


def list_deviations(rows: list[Row]) -> list[str]:
    """How data, models and sizes differ from the paper's, each once, with the number of claims that it is about."""
    parts = Counter(part for row in rows for part in (row["deviation"] or "").split("; ") if part)
    lines = [f"- {part} ({count} of {len(rows)} claims)" for part, count in parts.items()]
    return ["\nWhere ours differ from the paper's:\n", *lines] if lines else []


def describe_outcomes(short: list[Row]) -> str:
    """Return which findings hold, which hold in one way alone, and which do not, in sentences."""
    of: dict[str, list[str]] = {}
    for row in short:
        of.setdefault(row["outcome"], []).append(row["finding"])
    only = [f"{name} ({kind})" for kind, names in of.items() if kind.startswith("holds only") for name in names]
    said = [f"Holds: {'; '.join(of.get('holds', ['nothing']))}."]
    said += [f"In one way alone: {'; '.join(only)}."] if only else []
    said += [f"Does not hold: {'; '.join(of['does not hold'])}."] if "does not hold" in of else []
    return " ".join(said)


def section(rows: list[Row]) -> str:
    """A table of claims; what is the same in all rows is said once, above it."""
    same = {name: rows[0][name] for name in COLUMNS if len(rows) > 1 and len({row[name] for row in rows}) == 1}
    said = [f"All: {name} {value}.\n" for name, value in same.items() if value is not None]
    return "\n".join([*said, table(tuple(name for name in COLUMNS if name not in same), rows)])


def overview(pages: Path) -> str:
    """What the pages say first: counts and time in one table, then what holds of each paper."""
    rows, parts = [], []
    for name in PAPERS:
        path = pages / f"{name}.md"
        if not path.is_file():
            rows.append({"paper": name, "findings": "not run", "took": None})
            continue
        _, _, said, _, short, *_ = path.read_text(encoding="utf-8").strip().split("\n\n")
        counted, _, took = said.removesuffix(".").partition(". The run took ")
        link = f"[{name}](results/{name}.md)"
        rows.append({"paper": link, "findings": counted, "took": took or None})
        parts.append(f"## {name}\n\n{short}")
    return "\n\n".join([table(("paper", "findings", "took"), rows), *parts])


def table3_page(rows: list[Row]) -> str:
    """Kour's table 3: mean absolute differences first, then every number beside the published one."""
    known = [row for row in rows if row["ours"] is not None and row["measure"] in SEVEN]
    mixed = [row for row in known if row["measure"] in MIXED]
    sources = list(dict.fromkeys(f"{row['source_a']}, {row['source_b']}" for row in known))
    near = [
        (place, np.mean([abs(row["difference"]) for row in mixed if _is_core(row, place, "paper")]))
        for place in sources
    ]
    first = " and ".join(f"{value:.3f} on {place}" for place, value in near)
    core = {row["metric"] for row in mixed if row["variant"] == "paper"} - set(_UNLIKE)
    done = sorted({row["repetitions"] for row in mixed})
    reasons = Counter(part for row in known for part in (row.get("reason") or "").split("; ") if part)
    count = f"{done[0]} to {done[-1]}" if len(done) > 1 else f"{done[0]}"
    parts = [
        "# Table 3 of kour2022\n\n"
        f"With the authors' variants, {len(core)} of the eight metrics come within {first} of "
        f"the published values: mean absolute difference of five measures of mixtures, {count} repetitions, CHI and "
        "ZIPF apart.\n\nPublished numbers are of 5 repetitions; `error` is their standard error by the spread of ours, "
        "and `z` the difference in standard errors, ours included (∞: no spread at all). T is left out: it is about a "
        "machine. What is known of differences:\n",
        *(f"- {reason} ({number} of {len(known)} numbers)" for reason, number in reasons.items()),
    ]
    for by, some, title in (("metric", mixed, "five measures of mixtures"), ("measure", known, "all metrics")):
        found = [_format(row) for row in average_differences(some, by)]
        found += [
            _format(row) | {by: "all but CHI and ZIPF"}
            for row in average_differences(some, by, skip=_UNLIKE)
            if row[by] == "all"
        ]
        parts += [f"\n## Mean absolute difference by {by} ({title})\n", table(("sources", by, *_VARIANTS), found)]
    parts += ["\n## What stays unexplained: more than two standard errors off\n", _list_unexplained(known)]
    cells: dict[tuple[object, ...], Row] = {}
    for row in known:
        key = tuple(row[name] for name in ("source_a", "source_b", "k", "metric", "measure"))
        place = f"{row['source_a']}, {row['source_b']}"
        one = cells.setdefault(key, {"sources": place, **dict(zip(("k", "metric", "measure"), key[2:], strict=True))})
        short = {"definition": "defined", "paper": "coded", "conjecture": "conjectured"}[row["variant"]]
        one |= {"published": f"{row['published']:.3f}", short: f"{row['ours']:.3f}"}
        one |= {f"z {short}": _show_z(row)}
        if row["variant"] == "paper" and row.get("error") is not None:
            one |= {"error": f"{row['error']:.3f}"}
    columns = ("sources", "k", "metric", "measure", "published", "error")
    shown = ("defined", "z defined", "coded", "z coded", "conjectured", "z conjectured")
    parts += ["\n## Every number\n", table((*columns, *shown), list(cells.values()))]
    return "\n".join(parts) + "\n"


def average_differences(rows: list[Row], by: str, *, skip: tuple[str, ...] = ()) -> list[Row]:
    """Return the mean absolute difference from the published numbers by metric or measure: of metrics over mixtures.

    One row for each pair of sources, with a column for each variant; `skip` are metrics that are left out.
    """
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        if row["metric"] in skip:
            continue
        sources = f"{row['source_a']}, {row['source_b']}"
        for name in (row[by], "all"):
            if by == "measure" or row["measure"] in MIXED:
                found.setdefault((sources, name), {}).setdefault(row["variant"], []).append(abs(row["difference"]))
    return [
        {"sources": sources, by: name, **{variant: float(np.mean(values)) for variant, values in of.items()}}
        for (sources, name), of in found.items()
    ]


def _list_unexplained(rows: list[Row]) -> str:
    """Return how many numbers of each metric are far off, and by how much, as a Markdown table."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["variant"] != "definition":
            groups.setdefault((f"{row['source_a']}, {row['source_b']}", row["metric"], row["variant"]), []).append(row)
    found = []
    for (place, metric, variant), own in groups.items():
        far = [row for row in own if _is_far(row)]
        if far:
            size = f"{np.mean([row['difference'] for row in far]):+.3f}"
            count = f"{len(far)} of {len(own)}"
            found.append(
                {"sources": place, "metric": metric, "variant": variant, "far": count, "mean difference": size}
            )
    return table(("sources", "metric", "variant", "far", "mean difference"), found)


def _is_far(row: Row) -> bool:
    z = row.get("z")
    return bool(row["difference"]) if z is None else abs(z) > _FAR


def _show_z(row: Row) -> str:
    """Return the difference in standard errors; where ours do not vary, it is 0 or without bound."""
    z = row.get("z")
    if z is None or abs(z) > _MOST:
        return "0" if not row["difference"] else "−∞" if row["difference"] < 0 else "+∞"
    return f"{z:+.1f}"


def _is_core(row: Row, place: str, variant: str) -> bool:
    same = f"{row['source_a']}, {row['source_b']}" == place and row["variant"] == variant
    return same and row["metric"] not in _UNLIKE


def _format(row: Row) -> Row:
    return {name: f"{value:.3f}" if isinstance(value, float) else value for name, value in row.items()}


def marked(page: str, name: str, table: str) -> str:
    """The page with this table between its marks.

    >>> marked("a <!-- t -->old<!-- /t --> b", "t", "new")
    'a <!-- t -->\\n\\nnew\\n\\n<!-- /t --> b'
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, rest = page.split(begin)
    return f"{before}{begin}\n\n{table}\n\n{end}{rest.split(end)[1]}"


def main(*ledgers: str, docs: str) -> None:
    """Write the pages, and put what they say first between the marks."""
    place, page = Path(docs) / "results", Path(docs) / "results.md"
    place.mkdir(exist_ok=True)
    found = [json.loads(Path(path).read_text(encoding="utf-8")) for path in ledgers]
    took = {name: seconds for one in found for name, seconds in one.get("details", {}).get("seconds", {}).items()}
    claims = [row for one in found for row in one["rows"] if "claim" in row]
    for name in PAPERS:
        if rows := [row for row in claims if row["source"] == name]:
            (place / f"{name}.md").write_text(paper_page(name, rows, took.get(name)), encoding="utf-8")
    page.write_text(marked(page.read_text(encoding="utf-8"), "ledgers", overview(place)), encoding="utf-8")
    for one in found:
        if rows := [row for row in one["rows"] if row.get("table") == "3" and "z" in row]:
            (place / f"{TABLE3}.md").write_text(table3_page(rows), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:-1], docs=sys.argv[-1])
