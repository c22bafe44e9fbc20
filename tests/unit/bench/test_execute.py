"""One process, two, or a cluster: the same observations bit by bit."""

import subprocess
import sys
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from textgauge.bench import Speed, Store, run
from textgauge.bench.run import open_executor
from textgauge.core.errors import InputError, ResourceError
from textgauge.core.parallel import count_workers_of

run_module = import_module("textgauge.bench.run")  # the package has a function of that name

METRICS = "jsd@words,cbdf@words,zipf@words,energy@given,mmd@given,fid@given,pr@given,classifier@given,mauve@given"


@pytest.fixture
def serial(tmp_path, make_plan, contents):
    run([make_plan(METRICS)], Store(tmp_path / "serial"))
    return contents(tmp_path / "serial")


def test_processes_that_cannot_be_started_are_one_line(monkeypatch):
    def no_room(*_, **__):
        raise OSError(27, "File too large")

    monkeypatch.setattr(run_module, "ProcessPoolExecutor", no_room)
    with pytest.raises(InputError, match="2 local processes cannot be started here"), open_executor(jobs=2):
        pass


def test_two_processes_give_what_one_gives(tmp_path, make_plan, contents, same, serial):
    with open_executor(jobs=2) as pool:
        report = run([make_plan(METRICS)], Store(tmp_path / "pool"), executor=pool, ahead=2)
    assert report.computed == 27
    assert same(contents(tmp_path / "pool"), serial)


def test_a_dask_cluster_gives_what_one_process_gives(tmp_path, make_plan, contents, same, serial):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, open_executor(scheduler=cluster.scheduler_address) as where:
        report = run([make_plan(METRICS)], Store(tmp_path / "dask"), executor=where)
    assert report.computed == 27
    assert same(contents(tmp_path / "dask"), serial)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x"])
def test_a_scheduler_that_is_not_there_is_one_clear_error(address):
    pytest.importorskip("distributed")
    import dask

    soon = dask.config.set({"distributed.comm.timeouts.connect": "200ms"})
    complaint = pytest.raises(InputError, match="no Dask scheduler answers at")
    with soon, complaint as caught, open_executor(scheduler=address):
        pass
    assert "\n" not in str(caught.value)


class _Dying:
    """An executor whose work is lost."""

    def submit(self, *_):
        from concurrent.futures import Future
        from concurrent.futures.process import BrokenProcessPool

        future = Future()
        future.set_exception(BrokenProcessPool("a process was terminated"))
        return future


def test_a_worker_that_dies_is_one_clear_error_and_the_run_goes_on_later(tmp_path, make_plan):
    with pytest.raises(ResourceError, match=r"a worker process ended early .*run the same command again"):
        run([make_plan()], Store(tmp_path), executor=_Dying())
    assert run([make_plan()], Store(tmp_path)).computed == 6


class _Busy:
    """An executor that does its work at once and tells when."""

    def __init__(self):
        self.asked = []

    def submit(self, call, work, *_):
        from concurrent.futures import Future

        self.asked.append(work.cells[0].protocol)
        future = Future()
        future.set_result(call(work, None))
        return future


def test_times_are_taken_here_one_by_one(tmp_path, make_plan):
    plan = make_plan()
    timed = replace(plan, protocol=Speed(n=5, largest=20, repetitions=2))
    where = _Busy()
    report = run([plan, timed], Store(tmp_path), executor=where)
    assert report.computed == 6 + 4
    assert [protocol.partition("(")[0] for protocol in where.asked] == ["ksc"] * 3


def test_a_cluster_holds_more_batches_than_it_has_threads():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "processes": False, "threads_per_worker": 5, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, open_executor(scheduler=cluster.scheduler_address) as where:
        assert count_workers_of(where) == 10


class _Gone(BaseException):
    """The end of a process."""


def test_a_worker_keeps_every_metric_of_a_batch_as_soon_as_it_is_there(tmp_path, make_plan, monkeypatch):
    plan, store = make_plan("jsd@words,zipf@words"), Store(tmp_path)
    work = next(run_module._list_work([plan], set()))
    real = run_module.observe

    def killed(batch, metric, **how):
        if metric.name == "zipf":
            raise _Gone
        return real(batch, metric, **how)

    monkeypatch.setattr(run_module, "observe", killed)
    with pytest.raises(_Gone):
        run_module._observe_all(work, store)
    assert [store.read(cell) is not None for cell in work.cells] == [True, False]


ORPHANS = """
import os, time
from textgauge.bench.run import open_executor
if __name__ == "__main__":
    with open_executor(jobs=2) as pool:
        print(*{pool.submit(os.getpid).result() for _ in range(4)}, flush=True)
        time.sleep(60)
"""


def running(pid):
    """Whether a process is there and no zombie that waits for somebody to look at it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_workers_end_with_the_process_that_started_them(tmp_path):
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS, encoding="utf-8")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        workers = [int(pid) for pid in process.stdout.readline().split()]
        assert workers
        assert all(map(running, workers))
        process.kill()
    until = time.monotonic() + 30
    while any(map(running, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(running, workers))
