"""What attacks, faults, fuzzers and other settings showed: lines of JSON that their commands keep, as Markdown.

`benchmarks.attack`, `.faults`, `.clusters`, `.endpoints`, `.fuzz`, `.equality` and `.soak` keep a line for each target
in benchmarks/simulated; `python -m benchmarks.reliability` puts the tables into docs/stress-tests.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from benchmarks.simulated import file_of, read

KINDS = ("refused", "taken", "crash", "slow", "large", "wrong")  # how an attack may end
ENDS = ("right", "lost", "torn", "noisy")  # how a disturbed command may end

Line = dict[str, Any]


def keep(file: Path, line: Line, *keys: str) -> None:
    """Add a line to a file, in the place of one with the same keys; several processes may."""
    with file.open("a+") as stream:
        flock(stream, LOCK_EX)
        lines = {tuple(one[key] for key in keys): one for one in [*read(file), line]}
        stream.truncate(0)
        stream.writelines(json.dumps(one) + "\n" for one in lines.values())


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; whole numbers with commas."""
    shown = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(head), ["---"] * len(head), *shown])


def attacks() -> str:
    """Targets, bits first, readers, metrics, properties."""
    order = ("one bit", "reader", "pair", "corpus", "properties")
    lines = sorted(
        read(file_of("attack")), key=lambda line: [line["target"].startswith(first) for first in order], reverse=True
    )
    rows = [[line["target"], line["cases"], *(line[kind] for kind in KINDS)] for line in lines]
    return markdown(["target", "cases", *KINDS], rows)


def faults() -> str:
    """Commands with the number of kills and of other faults."""
    by_command: dict[str, list[Line]] = {}
    for line in read(file_of("faults")):
        by_command.setdefault(line["command"], []).append(line)
    rows: list[list[object]] = []
    for command, lines in by_command.items():
        kills = sum(line["cases"] for line in lines if line["fault"] == "kill -9")
        others = [line for line in lines if line["fault"] != "kill -9"]
        other = (
            f"{len(others)} kind{'s' * (len(others) > 1)}, {sum(line['cases'] for line in others)} cases"
            if others
            else "none"
        )
        rows.append([f"`{command}`", kills or "none", other, *(sum(line[end] for line in lines) for end in ENDS)])
    return markdown(["command", "kills", "other faults", *ENDS], rows)


def fuzzed() -> str:
    """Readers with the time and inputs that atheris had."""
    rows = [[line["target"], line["seconds"], line["inputs"]] for line in read(file_of("fuzz"))]
    return markdown(["reader", "seconds", "inputs"], rows)


def equalities() -> str:
    """Settings with the number of values that have the same bits."""
    names = {
        "setting": "setting",
        "values": "values",
        "same": "same bits",
        "rounding": "to 10⁻⁹",
        "different": "different",
    }
    rows = [[*map(line.get, names), ", ".join(line["in"]) or "none"] for line in read(file_of("equality"))]
    return markdown([*names.values(), "other bits in"], rows)


def clustered() -> str:
    """Clusters that were disturbed, with what came of it."""
    names = {"case": "what happens", "outcome": "what comes", "said": "the line"}
    rows = [[str(line.get(name, "")) or "–" for name in names] for line in read(file_of("clusters"))]
    place = re.compile(r"127\.0\.0\.1:\d+")
    return markdown([*names.values()], [[place.sub("HOST:PORT", cell) for cell in row] for row in rows])


def asked() -> str:
    """Ways of an endpoint to answer, with what came of it for a judge and an embedder."""
    by_way: dict[str, dict[str, str]] = {}
    for line in read(file_of("endpoints")):
        by_way.setdefault(line["way"], {})[line["kind"]] = line["outcome"]
    rows = [[way, found.get("judge", "–"), found.get("embedder", "–")] for way, found in by_way.items()]
    return markdown(["the endpoint answers", "judge", "embedder"], rows)


def soaked() -> str:
    """Memory and open files as time went by."""
    names = {"minutes": "minutes", "rounds": "rounds of work", "memory": "memory, MB", "files": "open files"}
    return markdown([*names.values()], [[*map(line.get, names)] for line in read(file_of("soak"))])


def branches() -> str:
    """Parts of the package with the statements and branches that the default tests take."""
    names = ("part", "python", "statements", "run", "branches", "taken")
    rows = [[*map(line.get, names), f"{line['percent']:.1f} %"] for line in read(file_of("branches"))]
    return markdown([*names, "together"], rows)


def mutants() -> str:
    """Groups of modules with the share of mutants that was killed, in each sample."""
    lines = sorted(read(file_of("mutation")), key=lambda line: line["seed"])
    rows = [
        [line["seed"], f"`{line['modules']}`", line["tried"], line["killed"], f"{line['killed'] / line['tried']:.0%}"]
        for line in lines
    ]
    return markdown(["seed", "modules", "tried", "killed", "share"], rows)


def tables() -> dict[str, str]:
    """All tables by name, of which there are lines."""
    made = {"attack": ("attacks", attacks), "fuzz": ("fuzzed", fuzzed), "faults": ("faults", faults)}
    made |= {"clusters": ("clusters", clustered), "endpoints": ("endpoints", asked)}
    made |= {"equality": ("equality", equalities), "soak": ("soak", soaked), "branches": ("branches", branches)}
    made |= {"mutation": ("mutants", mutants)}
    return {name: table() for file, (name, table) in made.items() if read(file_of(file))}
