"""Metrics of word vectors: stored numbers on our own sentences.

wmd against POT 0.9.7.post1 and gensim 4.4.0, wordvec_cosine against scipy 1.17.1.

Vectors are made from the words' digests, so that no model is needed. With `tokens` the words of both texts:

a, b = Counter(tokens[0]), Counter(tokens[1])
X, Y = (np.array([vector(word) for word in side], float) for side in (a, b))
ot.emd2(*(np.array(list(side.values())) / side.total() for side in (a, b)), scipy.spatial.distance.cdist(X, Y))
KeyedVectors.wmdistance(*tokens, norm=True)                                     # the second list; norm=False the first

With `rows` the vectors of a text's words, one row a token:

scipy.spatial.distance.cosine of np.concatenate([rows.min(0), rows.max(0), rows.mean(0)]), and of rows.mean(0)
"""

from hashlib import blake2b

import numpy as np
import pytest
from tests.golden.pairs import LEFT, RIGHT

from textgauge import get_metric
from textgauge.encode.tokenizers import split_folded_words

EXPECTED = {
    "wmd": [
        0.264197202, 0.0, 0.872157543, 0.751493494, 1.006485178, 0.276938463, 0.650038441, 0.98612449, 0.0, 1.14759253,
        1.191945009, 1.443762199, 1.614070819, 0.0, 0.690140758, 0.225727402, 0.969980024, 0.429386932, 0.802497372,
        0.0, 0.0, 0.566362845,
    ],
    "wmd(unit=true)": [
        0.225068568, 0.0, 0.786869111, 0.679445358, 0.829999213, 0.243585919, 0.56010673, 0.835490363, 0.0, 1.027134176,
        1.061496516, 1.196089751, 1.400289223, 0.0, 0.611761322, 0.206010936, 0.792362395, 0.380848894, 0.692033126,
        0.0, 0.0, 0.482402229,
    ],
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


def write_vectors(path):
    """A file with a vector for every word of the sentences."""
    lines = []
    for word in sorted({word for text in LEFT + RIGHT for word in split_folded_words(text)}):
        row = np.frombuffer(blake2b(word.encode(), digest_size=16).digest(), "u1") / 256 - 0.5
        lines.append(f"{word} {' '.join(map(str, row.tolist()))}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", EXPECTED)
def test_values_are_those_of_the_libraries(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    on = write_vectors(tmp_path / "digests.txt")
    values = get_metric(f"{name}@{on}")(left=LEFT, right=RIGHT).values
    np.testing.assert_allclose(values, EXPECTED[name], rtol=0, atol=1e-7 if "unit" in name else 1e-9)
