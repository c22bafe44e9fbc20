import os

import pytest

from textgauge.checking import read_checks
from textgauge.checking.run import Baselines
from textgauge.encode.token_vectors.elmo import read_sizes
from textgauge.errors import TextgaugeError
from textgauge.evaluate.store import Store
from textgauge.limits import stored_bytes


@pytest.fixture(params=["device", "pipe"])
def endless(request, tmp_path):
    """Makes a path lead to something without an end."""

    def make(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if request.param == "device":
            path.symlink_to("/dev/zero")
        else:
            os.mkfifo(path)
        return path

    return make


def test_whole_files_are_read_up_to_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert stored_bytes(path) == b"12345"
    monkeypatch.setenv("TEXTGAUGE_MAX_BYTES", "4")
    with pytest.raises(OSError, match="5 bytes; the limit is 4 bytes"):
        stored_bytes(path)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("run/manifests/a.json", lambda path: Store(path.parent.parent).manifests()),
        ("checks.toml", read_checks),
        ("baselines.json", Baselines.read),
        ("options.json", read_sizes),
    ],
)
def test_what_has_no_end_is_refused_at_once(tmp_path, endless, name, read):
    with pytest.raises(TextgaugeError, match="not a regular file"):
        read(endless(tmp_path / name))


def test_a_result_without_end_counts_as_missing(tmp_path, endless):
    endless(tmp_path / "derived" / "x.json")
    with pytest.warns(RuntimeWarning, match="not a regular file"):
        assert Store(tmp_path).read_extra("x") is None
