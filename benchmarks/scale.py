"""Corpora of a million texts: CPU seconds and memory of whole jobs, each in a process of its own.

    python -m benchmarks.scale texts|arrays|pairs [N]
    python -m benchmarks.scale growth [sums|blocks|fitted|search|peer ...]

`texts` writes two files of N short synthetic texts (1,000,000) and compares them by energy@wordllama, fid@wordllama and
jsd with nothing cached; `arrays` two memory-mapped .npy files of N × 384 by fid, energy, medoid and ttest; `pairs` two
of N × 384 (100,000) by pr, dc, irpr, ahd and mmd, with the matrix products alone. `growth` measures every corpus
metric by itself from 100 texts up to 1,000,000 (of pairs 20,000, of fitted ones 100,000), values alone: CPU seconds
without imports, the exponent by which they grow, the most memory. It keeps what it found in growth.json, and draws
docs/images/growth.svg. With TEXTGAUGE_PEERS, the Python of an environment with prdc, mauve-text, hyppo and semhash,
these are measured on the same data, with a minute and 6 GB each.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
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

    First those that the job makes: across the corpora for Euclidean distances and for cosines, one half within each.
    Then those that nearest texts, balls and kernel need where each has its own: balls and kernel share the first ones.
    """
    A, B = (np.array(np.load(path, mmap_mode="r")) for path in (first, second))
    across, within = _multiplied(A, B), _multiplied(A, A) + _multiplied(B, B)
    return 2 * across + within, 3 * across + 2 * within


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


KINDS = {"texts": (".txt", write_texts), "copies": (".copies.txt", write_copies), "rows": (".npy", write_rows)}
STEPS = (100, 1_000, 10_000, 20_000, 100_000, 1_000_000)
MOST = {"sums": 1_000_000, "blocks": 20_000, "fitted": 100_000}  # of a metric of each path
PEERS = {"prdc": "pr", "hyppo": "mmd", "mauve-text": "mauve", "semhash": ""}  # and the metric they are compared with
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


def growth(found_at: Path, picture: Path, paths: list[str]) -> None:
    """Measure every corpus metric and every peer by itself; what the file has is not measured again."""
    from textgauge.metrics import list_metrics

    for module in IMPORTED:  # children have them; nothing is run here, whose threads a child would lack
        importlib.import_module(module)
    python = os.environ.get("TEXTGAUGE_PEERS")  # the Python of an environment that has the peers
    with tempfile.TemporaryDirectory() as folder:
        peers = {f"{name} (peer)": partial(_peer, python, name) for name in PEERS} if python else {}
        ours = {
            m.name: m
            for m in sorted(list_metrics(kind="corpus"), key=lambda m: ("sums blocks fitted".find(m.grows), m.name))
        }
        jobs = {
            name: (m.grows, "texts" if m.reads_texts else "rows", partial(_metric, m.key)) for name, m in ours.items()
        }
        jobs |= {"near duplicates": ("search", "copies", _duplicates)}
        jobs |= {
            name: ("peer", "copies" if name.startswith("semhash") else "rows", measure)
            for name, measure in peers.items()
        }
        for name, (path, kind, measure) in jobs.items():
            row = _kept(found_at).get(name, {"path": path, "sizes": {}})
            steps = [n for n in STEPS if n <= MOST.get(path, 100_000) and (n != 20_000 or path == "blocks")]
            for n in steps if not paths or path in paths else ():
                if str(n) in row["sizes"]:
                    continue
                took = measure(_pair(Path(folder), n, kind))
                if took is None:  # a peer that did not survive
                    break
                row["sizes"][str(n)] = took
                found_at.write_text(json.dumps(_kept(found_at) | {name: row}, indent=1))
            print(_line(name, row), flush=True)
    draw(_kept(found_at), picture)


def _kept(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}  # type: ignore[no-any-return]


def forked(work: Callable[[], dict[str, Any]]) -> tuple[float, float, dict[str, Any]]:
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
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6, json.loads(answer)


def _metric(key: str, paths: list[Path]) -> tuple[float, float, dict[str, Any]]:
    def work() -> dict[str, Any]:
        from textgauge import compare

        (score,) = compare(str(paths[0]), str(paths[1]), metrics=key, test=False)
        return {"value": score.value} | score.parts

    return forked(work)


def _duplicates(paths: list[Path]) -> tuple[float, float, dict[str, Any]]:
    def work() -> dict[str, Any]:
        from textgauge import describe

        found = describe(str(paths[0]), embedder=None, grammar=None, plausibility=None, ci=False)
        return {"near_duplicates": found["near_duplicates"].value}

    return forked(work)


def _peer(python: str, name: str, paths: list[Path]) -> tuple[float, float, dict[str, Any]] | None:
    command = [python, "-m", "benchmarks.scale_peers", name, *map(str, paths[: 1 if name == "semhash" else 2])]
    with tempfile.TemporaryFile() as out, open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen(command, stdout=out, stderr=nowhere)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        lines = out.read().decode().splitlines()
    if child.returncode:
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6, json.loads(lines[-1])


def exponent(sizes: dict[str, Any]) -> float | None:
    """The slope of log time over log size between the two largest sizes, above the time of 100 texts.

    None where the smaller of the two takes too little to be told: fixed costs would pass for slow growth.
    """
    (small, less), (large, more) = sorted((int(n), took[0] - sizes["100"][0]) for n, took in sizes.items())[-2:]
    return float(np.log(more / less) / np.log(large / small)) if less > NOTICEABLE else None


def _line(name: str, row: dict[str, Any]) -> str:
    cells = [f"{row['sizes'][str(n)][0]:.1f}" if str(n) in row["sizes"] else "" for n in STEPS]
    slope = exponent(row["sizes"]) if len(row["sizes"]) > 1 else None
    memory = max((took[1] for took in row["sizes"].values()), default=float("nan"))
    return (
        f"| {name} | {row['path']} | {' | '.join(cells)} | {'–' if slope is None else f'{slope:.2f}'} | {memory:.2f} |"
    )


def draw(found: dict[str, Any], picture: Path) -> None:
    """CPU seconds over texts of each corpus, both logarithmic, a panel for each path."""
    import altair as alt

    panels = []
    for path in dict.fromkeys(row["path"] for row in found.values()):
        rows = [
            {"texts": int(n), "seconds": took[0], "metric": name}
            for name, row in found.items()
            for n, took in row["sizes"].items()
            if row["path"] == path
        ]
        texts = alt.X("texts:Q", title="texts of each corpus", axis=alt.Axis(format="~s", values=list(STEPS)))
        marks = alt.Chart(alt.Data(values=rows), title=path, width=230, height=300).mark_line(point=True)
        panels.append(
            marks.encode(
                x=texts.scale(type="log", domain=[STEPS[0], STEPS[-1]]),
                y=alt.Y("seconds:Q", title="CPU seconds").scale(type="log", domain=[0.03, 100]),
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
            shared, apart = products(*paths)
            print(f"products that it makes: {shared:.1f} CPU s, ratio {seconds / shared:.2f}")
            print(f"products that each kind of metric needs by itself: {apart:.1f} CPU s, ratio {seconds / apart:.2f}")


if __name__ == "__main__":
    if sys.argv[1] == "growth":
        growth(Path("growth.json"), Path("docs/images/growth.svg"), sys.argv[2:])
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else JOBS[sys.argv[1]][0])
