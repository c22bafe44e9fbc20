"""Do the tests notice a fault? Small changes of the code ("mutants", made by mutmut), each under the module's tests.

    python -m benchmarks.mutation [SHARE [SEED]]    try a random share of the mutants of each module

`[tool.mutmut]` in pyproject.toml names modules and tests. A mutant that makes the tests run out of time counts as
killed. A share of the mutants is the same every time for one seed, and a larger one holds a smaller one. What is
finished is kept if this is stopped. benchmarks/simulated/mutation.jsonl gets a line for each group of modules, with the
changes that no test noticed; after a change of the code, delete the folder `mutants` first.
"""

from __future__ import annotations

import random
import subprocess
import sys

from benchmarks.simulated import file_of
from benchmarks.trust import keep

GROUPS = ("stats", "metrics.uncertainty", "bench.protocols.ksc", "bench.leaderboard", "bench.gaps")
FIRST = "textgauge.stats.orders.x_ranks__mutmut_1"
KILLED = ("killed", "timeout", "segfault")


def mutmut(*arguments: str, quiet: bool = False) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments], check=False, text=True, stdout=subprocess.PIPE if quiet else None
    )
    return done.stdout or ""


def states() -> dict[str, str]:
    """Every mutant with what came of it."""
    lines = (line.strip() for line in mutmut("results", "--all", "true", quiet=True).splitlines())
    return dict(line.split(": ", 1) for line in lines if "__mutmut_" in line)


def module_of(mutant: str) -> str:
    return mutant.split(".x", 1)[0]


def sampled(mutants: list[str], share: float, seed: int) -> list[str]:
    chosen = []
    for module in sorted(set(map(module_of, mutants))):
        own = sorted(mutant for mutant in mutants if module_of(mutant) == module)
        random.Random(f"{seed} {module}").shuffle(own)
        chosen += own[: round(share * len(own))]
    return chosen


def run(share: float = 1.0, seed: float = 0) -> None:
    if not states():
        mutmut("run", FIRST)
    found = states()
    chosen = sampled(list(found), share, int(seed))
    waiting = [mutant for mutant in chosen if found[mutant] == "not checked"]
    if waiting:
        mutmut("run", "--max-children", "1", *waiting)
    found = states()
    for group in GROUPS:
        own = sorted(mutant for mutant in chosen if module_of(mutant).startswith(f"textgauge.{group}"))
        lived = [mutant for mutant in own if found[mutant] not in KILLED]
        counts = {"tried": len(own), "killed": len(own) - len(lived)}
        line = {"modules": group, "seed": int(seed), **counts, "not_noticed": [*map(change, lived)]}
        keep(file_of("mutation"), line, "modules", "seed")


def change(mutant: str) -> str:
    """The module of a mutant, and the lines that it takes away and puts in."""
    lines = mutmut("show", mutant, quiet=True).splitlines()
    changed = " → ".join(line[1:].strip() for line in lines if line[:1] in "-+" and line[:3] not in ("---", "+++"))
    return f"{module_of(mutant).removeprefix('textgauge.')}: {changed}"


if __name__ == "__main__":
    run(*map(float, sys.argv[1:]))
