"""What the first version left behind, in tests/golden/first_version: runs and results are read, vectors passed over."""

import shutil
from pathlib import Path

import pytest

import textgauge
from textgauge.bench import Results, Store
from textgauge.core.settings import get_cache_root
from textgauge.data.cache import clean_cache
from textgauge.encode.resources import is_available

OLD = Path(__file__).parents[1] / "golden" / "first_version"
METRICS = "jsd@words,zipf@words"


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A copy of what was left, with the cache in use."""
    shutil.copytree(OLD, tmp_path, dirs_exist_ok=True)
    (tmp_path / "cache" / "resources").symlink_to(get_cache_root() / "resources")
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TEXTGAUGE_NO_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_is_read_and_goes_on(old):
    """Its draws have a name now, `draw=disjoint`; going on computes its cells again: a signature names the version."""
    (before,) = Results(Store(old / "run")).groups()
    assert set(before.complete) == set(METRICS.split(","))
    written = {path: path.stat().st_mtime_ns for path in (old / "run" / "cells").rglob("*.parquet")}
    options = {"k": 3, "n": 8, "repetitions": 2, "draw": "disjoint"}
    fresh, again = (
        textgauge.run("ksc", source_a="a.txt", source_b="b.txt", metrics=METRICS, out=out, **options)
        for out in ("fresh", "run")
    )
    assert [row["metric"] for row in again.rows] == [row["metric"] for row in fresh.rows]
    assert [row["overall"] for row in again.rows] == pytest.approx([row["overall"] for row in fresh.rows], rel=1e-12)
    now = {path: path.stat().st_mtime_ns for path in (old / "run" / "cells").rglob("*.parquet")}
    assert written.items() <= now.items()
    assert len(now) == 2 * len(written)


def test_a_result_is_read(old):
    found = textgauge.load("result.json")
    assert found.command == "compare"
    assert found.to_dicts()[0]["value"] == pytest.approx(0.1023689306009284)


def test_kept_vectors_of_another_form_are_passed_over_and_removed_with_the_cache(old):
    (folder,) = (old / "cache" / "embeddings").iterdir()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    if not is_available("minilm"):
        pytest.skip("minilm is not on this machine")
    corpora = ["snow on the hill", "rain on the lake"], ["a bird on the road", "a stone in the field"]
    textgauge.compare(*corpora, metrics="energy@minilm", test=False)
    assert {path: path.read_bytes() for path in before} == before
    clean_cache("embeddings")
    assert not folder.exists()
