"""wordvec_cosine against scipy 1.17.1: stored numbers on our own sentences, with vectors made from words' digests.

With `rows` the vectors of a text's words, one row a token:

scipy.spatial.distance.cosine of np.concatenate([rows.min(0), rows.max(0), rows.mean(0)]), and of rows.mean(0)
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cosine
from tests.golden.pairs import PAIRS, SCRIPTS

from textgauge import get_metric
from textgauge.core.errors import ResourceError
from textgauge.data import Pairs, is_here, load_pairs
from textgauge.encode.resources import locate
from textgauge.encode.tokenizers import split_folded_words
from textgauge.encode.word_vectors import get_word_vectors

LEFT, RIGHT = ([pair[side] for pair in PAIRS + SCRIPTS] for side in (0, 1))
EXPECTED = {
    "wordvec_cosine": [
        0.004483572, 0.0, 0.151889466, 0.096845119, 0.074608314, 0.163098722, 0.020101979, 0.088086303, 0.0, 0.13191988,
        0.447145367, 0.22865139, 0.980404972, 0.0, 0.016096684, 0.013961461, 0.173062132, 0.010669543, 0.102922328, 0.0,
        0.0, 0.237739693,
    ],
    "wordvec_cosine(pool=mean)": [
        0.130161471, 0.0, 0.168491407, 0.680827518, 0.597776857, 0.052933557, 0.185032697, 0.751905265, 0.0,
        0.740458062, 1.130226673, 0.799114738, 0.980404972, 0.0, 0.611764212, 0.0975883, 0.545779922, 0.276128912,
        0.58468546, 0.0, 0.0, 0.309876216,
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_values_are_those_of_scipy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "digests.txt"
    with path.open("w", encoding="utf-8") as stream:
        for word in sorted({word for text in LEFT + RIGHT for word in split_folded_words(text)}):
            row = np.frombuffer(blake2b(word.encode(), digest_size=16).digest(), "u1") / 256 - 0.5
            stream.write(f"{word} {' '.join(map(str, row.tolist()))}\n")
    values = get_metric(f"{name}@{path}")(left=LEFT, right=RIGHT).values
    np.testing.assert_allclose(values, EXPECTED[name], rtol=0, atol=1e-9)


@pytest.mark.slow
def test_all_pairs_of_the_style_transfer_study_are_those_of_scipy() -> None:
    if not is_here("yamshchikov14"):
        pytest.skip("yamshchikov14 is not in TEXTGAUGE_DATA")
    try:
        locate("minilm")
    except ResourceError as error:
        pytest.skip(str(error))
    texts = load_pairs("yamshchikov14")
    pairs = Pairs(texts.left, texts.right)
    tokens = pairs.left.pool.tokens("words")
    vectors, known = get_word_vectors("wordvec").lookup(tokens.vocabulary)

    def pooled(row: int) -> np.ndarray:
        ids = tokens[row]
        ids = ids[known[ids]]
        if not any(any(map(str.isalnum, tokens.vocabulary[word])) for word in ids):  # punctuation alone is no evidence
            return np.full(3 * 384, np.nan)
        rows = vectors[ids].astype(np.float64)
        return np.concatenate([rows.min(0), rows.max(0), rows.mean(0)])

    sides = zip(pairs.left.index, pairs.right.index, strict=True)
    expected = [cosine(pooled(left), pooled(right)) for left, right in sides]
    values = get_metric("wordvec_cosine").measure(pairs).values
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)
