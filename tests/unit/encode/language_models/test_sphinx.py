"""`trigram-en`: the reader on a small trie written here, and the real model against its own library."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from textgauge.core.errors import ResourceError
from textgauge.encode.language_models import get_language_model
from textgauge.encode.language_models.sphinx import plain_words, read_trie, trigrams
from textgauge.encode.tokenizers import SplitTokenizer

WORDS = ["</s>", "<s>", "cat", "dog", "the"]
ONE = {"</s>": (-1.0, 0.0), "<s>": (-9.0, -0.5), "cat": (-2.0, -0.25), "dog": (-3.0, -0.125), "the": (-1.5, -0.75)}
TWO = {("<s>", "the"): (-0.5, -0.0625), ("the", "cat"): (-0.25, -0.5), ("cat", "</s>"): (-0.125, 0.0)}
THREE = {("<s>", "the", "cat"): -0.0625}
UNIT = np.log(1.0001)

# By pocketsphinx 5.1.1, `NGramModel.readfile(...).prob([word, *words before, nearest first])` for each word and </s>,
# whole numbers of ln 1.0001, cut towards zero.
LIBRARY = {
    "the cat sat on the mat": [-29219, -74729, -86059, -22173, -9168, -87337, -14859],
    "hello world": [-63638, -39598, -7745],
    "colorless green ideas sleep furiously": [-150585, -95591, -84034, -15982, -99350, -19941],
}


def packed(rows: list[list[int]], widths: list[int]) -> bytes:
    whole = place = 0
    for row in rows:
        for value, width in zip(row, widths, strict=True):
            whole |= value << place
            place += width
    return whole.to_bytes((place + 7) // 8 + 8, "little")


def trie() -> bytes:
    """The tables above as the format has them: words reversed, entries of a word together, bit by bit."""
    bins: list[list[float]] = [[], [], []]

    def quantised(table: int, value: float) -> int:
        bins[table].append(value / UNIT)
        return len(bins[table]) - 1

    number = {word: place for place, word in enumerate(WORDS)}
    pairs = sorted(TWO, key=lambda pair: (number[pair[1]], number[pair[0]]))
    triples = sorted(THREE, key=lambda gram: (pairs.index(gram[1:]), number[gram[0]]))
    pair_rows = []
    for pair in [*pairs, None]:
        below = sum(pairs.index(gram[1:]) < (pairs.index(pair) if pair else len(pairs)) for gram in triples)
        values = (number[pair[0]], quantised(1, TWO[pair][1]), quantised(0, TWO[pair][0])) if pair else (0, 0, 0)
        pair_rows.append([*values, below])
    triple_rows = [[number[gram[0]], quantised(2, THREE[gram])] for gram in triples] + [[0, 0]]
    singles = b"".join(
        struct.pack("<ffI", *(value / UNIT for value in ONE[word]), sum(pair[1] < word for pair in pairs))
        for word in WORDS
    ) + struct.pack("<ffI", 0, 0, len(pairs))
    tables = b"".join(np.array(values + [0.0] * (65536 - len(values)), dtype="<f4").tobytes() for values in bins)
    names = b"".join(word.encode() + b"\0" for word in WORDS)
    head = b"Trie Language Model\3" + struct.pack("<4I", len(WORDS), len(pairs), len(triples), 1)
    body = packed(pair_rows, [3, 16, 16, 1]) + packed(triple_rows, [3, 16])
    return head + tables + singles + body + struct.pack("<I", len(names)) + names


def test_a_small_trie(tmp_path: Path) -> None:
    (tmp_path / "small.bin").write_bytes(trie())
    ngrams = read_trie(tmp_path / "small.bin")
    assert ngrams.words == ("<s>", "</s>", "<unk>", "cat", "dog", "the")
    texts = ["the cat", "the dog", "unseen cat", ""]
    nats, tokens = ngrams.surprise(SplitTokenizer(str.split).encode(texts))
    by_hand = [
        0.5 + 0.0625 + 0.5 + 0.125,  # <s> the | <s> the cat | the cat: back-off, cat </s>
        0.5 + 0.0625 + 0.75 + 3 + 0.125 + 1,
        0.5 + 3 + 2 + 0.125,  # the rarest word stands for an unseen one
        0,
    ]
    np.testing.assert_allclose(nats, by_hand, rtol=1e-6)
    assert tokens.tolist() == [3, 3, 3, 0]


@pytest.mark.parametrize("size", [0, 10, 30, 1_000, 786_400, -1, -30])
def test_a_file_cut_short(size: int, tmp_path: Path) -> None:
    (tmp_path / "cut.bin").write_bytes(trie()[:size])
    with pytest.raises(ResourceError, match=r"cut\.bin is not a trigram model"):
        read_trie(tmp_path / "cut.bin")


def test_entries_that_lead_nowhere(tmp_path: Path) -> None:
    whole = bytearray(trie())
    at = len(b"Trie Language Model\3") + 16 + 3 * 65536 * 4
    for place, value in ((8, 1), (at + 8, 7), (at + 12 * 5 + 8, 1_000), (20, 1 << 30), (24, 1 << 30)):
        broken = whole.copy()
        broken[place : place + 4] = struct.pack("<I", value)
        (tmp_path / "broken.bin").write_bytes(broken)
        with pytest.raises(ResourceError, match="is not a trigram model"):
            read_trie(tmp_path / "broken.bin")


def test_as_its_own_library(need: Callable[[str], Path]) -> None:
    need("trigram-en")
    ngrams = trigrams()
    for text, expected in LIBRARY.items():
        nats, tokens = ngrams.surprise(SplitTokenizer(plain_words).encode([text]))
        assert tokens.tolist() == [len(expected)]
        cut = -nats[0] / UNIT - sum(expected)
        assert -len(expected) - 0.1 < cut <= 0.1


def test_sentences_and_signs(need: Callable[[str], Path]) -> None:
    need("trigram-en")
    model = get_language_model("trigram-en")
    first, second = "The dog sat down.", "It was tired, wasn't it?"
    nats, tokens = model.surprise([first, second, f"{first} {second}", "the dog sat down", "down sat dog the", "... !"])
    assert nats[2] == pytest.approx(nats[0] + nats[1], rel=1e-12)
    assert tokens.tolist() == [5, 6, 11, 5, 5, 0]
    assert nats[0] == nats[3] < nats[4]
    assert nats[5] == 0
    assert model.signature == "trigram-en(sha256=db21d06422866776,version=1)"
    np.testing.assert_array_equal(model.surprise([second])[0], nats[1:2])
