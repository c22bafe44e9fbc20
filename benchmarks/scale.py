"""Corpora of a million texts: CPU seconds and memory of whole jobs, each in a process of its own.

    python -m benchmarks.scale texts|arrays|pairs [N]
    python -m benchmarks.scale growth [sums|blocks|fitted|search|peer ...]
    python -m benchmarks.scale table

`texts` writes two files of N short synthetic texts (1,000,000) and compares them by energy@wordllama, fid@wordllama and
jsd with nothing cached; `arrays` two memory-mapped .npy files of N × 384 by fid, energy, medoid and ttest; `pairs` two
of N × 384 (100,000) by pr, dc, irpr, ahd and mmd, with the matrix products alone. `growth` measures every corpus
metric by itself from 100 texts up to 1,000,000 (of pairs 20,000, of fitted ones 100,000), values alone: CPU seconds
without imports and the most memory. It adds a line to growth.jsonl for each that has none; with TEXTGAUGE_PEERS, the
Python of an environment with prdc, mauve-text, hyppo and semhash, for these too, up to 10,000, with a minute and 6 GB
each. `table` puts the tables of these lines between their marks in docs/performance.md and draws
docs/images/growth.svg; `growth` does so at its end.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

WORDS = 20_000
DIMENSION = 384
JOBS = {
    "texts": (1_000_000, "energy@wordllama,fid@wordllama,jsd"),
    "arrays": (1_000_000, "fid,energy,medoid,ttest"),
    "pairs": (100_000, "pr,dc,irpr,ahd,mmd"),
}


def write_texts(path: Path, n: int, seed: int) -> None:
    """Short texts of words by Zipf's law; the corpora differ a little in how often they use them."""
    rng = np.random.default_rng(seed)
    letters = np.random.default_rng(0)
    lengths = letters.integers(3, 9, WORDS)
    words = np.array(["".join(letters.choice(list("etaoinshrdlu"), length)) for length in lengths], dtype=object)
    weights = 1.0 / np.arange(1, WORDS + 1) ** (1.0 + 0.02 * seed)
    with path.open("w") as file:
        for start in range(0, n, 50_000):
            sizes = rng.integers(5, 13, min(50_000, n - start))
            drawn = words[rng.choice(WORDS, sizes.sum(), p=weights / weights.sum())]
            ends = np.cumsum(sizes)
            file.writelines(" ".join(drawn[a:b]) + "\n" for a, b in zip(ends - sizes, ends, strict=True))


def write_copies(path: Path, n: int, seed: int) -> None:
    """Texts of which every second is the one before with another last word: near duplicates where they are long."""
    write_texts(path, n, seed)
    lines = path.read_text().splitlines()
    lines[1::2] = [f"{line.rpartition(' ')[0]} zzz{place}" for place, line in enumerate(lines[: n - 1 : 2])]
    path.write_text("\n".join(lines) + "\n")


def write_rows(path: Path, n: int, seed: int) -> None:
    """Rows about a common mean, of fewer directions than dimensions, as sentence embeddings are."""
    mix = np.random.default_rng(0).normal(size=(64, DIMENSION)) / 8
    rng = np.random.default_rng(seed)
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, DIMENSION))
    for start in range(0, n, 50_000):
        size = min(50_000, n - start)
        rows[start : start + size] = 0.1 + 0.01 * seed + rng.normal(size=(size, 64)) @ mix
        rows[start : start + size] += 0.2 * rng.normal(size=(size, DIMENSION))
    rows.flush()


def run(arguments: list[str], cache: str) -> tuple[list[dict[str, object]], float, float]:
    """Run textgauge in a child: its result, CPU seconds, and the most memory it had, in gigabytes."""
    command = [sys.executable, "-m", "textgauge", *arguments, "--format", "json"]
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, env=os.environ | {"TEXTGAUGE_CACHE": cache}, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{' '.join(command)} ended with {child.returncode}")
        out.seek(0)
        return json.load(out)["rows"], usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6


def products(first: Path, second: Path) -> tuple[float, float]:
    """CPU seconds of matrix products alone: float32, in blocks of the same size.

    First those that the job makes: across the corpora, and one half within each. Then those of a job that makes them
    across the corpora once more, for cosines.
    """
    A, B = (np.array(np.load(path, mmap_mode="r")) for path in (first, second))
    across, within = _multiplied(A, B), _multiplied(A, A) + _multiplied(B, B)
    return across + within, 2 * across + within


def _multiplied(left: np.ndarray, right: np.ndarray) -> float:
    space = np.empty((512, 1_024), dtype=np.float32)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    for at in range(0, len(right), 1_024):
        columns = np.ascontiguousarray(right[at : at + 1_024].T)
        for start in range(0, min(at + 1_024, len(left)) if left is right else len(left), 512):
            rows = left[start : start + 512]
            np.matmul(rows, columns, out=space[: len(rows), : columns.shape[1]])
    later = resource.getrusage(resource.RUSAGE_SELF)
    return later.ru_utime + later.ru_stime - usage.ru_utime - usage.ru_stime


KEPT = Path(__file__).with_name("growth.jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
KINDS = {"texts": (".txt", write_texts), "copies": (".copies.txt", write_copies), "rows": (".npy", write_rows)}
STEPS = (100, 1_000, 10_000, 20_000, 100_000, 1_000_000)
MOST = {"sums": 1_000_000, "blocks": 20_000, "fitted": 100_000, "search": 100_000, "peer": 10_000}
PEERS = {"prdc": "pr", "mauve-text": "mauve", "hyppo": "mmd", "semhash": "near duplicates"}  # what they stand next to
IMPORTED = (
    "polars",
    "sklearn.ensemble",
    "sklearn.svm",
    "sklearn.linear_model",
    "scipy.linalg",
    "scipy.sparse",
    "tokenizers",
)
NOTICEABLE = 0.25  # CPU seconds above those of 100 texts; less is not fitted

Line = dict[str, Any]  # name, path, n; seconds, gb and what was found, or why it ended


def growth(paths: list[str]) -> None:
    """Measure every corpus metric and every peer by itself; what has a line is not measured again."""
    from textgauge.metrics import list_metrics

    for module in IMPORTED:  # children have them; nothing is run here, whose threads a child would lack
        importlib.import_module(module)
    jobs: dict[str, tuple[str, str, Callable[[list[Path]], Line]]] = {
        metric.name: (metric.grows, "texts" if metric.reads_texts else "rows", partial(_metric, metric.key))
        for metric in list_metrics(kind="corpus")
    }
    jobs["near duplicates"] = "search", "copies", _duplicates
    if python := os.environ.get("TEXTGAUGE_PEERS"):
        for name in PEERS:
            jobs[name] = "peer", "copies" if name == "semhash" else "rows", partial(_peer, python, name)
    with tempfile.TemporaryDirectory() as folder:
        for name, (path, kind, measure) in jobs.items():
            done = {line["n"]: line for line in kept() if line["name"] == name}
            steps = [n for n in STEPS if n <= MOST[path] and (n != 20_000 or path == "blocks")]
            for n in steps if not paths or path in paths else ():
                if n not in done and not any("ended" in line for line in done.values()):
                    done[n] = {"name": name, "path": path, "n": n} | measure(_pair(Path(folder), n, kind))
                    with KEPT.open("a") as lines:
                        print(json.dumps(done[n]), file=lines)


def kept() -> list[Line]:
    """What was measured."""
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def forked(work: Callable[[], dict[str, Any]]) -> Line:
    """CPU seconds, most gigabytes and result of some work in a child that has this process's imports."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writing, json.dumps(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        answer = answers.read()
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"a child ended with {os.waitstatus_to_exitcode(status)}")
    return _line(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6, json.loads(answer))


def _line(seconds: float, gigabytes: float, found: dict[str, Any]) -> Line:
    return {"seconds": round(seconds, 3), "gb": round(gigabytes, 3), "found": found}


def _metric(key: str, paths: list[Path]) -> Line:
    def work() -> dict[str, Any]:
        from textgauge import compare

        (score,) = compare(str(paths[0]), str(paths[1]), metrics=key, test=False)
        return {"value": score.value} | score.parts

    return forked(work)


def _duplicates(paths: list[Path]) -> Line:
    def work() -> dict[str, Any]:
        from textgauge import describe

        found = describe(str(paths[0]), embedder=None, grammar=None, plausibility=None, ci=False)
        return {"value": found["near_duplicates"].value}

    return forked(work)


def _peer(python: str, name: str, paths: list[Path]) -> Line:
    command = [python, "-m", "benchmarks.scale_peers", name, *map(str, paths[: 1 if name == "semhash" else 2])]
    with tempfile.TemporaryFile() as out, open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen(command, stdout=out, stderr=nowhere)
        ended = child.wait()
        out.seek(0)
        lines = out.read().decode().splitlines()
    if ended:
        return {"ended": "over 60 s" if ended == -signal.SIGXCPU else "over 6 GB"}
    found = json.loads(lines[-1])
    return _line(found.pop("seconds"), found.pop("gb"), found)


def exponent(seconds: dict[int, float]) -> float | None:
    """The slope of log time over log size between the two largest sizes, above the time of 100 texts.

    None where the smaller of the two takes too little to be told: fixed costs would pass for slow growth.
    """
    (small, less), (large, more) = sorted((n, took - seconds[100]) for n, took in seconds.items())[-2:]
    return float(np.log(more / less) / np.log(large / small)) if less > NOTICEABLE else None


def tables(lines: list[Line]) -> dict[str, str]:
    """How each metric grows, and the peers next to textgauge, as Markdown, by the names of their marks."""
    rows: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        rows.setdefault((line["path"], line["name"]), []).append(line)
    order = sorted(rows, key=lambda row: (list(MOST).index(row[0]), row[1]))
    heads = "metric", "path", *(f"{n:,}" for n in STEPS), "exponent", "GB"
    grown = [_growth_cells(path, name, rows[path, name]) for path, name in order if path != "peer"]
    compared = [cells for path, name in order if path == "peer" for cells in _peer_cells(name, rows[path, name], lines)]
    next_to = "peer", "texts", "CPU s", "GB", "value", "next to", "CPU s", "GB", "value"
    return {"growth": _markdown(heads, grown), "peers": _markdown(next_to, compared)}


def write_page() -> None:
    """Put the tables into the page, and draw the picture."""
    from benchmarks.ledgers import marked  # here: what it imports is no part of a metric's memory

    text = PAGE.read_text(encoding="utf-8")
    for name, table in tables(kept()).items():
        text = marked(text, name, table)
    PAGE.write_text(text, encoding="utf-8")
    draw(kept(), PAGE.parent / "images" / "growth.svg")


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows))


def _growth_cells(path: str, name: str, lines: list[Line]) -> list[str]:
    seconds = {line["n"]: line["seconds"] for line in lines}
    slope = exponent(seconds) if len(seconds) > 1 else None
    cells = [f"{seconds[n]:.1f}" if n in seconds else "" for n in STEPS]
    return [name, path, *cells, "–" if slope is None else f"{slope:.2f}", f"{max(line['gb'] for line in lines):.2f}"]


def _peer_cells(name: str, lines: list[Line], all_lines: list[Line]) -> Iterator[list[str]]:
    version = next(line["found"]["version"] for line in lines if "found" in line)
    for line in lines:
        (ours,) = (one for one in all_lines if (one["name"], one["n"]) == (PEERS[name], line["n"]))
        theirs = ["", "", line["ended"]] if "ended" in line else _measured(line)
        if line["n"] > STEPS[0]:
            yield [f"{name} {version}", f"{line['n']:,}", *theirs, PEERS[name], *_measured(ours)]


def _measured(line: Line) -> list[str]:
    return [f"{line['seconds']:.1f}", f"{line['gb']:.2f}", f"{line['found']['value']:.4g}"]


def draw(lines: list[Line], picture: Path) -> None:
    """CPU seconds over texts of each corpus, both logarithmic, a panel for each path."""
    import altair as alt

    panels = []
    for path in MOST:
        rows = [
            {"texts": line["n"], "seconds": line["seconds"], "metric": line["name"]}
            for line in lines
            if line["path"] == path and "ended" not in line
        ]
        texts = alt.X("texts:Q", title="texts of each corpus", axis=alt.Axis(format="~s", values=list(STEPS)))
        marks = alt.Chart(alt.Data(values=rows), title=path, width=230, height=300).mark_line(point=True)
        panels.append(
            marks.encode(
                x=texts.scale(type="log", domain=[STEPS[0], STEPS[-1]]),
                y=alt.Y("seconds:Q", title="CPU seconds").scale(type="log", domain=[0.02, 100]),
                color=alt.Color("metric:N", title=None, legend=alt.Legend(orient="bottom", columns=3)),
            )
        )
    alt.hconcat(*panels).resolve_scale(color="independent").save(str(picture))


def _pair(folder: Path, n: int, kind: str) -> list[Path]:
    ending, write = KINDS[kind]
    paths = [folder / f"{role}-{n}{ending}" for role in ("reference", "candidate")]
    for seed, path in enumerate(paths):
        if not path.exists():
            write(path, n, seed)
    return paths


def main(job: str, n: int) -> None:
    """Make the data, run the job, print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        ending, write = (".txt", write_texts) if job == "texts" else (".npy", write_rows)
        paths = [Path(folder) / f"{role}{ending}" for role in ("reference", "candidate")]
        for seed, path in enumerate(paths):
            write(path, n, seed)
        if job == "texts":
            run(["compare", "sample:banking", "sample:travel", "-m", JOBS[job][1]], folder)  # fetches the models
        options = ["--no-test"] if job == "pairs" else []  # what is tested of fewer texts has other costs
        found, seconds, gigabytes = run(["compare", *map(str, paths), "-m", JOBS[job][1], *options], folder)
        for row in found:
            print(f"{row['metric']:>20} {row['value']:.6g}")
        print(f"{job}, {n:,} + {n:,}: {seconds:.1f} CPU s, {gigabytes:.2f} GB")
        if job == "pairs":
            made, needed = products(*paths)
            print(f"products that it makes: {made:.1f} CPU s, ratio {seconds / made:.2f}")
            print(f"products with those of cosines: {needed:.1f} CPU s, ratio {seconds / needed:.2f}")


if __name__ == "__main__":
    if sys.argv[1] in ("growth", "table"):
        if sys.argv[1] == "growth":
            growth(sys.argv[2:])
        write_page()
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else JOBS[sys.argv[1]][0])
