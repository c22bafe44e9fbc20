"""A Dask cluster gives the bits of one process, also when a worker is lost; a lost scheduler is one clear error."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import numpy as np
import pytest

from textgauge import compare
from textgauge.data import blocks, stream
from textgauge.errors import InputError, ResourceError

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster, about connections that are closed under it

WORDS = [f"w{number}" for number in range(40)]
NUMBERS = ("value", "low", "high", "null", "null_low", "p_value")


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    """Two files and a small static model; workers are other processes, so it is no stand-in of this one."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(stream, "PARTITION", 50)
    rng = np.random.default_rng(0)
    library = Tokenizer(WordLevel({"[UNK]": 0} | {word: i + 1 for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    library.pre_tokenizer = Whitespace()
    library.save(str(tmp_path / "tokenizer.json"))
    save_file({"embeddings": rng.normal(size=(41, 6)).astype(np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"normalize": False}))
    for name, size in (("a.txt", 700), ("b.txt", 600)):
        (tmp_path / name).write_text("\n".join(" ".join(rng.choice(WORDS, 8)) for _ in range(size)))
    return [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")], f"static:{tmp_path}"


def numbers(report):
    return [[getattr(score, name) for name in NUMBERS] for score in report]


def measured(corpora, scheduler=None):
    paths, model = corpora
    metrics = f"energy@{model},fid@{model},ttest@{model},jsd@words"
    options = {"ci": True, "test": True, "permutations": 9, "metrics": metrics}
    if scheduler is None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stream, "STREAMED", 10)
            return numbers(compare(*paths, **options))
    return numbers(compare(*paths, scheduler=scheduler, **options))


def test_two_workers_give_the_bits_of_one_process(corpora):
    np.testing.assert_array_equal(measured(corpora, "local:2"), measured(corpora))


def test_an_address_that_means_nothing(corpora):
    with pytest.raises(InputError, match="give the number of processes"):
        measured(corpora, "local:none")


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_no_bit(corpora):
    expected = measured(corpora)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        victims = [worker.pid for worker in cluster.workers.values()]
        threading.Timer(1.0, lambda: os.kill(victims[0], signal.SIGKILL)).start()
        for _ in range(3):
            np.testing.assert_array_equal(measured(corpora, cluster.scheduler_address), expected)
            time.sleep(0.5)


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_one_line_and_the_next_run_goes_on(corpora, monkeypatch):
    import dask

    monkeypatch.setattr(blocks, "BLOCK", 10)
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    read, parts = stream.TextStream.partitions, []

    def losing(self):
        for part in read(self):
            parts.append(part)
            if len(parts) == 6:
                cluster.close()
            yield part

    monkeypatch.setattr(stream.TextStream, "partitions", losing)
    soon = {"distributed.comm.timeouts.connect": "1s", "distributed.deploy.lost-worker-timeout": "1s"}
    with dask.config.set(soon), pytest.raises(ResourceError, match="the same command resumes") as error:
        measured(corpora, cluster.scheduler_address)
    assert "\n" not in str(error.value)
    monkeypatch.setattr(stream.TextStream, "partitions", read)
    np.testing.assert_array_equal(measured(corpora, "local:1"), measured(corpora))
