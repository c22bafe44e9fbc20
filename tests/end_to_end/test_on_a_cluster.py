"""A Dask cluster gives the bits of one process, also when a worker is lost; a lost scheduler is one clear error."""

import json
import os
import signal
import threading
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from tests.unit.encode.conftest import save_word_tokenizer

from textgauge import compare, describe, score
from textgauge.core import parallel
from textgauge.core.errors import InputError, ResourceError
from textgauge.core.settings import limit_sizes

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster, about connections that are closed under it

WORDS = [f"w{number}" for number in range(40)]
NUMBERS = ("value", "low", "high", "null", "null_low", "p_value")


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    """Two files and a small static model; workers are other processes, so it is no stand-in of this one."""
    from safetensors.numpy import save_file

    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    model = tmp_path / "model"
    model.mkdir()
    save_word_tokenizer(model, {"[UNK]": 0} | {word: i + 1 for i, word in enumerate(WORDS)})
    save_file({"embeddings": rng.normal(size=(41, 6)).astype(np.float32)}, model / "model.safetensors")
    (model / "config.json").write_text(json.dumps({"normalize": False}))
    for name, size in (("a.txt", 230), ("b.txt", 220)):
        (tmp_path / name).write_text("\n".join(" ".join(rng.choice(WORDS, 8)) for _ in range(size)))
    with limit_sizes(50):  # more texts are on disk, and tasks are small
        yield [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")], f"static:{model}"


def numbers(report):
    return [[getattr(score, name) for name in NUMBERS] for score in report]


def measured(corpora, scheduler=None):
    paths, model = corpora
    metrics = f"energy@{model},fid@{model},ttest@{model},pr@{model},jsd@words"
    options = {"ci": True, "test": True, "permutations": 9, "metrics": metrics}
    return numbers(compare(*paths, scheduler=scheduler, **options))


def scored(corpora, scheduler=None):
    paths, model = corpora
    left, right = (Path(path).read_text().split("\n")[:220] for path in paths)
    right = [[one, left[0]] for one in right]
    report = score(left, right, metrics=f"cosine@{model},bleu,chrf,rouge1,tfidf,levenshtein", scheduler=scheduler)
    return without_times([report.to_dicts(parts=True), [row.to_dict() for row in report.summary()], report.warnings])


def described(corpora, scheduler=None):
    paths, model = corpora
    options = {"embedder": model, "grammar": None, "plausibility": "kneser-ney", "scheduler": scheduler}
    alone = describe(paths[0], against=paths[1], representative=paths[1], **options)
    train, test = (Path(path).read_text().split("\n")[:100] for path in reversed(paths))
    beside = describe({"one": paths[0], "two": paths[1]}, train=train, held_out=test, **options)
    return without_times([[row.to_dict() for row in found] for found in (alone, beside)])


def without_times(found):
    if isinstance(found, dict):
        return {name: without_times(value) for name, value in found.items() if name != "seconds"}
    return [without_times(one) for one in found] if isinstance(found, list | tuple) else found


WORK = [measured, scored, described]
FEW = {"threads_per_worker": 1, "dashboard_address": ":0"}


def test_two_workers_give_the_bits_of_one_process(corpora):
    with distributed.LocalCluster(n_workers=2, **FEW) as cluster:
        for work in WORK:
            assert repr(work(corpora, cluster.scheduler_address)) == repr(work(corpora))


def test_two_processes_give_the_bits_of_one_in_memory_too(corpora):
    with limit_sizes(10_000):
        assert repr(measured(corpora, "local:2")) == repr(measured(corpora))


@pytest.mark.parametrize(
    ("address", "reason"), [("local:none", "1 to 256"), ("local:99999", "1 to 256"), ("tcp://x:1", "another program")]
)
def test_an_address_that_means_nothing(corpora, monkeypatch, address, reason):
    monkeypatch.setattr(parallel, "_greet", Mock(side_effect=MemoryError("3 EiB")))  # what an HTTP server leads to
    with pytest.raises(InputError, match=reason):
        measured(corpora, address)


def test_workers_of_another_version_are_refused(corpora, monkeypatch):
    parallel.compute_code_digest.cache_clear()
    monkeypatch.setattr(parallel, "version", lambda name: "9.9")
    try:
        with pytest.raises(InputError, match="another textgauge"):
            measured(corpora, "local:1")
    finally:
        parallel.compute_code_digest.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("work", WORK)
def test_a_worker_that_is_killed_changes_no_bit(corpora, work):
    with limit_sizes(5), distributed.LocalCluster(n_workers=2, **FEW) as cluster:
        expected = work(corpora)  # under the same cap, which decides how sums round
        victim = next(iter(cluster.workers.values())).pid
        threading.Timer(0.5, lambda: os.kill(victim, signal.SIGKILL)).start()
        found = work(corpora, cluster.scheduler_address)
        assert victim not in [worker.pid for worker in cluster.workers.values()]
    assert repr(found) == repr(expected)


@pytest.mark.slow
@pytest.mark.parametrize("work", WORK)
def test_a_scheduler_that_is_lost_is_one_line_and_the_next_run_goes_on(corpora, work):
    import dask

    cluster = distributed.LocalCluster(n_workers=1, **FEW)
    threading.Timer(0.5, cluster.close).start()
    soon = {"distributed.comm.timeouts.connect": "1s", "distributed.deploy.lost-worker-timeout": "1s"}
    resumed = pytest.raises(ResourceError, match=r"are gone .*the same command resumes")
    with limit_sizes(5), dask.config.set(soon), resumed as error:
        work(corpora, cluster.scheduler_address)
    assert "\n" not in str(error.value)
    assert repr(work(corpora, "local:1")) == repr(work(corpora))
