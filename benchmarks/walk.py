"""The walk of a command through the package: how many functions in how many files and rooms it calls.

python -m benchmarks.walk                prints the counts of `compare -m energy,fid --ci`, and the calls by file
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import textgauge

PACKAGE = Path(textgauge.__file__).parent
COMMAND = ("compare", "{folder}/a.txt", "{folder}/b.txt", "-m", "energy,fid", "--ci")
TEXTS = 120


def trace(*words: str) -> Counter[tuple[str, str]]:
    """Return how often each function of the package, by file and name, is called while a command runs."""
    from textgauge.cli import main

    calls: Counter[tuple[str, str]] = Counter()

    def count(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(PACKAGE)) and not frame.f_code.co_name.startswith("<"):
            calls[Path(path).relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname] += 1

    before, sys.argv = sys.argv, ["textgauge", *words]
    sys.setprofile(count)
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            raise
    finally:
        sys.setprofile(None)
        sys.argv = before
    return calls


def write_texts(folder: str) -> None:
    for name, start in (("a", 0), ("b", 40)):
        texts = [f"{start + n} birds over {'lake' if n % 2 else 'hill'} {n * n % 17}" for n in range(TEXTS)]
        Path(folder, f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")


def count_walk() -> tuple[Counter[tuple[str, str]], int, int, int]:
    """Return the calls of the walk, and how many functions, files and rooms are in it."""
    with tempfile.TemporaryDirectory() as folder:
        write_texts(folder)
        words = [word.format(folder=folder) for word in COMMAND]
        trace(*words)  # embeddings are kept from now on
        calls = trace(*words)
    files = {file for file, _ in calls}
    return calls, len(calls), len(files), len({file.split("/")[0] for file in files if "/" in file})


if __name__ == "__main__":
    calls, functions, files, rooms = count_walk()
    by_file: dict[str, list[str]] = {}
    for file, name in calls:
        by_file.setdefault(file, []).append(name)
    for file, names in by_file.items():
        print(f"{file}: {', '.join(names)}")
    print(f"{functions} functions in {files} files of {rooms} rooms, {calls.total():,} calls")
