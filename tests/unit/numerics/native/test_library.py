"""Which library is taken, and what is refused before C sees it."""

import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pytest

from textgauge.numerics.native import kernels, library
from textgauge.numerics.native.lloyd import Lloyd, Rows, bounds_for, lloyd_by_products

needs_kernels = pytest.mark.skipif(not kernels.built(), reason="the kernels are not compiled")
SEVEN = np.zeros(7, dtype=np.float32)


def floats(*shape):
    return np.zeros(shape, dtype=np.float32)


def wholes(*shape):
    return np.zeros(shape, dtype=np.int64)


def by_products(products, places, squares, labels):
    return kernels.svm_by_products(products, places, squares, labels, factor=-1.0, above=1.0, tolerance=1.0)


def weighted(products, left, right, weights):
    squares = floats(len(left)), floats(len(right))
    return kernels.rbf_weighted(products, (left, right), squares, weights, factor=-1.0)


@pytest.fixture
def stem(tmp_path):
    return tmp_path / "_kernels"


@pytest.fixture
def compiled_from(stem):
    """A library from a line of C, in the place of the kernels."""

    def build(text, suffix=EXTENSION_SUFFIXES[0]):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            pytest.skip("there is no compiler")
        source = stem.with_name(f"{suffix}.c")
        source.write_text(text)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", f"{stem}{suffix}", source], check=True)

    return build


def place_of_the_kernels():
    stem = Path(library.__file__).with_name("_kernels")
    return next(path for suffix in EXTENSION_SUFFIXES if (path := stem.with_name(stem.name + suffix)).is_file())


class TestFound:
    def test_missing(self, stem):
        assert library._load(stem) is None

    def test_a_folder_of_that_name(self, stem):
        Path(f"{stem}{EXTENSION_SUFFIXES[0]}").mkdir()
        assert library._load(stem) is None

    @pytest.mark.parametrize("content", [b"", b"\x7fELF and no more", b"MZ", bytes(4096)])
    def test_damaged(self, stem, content):
        Path(f"{stem}{EXTENSION_SUFFIXES[0]}").write_bytes(content)
        assert library._load(stem) is None

    def test_foreign(self, stem, compiled_from):
        compiled_from("int something_else(void) { return 1; }")
        assert library._load(stem) is None

    def test_of_another_interface(self, stem, compiled_from):
        compiled_from(f"long long textgauge_interface(void) {{ return {library._INTERFACE + 1}; }}")
        assert library._load(stem) is None

    def test_of_this_interface(self, stem, compiled_from):
        compiled_from(f"long long textgauge_interface(void) {{ return {library._INTERFACE}; }}")
        assert library._load(stem) is not None

    @pytest.mark.skipif(len(EXTENSION_SUFFIXES) < 2, reason="extensions have one suffix here")
    def test_the_first_that_fits(self, stem, compiled_from):
        Path(f"{stem}{EXTENSION_SUFFIXES[0]}").write_bytes(b"damaged")
        compiled_from(f"long long textgauge_interface(void) {{ return {library._INTERFACE}; }}", EXTENSION_SUFFIXES[-1])
        assert library._load(stem) is not None

    @needs_kernels
    def test_our_own(self):
        assert library._load(place_of_the_kernels().with_name("_kernels")) is not None


class TestSwitch:
    @pytest.mark.parametrize("value", ["0", "1", None])
    def test_in_the_environment(self, monkeypatch, value):
        monkeypatch.setattr(library, "_load", lambda stem: "library")
        monkeypatch.delenv("TEXTGAUGE_NATIVE", raising=False)
        if value is not None:
            monkeypatch.setenv("TEXTGAUGE_NATIVE", value)
        assert library.compiled.__wrapped__() == (None if value == "0" else "library")

    def test_of_a_process(self, monkeypatch):
        monkeypatch.setenv("TEXTGAUGE_NATIVE", "0")
        told = "from textgauge.numerics.native import kernels; print(kernels.built())"
        found = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
        assert found.stdout.strip() == "False"

    def test_a_call_without_the_library(self, monkeypatch):
        monkeypatch.setattr(library, "compiled", lambda: None)
        with pytest.raises(RuntimeError, match="not compiled"):
            library.call("angles", 1, SEVEN, SEVEN)


WRONG = {
    "tridiagonal: type": lambda: kernels.tridiagonal(floats(4, 4)),
    "tridiagonal: shape": lambda: kernels.tridiagonal(np.zeros((4, 5))),
    "tridiagonal: gaps": lambda: kernels.tridiagonal(np.zeros((4, 8))[:, ::2]),
    "tridiagonal: order": lambda: kernels.tridiagonal(np.asfortranarray(np.zeros((4, 4)))),
    "eigenvalues: too many beside": lambda: kernels.eigenvalues([(np.zeros(3), np.zeros(4))]),
    "eigenvectors: type": lambda: kernels.eigenvectors(np.zeros(4), np.zeros(3), floats(2)),
    "eigenvectors: shape": lambda: kernels.eigenvectors(np.zeros(4), np.zeros(4), np.zeros(2)),
    "eigenvectors: reflections": lambda: kernels.eigenvectors(
        np.zeros(4), np.zeros(3), np.zeros(2), (np.zeros((4, 3)), np.zeros(3))
    ),
    "eigenvectors: order": lambda: kernels.eigenvectors(
        np.zeros(4), np.zeros(3), np.zeros(2), (np.asfortranarray(np.zeros((4, 4))), np.zeros(3))
    ),
    "eigenvectors: factors": lambda: kernels.eigenvectors(
        np.zeros(4), np.zeros(3), np.zeros(2), (np.zeros((4, 4)), np.zeros(4))
    ),
    "svm: type": lambda: kernels.svm(np.ones((4, 4)), floats(4), tolerance=1.0),
    "svm: shape": lambda: kernels.svm(floats(4, 3), floats(4), tolerance=1.0),
    "svm: labels": lambda: kernels.svm(floats(4, 4), np.zeros(4), tolerance=1.0),
    "svm: gaps": lambda: kernels.svm(floats(4, 8)[:, ::2], floats(4), tolerance=1.0),
    "svm_by_products: type": lambda: by_products(np.ones((4, 4)), wholes(3), floats(3), floats(3)),
    "svm_by_products: shape": lambda: by_products(floats(4, 5), wholes(3), floats(3), floats(3)),
    "svm_by_products: gaps": lambda: by_products(floats(4, 8)[:, ::2], wholes(3), floats(3), floats(3)),
    "svm_by_products: places": lambda: by_products(floats(4, 4), wholes(2), floats(3), floats(3)),
    "svm_by_products: a place outside": lambda: by_products(floats(4, 4), wholes(3) + 4, floats(3), floats(3)),
    "svm_by_products: not all": lambda: by_products(floats(4, 4), None, floats(3), floats(3)),
    "svm_by_products: squares": lambda: by_products(floats(4, 4), None, floats(3), floats(4)),
    "svm_by_products: labels": lambda: by_products(floats(4, 4), None, floats(4), np.zeros(4)),
    "products: type": lambda: kernels.products(np.zeros((4, 3))),
    "products: gaps": lambda: kernels.products(floats(4, 8)[:, ::2]),
    "products: dimension": lambda: kernels.products(floats(4, 3), floats(2, 4)),
    "products: order": lambda: kernels.products(floats(4, 3), floats(3, 2).T),
    "squares: type": lambda: kernels.squares(np.zeros((4, 3))),
    "squares: gaps": lambda: kernels.squares(floats(4, 8)[:, ::2]),
    "rbf_weighted: type": lambda: weighted(np.zeros((4, 5)), wholes(2), wholes(3), np.zeros(3)),
    "rbf_weighted: weights": lambda: weighted(floats(4, 5), wholes(2), wholes(3), np.zeros(2)),
    "rbf_weighted: row outside": lambda: weighted(floats(4, 5), wholes(2) + 4, wholes(3), np.zeros(3)),
    "rbf_weighted: column outside": lambda: weighted(floats(4, 5), wholes(2), wholes(3) - 1, np.zeros(3)),
    "rbf_weighted: squares": lambda: kernels.rbf_weighted(
        floats(4, 5), (wholes(2), wholes(3)), (floats(3), floats(2)), np.zeros(3), factor=-1.0
    ),
    "rbf: type": lambda: kernels.rbf(np.zeros(4), -1.0, 0.0, 1.0),
    "rbf: gaps": lambda: kernels.rbf(floats(4, 8)[:, ::2], -1.0, 0.0, 1.0),
    "rbf_picked: shape": lambda: kernels.rbf_picked(floats(4, 5), wholes(1), wholes(1), -1.0, 0.0, 1.0),
    "rbf_picked: gaps": lambda: kernels.rbf_picked(floats(4, 8)[:, ::2], wholes(1), wholes(1), -1.0, 0.0, 1.0),
    "rbf_picked: gaps between places": lambda: kernels.rbf_picked(
        floats(4, 4), wholes(6)[::2], wholes(1), -1.0, 0.0, 1.0
    ),
    "rbf_picked: row outside": lambda: kernels.rbf_picked(floats(4, 4), wholes(2) + 4, wholes(1), -1.0, 0.0, 1.0),
    "rbf_picked: column outside": lambda: kernels.rbf_picked(floats(4, 4), wholes(2), wholes(1) - 1, -1.0, 0.0, 1.0),
    "angles: type": lambda: kernels.angles(np.zeros(4), SEVEN),
    "angles: gaps": lambda: kernels.angles(floats(4, 8)[:, ::2], SEVEN),
    "angles: polynomial": lambda: kernels.angles(floats(4), floats(6)),
    "angle_sums: shifts": lambda: kernels.angle_sums(
        floats(4, 3), SEVEN, (floats(3), floats(4)), (floats(4), floats(3))
    ),
    "angle_sums: weights": lambda: kernels.angle_sums(
        floats(4, 3), SEVEN, (floats(4), floats(3)), (floats(4), np.zeros(3))
    ),
    "angle_sums: order": lambda: kernels.angle_sums(
        floats(3, 4).T, SEVEN, (floats(4), floats(3)), (floats(4), floats(3))
    ),
    "lloyd_by_products: type": lambda: lloyd_by_products(floats(4, 4), np.ones(4), wholes(1, 2), steps=9),
    "lloyd_by_products: shape": lambda: lloyd_by_products(np.ones((4, 3)), np.ones(4), wholes(1, 2), steps=9),
    "lloyd_by_products: weights": lambda: lloyd_by_products(np.ones((4, 4)), wholes(4), wholes(1, 2), steps=9),
    "lloyd_by_products: starts": lambda: lloyd_by_products(
        np.ones((4, 4)), np.ones(4), wholes(1, 2).astype(np.int32), steps=9
    ),
    "lloyd_by_products: below": lambda: lloyd_by_products(np.ones((4, 4)), np.ones(4), wholes(1, 2) - 1, steps=9),
    "lloyd_by_products: above": lambda: lloyd_by_products(np.ones((4, 4)), np.ones(4), wholes(1, 2) + 4, steps=9),
    "lloyd_by_products: gaps": lambda: lloyd_by_products(np.ones((4, 4)), np.ones(4), wholes(1, 4)[:, ::2], steps=9),
    "Rows: type": lambda: Rows(floats(4, 2), np.ones(4)),
    "Rows: weights": lambda: Rows(np.ones((4, 2)), np.ones(5)),
    "Lloyd: centroids": lambda: Lloyd(Rows(np.ones((4, 2)), np.ones(4)), np.ones((2, 3)), bounds_for(4, 2)),
    "Lloyd: bounds": lambda: Lloyd(Rows(np.ones((4, 2)), np.ones(4)), np.ones((2, 2)), floats(4, 2)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_kernel_would_misread_is_refused(name, monkeypatch):
    def unseen(*_):
        raise AssertionError("a kernel was called")

    class Library:
        def __getattr__(self, kernel):
            return unseen

    monkeypatch.setattr(library, "compiled", Library)
    with pytest.raises(ValueError, match=r"kernel|place|row|broadcast"):
        WRONG[name]()


@needs_kernels
def test_whole_numbers_may_stand_for_floats():
    squares = np.arange(5, dtype=np.float32)
    assert (kernels.rbf(squares.copy(), -1, 0, 1) == kernels.rbf(squares.copy(), -1.0, 0.0, 1.0)).all()
    with pytest.raises(AttributeError):
        library.call("no_such_kernel")
