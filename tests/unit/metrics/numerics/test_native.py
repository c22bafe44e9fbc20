"""Which library is taken, what is said where there is none, and what is refused before C sees it."""

import hashlib
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.machinery import EXTENSION_SUFFIXES
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from textgauge.metrics.numerics import kmeans, native

SOURCE = Path(native.__file__).with_name("kmeans.c")
INTERFACE = "long long textgauge_interface(void) {{ return {}; }}"
OTHERS = "long long textgauge_has_avx2_build(void) { return 0; } long long textgauge_kmeans(void) { return 1; }"

needs_library = pytest.mark.skipif(native.library().compiled is None, reason="there is no compiled library")


@pytest.fixture
def stem(tmp_path):
    return tmp_path / "_kmeans"


@pytest.fixture
def compiled_from(stem):
    """A library from a line of C, in the place of ours."""

    def build(text, suffix=EXTENSION_SUFFIXES[0]):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            pytest.skip("there is no compiler")
        source = stem.with_name(f"{suffix}.c")
        source.write_text(text)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", f"{stem}{suffix}", source], check=True)

    return build


class TestLoad:
    def test_missing(self, stem):
        compiled, reason = native.load(stem)
        assert compiled is None
        assert "without a C compiler" in reason

    def test_a_folder_of_that_name(self, stem):
        Path(f"{stem}{EXTENSION_SUFFIXES[0]}").mkdir()
        assert native.load(stem).compiled is None

    @pytest.mark.parametrize("content", [b"", b"\x7fELF and no more", b"MZ", bytes(4096)])
    def test_damaged(self, stem, content):
        Path(f"{stem}{EXTENSION_SUFFIXES[0]}").write_bytes(content)
        compiled, reason = native.load(stem)
        assert compiled is None
        assert f"{stem}{EXTENSION_SUFFIXES[0]} cannot be used" in reason

    @pytest.mark.skipif(sys.platform != "linux" or sys.maxsize < 2**32, reason="the header of 64-bit ELF is read")
    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
    def test_cut_off(self, stem, compiled_from, share):
        compiled_from(INTERFACE.format(3) + OTHERS)
        path = Path(f"{stem}{EXTENSION_SUFFIXES[0]}")
        assert native.is_whole(path)
        assert native.load(stem).compiled is not None
        other = stem.with_name("_other")
        Path(f"{other}{EXTENSION_SUFFIXES[0]}").write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        compiled, reason = native.load(other)
        assert compiled is None
        assert "it is cut off" in reason

    def test_bytes_that_are_not_those_of_the_build_are_refused_before_they_are_loaded(self, stem, compiled_from):
        compiled_from(INTERFACE.format(3) + OTHERS)
        path = Path(f"{stem}{EXTENSION_SUFFIXES[0]}")
        content, record = path.read_bytes(), path.with_name(f"{path.name}.sha256")
        record.write_text(f"{len(content)} {hashlib.sha256(content).hexdigest()}\n")
        native.check(path)
        path.write_bytes(content[:-1])
        assert f"it has {len(content) - 1:,} bytes, its build had {len(content)}" in native.load(stem).reason
        for place in range(0, len(content), len(content) // 9):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            assert "its digest is not that of its build" in native.load(stem).reason
        record.write_bytes(b"\0")
        assert "the record of its build is damaged" in native.load(stem).reason

    def test_foreign(self, stem, compiled_from):
        compiled_from("int something_else(void) { return 1; }")
        assert "cannot be used" in native.load(stem).reason

    def test_of_another_interface(self, stem, compiled_from):
        compiled_from(INTERFACE.format(2) + OTHERS)
        compiled, reason = native.load(stem)
        assert compiled is None
        assert "another version" in reason

    @pytest.mark.skipif(len(EXTENSION_SUFFIXES) < 2, reason="extensions have one suffix here")
    def test_the_first_that_fits(self, stem, compiled_from):
        Path(f"{stem}{EXTENSION_SUFFIXES[0]}").write_bytes(b"damaged")
        compiled_from(INTERFACE.format(3) + OTHERS, EXTENSION_SUFFIXES[-1])
        assert native.load(stem).compiled is not None

    @needs_library
    def test_every_function_declares_its_arguments(self):
        compiled = native.library().compiled
        declared = {name for name in SOURCE.read_text().split() if name.startswith("textgauge_")}
        for name in {word.split("(")[0] for word in declared}:
            assert getattr(compiled, name).argtypes is not None, name


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [["-fopenmp-simd"], ["-Wno-unknown-pragmas"]])
def test_compilers_have_no_complaint(tmp_path, compiler, flags):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not here")
    strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *flags]
    subprocess.run([compiler, *strict, "-c", SOURCE, "-o", tmp_path / "kmeans.o"], check=True)


class TestSwitch:
    def test_off_is_quiet(self, monkeypatch):
        monkeypatch.setenv("TEXTGAUGE_NATIVE", "0")
        program = "from textgauge.metrics.numerics import native; print(native.available(), native.tier())"
        found = subprocess.run(
            [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True
        )
        assert found.stdout.strip() == "False NumPy: TEXTGAUGE_NATIVE=0 is set"

    def test_a_missing_library_is_one_warning(self, monkeypatch):
        monkeypatch.delenv("TEXTGAUGE_NATIVE", raising=False)
        monkeypatch.setattr(native, "library", lambda: native.Library(None, "there is none"))
        native.available.cache_clear()
        try:
            with warnings.catch_warnings(record=True, action="always") as caught:
                assert not native.available()
                assert not native.available()
            assert [str(one.message) for one in caught] == [
                "k-means runs in NumPy, more slowly: there is none (set TEXTGAUGE_NATIVE=0 to hide this warning)"
            ]
            assert native.tier() == "NumPy: there is none"
        finally:
            native.available.cache_clear()

    @needs_library
    def test_tier(self):
        assert native.tier() in ("compiled, AVX2 build", "compiled, baseline build")


def wholes(*shape):
    return np.zeros(shape, dtype=np.int64)


WRONG = {
    "type": (np.zeros((4, 4), dtype=np.float32), np.ones(4), wholes(1, 2)),
    "shape": (np.ones((4, 3)), np.ones(4), wholes(1, 2)),
    "weights": (np.ones((4, 4)), wholes(4), wholes(1, 2)),
    "starts": (np.ones((4, 4)), np.ones(4), wholes(1, 2).astype(np.int32)),
    "below": (np.ones((4, 4)), np.ones(4), wholes(1, 2) - 1),
    "above": (np.ones((4, 4)), np.ones(4), wholes(1, 2) + 4),
    "gaps": (np.ones((4, 4)), np.ones(4), wholes(1, 4)[:, ::2]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_c_would_misread_is_refused(name):
    with pytest.raises(ValueError, match=r"library needs|row that is not there"):
        native.kmeans_by_products(*WRONG[name], steps=9)


@needs_library
def test_an_empty_cluster_in_any_restart_is_not_decided():
    X = np.random.default_rng(1).standard_normal((20, 2))
    starts = np.array([[0, 1], [3, 3]])
    assert native.kmeans_by_products(X @ X.T, np.ones(20), starts[:1], steps=500) is not None
    assert native.kmeans_by_products(X @ X.T, np.ones(20), starts, steps=500) is None


@needs_library
def test_steps_are_bounded():
    X = np.random.default_rng(1).standard_normal((200, 2))
    (early,), _ = native.kmeans_by_products(X @ X.T, np.ones(200), np.arange(9)[None], steps=1)
    (late,), _ = native.kmeans_by_products(X @ X.T, np.ones(200), np.arange(9)[None], steps=500)
    assert (early != late).any()


@needs_library
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, 5e-324])
@pytest.mark.parametrize("place", ["products", "weights"])
def test_numbers_that_are_none_end_in_a_bounded_number_of_steps(value, place):
    X = np.random.default_rng(1).standard_normal((20, 2))
    given = {"products": X @ X.T, "weights": np.ones(20)}
    given[place].flat[7] = value
    found = native.kmeans_by_products(*given.values(), np.array([[0, 1, 2]]), steps=500)
    assert found is None or set(found[0].ravel().tolist()) <= {0, 1, 2}


@needs_library
@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (2, 2), (3, 2), (9, 8), (17, 1), (65, 64)])
def test_edge_sizes_are_those_of_numpy(n, k):
    X = np.random.default_rng(n).standard_normal((n, 3))
    start = kmeans.Start(k, 3, (0,))
    compiled = kmeans.by_products(X, np.ones(n), start)
    plain = kmeans.in_passes(X, np.ones(n), start)
    assert [labels.tolist() for labels, _ in compiled] == [labels.tolist() for labels, _ in plain]


def _labels(seed):
    X = np.random.default_rng(seed).standard_normal((120, 6))
    return kmeans.kmeans(X, np.ones(120), 9, restarts=4, seed=(seed,)).tolist()


@needs_library
def test_two_threads_and_a_forked_process_get_the_same_labels():
    alone = [_labels(seed) for seed in range(16)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(_labels, range(16))) == alone
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer versions advise against forking with threads
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            assert list(pool.map(_labels, range(16))) == alone
