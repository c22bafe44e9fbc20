"""Commands that write are disturbed once in every way; the same command then gives the numbers of a calm run."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-m", "benchmarks.faults"]


def lines(file, *arguments):
    done = subprocess.run([*PROGRAM, *arguments, file], check=True, capture_output=True, text=True)
    return list(map(json.loads, file.read_text().splitlines())), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        pytest.param(["1", "score", "kill"], 1, marks=pytest.mark.slow),  # caches and stores have such tests too
        (["1", "an endpoint", "too few"], 1),
        pytest.param(["30", "", ""], 127, marks=pytest.mark.slow),
    ],
    ids=["killed", "bad answers", "all commands"],
)
def test_nothing_is_lost_torn_or_noisy(arguments, rows, tmp_path):
    found, said = lines(tmp_path / "faults.jsonl", *arguments)
    assert len(found) >= rows
    for line in found:
        assert (line["right"], line["lost"], line["torn"], line["noisy"]) == (line["cases"], 0, 0, 0), f"{line}: {said}"
