"""Blocks of vectors: computed once, read back whole, kept when a run ends early."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from textgauge.core.errors import ResourceError
from textgauge.core.sizes import cap_sizes
from textgauge.data.blocks import EncodedTexts, embed_blocks
from textgauge.data.pool import Pool

TEXTS = [f"text {number} of some" for number in range(10)] + ["text 3 of some", "lone \ud800"]


class Lengths:
    name = identity = "lengths"
    dimension = 2

    def __init__(self):
        self.asked = []

    def encode(self, texts, *, batch_size=64, progress=None):
        self.asked += texts
        return np.array([[len(text), sum(map(ord, text))] for text in texts], dtype=np.float32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path))
    return tmp_path


def embedded(model, texts=TEXTS):
    with cap_sizes(4):
        return embed_blocks(model, texts, EncodedTexts.of(texts))


def test_vectors_are_computed_once_and_read_back(folder):
    first, second = Lengths(), Lengths()
    expected = Lengths().encode(TEXTS)
    np.testing.assert_array_equal(embedded(first), expected)
    np.testing.assert_array_equal(embedded(second), expected)
    assert sorted(first.asked) == sorted(TEXTS)
    assert second.asked == []
    longer = Lengths()
    embedded(longer, [*TEXTS, "one more"])
    assert longer.asked == ["one more"]


def test_a_damaged_block_is_computed_again(folder):
    embedded(Lengths())
    path = sorted(folder.rglob("*.blk"))[0]
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    for damaged in (bytes(data), data[:10], b""):
        path.write_bytes(damaged)
        again = Lengths()
        np.testing.assert_array_equal(embedded(again), Lengths().encode(TEXTS))
        assert len(again.asked) == 4


def test_nothing_is_kept_without_a_cache(folder, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_NO_CACHE", "1")
    np.testing.assert_array_equal(embedded(Lengths()), Lengths().encode(TEXTS))
    assert not list(folder.rglob("*.blk"))


def test_a_full_disk_is_one_line_and_finished_blocks_stay(folder, monkeypatch):
    write, written = Path.open, []

    def full(path, *args, **options):
        if path.suffix == ".part":
            written.append(path)
            if len(written) > 2:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, *args, **options)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ResourceError, match="No space left on device; what is finished is kept") as error:
        embedded(Lengths())
    assert "\n" not in str(error.value)
    monkeypatch.undo()
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(folder))
    again = Lengths()
    embedded(again)
    assert sorted(again.asked) == sorted(TEXTS[8:])


@pytest.mark.long
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    log = tmp_path / "log"
    script = f"""
import os, signal, sys
import numpy as np
from textgauge.data.blocks import EncodedTexts, embed_blocks
class Slow:
    name = identity = "slow"
    dimension = 1
    def encode(self, texts, *, batch_size=64, progress=None):
        with open({str(log)!r}, "a") as file:
            file.writelines(text + "\\n" for text in texts)
        if sys.argv[1] == "kill" and "12" in texts:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([[float(text)] for text in texts], dtype=np.float32)
texts = [str(number) for number in range(22)]
found = embed_blocks(Slow(), texts, EncodedTexts.of(texts))
assert found[:, 0].tolist() == [float(text) for text in texts]
"""
    with cap_sizes(4):
        environment = os.environ | {"TEXTGAUGE_CACHE": str(tmp_path / "cache")}
        first = subprocess.run([sys.executable, "-c", script, "kill"], env=environment, check=False)
        assert first.returncode == -signal.SIGKILL
        subprocess.run([sys.executable, "-c", script, "on"], env=environment, check=True)
    asked = log.read_text().split()
    unfinished = ["12", "13", "14", "15"]  # the block under way
    assert sorted(asked, key=int) == sorted([*map(str, range(22)), *unfinished], key=int)


def test_keys_are_those_of_pools():
    np.testing.assert_array_equal(EncodedTexts.of(TEXTS).keys(), Pool(TEXTS).keys)
