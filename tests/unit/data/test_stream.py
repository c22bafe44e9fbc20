"""Sources in batches: blank texts left out, many files as one, large ones on disk and in groups of texts."""

import sys
from types import SimpleNamespace

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.core.errors import InputError
from textgauge.core.settings import limit_sizes
from textgauge.data import Pool, load_corpus
from textgauge.data.large import GROUPS, count_groups, load_comparison, open_batches, sample_comparison
from textgauge.data.pool import StoredTexts, iterate_rows

pytestmark = pytest.mark.filterwarnings("ignore:.*holds numbers")  # numbers are the shortest texts


@pytest.fixture
def parts():
    def texts(source, **options):
        return [text for batch in open_batches(source, **options) for text in batch]

    with limit_sizes(4):
        yield texts


def test_many_files_are_one_source(file, parts, tmp_path):
    for name, content in (("a.txt", "1\n2\n3\n"), ("b.txt", "4\n5\n"), ("c.txt", "6\n7\n8\n9\n")):
        file(name, content)
    assert parts(str(tmp_path / "*.txt")) == list("123456789")
    assert load_corpus(str(tmp_path / "*.txt")).texts == tuple("123456789")


def test_a_folder_of_tables_and_a_glob_with_a_column(parts, tmp_path):
    for number in range(2):
        frame = polars.DataFrame({"body": [f"{number}{i}" for i in range(3)], "n": [1, 2, 3]})
        frame.write_parquet(tmp_path / f"{number}.parquet")
    expected = ["00", "01", "02", "10", "11", "12"]
    assert parts(tmp_path, column="body") == expected
    assert parts(f"{tmp_path}/*.parquet:body") == expected
    assert load_corpus(f"{tmp_path}/*.parquet:body").texts == tuple(expected)
    with pytest.raises(InputError, match="no file has such a name"):
        open_batches(f"{tmp_path}/*.csv")


def test_files_and_splits_of_the_hub(parts, tmp_path, monkeypatch):
    polars.DataFrame({"text": [f"{i}" for i in range(6)]}).write_ipc_stream(tmp_path / "a.arrow")
    polars.DataFrame({"body": [f"{i}" for i in range(6)]}).write_parquet(tmp_path / "a.parquet")

    class Split:
        def __init__(self, size):
            self.cache_files, self.size = [{"filename": str(tmp_path / "a.arrow")}], size

        def __len__(self):
            return self.size

    known = {"train": Split(6), "train[:50%]": Split(3)}
    datasets = SimpleNamespace(load_dataset=lambda name, split: known[split])
    download = SimpleNamespace(hf_hub_download=lambda *_, **__: str(tmp_path / "a.parquet"))
    monkeypatch.setitem(sys.modules, "datasets", datasets)
    monkeypatch.setitem(sys.modules, "huggingface_hub", download)
    assert parts("hf://owner/name") == list("012345")
    assert open_batches("hf://owner/name:train[:50%]") is None  # its rows are some of the file's
    assert parts("hf://datasets/owner/name@main/a.parquet", column="body") == list("012345")


def test_blank_texts_are_left_out_and_counted(file, parts):
    path = file("a.txt", "1\n\n2\n   \n3\n4\n5\n")
    with pytest.warns(UserWarning, match="blank texts left out: 2 of 7"):
        assert parts(path) == list("12345")
    with pytest.raises(InputError, match="every line is blank"):
        parts(file("b.txt", "\n\n"))


@pytest.mark.parametrize("source", ["sample:banking", "-", "missing", ["a", 1], object()])
def test_what_is_read_whole(source):
    assert open_batches(source) is None


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=5), max_size=12), st.integers(1, 5))
def test_texts_on_disk_are_those_that_were_written(texts, size):
    stored = StoredTexts([texts[: len(texts) // 2], texts[len(texts) // 2 :]])
    with limit_sizes(size):
        assert list(stored) == texts
    assert [stored[row] for row in range(len(stored))] == texts
    assert stored[1:-1] == texts[1:-1]
    assert stored[::2] == texts[::2]
    with pytest.raises(IndexError):
        stored[len(texts)]
    np.testing.assert_array_equal(Pool(stored, is_stored=True).keys, Pool(texts).keys)


def test_large_corpora_are_on_disk_and_in_groups():
    texts = [f"text {number % 90}" for number in range(128)]
    with limit_sizes(20):
        large = load_comparison(texts, texts[:64])
    assert large.joint.pool.is_stored
    assert (len(large.reference), len(large.candidate)) == (128, 64)
    assert large.reference.texts == tuple(texts)
    assert large.units.counts == count_groups(128, 64)
    assert [set(np.bincount(groups)) <= {1, 2} for groups in large.groups] == [True, True]
    some = sample_comparison(large, 10, seed=1)
    assert [len(side) for side in some.sides] == [10, 10]
    assert set(some.candidate.texts) <= set(texts[:64])
    assert not load_comparison(texts, texts).joint.pool.is_stored


def test_groups_depend_on_content_not_on_order():
    texts = [f"text {number}" for number in range(200)]
    with limit_sizes(20):
        first, second = load_comparison(texts, texts[:100]), load_comparison(texts[::-1], texts[:100])
    np.testing.assert_array_equal(first.groups[0], second.groups[0][::-1])


@settings(max_examples=30)
@given(n=st.integers(50_000, 10**7), m=st.integers(50_000, 10**7))
def test_groups_of_both_corpora_are_of_about_one_size(n, m):
    counts = count_groups(n, m)
    if counts is None:
        assert max(n, m) > 7 * min(n, m)
    else:
        assert sum(counts) == GROUPS
        assert abs(counts[0] / GROUPS - n / (n + m)) <= 1 / 16


def test_rows_of_arrays_are_checked_with_their_place():
    rows = np.ones((9, 2))
    rows[6, 1] = np.nan
    with limit_sizes(4), pytest.raises(InputError, match="embedding 6 is not finite"):
        load_comparison(np.ones((9, 2)), rows)


def test_mapped_rows_are_read_in_blocks(tmp_path):
    rows = np.arange(20.0).reshape(10, 2)
    np.save(tmp_path / "a.npy", rows)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")[1:]
    with limit_sizes(4):
        read = list(iterate_rows(mapped))
    assert [some for some, _ in read] == [slice(0, 4), slice(4, 8), slice(8, 9)]
    np.testing.assert_array_equal(np.concatenate([block for _, block in read]), rows[1:])
