"""Commands on clusters of real processes, disturbed in thirty ways: the numbers of one process, or one line.

python -m benchmarks.clusters [CASE]    a case by a part of its name

Every case starts `dask scheduler` and `dask worker` processes, gives a command with `--scheduler`, disturbs it once
some of the work is done, and compares what comes with the numbers of the same command without a cluster. It is `equal`
where these are the same in every digit, `one line` where the command ends with one line that says why, or waits and
says so within 10 seconds of the loss; what such a command finished is then taken up by the same command without the
cluster, which must give equal numbers. All else is `wrong`. A line of benchmarks/simulated/clusters.jsonl is kept for
each case; `python -m benchmarks.reliability` makes the table.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import textgauge
from benchmarks.simulated import file_of
from benchmarks.trust import keep
from textgauge.core.settings import get_cache_root

WORDS = ["red", "blue", "old", "new", "cat", "dog", "bird", "train", "sees", "likes", "near", "far", "house", "tree"]
CHANGING = ("seconds", "version", "checksum", "cost", "scheduler", "command", "created")
METRICS = "jsd@words,energy@wordllama,fid@wordllama"
RUN = f"run ksc --source-a A --source-b B -m {METRICS} -k 5 -n 60 --repetitions 12 --out OUT"
COMPARE = "compare A B -m energy@wordllama,fid@wordllama,pr@wordllama,jsd@words --ci --test -o OUT.json"
LARGE = "compare A B -m energy@paraphrase-minilm -o OUT.json"  # texts on disk, embedded in many tasks
SCORE = "score A B -m cosine@wordllama,chrf,bleu,levenshtein -o OUT.json"
DESCRIBE = "describe A --train B --grammar none --embedder wordllama -o OUT.json"
PATIENCE = 300.0  # seconds that a command may take
STARTED = 30.0  # seconds within which a command starts beside others
SOON = 10.0  # seconds within which waiting is told
WITH_VECTORS = 100_000  # bytes of a file of vectors that is not empty


@dataclass
class Case:
    """A command on its cluster."""

    folder: Path
    models: Path
    started: list[subprocess.Popen[Any]] = field(default_factory=list)
    address: str = ""
    scheduler: subprocess.Popen[Any] | None = None
    workers: list[subprocess.Popen[Any]] = field(default_factory=list)
    command: subprocess.Popen[Any] | None = None

    def start(self, *words: str, log: str = "", **env: str) -> subprocess.Popen[Any]:
        """Start a process of this Python."""
        with (self.folder / (log or "log")).open("ab") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", *words], cwd=self.folder, env=os.environ | env, stdout=out, stderr=out
            )
        self.started.append(process)
        return process

    def start_scheduler(self, port: int = 0) -> None:
        """Start a scheduler; its address is that of a free port."""
        port = port or find_free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        options = ("--port", str(port), "--host", "127.0.0.1", "--no-dashboard")
        self.scheduler = self.start("dask", "scheduler", *options)

    def start_worker(self, *options: str, **env: str) -> None:
        """Start a worker of one thread, unless the options say otherwise."""
        options = options or ("--nthreads", "1", "--no-nanny")
        env = {"TEXTGAUGE_CACHE": str(self.models)} | env
        self.workers.append(self.start("dask", "worker", self.address, "--no-dashboard", *options, **env))

    def give(self, arguments: str, *, address: str | None = None, out: str = "out", log: str = "said") -> Any:
        """Give the command with the cluster, or without one where the address is empty."""
        address = self.address if address is None else address
        words = arguments.replace("OUT", out).split() + (["--scheduler", address] if address else [])
        cache = self.folder / "cache"
        cache.mkdir(exist_ok=True)
        if not (cache / "resources").exists():
            (cache / "resources").symlink_to(self.models / "resources")
        env = {"TEXTGAUGE_CACHE": str(cache)} | (
            {"TEXTGAUGE_LARGEST_BLOCK": "100"} if "paraphrase" in arguments else {}
        )
        return self.start("textgauge", *words, log=log, **env)

    def wait_for_work(self) -> None:
        """Wait until some results, or some vectors, are there; raise TimeoutError where none come."""

        def is_there() -> bool:
            kept = self.folder.glob("cache/embeddings/*/vectors.sqlite")
            return any(self.folder.glob("out/**/*.parquet")) or any(file.stat().st_size > WITH_VECTORS for file in kept)

        if not wait_until(is_there):
            raise TimeoutError(f"no result within {PATIENCE:.0f} s: {self.said()[-300:]}")

    def wait_for_client(self) -> None:
        """Wait until the scheduler has the command for a client."""
        if not wait_until(lambda: "Receive client connection" in (self.folder / "log").read_text(errors="replace")):
            raise TimeoutError(f"no connection within {PATIENCE:.0f} s: {self.said()[-300:]}")

    def said(self) -> str:
        """What the command printed."""
        path = self.folder / "said"
        return path.read_text(errors="replace") if path.exists() else ""

    def end(self) -> None:
        """End all processes of this case."""
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.started:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_until(is_so: Callable[[], Any], seconds: float = PATIENCE) -> bool:
    """Wait until something is so; whether it came to be."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_so():
            return True
        time.sleep(0.1)
    return False


Disturb = Callable[[Case], object]


def nothing(_: Case) -> None: ...


def kill_worker(case: Case) -> None:
    case.workers[0].kill()


def kill_workers(case: Case) -> None:
    """Kill all workers, with those that their nannies start."""
    for worker in case.workers:
        worker.kill()


def kill_workers_then_start_one(case: Case) -> None:
    kill_workers(case)
    time.sleep(8)
    case.start_worker()


def kill_child_of_nanny(case: Case) -> None:
    """Kill what a nanny watches over, three times."""
    for _ in range(3):
        children = Path(f"/proc/{case.workers[0].pid}/task/{case.workers[0].pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        time.sleep(4)


def stop_for_a_while(of: Callable[[Case], Any]) -> Disturb:
    """Stop a process for 15 seconds."""

    def disturb(case: Case) -> None:
        of(case).send_signal(signal.SIGSTOP)
        time.sleep(15)
        of(case).send_signal(signal.SIGCONT)

    return disturb


def signal_scheduler(number: signal.Signals) -> Disturb:
    return lambda case: case.scheduler and case.scheduler.send_signal(number)


def restart_scheduler(case: Case) -> None:
    port = int(case.address.rpartition(":")[2])
    if case.scheduler:
        case.scheduler.kill()
        case.scheduler.wait()
    case.start_scheduler(port)


def signal_command(number: signal.Signals) -> Disturb:
    return lambda case: case.command and case.command.send_signal(number)


def join(change: Callable[[Path], object]) -> Disturb:
    """Let a worker join whose textgauge was changed, and take the others away."""

    def disturb(case: Case) -> None:
        start_other_version(case, change)
        time.sleep(6)
        case.workers[0].kill()

    return disturb


def start_other_version(case: Case, change: Callable[[Path], object]) -> None:
    """Start a worker with a changed copy of the package."""
    copy = case.folder / "other"
    shutil.copytree(Path(textgauge.__file__).parent, copy / "textgauge", ignore=shutil.ignore_patterns("__pycache__"))
    change(copy / "textgauge")
    case.start_worker(PYTHONPATH=str(copy))


def falsify(package: Path) -> None:
    """Make the Fréchet distance 1.5 times as large."""
    path = package / "metrics" / "numerics" / "moments.py"
    path.write_text(path.read_text() + "\n_true = frechet\ndef frechet(*a, **k):\n    return 1.5 * _true(*a, **k)\n")


def make_old(package: Path) -> None:
    """Take away what asks workers for their code, as in versions that did not ask."""
    path = package / "core" / "parallel.py"
    path.write_text(path.read_text().replace("compute_code_digest", "_old").replace("_run_checked", "_old_run"))


class Proxy:
    """A wire between a command and a scheduler that can be cut."""

    def __init__(self, port: int) -> None:
        self.server, self.port, self.flows = socket.create_server(("127.0.0.1", 0)), port, threading.Event()
        self.sockets: list[socket.socket] = []
        self.flows.set()
        self.address = f"tcp://127.0.0.1:{self.server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.server.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            self.sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(1 << 16):
                self.flows.wait()
                other.sendall(data)
        except OSError:
            pass
        finally:
            for end in (one, other):
                end.close()

    def cut(self) -> None:
        """Close all connections."""
        self.server.close()
        for end in self.sockets:
            end.close()


def over_wire(command: str, cut: Callable[[Proxy], object]) -> Callable[[Case], str]:
    """Give a command over a wire, on which something happens."""

    def run(case: Case) -> str:
        case.start_scheduler()
        case.start_worker()
        port = int(case.address.rpartition(":")[2])
        wait_until(lambda: is_open(port))
        proxy = Proxy(port)
        case.command = case.give(command, address=proxy.address)
        case.wait_for_work()
        cut(proxy)
        return judge_end(case, command)

    return run


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def pause_wire(proxy: Proxy) -> None:
    proxy.flows.clear()
    time.sleep(15)
    proxy.flows.set()


def on_cluster(
    command: str, disturb: Disturb = nothing, workers: Any = ((), ()), *, again: bool = False
) -> Callable[[Case], str]:
    """Give a command on a cluster of some workers; with `again`, give it on the same cluster once more."""

    def run(case: Case) -> str:
        case.start_scheduler()
        for options in workers:
            env = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"} if "4" in options else {}
            case.start_worker(*options, **env)
        case.command = case.give(command)
        if disturb is not nothing:
            case.wait_for_work()
            disturb(case)
        if again:
            case.command.wait(PATIENCE)
            (case.folder / "said").write_text("")
            case.command = case.give(command)
        return judge_end(case, command)

    return run


def judge_end(case: Case, command: str) -> str:
    """Wait for a command's end, and say how it ended."""
    assert case.command is not None
    try:
        code = case.command.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return "wrong: no end"
    said = case.said()
    if "Traceback" in said or "- distributed." in said:
        return f"wrong: {said[-300:]}"
    if code == 0:
        return "equal" if numbers(case, command) == expected(case, command) else "wrong: other numbers"
    lines = [line for line in said.splitlines() if line.startswith(("textgauge: ", "error: "))]
    if len(lines) != 1 and code != -signal.SIGKILL:
        return f"wrong: exit code {code}: {said[-300:]}"
    resumed = case.give(command, address="").wait(PATIENCE)
    if resumed or numbers(case, command) != expected(case, command):
        return "wrong: the next run has other numbers"
    return f"one line: {lines[0].partition(': ')[2]}" if lines else "equal"


def numbers(case: Case, command: str, out: str = "out") -> Any:
    """What a command wrote, without what changes from run to run."""
    path = case.folder / f"{out}.json"
    if "--out" in command:
        path = case.folder / f"{out}-board.json"
        path.unlink(missing_ok=True)
        case.start("textgauge", "leaderboard", out, "-f", "json", log=path.name).wait(PATIENCE)
    return plain(json.loads(path.read_text())) if path.exists() else None


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if not key.startswith(CHANGING)}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


_known: dict[str, Any] = {}


def expected(case: Case, command: str) -> Any:
    """The numbers of the command without a cluster, computed once."""
    if command not in _known:
        case.give(command, address="", out="alone", log="log").wait(PATIENCE)
        _known[command] = numbers(case, command, "alone")
        assert _known[command]
    return _known[command]


def two_at_once(case: Case) -> str:
    """Give the same command twice at the same time, into one folder."""
    case.start_scheduler()
    for _ in range(2):
        case.start_worker()
    other = case.give(RUN, log="log")
    case.command = case.give(RUN)
    found = judge_end(case, RUN)
    return found if other.wait(PATIENCE) == 0 else "wrong: the other one failed"


def waits(prepare: Callable[[Case], object]) -> Callable[[Case], str]:
    """Say whether a command that has no worker says so soon; one that gets a worker must then go on."""

    def run(case: Case) -> str:
        prepare(case)
        start = time.monotonic()
        if not wait_until(lambda: "waiting (" in case.said(), SOON):
            return f"wrong: silent for {time.monotonic() - start:.0f} s: {case.said()[-300:]}"
        case.start_worker()
        return judge_end(case, RUN)

    return run


def without_worker(case: Case) -> None:
    case.start_scheduler()
    case.command = case.give(RUN)
    case.wait_for_client()


def lose_all(case: Case) -> None:
    case.start_scheduler()
    case.start_worker(*ONE)
    case.command = case.give(RUN)
    case.wait_for_work()
    kill_workers(case)


def at_address(address: str, answer: bytes | None = None) -> Callable[[Case], str]:
    """Give a command at an address that is no scheduler; PORT is that of a server with this answer, or with none."""

    def run(case: Case) -> str:
        server = socket.create_server(("127.0.0.1", 0))

        def serve() -> None:
            while True:
                try:
                    near, _ = server.accept()
                except OSError:
                    return
                if answer:
                    near.recv(1_000)
                    near.sendall(answer)
                    near.close()

        port = find_free_port()
        if answer is not None:
            threading.Thread(target=serve, daemon=True).start()
            port = server.getsockname()[1]
        case.command = case.give(RUN, address=address.replace("PORT", str(port)))
        soon = wait_until(lambda: case.command and case.command.poll() is not None, STARTED + SOON)
        found = judge_end(case, RUN) if soon else f"wrong: nothing for {STARTED + SOON:.0f} s"
        server.close()
        return found

    return run


def refuses(change: Callable[[Path], object]) -> Callable[[Case], str]:
    """Give a command to a worker of another version."""

    def run(case: Case) -> str:
        case.start_scheduler()
        start_other_version(case, change)
        case.command = case.give(RUN)
        found = judge_end(case, RUN)
        return found if found.startswith("one line") else f"wrong: {found}"

    return run


FOUR, NANNY, ONE = ("--nthreads", "4", "--no-nanny"), ("--nthreads", "1", "--nanny"), ("--nthreads", "1", "--no-nanny")
SMALL = ("--nthreads", "1", "--memory-limit", "120MB")
CASES: dict[str, Callable[[Case], str]] = {
    "run, two workers": on_cluster(RUN),
    "compare, two workers": on_cluster(COMPARE),
    "compare with texts on disk, two workers": on_cluster(LARGE),
    "score, two workers": on_cluster(SCORE),
    "describe, two workers": on_cluster(DESCRIBE),
    "run, a worker of four threads, each with two of linear algebra": on_cluster(RUN, workers=(FOUR,)),
    "compare, a worker of four threads": on_cluster(COMPARE, workers=(FOUR,)),
    "run, workers of one and of four threads": on_cluster(RUN, workers=(ONE, FOUR)),
    "run, one of two workers killed": on_cluster(RUN, kill_worker, (ONE, ONE)),
    "compare with texts on disk, one of two workers killed": on_cluster(LARGE, kill_worker, (ONE, ONE)),
    "run, a worker under a nanny killed three times": on_cluster(RUN, kill_child_of_nanny, (NANNY, ONE)),
    "run, all workers killed, a new one after 8 s": on_cluster(RUN, kill_workers_then_start_one, (ONE, ONE)),
    "run, a worker stopped for 15 s": on_cluster(RUN, stop_for_a_while(lambda case: case.workers[0]), (ONE, ONE)),
    "run, the scheduler stopped for 15 s": on_cluster(RUN, stop_for_a_while(lambda case: case.scheduler), (ONE,)),
    "run, the scheduler killed": on_cluster(RUN, signal_scheduler(signal.SIGKILL), (ONE,)),
    "run, the scheduler ended": on_cluster(RUN, signal_scheduler(signal.SIGTERM), (ONE,)),
    "compare with texts on disk, the scheduler killed": on_cluster(LARGE, signal_scheduler(signal.SIGKILL), (ONE,)),
    "run, the scheduler started again": on_cluster(RUN, restart_scheduler, (ONE,)),
    "run, the command killed and given again": on_cluster(RUN, signal_command(signal.SIGKILL), again=True),
    "run, Ctrl-C and given again": on_cluster(RUN, signal_command(signal.SIGINT), again=True),
    "run, twice at once into one folder": two_at_once,
    "run, no worker, then one": waits(without_worker),
    "run, all workers lost, then a new one": waits(lose_all),
    "run, the network cut for 15 s": over_wire(RUN, pause_wire),
    "run, the network cut for good": over_wire(RUN, Proxy.cut),
    "an address where nobody listens": at_address("tcp://127.0.0.1:PORT"),
    "a web server for a scheduler": at_address("tcp://127.0.0.1:PORT", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "a server that never answers": at_address("tcp://127.0.0.1:PORT", b""),
    "tls:// without certificates": at_address("tls://127.0.0.1:PORT"),
    "local:99999": at_address("local:99999"),
    "run, a worker of another version": refuses(falsify),
    "run, a worker of a version that does not know the question": refuses(make_old),
    "run, a worker of another version joins": on_cluster(RUN, join(falsify), (ONE,)),
    "run, a worker of a version that does not know the question joins": on_cluster(RUN, join(make_old), (ONE,)),
    "run, workers with 120 MB of memory": on_cluster(RUN, workers=(SMALL,)),
}


def main() -> None:
    """Try every case that is asked for."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, run in CASES.items():
        if wanted not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            rng = np.random.default_rng(0)
            for file, words in {"A": WORDS, "B": WORDS[3:]}.items():
                texts = (f"{' '.join(rng.choice(words, 7))} {number}" for number in range(700))
                Path(folder, file).write_text("\n".join(texts))
            case, start = Case(Path(folder), get_cache_root()), time.monotonic()
            try:
                found = run(case)
            except TimeoutError as error:
                found = f"wrong: {error}"
            finally:
                case.end()
            outcome, _, said = found.partition(": ")
            line = {"case": name, "outcome": outcome, "said": said.replace(folder, "")[:300]}
            keep(file_of("clusters"), line, "case")
            print(f"{name}: {found[:400]} ({time.monotonic() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
