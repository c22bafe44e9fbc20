"""Do the tests notice a fault? Small changes of the code ("mutants", made by mutmut), each under the module's tests.

    python -m benchmarks.mutation run [SHARE [SEED]]    try a random share of the mutants of each module
    python -m benchmarks.mutation table                 what was killed, and the changes that no test noticed

`[tool.mutmut]` in pyproject.toml names modules and tests. A mutant that makes the tests run out of time counts as
killed. A share of the mutants is the same every time for one seed, and a larger one holds a smaller one.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter

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
    chosen = [mutant for mutant in sampled(list(found), share, int(seed)) if found[mutant] == "not checked"]
    if chosen:  # what is finished is kept if this is stopped
        mutmut("run", "--max-children", "1", *chosen)


def change(mutant: str) -> str:
    """The lines that a mutant takes away and puts in."""
    lines = mutmut("show", mutant, quiet=True).splitlines()
    return " → ".join(line[1:].strip() for line in lines if line[:1] in "-+" and line[:3] not in ("---", "+++"))


def table() -> None:
    tried = {mutant: state for mutant, state in states().items() if state != "not checked"}
    print("| module | mutants tried | killed | survived | killed, % |\n| --- | --- | --- | --- | --- |")
    modules = sorted(set(map(module_of, tried)))
    for module in [*modules, ""]:
        counts = Counter(state in KILLED for mutant, state in tried.items() if module_of(mutant).startswith(module))
        shown = f"`{module.removeprefix('textgauge.')}`" if module else "together"
        share = 100 * counts[True] / counts.total()
        print(f"| {shown} | {counts.total()} | {counts[True]} | {counts[False]} | {share:.0f} |")
    print("\nNot noticed:\n")
    for mutant, state in sorted(tried.items()):
        if state not in KILLED:
            print(f"- {module_of(mutant).removeprefix('textgauge.')}, {state}: `{change(mutant)}`")


if __name__ == "__main__":
    table() if sys.argv[1:] == ["table"] else run(*map(float, sys.argv[2:]))
