"""Coverage-guided fuzzing of a reader by atheris (pip install atheris), which stops at the first input that crashes it.

python -m benchmarks.fuzz TARGET [SECONDS]    a target of `benchmarks.attack_files`, 600 seconds unless told

An input that is refused by one clear error is no crash; over 5 s of processor time for one is. What is found is kept
under tests/contract/found/TARGET/ and is read by the tests from then on. benchmarks/simulated/fuzz.jsonl gets a line
with the number of inputs where nothing was found.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from benchmarks.simulated import file_of
from benchmarks.trust import keep

FOUND = Path(__file__).parent.parent / "tests" / "contract" / "found"
SLOW = 5.0


def fuzz(name: str, seconds: str) -> None:
    """Fuzz until the time is over, or until something is found; the process then ends."""
    import atheris

    with atheris.instrument_imports(include=["textgauge"]):
        from benchmarks.attack_files import targets
        from textgauge.core.errors import TextgaugeError

    target = targets()[name]
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path, seeds, found = Path(folder, target.file), Path(folder, "seeds"), FOUND / name.replace(" ", "-")
        seeds.mkdir()
        found.mkdir(parents=True, exist_ok=True)
        (seeds / "good").write_bytes(target.content)

        def one(data: bytes) -> None:
            path.write_bytes(data)
            start = time.process_time()
            with contextlib.suppress(TextgaugeError):
                target.read(path)
            if time.process_time() - start > SLOW:
                raise TimeoutError(f"over {SLOW:g} s")

        options = [f"-max_total_time={seconds}", "-timeout=300", "-rss_limit_mb=2048", f"-artifact_prefix={found}/"]
        atheris.Setup([sys.argv[0], *options, str(seeds)], one)
        atheris.Fuzz()


def main() -> None:
    """Fuzz in a process of its own, which the fuzzer ends, and print what it said."""
    name, seconds = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "600"
    if "--here" in sys.argv:
        fuzz(name, seconds)
    command = [sys.executable, "-m", "benchmarks.fuzz", name, seconds, "--here"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    end = re.search(r"Done (\d+) runs in (\d+) second", done.stderr)
    if end is None:
        raise SystemExit(done.stderr[-3_000:])
    inputs, spent = map(int, end.groups())
    keep(file_of("fuzz"), {"target": name, "seconds": spent, "inputs": inputs}, "target")


if __name__ == "__main__":
    main()
