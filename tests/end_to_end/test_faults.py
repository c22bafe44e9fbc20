"""Commands that write are disturbed once in every way; the same command then gives the numbers of a calm run."""

import os
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-m", "benchmarks.faults"]


def table(*arguments):
    done = subprocess.run([*PROGRAM, *arguments], check=True, capture_output=True, text=True)
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    return {(row[0], row[1]): list(map(int, row[2:])) for row in rows}, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (["1", "score", "kill"], 1),
        (["1", "an endpoint", "too few"], 1),
        pytest.param(["30"], 127, marks=pytest.mark.slow),
    ],
    ids=["killed", "bad answers", "all commands"],
)
def test_nothing_is_lost_torn_or_noisy(arguments, rows):
    found, said = table(*arguments)
    assert len(found) >= rows
    for fault, (tries, right, lost, torn, noisy) in found.items():
        assert (right, lost, torn, noisy) == (tries, 0, 0, 0), f"{fault}: {said}"
