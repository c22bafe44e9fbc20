import os
import subprocess
import sys

import numpy as np
import pytest

from textgauge.testing import Undecided, assert_no_near_copies, assert_not_worse, assert_same_source

RNG = np.random.default_rng(3)


def texts(words, n=150):
    return [" ".join(RNG.choice(words, 5)) for _ in range(n)]


NEAR = texts(["cat", "dog", "cow", "hen", "red", "old"])
FAR = texts(["ship", "boat", "sail", "mast", "red", "new"])


def test_same_source():
    assert_same_source(NEAR[::2], NEAR[1::2], metric="jsd@words", max_ratio=9)
    with pytest.raises(AssertionError, match="fail: drift: jsd@words over its mean if same source"):
        assert_same_source(NEAR, FAR, metric="jsd@words")
    with pytest.raises(Undecided, match="no interval below"):
        assert_same_source(NEAR[:9], NEAR[9:19], metric="jsd@words")


def test_near_copies():
    assert_no_near_copies([f"{n} {n}" for n in range(150)], NEAR)
    with pytest.raises(AssertionError, match="share of near copies"):
        assert_no_near_copies(NEAR, NEAR)


def test_not_worse():
    assert_not_worse(NEAR, NEAR, NEAR, metric="jaccard")
    with pytest.raises(AssertionError, match="drop of jaccard"):
        assert_not_worse(FAR, NEAR, NEAR, metric="jaccard")


def test_the_plug_in_offers_the_fixture(tmp_path):
    (tmp_path / "test_texts.py").write_text(
        "def test_copies(gauge):\n    gauge.no_near_copies([f'{n} {n}' for n in range(150)], ['a b', 'c d'])\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "textgauge.pytest_plugin", "-p", "no:cacheprovider"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # installed or not, it is loaded once
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=alone)
    assert "1 passed" in found.stdout, found.stdout + found.stderr
