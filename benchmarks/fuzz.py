"""Coverage-guided fuzzing of a reader by atheris (pip install atheris), which stops at the first input that crashes it.

python -m benchmarks.fuzz TARGET [SECONDS]    a target of `benchmarks.attack_files`, 600 seconds unless told

An input that is refused by one clear error is no crash. What is found is kept under tests/contract/found/TARGET/ and
is read by the tests from then on.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["textgauge"]):
    from benchmarks.attack_files import targets
    from textgauge.errors import TextgaugeError

FOUND = Path(__file__).parent.parent / "tests" / "contract" / "found"


def main() -> None:
    """Fuzz until the time is over, or until something is found."""
    name, seconds = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "600"
    target = targets()[name]
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path, seeds, found = Path(folder, target.file), Path(folder, "seeds"), FOUND / name.replace(" ", "-")
        seeds.mkdir()
        found.mkdir(parents=True, exist_ok=True)
        (seeds / "good").write_bytes(target.content)

        def one(data: bytes) -> None:
            path.write_bytes(data)
            try:
                target.read(path)
            except TextgaugeError:
                return

        options = [f"-max_total_time={seconds}", "-timeout=5", "-rss_limit_mb=2048", f"-artifact_prefix={found}/"]
        atheris.Setup([sys.argv[0], *options, str(seeds)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
