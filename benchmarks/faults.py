"""Commands that write, disturbed in every way: killed, stopped, without room, without their folder, by several at once.

python -m benchmarks.faults [CASES [COMMAND [FAULT [FILE]]]]    command and fault by a part of their names

CASES (30 by default) is how often a command is killed; the other faults are tried a tenth as often. A line is added to
FILE (benchmarks/simulated/faults.jsonl) for each command and fault that it does not hold with as many cases, so that
this can be stopped and called again; `python -m benchmarks.reliability` makes the table.

A case disturbs a command once and then runs the same command again, undisturbed, in its folder. It is `right` where
the second run ends well and its numbers are those of a run that was never disturbed. It is `lost` otherwise, `torn`
where a file that the disturbed run left is neither whole nor absent, or is another one and no warning says so, and
`noisy` where the disturbed run printed a traceback, or refused without one clear line.
Commands run in forked children of one process, which has imported everything and computed nothing.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np

import textgauge
from benchmarks import fault_kinds
from benchmarks.fault_kinds import Endpoint, Started
from benchmarks.simulated import file_of, read
from benchmarks.trust import ENDS, keep
from textgauge import cli
from textgauge.core.settings import get_cache_root
from textgauge.encode.resources import get_cached_folder, locate

WORDS = "red blue old new cat dog bird train sees likes near far house tree"
MODELS = get_cache_root() / "resources"
RESOURCE = "wordpiece"  # a small one
HEAVY = ["polars", "scipy.stats", "scipy.sparse", "sklearn.svm", "sklearn.ensemble", "altair", "jinja2", "httpx"]
CHANGING = ("seconds", "version", "checksum", "cost")  # members of results that no two runs share


@dataclass(frozen=True)
class Command:
    """A command that writes: its arguments, with OUT for what it writes, and that file or folder."""

    name: str
    arguments: str
    out: str
    faults: tuple[str, ...] = ()  # only those with such a name; the others where it is empty


_RUN = "run ksc --source-a A --source-b B -m jsd@words,zipf@words -k 4 -n 8 --repetitions 12 --out OUT"
_ENDPOINT = "compare A B -m energy@api:fake --no-test -o OUT"
COMMANDS = (
    Command("run", _RUN, "run"),
    Command("run -j 2", f"{_RUN} -j 2", "run"),
    Command("compare -o", "compare A B -m jsd@words,cbdf@words --ci --test -o OUT", "compared.json"),
    Command("compare, vectors cached", "compare A B -m energy@wordllama -o OUT", "compared.json"),
    Command("score -o", "score A B -m jaccard,chrf -o OUT", "scores.json"),
    Command("describe", "describe A --train B --test C --grammar none --embedder wordllama --per-text OUT", "made.csv"),
    Command("generate eda", "generate eda A -n 60 -o OUT", "made.csv"),
    Command("train", "train ensemble --pairs P.csv --rating rating -m jaccard,chrf,levenshtein -o OUT", "model.json"),
    Command("report", "report R.json -o OUT", "report.html"),
    Command("check --update", "check drift A B -m jsd@words --max-ratio 9 --baselines OUT --update", "baselines.json"),
    Command("resources fetch", f"resources fetch {RESOURCE}", f"cache/resources/{get_cached_folder(RESOURCE).name}"),
    Command("compare, an endpoint", _ENDPOINT, "compared.json", ("endpoint",)),
    Command("run, a cluster", f"{_RUN} --scheduler SCHEDULER", "run", ("worker",)),
)


def import_all() -> None:
    """Import every module, so that children need not."""
    for module in walk_packages(textgauge.__path__, "textgauge."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                import_module(module.name)
    for name in HEAVY:
        import_module(name)
    gc.collect()
    gc.freeze()  # children share this memory as long as nobody writes to it


def child(arguments: list[str], folder: Path, before: Callable[[], object] = lambda: None) -> int:
    """Start a command in a process of its own, in a folder, with its own cache; its number."""
    number = os.fork()
    if number:
        return number
    try:
        os.chdir(folder)
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
        os.environ |= {"TEXTGAUGE_CACHE": str(_cache(folder, arguments)), "TEXTGAUGE_OFFLINE": "1"}
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


def _cache(folder: Path, arguments: list[str]) -> Path:
    """A cache of its own, but for the models, which are those of the user; what is fetched has a source of its own."""
    cache = folder / "cache"
    if arguments[0] == "resources":
        os.environ["TEXTGAUGE_RESOURCES"] = str(folder / "source")
        return cache
    link = cache / "resources"
    with contextlib.suppress(OSError):
        if not link.is_symlink():
            shutil.rmtree(link, ignore_errors=True)  # an empty one, made after the cache vanished
        cache.mkdir(exist_ok=True)
        link.symlink_to(MODELS)
    return cache


def ended(number: int) -> int:
    """Wait for a process; its exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def content(path: Path, folder: Path) -> Any:
    """What a command wrote, without what changes from run to run; None where it is missing or not whole."""
    if path.parent.name == "resources":
        files = sorted(one for one in path.rglob("*") if one.is_file())
        return [(one.relative_to(path).as_posix(), sha256(one.read_bytes()).hexdigest()) for one in files] or None
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


def said(folder: Path) -> str:
    """What a command printed on standard error."""
    path = folder / "stderr"
    return path.read_text(errors="replace") if path.exists() else ""  # killed before it could say anything


def is_noisy(code: int, text: str) -> bool:
    """Whether a disturbed command printed a traceback, or refused without one line that says why."""
    refusals = [line for line in text.splitlines() if line.startswith("textgauge: ")]
    return "Traceback" in text or (code in (1, 2, 70) and len(refusals) != 1)


def fresh(root: Path, inputs: Path, name: str) -> Path:
    """A folder with the inputs."""
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(inputs, folder, symlinks=True)
    return folder


def tried(command: Command, fault: fault_kinds.Fault, case: Started, expected: Any, usual: str) -> list[str]:
    """How a case ended; what is not right is said on standard error."""
    code = fault(case)
    noise = said(case.folder) if is_noisy(code, said(case.folder)) else ""
    found, left = [], case.folder / command.out
    if left.is_file() and (written := content(left, case.folder)) != expected:
        warned = set(said(case.folder).splitlines()) - set(usual.splitlines())
        if written is None or not any(line.startswith("warning: ") for line in warned):
            found.append("torn")
    case.calm()
    code = ended(case.start())
    if code or content(left, case.folder) != expected:
        found.append("lost")
        print(f"{command.name}: exit code {code}: {said(case.folder)[-300:]}", file=sys.stderr)
    if noise:
        found.append("noisy")
        print(f"{command.name}: {noise[-300:]}", file=sys.stderr)
    return found or ["right"]


def write_inputs(folder: Path) -> None:
    """Small corpora, rated pairs, a source of a resource and a saved result."""
    rng = np.random.default_rng(0)
    words = WORDS.split()
    for name in "ABC":
        texts = [f"{' '.join(rng.choice(words, 6))} {n}" for n in range(60)]
        (folder / name).write_text("\n".join(texts))
    rows = [f"{' '.join(rng.choice(words, 5))},{' '.join(rng.choice(words, 5))},{rng.integers(6)}" for _ in range(60)]
    (folder / "P.csv").write_text("\n".join(["left,right,rating", *rows]))
    shutil.copytree(locate(RESOURCE), folder / "source" / RESOURCE)
    ended(child(["compare", "A", "B", "-m", "jsd@words", "-o", "R.json"], folder))
    shutil.rmtree(folder / "cache")


def disturb(command: Command, faults: dict[str, int], file: Path, root: Path, inputs: Path, endpoint: Endpoint) -> None:
    """Disturb a command by each of some faults, so many times, and keep in a file how that ended."""
    arguments = command.arguments.replace("OUT", command.out).split()
    folder, start = fresh(root, inputs, "undisturbed"), time.perf_counter()
    if ended(Started(arguments, folder, 0.0, random.Random(0), endpoint, child, ended).start()):
        raise SystemExit(f"{command.name}: {said(folder)}")
    seconds, usual = time.perf_counter() - start, said(folder)
    expected = content(folder / command.out, folder)
    for kind, tries in faults.items():
        found: Counter[str] = Counter()
        for number in range(tries):
            folder = fresh(root, inputs, "case")
            case = Started(arguments, folder, seconds, random.Random(number), endpoint, child, ended)
            found.update(tried(command, fault_kinds.FAULTS[kind], case, expected, usual))
        line = {"command": command.name, "fault": kind, "cases": tries, **{end: found[end] for end in ENDS}}
        keep(file, line, "command", "fault")
        print(line, flush=True)


def wanted_faults(command: Command, faulty: str, cases: int, file: Path) -> dict[str, int]:
    """The faults of a command that have not been tried as often as asked for, and how often to try them."""
    known = {line["fault"]: line["cases"] for line in read(file) if line["command"] == command.name}
    found = {}
    for kind in (kind for kind in fault_kinds.FAULTS if faulty in kind):
        special = kind.startswith(("endpoint", "worker"))
        tries = cases if kind == "kill -9" else max(cases // 10, 1)
        if (kind.startswith(command.faults) if command.faults else not special) and known.get(kind, 0) < tries:
            found[kind] = tries
    return found


def main() -> None:
    """Disturb every command that is asked for."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    wanted, faulty = [*sys.argv[2:4], "", ""][:2]
    file = Path(sys.argv[4]) if len(sys.argv) > 4 else file_of("faults")
    import_all()
    with tempfile.TemporaryDirectory() as name, Endpoint() as endpoint:
        root = Path(name)
        inputs = root / "inputs"
        inputs.mkdir()
        write_inputs(inputs)
        for command in (one for one in COMMANDS if wanted in one.name):
            if faults := wanted_faults(command, faulty, cases, file):
                disturb(command, faults, file, root, inputs, endpoint)


if __name__ == "__main__":
    main()
