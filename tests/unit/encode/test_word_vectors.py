import gzip
import os
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textgauge.core.errors import InputError, ResourceError
from textgauge.core.settings import limit_sizes
from textgauge.encode.word_vectors import WordVectors, _make, get_word_vectors, read_blocks

WORDS = ["the", "cat", "Cat", "naïve", "猫", "new york", "3"]
MATRIX = np.array([[0.5, -1.25, 3.0], [1, 2, 3], [4, 5, 6], [-1, 0, 1e-5], [7, 8, 9], [0, 0, 0.25], [3, 3, 3]], "f4")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))


def text(words=WORDS, matrix=MATRIX, *, header=False, end="\n", sep=" "):
    lines = [f"{len(words)} {matrix.shape[1]}"] if header else []
    lines += [sep.join([word, *map(str, row.tolist())]) for word, row in zip(words, matrix, strict=True)]
    return (end.join(lines) + end).encode()


def binary(words=WORDS, matrix=MATRIX, *, feed=b"\n"):
    rows = (
        word.replace(" ", "_").encode() + b" " + row.astype("<f4").tobytes() + feed
        for word, row in zip(words, matrix, strict=True)
    )
    return f"{len(words)} {matrix.shape[1]}\n".encode() + b"".join(rows)


FILES = {
    "glove.txt": text(),
    "word2vec.txt": text(header=True),
    "fast.vec": text(header=True, end=" \n"),
    "windows.txt": text(end="\r\n"),
    "tabs.txt": text(sep="\t"),
    "blank-lines.txt": text().replace(b"\nCat", b"\n\nCat") + b"\n \n\n",
    "no-end.txt": text().rstrip(b"\n"),
    "glove.txt.gz": gzip.compress(text()),
    "fast.vec.gz": gzip.compress(text(header=True)),
    "word2vec.bin": binary(),
    "no-feed.bin": binary(feed=b""),
    "word2vec.bin.gz": gzip.compress(binary()),
}


@pytest.fixture
def written(tmp_path):
    def write(content, name="vectors.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_vectors(written, name):
    vectors = get_word_vectors(written(FILES[name], name))
    words = [word.replace(" ", "_") for word in WORDS] if ".bin" in name else WORDS
    found, known = vectors.lookup([*words, "unknown"])
    assert vectors.dimension == 3
    assert known.tolist() == [True] * len(WORDS) + [False]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[:-1], MATRIX)
    assert not found[-1].any()


@pytest.mark.parametrize("chunk", [1, 7, 40])
@pytest.mark.parametrize("name", FILES)
def test_the_size_of_a_block_does_not_matter(written, name, chunk):
    with limit_sizes(chunk):
        blocks = list(read_blocks(Path(written(FILES[name], name))))
    words = b" ".join(word for words, _ in blocks for word in words).decode()
    assert words == " ".join(WORDS).replace("new york", "new_york" if ".bin" in name else "new york")
    np.testing.assert_array_equal(np.concatenate([matrix for _, matrix in blocks]), MATRIX)


DAMAGED = {
    "a number too few": (text().replace(b"4.0 5.0 6.0", b"4.0 5.0"), "line 3: expected a word and 3 numbers"),
    "not a number": (text().replace(b"7.0 8.0", b"7.0 x8"), "are not all finite"),
    "a damaged digit": (text().replace(b"7.0 8.0", b"7.0 8.\x91"), "are not all finite"),
    "nan": (text(header=True).replace(b"7.0 8.0", b"nan 8.0"), "are not all finite"),
    "infinity": (text().replace(b"7.0 8.0", b"7.0 1e60"), "are not all finite"),
    "no word": (text().replace(b"\nCat", b"\n"), "line 3"),
    "no numbers": (b"just\nwords\n", "line 1: expected a word and its numbers"),
    "empty": (b"", "line 1: expected"),
    "zeros": (bytes(300), "line 1: expected"),
    "header promises more": (text(header=True).replace(b"7 3\n", b"9 3\n"), "line 1 promises 9 words, the file has 7"),
    "header promises less": (text(header=True).replace(b"7 3\n", b"6 3\n"), "line 1 promises 6 words, the file has 7"),
    "dimension out of range": (b"3 999999\n", "line 1: expected"),
    "no dimension": (b"3 0\n", "line 1: expected"),
    "binary cut": (binary()[:-9], "or is damaged"),
    "binary too long": (binary() + b"more", "or is damaged"),
    "binary not finite": (binary(matrix=np.where(MATRIX == 8, np.nan, MATRIX)), "are not all finite"),
    "gzip cut": (gzip.compress(text())[:-20], "the compressed file is damaged"),
    "gzip wrong": (gzip.compress(text())[:-8] + bytes(8), "the compressed file is damaged"),
    "a pickle": (pickle.dumps({"the": [1.0, 2.0]}), "are not all finite"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_is_named_and_nothing_is_kept(written, tmp_path, case):
    content, message = DAMAGED[case]
    path = written(content)
    with pytest.raises(InputError, match=f"^{re.escape(path)}: .*{re.escape(message)}"):
        _ = get_word_vectors(path).matrix
    assert not [entry for entry in (tmp_path / "cache" / "wordvectors").iterdir() if entry.name != "seen"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=("C", "Z")), min_size=1), min_size=1, max_size=8, unique=True),
    st.data(),
)
def test_what_is_written_is_read(written, words, data):
    number = st.floats(width=32, allow_nan=False, allow_infinity=False)
    rows = [data.draw(st.lists(number, min_size=4, max_size=4)) for _ in words]
    matrix = np.array(rows, dtype=np.float32)
    for content in (text(words, matrix), text(words, matrix, header=True), binary(words, matrix)):
        found, known = get_word_vectors(written(content)).lookup(words)
        assert known.all()
        np.testing.assert_array_equal(found, matrix)


def test_a_missing_form_falls_back_to_lower_case(written):
    vectors = get_word_vectors(written(text()))
    assert vectors.rows(["cat", "Cat", "CAT", "THE", "New York", "Dog", "", "\ud800"]).tolist() == [
        1, 2, 1, 0, 5, -1, -1, -1,
    ]  # fmt: skip
    assert vectors.lookup([])[0].shape == (0, 3)


@pytest.mark.parametrize("content", [b"a 1\nb 2\n", b"a\t1\nb\t2\n", b"2 1\na 1\nb 2\n", b"a 1\nb 2\na 5\n"])
def test_one_dimension_and_of_a_repeated_word_the_first_vector(written, content):
    assert get_word_vectors(written(content)).lookup(["b", "a"])[0].tolist() == [[2], [1]]


def test_a_file_is_read_once_and_mapped(written, monkeypatch):
    path = written(text())
    first = get_word_vectors(path)
    assert isinstance(first.matrix, np.memmap)
    assert get_word_vectors(path) is first
    _make.cache_clear()
    monkeypatch.setattr("textgauge.encode.word_vectors.read_blocks", pytest.fail)
    monkeypatch.setattr("textgauge.encode.word_vectors.compute_sha256", pytest.fail)
    again = get_word_vectors(path)
    assert again.identity == first.identity
    np.testing.assert_array_equal(again.matrix, MATRIX)


def test_a_changed_file_is_read_anew(written):
    path = written(b"a 1 2\n")
    before = get_word_vectors(path)
    assert before.lookup(["a"])[0].tolist() == [[1, 2]]
    os.utime(written(b"a 3 4\n"), ns=(1, 1))
    after = get_word_vectors(path)
    assert after.lookup(["a"])[0].tolist() == [[3, 4]]
    assert get_word_vectors(written(b"a 3 4\n", "copy.txt")).matrix.filename == after.matrix.filename
    assert before.identity != after.identity


def test_a_file_that_changes_while_it_is_read_is_refused(written):
    path = written(text())
    vectors = get_word_vectors(path)
    written(text() + b"late 1 2 3\n")
    with pytest.raises(InputError, match="changed while it was read"):
        _ = vectors.matrix
    assert get_word_vectors(path).lookup(["late"])[1].all()


@pytest.mark.parametrize("name", ["matrix.npy", "keys.npy", "rows.npy"])
def test_a_damaged_table_is_called_damaged(written, name):
    path = written(text())
    kept = Path(get_word_vectors(path).matrix.filename).parent
    (kept / name).write_bytes((kept / name).read_bytes()[:-5])
    _make.cache_clear()
    with pytest.raises(ResourceError, match="are damaged; delete that folder"):
        get_word_vectors(path).lookup(WORDS)


def test_several_may_store_at_once(tmp_path):
    blocks = [([word.encode() for word in WORDS], MATRIX)]
    with ThreadPoolExecutor(8) as pool:
        matrices = list(pool.map(lambda _: WordVectors("a", "a", lambda: iter(blocks)).matrix, range(16)))
    for matrix in matrices:
        np.testing.assert_array_equal(matrix, MATRIX)
    assert len(list((tmp_path / "cache" / "wordvectors").iterdir())) == 1


def test_a_cache_that_cannot_be_written_is_said(written, tmp_path, monkeypatch):
    path = written(text())
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "file"))
    with pytest.raises(ResourceError, match="cannot keep word vectors"):
        _ = get_word_vectors(path).matrix


def test_whole_words_of_the_default_encoder(need, monkeypatch):
    monkeypatch.delenv("TEXTGAUGE_CACHE")
    need("minilm")
    vectors = get_word_vectors("wordvec")
    found, known = vectors.lookup(["king", "queen", "carrot", "[CLS]", "##ing", "[unused5]", "[", "."])
    assert known.tolist() == [True, True, True, False, False, False, True, True]
    unit = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    assert unit[0] @ unit[1] > 0.3 > unit[0] @ unit[2]
    assert np.abs(np.asarray(vectors.matrix).mean(axis=0)).max() < 1e-6
