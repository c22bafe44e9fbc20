"""Systems, human scores and metric scores in the layout of mt-metrics-eval, as WMT's metrics tasks publish them.

    sources/LP.txt                               one segment a line; LP is a pair of languages, as zh-en
    references/LP.NAME.txt
    system-outputs/LP/SYSTEM.txt
    human-scores/LP.NAME.seg.score               SYSTEM and score a line, segments in order, None where missing
    metric-scores/LP/METRIC-REFERENCE.seg.score

`FOLDER:LP` names one pair of languages, `FOLDER` the only one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from textgauge.core.errors import InputError, UnknownName
from textgauge.data.packing import read_text
from textgauge.data.tables import TextTable, format_column_names, parse_number

_OUTPUTS, _SCORES, _TEXT = "system-outputs", ".seg.score", ".txt"
_USUAL = "mqm"  # the human scores that are taken where there are several
_NO_REFERENCE = "src"  # what metrics without a reference have in its place


def is_metric_folder(spec: str) -> bool:
    """Whether this names a folder with systems, human scores and metric scores."""
    return os.path.isdir(os.path.join(_place(spec)[0], _OUTPUTS))


def load_metric_folder(
    spec: str, *, human: str | None = None, reference: str | None = None, scores: Sequence[str] = ()
) -> TextTable:
    """The rated segments of all systems: columns left, right, system, item, rating, and one for each of `scores`.

    `human` names the human scores (mqm, or the only ones), `reference` the reference (the first by name), `scores` are
    metrics whose scores the folder has. References are no systems; segments without a human score are left out.
    """
    folder, pair = _place(spec)
    root = Path(folder)
    pair = _one_of("pair of languages", pair, sorted(path.name for path in (root / _OUTPUTS).iterdir()), folder)
    references = _named(root / "references", f"{pair}.", _TEXT)
    people = _named(root / "human-scores", f"{pair}.", _SCORES)
    if not references or not people:
        raise InputError(f"{folder}: there are no references, or no human scores of segments, of {pair}")
    usual = [name for name in people if name == _USUAL] or list(people)
    chosen = reference or next(iter(references))
    right = _lines(references[_one_of("reference", chosen, list(references), folder)])
    ratings = _read_scores(people[_one_of("human scores", human, list(people) if human else usual, folder)], len(right))
    outputs = _named(root / _OUTPUTS / pair, "", _TEXT)
    systems = [name for name in outputs if name in ratings and name not in references]
    if not systems:
        raise InputError(f"{folder}: no system of {pair} has human scores")
    metrics = {name: _metric_scores(root / "metric-scores" / pair, name, chosen, len(right)) for name in scores}
    return _table(spec, {name: _lines(outputs[name], len(right)) for name in systems}, right, ratings, metrics)


def _table(
    spec: str,
    outputs: Mapping[str, Sequence[str]],
    right: Sequence[str],
    ratings: Mapping[str, Sequence[float | None]],
    metrics: Mapping[str, Mapping[str, Sequence[float | None]]],
) -> TextTable:
    rows = [(name, item) for name in outputs for item, cell in enumerate(ratings[name]) if cell is not None]
    nothing = [None] * len(right)
    columns: dict[str, list[object]] = {
        "left": [outputs[name][item] for name, item in rows],
        "right": [right[item] for _, item in rows],
        "system": [name for name, _ in rows],
        "item": [item for _, item in rows],
        "rating": [ratings[name][item] for name, item in rows],
    }
    columns |= {metric: [found.get(name, nothing)[item] for name, item in rows] for metric, found in metrics.items()}
    return TextTable(spec, columns, range(1, len(rows) + 1), "row")


def _place(spec: str) -> tuple[str, str | None]:
    folder, colon, pair = spec.rpartition(":")
    return (folder, pair) if colon and not os.path.isdir(spec) else (spec, None)


def _one_of(what: str, name: str | None, known: Sequence[str], folder: str) -> str:
    if name is None and len(known) == 1:
        return known[0]
    if name is None:
        raise InputError(f"{folder} has several: name the {what}, one of {format_column_names(known)}")
    if name not in known:
        raise UnknownName.among(what, name, known)
    return name


def _named(folder: Path, start: str, end: str) -> dict[str, Path]:
    """Files by the part of their names between start and end."""
    files: Iterable[Path] = sorted(folder.iterdir()) if folder.is_dir() else ()
    return {
        path.name[len(start) : -len(end)]: path
        for path in files
        if path.name.startswith(start) and path.name.endswith(end)
    }


def _lines(path: Path, count: int | None = None) -> list[str]:
    lines = read_text(path).removesuffix("\n").split("\n")
    if count is not None and len(lines) != count:
        raise InputError(f"{path}: {len(lines)} lines, but the reference has {count}")
    return lines


def _read_scores(path: Path, count: int) -> dict[str, list[float | None]]:
    """The scores of every segment, by system."""
    found: dict[str, list[float | None]] = {}
    for place, line in enumerate(_lines(path), start=1):
        system, _, cell = line.strip().replace("\t", " ").rpartition(" ")
        value = None if cell == "None" else parse_number(cell)
        if not system or (value is None and cell != "None"):
            raise InputError(f"{path}: line {place} is no system and score")
        found.setdefault(system.strip(), []).append(value)
    wrong = next((name for name, cells in found.items() if len(cells) != count), None)
    if wrong is not None:
        raise InputError(f"{path}: {wrong} has {len(found[wrong])} scores for {count} segments")
    return found


def _metric_scores(folder: Path, name: str, reference: str, count: int) -> dict[str, list[float | None]]:
    """The scores of a metric, named with or without its reference."""
    known = _named(folder, "", _SCORES)
    wanted = (name, f"{name}-{reference}", f"{name}-{_NO_REFERENCE}")
    file = next((known[one] for one in wanted if one in known), None)
    if file is None:
        raise UnknownName.among("metric with scores", name, list(known) or ["(none)"])
    return _read_scores(file, count)
