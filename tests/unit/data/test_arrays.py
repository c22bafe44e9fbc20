"""Embeddings from .npy files, good and bad."""

import numpy as np
import pytest

from textgauge.core.errors import InputError
from textgauge.data import read_embeddings


def saved(tmp_path, array, **options):
    np.save(tmp_path / "a.npy", array, **options)
    return tmp_path / "a.npy"


def complaint(path):
    with pytest.raises(InputError) as caught:
        read_embeddings(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
def test_floats_are_memory_mapped_as_they_are(tmp_path, dtype):
    rows = np.arange(6, dtype=dtype).reshape(3, 2)
    found = read_embeddings(saved(tmp_path, rows))
    assert isinstance(found, np.memmap)
    assert found.dtype == rows.dtype
    assert np.array_equal(found, rows)


@pytest.mark.parametrize(
    ("dtype", "becomes"), [("<f2", "f4"), (">f4", "f4"), (">f8", "f8"), ("i4", "f8"), ("u1", "f8"), ("g", "f8")]
)
def test_other_numbers_are_converted(tmp_path, dtype, becomes):
    rows = np.arange(6).reshape(3, 2).astype(dtype)
    found = read_embeddings(saved(tmp_path, rows))
    assert found.dtype == np.dtype(becomes)
    assert np.array_equal(found, rows.astype(becomes))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite_names_the_row(tmp_path, value):
    rows = np.ones((9, 3))
    rows[7, 1] = value
    assert "a.npy: embedding 7 is not finite" in complaint(saved(tmp_path, rows))


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.ones(3), "float64 of shape"),
        (np.ones((2, 2, 2)), "float64 of shape"),
        (np.float64(1), "float64 of shape"),
        (np.ones((0, 4)), "of shape"),
        (np.ones((4, 0)), "of shape"),
        (np.array([["a", "b"]]), "must be a matrix of numbers"),
        (np.ones((2, 2), complex), "must be a matrix of numbers"),
        (np.ones((2, 2), bool), "must be a matrix of numbers"),
        (np.zeros((2, 2), [("a", "f4")]), "must be a matrix of numbers"),
    ],
)
def test_wrong_arrays(tmp_path, array, reason):
    assert reason in complaint(saved(tmp_path, array))


def test_objects_are_never_unpickled(tmp_path):
    path = saved(tmp_path, np.array([[1, "a"]], dtype=object), allow_pickle=True)
    assert "Python objects" in complaint(path)


def test_damaged_files(tmp_path, file):
    good = saved(tmp_path, np.ones((3, 2), "<f4")).read_bytes()
    lie = good.replace(b"(3, 2), ", b"(99999999, 99999999), ").replace(b" " * 14, b"", 1)
    changed = [good.replace(b"(3, 2)", b"open()"), good.replace(b"(3, 2)", b"((3, 2")]
    for content in (b"", good[:-4], b"hello", good[:30], lie, *changed):
        assert "not an .npy" in complaint(file("b.npy", content))
    assert "no such file" in complaint(tmp_path / "none.npy")
    assert "folder" in complaint(tmp_path)
