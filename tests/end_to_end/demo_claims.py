"""What the steps of `make demo` should print, computed anew by plain code from the files they leave.

Lines are compared word by word, without the spaces that align tables and without times.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from textgauge import load
from textgauge.bench import Store
from textgauge.bench.leaderboard import rank_by_kind
from textgauge.bench.results import Results, list_verdict_warnings
from textgauge.core.show import join_words
from textgauge.data import Comparison, Corpus, load_texts
from textgauge.encode.resources import compute_sha256, get_resource
from textgauge.measure.comparing import compare
from textgauge.metrics.properties.base import list_properties

EXAMPLES = 5  # that a list of texts shows
WIDTH = 60  # characters of a text in a table

ARROWS = {"smaller": "↓", "larger": "↑"}


def words(text: str) -> list[str]:
    """The lines that say something, their words one space apart; rules of tables and progress left out."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line.strip("─ ") and not line.endswith(" …")]


def row(*cells: object) -> str:
    """A line of a table; four digits of a number, a dash for nothing."""
    told = ["–" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells]
    return " ".join(" ".join(told).split())


def resources(names: list[str], printed: list[str]) -> list[str]:
    """The folders that are named, each with the files of its resource, as their digests say."""
    folders = [Path(line.partition(" ")[2]) for line in printed]
    for name, folder in zip(names, folders, strict=True):
        for pattern, digest in get_resource(name).files.items():
            found = list(folder.glob(pattern))
            assert found
            assert "*" in pattern or compute_sha256(found[0]) == digest
    return [f"{name} {folder}" for name, folder in zip(names, folders, strict=True)]


def run(folder: Path, there: int) -> list[str]:
    """Cells that the manifests ask for, all of them files that can be read."""
    manifests = [json.loads(path.read_text("utf-8")) for path in (folder / "manifests").glob("*.json")]
    asked = {cell["name"] for manifest in manifests for cell in manifest["cells"]}
    kept = {path.stem for path in (folder / "cells").rglob("*.parquet") if len(pl.read_parquet(path))}
    assert kept == asked
    results = Results(Store.open(folder))
    judged = results.judged()
    told = [
        line
        for title, board in rank_by_kind(judged).items()
        for line in words(f"{title}: {board}" if title else str(board))
    ]
    told += [f"next: textgauge leaderboard {folder} --detail", f"textgauge report {folder} -o report.html"]
    told += [f"{len(asked)} results: {there} were there, {len(kept) - there} computed, kept in {folder}"]
    return [*told, *(f"warning: {text}" for text in list_verdict_warnings(results, judged))]


def generated(folder: Path) -> list[str]:
    """The texts of the file, counted."""
    return [f"wrote {len(pl.read_csv(folder / 'eda.csv'))} texts to {folder / 'eda.csv'}"]


def describe(folder: Path) -> list[str]:
    """The kept rows as a table, then the test texts that nothing comes near, then texts that repeat."""
    kept = load(folder / "describe.json").to_dicts()
    made = len(pl.read_csv(folder / "eda.csv"))
    copies = next(item for item in kept if item["property"] == "near_copies")
    share, usual = f"{100 * copies['value']:.3g}", f"{100 * copies['test']:.3g}"
    answer = f"{copies['value'] * made:.0f} of {made} texts are near copies of train texts ({share} %; test {usual} %)."
    assert load(folder / "describe.json").answer.startswith(answer)
    table = [
        load(folder / "describe.json").answer,
        "property value interval test train what it is",
        *map(_property, kept),
    ]
    covered = next(item for item in kept if item["property"] == "covered")
    return [*table, *_missing(kept), *_uncovered(folder, covered["value"], covered["train"]), *_modes(folder)]


def _property(kept: dict) -> str:
    interval = "" if kept["low"] is None else f"{kept['low']:.4g} … {kept['high']:.4g}"
    about = next(known.about for known in list_properties(alone=False) if known.name == kept["property"])
    return row(kept["property"], kept["value"], interval, kept["test"], kept["train"], about)


def _missing(kept: list[dict]) -> list[str]:
    """Which values are missing, by corpus and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for item in kept:
        for corpus, value in (("generated", "value"), ("test", "test"), ("train", "train")):
            if item[value] is None:
                reason = item["reason" if value == "value" else f"{value}_reason"]
                found.setdefault((corpus, reason), []).append(item["property"])
    return [f"note: no value for {corpus}: {join_words(names)} ({reason})" for (corpus, reason), names in found.items()]


def _uncovered(folder: Path, covered: float, covered_by_train: float) -> list[str]:
    """Test texts less near to a generated one than train is to 95 % of them, by cosines of embeddings."""
    made, test, train = (pl.read_csv(folder / name)["text"].to_list() for name in ("eda.csv", "test.csv", "train.csv"))
    near, nearest_train = (_cosines(test, others) for others in (made, train))
    reach = np.quantile(nearest_train.max(axis=1), 0.05)
    best = near.max(axis=1)
    found = [place for place in np.argsort(best, kind="stable") if best[place] < reach]
    assert math.isclose(covered, 1 - len(found) / len(test))
    assert math.isclose(covered_by_train, (nearest_train.max(axis=1) >= reach).mean())
    shown = [
        row("generated", place, _short(test[place]), float(best[place]), _short(made[int(near[place].argmax())]))
        for place in found[:EXAMPLES]
    ]
    more = f", the first {EXAMPLES}" if len(found) > EXAMPLES else ""
    title = [f"Uncovered test texts ({len(found)}{more}):", "corpus index test semantic nearest"]
    return [*title, *shown] if found else []


def _modes(folder: Path) -> list[str]:
    """Groups of alike texts; the demo has one, and more could not be told apart by their sizes."""
    texts = pl.read_csv(folder / "eda-texts.csv")
    alike = texts.filter(pl.col("mode_size") > 1)
    if not len(alike):
        return []
    size = alike["mode_size"][0]
    assert len(alike) == size, "several groups: check them by their texts"
    different = sorted(set(alike["text"]))
    example = _short(different[0])
    title = ["Groups of equal or nearly equal texts (1):", "corpus texts share different example"]
    return [*title, row("generated", size, size / len(texts), len(different), example)]


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _cosines(texts: list[str], others: list[str]) -> np.ndarray:
    return _unit(texts) @ _unit(others).T


def _unit(texts: list[str]) -> np.ndarray:
    rows = np.asarray(Corpus.of(texts).embeddings("minilm"), dtype=np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def compared(command: list[str]) -> list[str]:
    """The table without times, and the warning of few texts in many dimensions.

    Values of energy, fid, pr and jsd by their definitions; the rest by a second call, from Python.
    """
    pair, metrics = _compared(command)
    again = {
        score["metric"]: score
        for score in compare(
            reference=pair.reference.texts, candidate=pair.candidate.texts, metrics=metrics, ci=True
        ).to_dicts()
    }
    plain = {"energy": _energy(pair), "fid": _fid(pair), "pr": _pr(pair), "jsd": _jsd(pair)}
    for metric, value in plain.items():
        assert math.isclose(again[metric]["value"], value, rel_tol=1e-5)
    rejecting = sum(score["p_adjusted"] <= 0.05 for score in again.values())
    how = "max-T and Holm"
    answer = f'Different: {rejecting} of {len(metrics)} metrics reject "same source" (5 % level, adjusted by {how}).'
    lines = [answer, "metric value closer interval adjusted p if same source times what it is"]
    for metric in metrics:
        said = again[metric] | {"value": plain.get(metric, again[metric]["value"])}
        interval = "–" if said["low"] is None else row(said["low"], "…", said["high"])
        lines.append(row(metric, said["value"], ARROWS[said["closer"]], interval, *_tested(said), said["label"]))
    return [*lines, _biased(pair)]


def _tested(said: dict[str, Any]) -> list[str]:
    null, low, high, times, p = (
        "–" if said[name] is None else f"{said[name]:.3g}"
        for name in ("null", "null_low", "null_high", "times", "p_adjusted")
    )
    return [p, f"{null} ({low} … {high})", times]


def explained(folder: Path, command: list[str]) -> list[str]:
    """Values by their definitions, which the contributions of all texts add up to."""
    pair, metrics = _compared(command)
    again = compare(reference=pair.reference.texts, candidate=pair.candidate.texts, metrics=metrics).to_dicts()
    plain = {"energy": _energy(pair), "pr": _pr(pair)}
    path = folder / "explained.json"
    rows = [entry for entry in load(path) if entry["kind"] == "text"]
    assert list(dict.fromkeys(entry["metric"] for entry in rows)) == metrics
    for metric in metrics:
        total = math.fsum(entry["contribution"] for entry in rows if entry["metric"] == metric)
        assert math.isclose(total, plain[metric], rel_tol=1e-5)
    answer = 'Different: 2 of 2 metrics reject "same source" (5 % level, adjusted by max-T).'
    lines = [answer, "metric value closer adjusted p if same source times what it is"]
    for said in again:
        value, arrow = plain[said["metric"]], ARROWS[said["closer"]]
        lines.append(row(said["metric"], value, arrow, *_tested(said), said["label"]))
    return [*lines, f"explanations written to {path}"]


def _compared(command: list[str]) -> tuple[Comparison, list[str]]:
    limit = int(command[command.index("--limit") + 1])
    texts = (load_texts(name, limit=limit).texts for name in command[1:3])
    return Comparison(*texts), command[command.index("-m") + 1].split(",")


def _biased(pair: Comparison) -> str:
    texts, dimensions = min(map(len, (pair.reference, pair.candidate))), pair.reference.embeddings("minilm").shape[1]
    assert texts < 2 * dimensions
    told = "judge it by its null range only, or use fid(correct=extrapolate)"
    return f"warning: fid is strongly biased upwards with {texts} texts in {dimensions} dimensions: {told}"


def table_of(lines: list[str]) -> list[str]:
    """The lines of a comparison without typical words, next commands, and notes on missing intervals."""
    left_out = re.compile(r" ha(s|ve) no interval|^(next: )?textgauge (compare|report) ")
    return [line.partition(" Typical words of ")[0] for line in lines if not left_out.search(line)]


def without_next(lines: list[str]) -> list[str]:
    """The lines without next commands."""
    return [line for line in lines if not line.startswith("next: ")]


def _rows(pair: Comparison) -> list[np.ndarray]:
    return [np.asarray(side.embeddings("minilm"), dtype=np.float64) for side in (pair.reference, pair.candidate)]


def _energy(pair: Comparison) -> float:
    a, b = (_unit(list(side.texts)) for side in (pair.reference, pair.candidate))
    between, within = 1 - (a @ b.T).mean(), [1 - (side @ side.T).mean() for side in (a, b)]
    return float(2 * between - sum(within))


def _fid(pair: Comparison) -> float:
    from scipy.linalg import sqrtm

    a, b = _rows(pair)
    first, second = np.cov(a.T), np.cov(b.T)
    means = ((a.mean(axis=0) - b.mean(axis=0)) ** 2).sum()
    return float(means + np.trace(first + second - 2 * sqrtm(first @ second).real))


def _pr(pair: Comparison, k: int = 5) -> float:
    a, b = _rows(pair)
    precision, recall = _inside(b, a, k), _inside(a, b, k)
    return 1 - 2 * precision * recall / (precision + recall) if precision + recall else 1.0


def _inside(points: np.ndarray, centres: np.ndarray, k: int) -> float:
    from scipy.spatial.distance import cdist

    radii = np.sort(cdist(centres, centres), axis=1)[:, k]
    return float((cdist(points, centres) <= radii).any(axis=1).mean())


def _jsd(pair: Comparison) -> float:
    counts = [np.asarray(side.counts("wordpiece").sum(axis=0)).ravel() for side in (pair.reference, pair.candidate)]
    p, q = (count / count.sum() for count in counts)
    return _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2


def _entropy(shares: np.ndarray) -> float:
    known = shares[shares > 0]
    return float(-(known * np.log2(known)).sum())
