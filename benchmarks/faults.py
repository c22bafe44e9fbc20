"""Commands that write, disturbed in every way: killed, stopped, without room, without their folder, by several at once.

python -m benchmarks.faults [CASES [COMMAND [FAULT]]]    command and fault by a part of their names

CASES (30 unless told) is how often a command is killed; the other faults are tried a fifth as often.

A case disturbs a command once and then runs the same command again, undisturbed, in its folder. It is `right` where
the second run ends well and its numbers are those of a run that was never disturbed. It is `lost` otherwise, `torn`
where a file that the disturbed run left is neither whole nor absent, and `noisy` where the disturbed run printed a
traceback, or refused with more than one line.
Commands run in forked children of one process, which has imported everything and computed nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np

import textgauge
from textgauge import cli
from textgauge.encode.resources import cache_root

KINDS = ("right", "lost", "torn", "noisy")
WORDS = "red blue old new cat dog bird train sees likes near far house tree"
MODELS = cache_root() / "resources"
CHANGING = ("seconds", "version", "checksum", "cost")  # members of results that no two runs share
Fault = Callable[[list[str], Path, float, random.Random], str]


@dataclass(frozen=True)
class Command:
    """A command that writes: its arguments, with OUT for what it writes, and the file of a result in its folder."""

    name: str
    arguments: str
    out: str


COMMANDS = (
    Command(
        "run", "run ksc --source-a A --source-b B -m jsd@words,zipf@words -k 4 -n 8 --repetitions 12 --out OUT", "run"
    ),
    Command("compare", "compare A B -m jsd@words,cbdf@words --ci --test -o OUT", "compared.json"),
    Command("describe", "describe A --train B --test C --grammar none --embedder wordllama --per-text OUT", "made.csv"),
    Command("generate", "generate eda A -n 60 -o OUT", "made.csv"),
    Command("train", "train ensemble --pairs P.csv --rating rating -m jaccard,chrf,levenshtein -o OUT", "model.json"),
    Command("report", "report R.json -o OUT", "report.html"),
)


def import_all() -> None:
    """Import every module, so that children need not."""
    for module in walk_packages(textgauge.__path__, "textgauge."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                import_module(module.name)
    for name in (
        "polars",
        "scipy.stats",
        "scipy.sparse",
        "sklearn.svm",
        "sklearn.ensemble",
        "altair",
        "jinja2",
        "rich.progress",
    ):
        import_module(name)


def child(arguments: list[str], folder: Path, before: Callable[[], object] = lambda: None) -> int:
    """Start a command in a process of its own, in a folder, with its own cache; its number."""
    number = os.fork()
    if number:
        return number
    try:
        os.chdir(folder)
        os.environ |= {"TEXTGAUGE_CACHE": str(_cache(folder)), "TEXTGAUGE_OFFLINE": "1"}
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
        before()
        sys.argv = ["textgauge", *arguments]
        cli.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _cache(folder: Path) -> Path:
    """A cache of its own, but for the models, which are those of the user."""
    cache = folder / "cache"
    cache.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (cache / "resources").symlink_to(MODELS)
    return cache


def ended(number: int) -> int:
    """Wait for a process; its exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def content(path: Path, folder: Path) -> Any:
    """What a command wrote, without what changes from run to run; None where it is missing or not whole."""
    if path.is_dir():
        if ended(child(["leaderboard", path.name, "-f", "json"], folder)):
            return None
        path = folder / "stdout"
    if not path.is_file():
        return None
    if path.suffix != ".json" and path.name != "stdout":
        return path.read_bytes()
    try:
        return _plain(json.loads(path.read_text()))
    except ValueError:
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if not key.startswith(CHANGING)}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def at_random(kill: int) -> Fault:
    """A signal at a random moment."""

    def fault(arguments: list[str], folder: Path, seconds: float, rng: random.Random) -> str:
        number = child(arguments, folder)
        time.sleep(rng.uniform(0, seconds))
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, kill)
        ended(number)
        return _said(folder)

    return fault


def no_room(arguments: list[str], folder: Path, seconds: float, rng: random.Random) -> str:
    """No file may grow beyond some bytes, as on a disk that is nearly full."""
    most = rng.choice([0, 10, 100, 1_000, 3_000])

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most + 10**6))

    ended(child(arguments, folder, limit))
    return _said(folder)


def vanishing(arguments: list[str], folder: Path, seconds: float, rng: random.Random) -> str:
    """The folder of the results is removed at a random moment."""
    number = child(arguments, folder)
    time.sleep(rng.uniform(0, seconds))
    for path in (folder / "run", folder / "cache"):
        shutil.rmtree(path, ignore_errors=True)
    ended(number)
    return _said(folder)


def backwards(arguments: list[str], folder: Path, seconds: float, rng: random.Random) -> str:
    """A clock that goes back a day at a time."""
    ended(child(arguments, folder, _turn_clock))
    return _said(folder)


def _turn_clock() -> None:
    start, calls = time.time_ns(), iter(range(10**9))
    time.time_ns = lambda: start - next(calls) * 86_400 * 10**9  # type: ignore[assignment]
    time.time = lambda: time.time_ns() / 1e9  # type: ignore[assignment]


def several(writers: int) -> Fault:
    """As many processes that write the same at the same time."""

    def fault(arguments: list[str], folder: Path, seconds: float, rng: random.Random) -> str:
        codes = [ended(number) for number in [child(arguments, folder) for _ in range(writers)]]
        return "" if not any(codes) else f"Traceback: exit codes {codes}"

    return fault


def damaged(arguments: list[str], folder: Path, seconds: float, rng: random.Random) -> str:
    """A finished run, of which one file is cut off or has a bit turned."""
    ended(child(arguments, folder))
    walked = [place for name in ("run", "cache") for place in os.walk(folder / name, followlinks=False)]
    files = sorted(Path(place, name) for place, _, names in walked for name in names)
    if files:
        path = rng.choice(files)
        whole = path.read_bytes()
        place = rng.randrange(len(whole)) if whole else 0
        turned = whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(8))]) + whole[place + 1 :] if whole else b"x"
        path.write_bytes(rng.choice([whole[:place], turned]))
    return ""


FAULTS: dict[str, Fault] = {
    "kill -9": at_random(signal.SIGKILL),
    "SIGTERM": at_random(signal.SIGTERM),
    "Ctrl-C": at_random(signal.SIGINT),
    "no room": no_room,
    "vanishing folder": vanishing,
    "clock going back": backwards,
    "two writers": several(2),
    "five writers": several(5),
    "cut off or bit turned": damaged,
}


def _said(folder: Path) -> str:
    return (folder / "stderr").read_text(errors="replace")


def fresh(root: Path, inputs: Path, name: str) -> Path:
    """A folder with the inputs."""
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(inputs, folder)
    return folder


def tried(command: Command, fault: Fault, folder: Path, expected: Any, seconds: float, rng: random.Random) -> list[str]:
    """How a case ended; what is not right is said on standard error."""
    arguments = command.arguments.replace("OUT", command.out).split()
    said = fault(arguments, folder, seconds, rng)
    found = []
    left = folder / command.out
    if left.is_file() and content(left, folder) != expected:
        found.append("torn")
    code = ended(child(arguments, folder))
    again = content(left, folder)
    if code or again != expected:
        found.append("lost")
        print(f"{command.name}: exit code {code}: {_said(folder)[-300:]}", file=sys.stderr)
    if "Traceback" in said:
        found.append("noisy")
        print(f"{command.name}: {said[-300:]}", file=sys.stderr)
    return found or ["right"]


def write_inputs(folder: Path) -> None:
    """Small corpora, rated pairs and a saved result."""
    rng = np.random.default_rng(0)
    words = WORDS.split()
    for name in "ABC":
        texts = [f"{' '.join(rng.choice(words, 6))} {n}" for n in range(60)]
        (folder / name).write_text("\n".join(texts))
    rows = [f"{' '.join(rng.choice(words, 5))},{' '.join(rng.choice(words, 5))},{rng.integers(6)}" for _ in range(60)]
    (folder / "P.csv").write_text("\n".join(["left,right,rating", *rows]))


def main() -> None:
    """Print the table."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    wanted, faulty = [*sys.argv[2:4], "", ""][:2]
    print(f"| command | fault | cases | {' | '.join(KINDS)} |\n|---|---|---|{'---|' * len(KINDS)}", flush=True)
    import_all()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        inputs = root / "inputs"
        inputs.mkdir()
        write_inputs(inputs)
        ended(child(["compare", "A", "B", "-m", "jsd@words", "-o", "R.json"], inputs))
        for command in (one for one in COMMANDS if wanted in one.name):
            folder = fresh(root, inputs, "undisturbed")
            arguments = command.arguments.replace("OUT", command.out).split()
            start = time.perf_counter()
            if ended(child(arguments, folder)):
                raise SystemExit(f"{command.name}: {_said(folder)}")
            seconds = time.perf_counter() - start
            expected = content(folder / command.out, folder)
            for kind, fault in ((kind, fault) for kind, fault in FAULTS.items() if faulty in kind):
                found: Counter[str] = Counter()
                tries = cases if kind == "kill -9" else max(cases // 5, 1)
                for case in range(tries):
                    found.update(
                        tried(command, fault, fresh(root, inputs, "case"), expected, seconds, random.Random(case))
                    )
                line = " | ".join(str(found[end]) for end in KINDS)
                print(f"| `{command.name}` | {kind} | {tries} | {line} |", flush=True)


if __name__ == "__main__":
    main()
