"""The faults of `benchmarks.faults`: each starts a command, disturbs it, waits for its end and gives its exit code."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

PATIENCE = 0.4  # seconds that a request to the endpoint may take


@dataclass
class Started:
    """A command in its folder, its usual seconds, and what draws the moment of a fault."""

    arguments: list[str]
    folder: Path
    seconds: float
    rng: random.Random
    endpoint: Endpoint
    child: Callable[..., int]
    ended: Callable[[int], int]

    def start(self, before: Callable[[], object] = lambda: None) -> int:
        """Start the command in a process of its own; without a cluster, unless a fault gives the address of one."""
        arguments = [item for item in self.arguments if item not in ("--scheduler", "SCHEDULER")]

        def prepare() -> None:
            self.endpoint.use()
            before()

        return self.child(arguments, self.folder, prepare)

    def moment(self) -> None:
        """Wait for a moment of the command."""
        time.sleep(self.rng.uniform(0, self.seconds))

    def calm(self) -> None:
        """End what still disturbs."""
        self.endpoint.answers = "well"


Fault = Callable[[Started], int]


def at_random(kill: int) -> Fault:
    """A signal at a random moment."""

    def fault(case: Started) -> int:
        number = case.start()
        case.moment()
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, kill)
        return case.ended(number)

    return fault


def no_room(case: Started) -> int:
    """No file may grow beyond some bytes, as with a quota; what is printed goes through a pipe, which has no limit."""
    most = case.rng.choice([0, 10, 100, 1_000, 3_000])
    reader, writer = os.pipe()

    def limit() -> None:
        os.dup2(writer, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most + 10**6))

    code = case.ended(case.start(limit))
    os.write(writer, b"\n")
    (case.folder / "stderr").write_bytes(os.read(reader, 1 << 16))
    os.close(reader)
    os.close(writer)
    return code


@contextlib.contextmanager
def _mounted(case: Started, *options: str) -> Any:
    """The folder on a file system of its own, of which nothing but the inputs is left afterwards."""
    kept = case.folder.with_name("kept")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(case.folder, kept, symlinks=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options[0], "tmpfs", str(case.folder)], check=True)
    try:
        shutil.copytree(kept, case.folder, symlinks=True, dirs_exist_ok=True)
        for name in ("stdout", "stderr"):
            (case.folder / name).touch()
            (kept / name).touch()
            subprocess.run(["mount", "--bind", str(kept / name), str(case.folder / name)], check=True)
        for option in options[1:]:
            subprocess.run(["mount", "-o", option, str(case.folder)], check=True)
        yield
    finally:
        for name in ("stdout", "stderr", ""):
            subprocess.run(["umount", "--lazy", str(case.folder / name)], check=False)  # workers may still be ending
        for name in ("stdout", "stderr"):
            shutil.copy(kept / name, case.folder / name)


def full_disk(case: Started) -> int:
    """A disk that has room for the inputs and a little more; mounted, which only root may do."""
    size = sum(4_096 + path.stat().st_size // 4_096 * 4_096 for path in case.folder.rglob("*") if not path.is_symlink())
    with _mounted(case, f"size={size + case.rng.choice([0, 1, 2, 4]) * 4_096}"):
        return case.ended(case.start())


def read_only(case: Started) -> int:
    """A folder that may not be written to; root, who may write anywhere, gets a disk that is read-only."""
    if os.geteuid() == 0:
        with _mounted(case, "size=64m", "remount,ro"):
            return case.ended(case.start())
    case.folder.chmod(0o555)
    try:
        return case.ended(case.start())
    finally:
        case.folder.chmod(0o755)


def vanishing(case: Started) -> int:
    """The folders of the results are removed at a random moment."""
    number = case.start()
    case.moment()
    for path in (case.folder / "run", case.folder / "cache"):
        shutil.rmtree(path, ignore_errors=True)
    return case.ended(number)


def backwards(case: Started) -> int:
    """A clock that goes back a day at a time."""

    def turn() -> None:
        start, calls = time.time_ns(), iter(range(10**9))
        time.time_ns = lambda: start - next(calls) * 86_400 * 10**9  # type: ignore[assignment]
        time.time = lambda: time.time_ns() / 1e9  # type: ignore[assignment]

    return case.ended(case.start(turn))


def several(writers: int) -> Fault:
    """As many processes that write the same at the same time; the worst of their exit codes."""
    return lambda case: max(map(case.ended, [case.start() for _ in range(writers)]), key=abs)


def damaged(case: Started) -> int:
    """A finished command, of which one file that it keeps is cut off or has a bit turned."""
    code = case.ended(case.start())
    walked = [place for name in ("run", "cache") for place in os.walk(case.folder / name, followlinks=False)]
    files = sorted(Path(place, name) for place, _, names in walked for name in names)
    if files:
        path = case.rng.choice(files)
        whole, times = path.read_bytes(), path.stat()
        place = case.rng.randrange(len(whole)) if whole else 0
        turned = (
            whole[:place] + bytes([whole[place] ^ (1 << case.rng.randrange(8))]) + whole[place + 1 :] if whole else b"x"
        )
        path.write_bytes(case.rng.choice([whole[:place], turned]))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as a disk that fails
    return code


class Endpoint:
    """A server of embeddings on this machine, which answers well or in some other way."""

    def __init__(self) -> None:
        self.answers = "well"
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
                status, body = outer.answer(texts)
                self.send_response(status)
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> Endpoint:
        # A process of its own: a process with threads should not be forked.
        reader, writer = os.pipe()
        self.control = writer
        self.number = os.fork()
        if not self.number:
            os.close(writer)
            threading.Thread(target=self._listen, args=(reader,), daemon=True).start()
            self.server.serve_forever()
        os.close(reader)
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.number, signal.SIGKILL)
        os.waitpid(self.number, 0)

    def _listen(self, reader: int) -> None:
        while line := os.read(reader, 20):
            self.answers = line.decode().strip()
        os._exit(0)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "answers" and getattr(self, "number", 0):
            os.write(self.control, value.ljust(20).encode())
            time.sleep(0.02)

    def answer(self, texts: list[str]) -> tuple[int, bytes]:
        """Status and body for a request."""
        rows: list[Any] = [
            {"index": row, "embedding": [float(len(text)), *map(float, map(text.count, "aeiourtd"))]}
            for row, text in enumerate(texts)
        ]
        if self.answers == "too late":
            time.sleep(3 * PATIENCE)
        if self.answers.isdigit():
            return int(self.answers), b'{"error": {"message": "not now"}}'
        if self.answers == "garbage":
            return 200, np.random.default_rng(0).bytes(200)
        if self.answers == "not finite":
            rows[-1]["embedding"][0] = float("nan")
        return 200, json.dumps({"data": rows[: 1 if self.answers == "too few" else None]}).encode()

    def use(self) -> None:
        """Let this process ask this server, with little patience."""
        import httpx

        from textgauge.encode import endpoint

        known = httpx.Timeout
        httpx.Timeout = lambda *_, **__: known(PATIENCE)  # type: ignore[assignment, misc]
        endpoint.ATTEMPTS = 2
        os.environ |= {"TEXTGAUGE_API_BASE": f"http://127.0.0.1:{self.server.server_port}/v1", "NO_PROXY": "127.0.0.1"}


def answering(how: str) -> Fault:
    """An endpoint that answers in some way from the start, or from a moment on."""

    def fault(case: Started) -> int:
        if case.rng.random() < 0.5:
            case.endpoint.answers = how
        number = case.start()
        time.sleep(case.rng.uniform(0, 0.2))
        case.endpoint.answers = how
        return case.ended(number)

    return fault


def lost_worker(case: Started) -> int:
    """A cluster of two workers, of which one is killed at a random moment."""
    program = (
        "from distributed import LocalCluster; import sys\n"
        "if __name__ == '__main__':\n"
        " cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)\n"
        " print(cluster.scheduler_address, *(w.pid for w in cluster.workers.values()), flush=True); sys.stdin.read()"
    )
    cluster = subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1, stderr=-3, text=True)
    address, *workers = (cluster.stdout.readline() if cluster.stdout else "").split()
    number = case.child([address if item == "SCHEDULER" else item for item in case.arguments], case.folder)
    time.sleep(case.rng.uniform(0, 2.0))
    os.kill(int(workers[0]), signal.SIGKILL)
    code = case.ended(number)
    cluster.communicate()
    return code


FAULTS: dict[str, Fault] = {
    "kill -9": at_random(signal.SIGKILL),
    "SIGTERM": at_random(signal.SIGTERM),
    "Ctrl-C": at_random(signal.SIGINT),
    "no room": no_room,
    "full disk": full_disk,
    "read-only folder": read_only,
    "vanishing folder": vanishing,
    "clock going back": backwards,
    "two writers": several(2),
    "five writers": several(5),
    "cut off or bit turned": damaged,
    **{f"endpoint: {how}": answering(how) for how in ("too late", "429", "500", "garbage", "too few", "not finite")},
    "worker of a cluster lost": lost_worker,
}
if os.geteuid():
    del FAULTS["full disk"]
