"""Every reader on damaged files: a good answer or one clear error; the same files as `benchmarks.attack`."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from benchmarks.attack_files import damaged, targets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textgauge.core.errors import TextgaugeError

SLOW = {"ELMo, options", "ELMo, weights", "safetensors", "run store, manifest", "saved result without checksum, report"}


FOUND = sorted(path for path in Path(__file__).with_name("found").glob("*/*") if path.is_file())


def complaint(target, path):
    """What the reader says of a file; None where it reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.read(path)
        except TextgaugeError as error:
            return str(error)
    return None


def check(target, folder, content):
    path = folder / target.file
    path.write_bytes(content)
    said = complaint(target, path)
    if said is None:
        assert not target.checked or json.loads(content) == json.loads(target.content)
    else:
        assert 0 < len(said) < 2_000
        assert "\n" not in said


@pytest.mark.parametrize("name", targets())
def test_a_whole_file_is_read(name, tmp_path):
    target = targets()[name]
    check(target, tmp_path, target.content)


@pytest.mark.parametrize("name", targets())
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_damage_is_refused_in_one_line_or_harmless(name, tmp_path, seed):
    if name in SLOW and seed % 5:
        return
    check(targets()[name], tmp_path, damaged(targets()[name], np.random.default_rng(seed)))


@pytest.mark.parametrize("name", [name for name in targets() if name not in SLOW])
@given(content=st.binary(max_size=300))
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_any_bytes_at_all(name, tmp_path, content):
    check(targets()[name], tmp_path, content)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_a_fuzzer_found(path, tmp_path):
    names = {name.replace(" ", "-"): name for name in targets()}
    check(targets()[names[path.parent.name]], tmp_path, path.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("name", targets())
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_two_thousand_damaged_files(name, tmp_path, seed):
    check(targets()[name], tmp_path, damaged(targets()[name], np.random.default_rng(seed)))
