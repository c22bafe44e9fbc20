from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.toys import Letters

from textgauge.core.settings import limit_sizes
from textgauge.data.cache import encode_cached

TEXTS = [f"text number {number} {'x' * (number % 5)}" for number in range(40)] + [
    "",
    "",
    "lone \ud800",
    "text number 3 xxx",
]


def plain(texts=TEXTS):
    return Letters().encode(texts)


def files(folder):
    return sorted(folder.rglob("*.sqlite"))


def test_cold_warm_and_off_are_the_same(tmp_path, monkeypatch):
    cold, warm, off = Letters(), Letters(), Letters()
    np.testing.assert_array_equal(encode_cached(cold, TEXTS, cache_dir=tmp_path), plain())
    np.testing.assert_array_equal(encode_cached(warm, TEXTS, cache_dir=tmp_path), plain())
    before = files(tmp_path)
    monkeypatch.setenv("TEXTGAUGE_NO_CACHE", "1")
    np.testing.assert_array_equal(encode_cached(off, TEXTS, cache_dir=tmp_path), plain())
    assert sorted(cold.asked) == sorted(set(TEXTS))
    assert warm.asked == []
    assert sorted(off.asked) == sorted(set(TEXTS))
    assert files(tmp_path) == before


def test_only_what_is_missing_is_computed(tmp_path):
    encode_cached(Letters(), TEXTS[:10], cache_dir=tmp_path)
    encoder = Letters()
    np.testing.assert_array_equal(encode_cached(encoder, TEXTS, cache_dir=tmp_path), plain())
    assert set(encoder.asked) == set(TEXTS) - set(TEXTS[:10])


def test_identities_do_not_meet(tmp_path):
    encode_cached(Letters("letters-1"), TEXTS, cache_dir=tmp_path)
    other = Letters("letters-2")
    encode_cached(other, TEXTS, cache_dir=tmp_path)
    assert sorted(other.asked) == sorted(set(TEXTS))


def test_the_folder_of_the_setting_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path))
    monkeypatch.delenv("TEXTGAUGE_NO_CACHE", raising=False)
    encode_cached(Letters(), ["a"])
    assert len(files(tmp_path / "embeddings")) == 1


def test_progress_counts_what_the_cache_had(tmp_path, counts):
    encode_cached(Letters(), TEXTS[:6], cache_dir=tmp_path)
    counts.clear()
    with limit_sizes(4):
        encode_cached(Letters(), TEXTS[:12], cache_dir=tmp_path)
    assert list(dict.fromkeys(counts)) == [(6, 12), (10, 12), (12, 12)]


@pytest.mark.filterwarnings("ignore:the embedding cache has a damaged file")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(data=st.data())
def test_no_damage_changes_the_result(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("cache")
    encode_cached(Letters(), TEXTS, cache_dir=folder)
    (path,) = files(folder)
    content = bytearray(path.read_bytes())
    kind = data.draw(st.sampled_from(["flip", "cut", "longer", "empty", "noise"]))
    place = data.draw(st.integers(0, len(content) - 1))
    if kind == "flip":
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(
        {"flip": content, "cut": content[:place], "longer": content + b"x", "empty": b"", "noise": os.urandom(64)}[kind]
    )
    for _ in range(2):
        np.testing.assert_array_equal(encode_cached(Letters(), TEXTS, cache_dir=folder), plain())


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0 no more", b"x" * 4096])
def test_a_file_that_is_none_is_made_again(tmp_path, content):
    encode_cached(Letters(), TEXTS, cache_dir=tmp_path)
    files(tmp_path)[0].write_bytes(content)
    with warnings.catch_warnings() if not content else pytest.warns(UserWarning, match="damaged file"):
        np.testing.assert_array_equal(encode_cached(Letters(), TEXTS, cache_dir=tmp_path), plain())
    last = Letters()
    np.testing.assert_array_equal(encode_cached(last, TEXTS, cache_dir=tmp_path), plain())
    assert last.asked == []


def test_a_vector_that_is_damaged_is_computed_again(tmp_path):
    encode_cached(Letters(), TEXTS, cache_dir=tmp_path)
    (path,) = files(tmp_path)
    with closing(sqlite3.connect(path)) as file, file:
        (key,) = file.execute("SELECT key FROM vectors LIMIT 1").fetchone()
        file.execute(
            "UPDATE vectors SET vector = (SELECT vector FROM vectors WHERE key != ?) WHERE key = ?", (key, key)
        )
    again, last = Letters(), Letters()
    for encoder in (again, last):
        np.testing.assert_array_equal(encode_cached(encoder, TEXTS, cache_dir=tmp_path), plain())
    assert len(again.asked) == 1
    assert last.asked == []


def test_a_cache_that_cannot_be_written_is_one_warning(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = encode_cached(Letters(), TEXTS, cache_dir=tmp_path / "file")
    np.testing.assert_array_equal(got, plain())
    assert [str(item.message).split(" (")[0] for item in caught] == [
        f"cannot use the embedding cache {tmp_path / 'file'}"
    ]


def test_vectors_that_are_not_finite_are_given_but_not_kept(tmp_path):
    class Broken(Letters):
        def encode(self, texts, **options):
            vectors = super().encode(texts, **options)
            vectors[[text == "bad" for text in texts]] = np.nan
            return vectors

    assert np.isnan(encode_cached(Broken(), ["good", "bad"], cache_dir=tmp_path)[1]).all()
    again = Broken()
    encode_cached(again, ["good", "bad"], cache_dir=tmp_path)
    assert again.asked == ["bad"]


def test_a_model_that_changed_its_dimension_is_asked_anew(tmp_path):
    class Short(Letters):
        def encode(self, texts, **options):
            return super().encode(texts, **options)[:, :3]

    encode_cached(Letters(), TEXTS[:5], cache_dir=tmp_path)
    np.testing.assert_array_equal(encode_cached(Short(), TEXTS, cache_dir=tmp_path), plain()[:, :3])


def work(folder, start):
    texts = [f"shared {number}" for number in range(start, start + 60)]
    return all(np.array_equal(encode_cached(Letters(), texts, cache_dir=folder), plain(texts)) for _ in range(3))


@pytest.mark.long
def test_processes_may_share_it(tmp_path):
    """Writers at once: every reader gets the right numbers, and the file stays whole."""
    with limit_sizes(1), multiprocessing.get_context("spawn").Pool(3) as pool:  # each text is written by itself
        assert pool.starmap(work, [(tmp_path, start) for start in (0, 10, 20, 30)]) == [True] * 4
    warm = Letters()
    texts = [f"shared {number}" for number in range(90)]
    np.testing.assert_array_equal(encode_cached(warm, texts, cache_dir=tmp_path), plain(texts))
    assert warm.asked == []


@pytest.mark.long
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    log = tmp_path / "log"
    script = f"""
import os, signal, sys
import numpy as np
from textgauge.data.cache import encode_cached
class Slow:
    name = identity = "slow"
    dimension = 1
    def encode(self, texts, *, batch_size=64):
        with open({str(log)!r}, "a") as file:
            file.writelines(text + "\\n" for text in texts)
        if sys.argv[1] == "kill" and "12" in texts:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([[float(text)] for text in texts], dtype=np.float32)
texts = [str(number) for number in range(22)]
assert encode_cached(Slow(), texts)[:, 0].tolist() == [float(text) for text in texts]
"""
    with limit_sizes(4):
        environment = os.environ | {"TEXTGAUGE_CACHE": str(tmp_path / "cache")}
        first = subprocess.run([sys.executable, "-c", script, "kill"], env=environment, check=False)
        assert first.returncode == -signal.SIGKILL
        subprocess.run([sys.executable, "-c", script, "on"], env=environment, check=True)
    asked = log.read_text().split()
    assert len(asked) - len(set(asked)) == 4  # the chunk under way
    assert sorted(set(asked), key=int) == [str(number) for number in range(22)]
