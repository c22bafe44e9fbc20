"""The statements and branches that the default tests take, as `make quality` has counted them.

python -m benchmarks.branches    after `make quality`; keeps a line for each part in benchmarks/simulated/branches.jsonl
"""

import json
import platform
import subprocess
import sys

from benchmarks.simulated import file_of
from benchmarks.trust import keep

PARTS = {"the package": "*", "`stats/`": "*/stats/*", "`bench/protocols/`": "*/bench/protocols/*"}


def main() -> None:
    """Count each part."""
    for part, files in PARTS.items():
        command = [sys.executable, "-m", "coverage", "json", "-q", "-o", "-", f"--include={files}"]
        totals = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["totals"]
        counts = {
            "statements": totals["num_statements"],
            "run": totals["covered_lines"],
            "branches": totals["num_branches"],
            "taken": totals["covered_branches"],
            "percent": round(totals["percent_covered"], 2),
        }
        keep(file_of("branches"), {"part": part, "python": platform.python_version(), **counts}, "part")


if __name__ == "__main__":
    main()
