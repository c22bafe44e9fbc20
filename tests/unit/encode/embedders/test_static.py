"""`static:FOLDER` against the mean of token vectors, computed by hand."""

import json

import numpy as np
import pytest
from tests.unit.encode.conftest import save_word_tokenizer

from textgauge import compare
from textgauge.core.errors import ResourceError
from textgauge.encode.embedders import get_embedder
from textgauge.encode.embedders.static import make_static

WORDS = {"[UNK]": 0, "red": 1, "cat": 2, "dog": 3}
TABLE = np.array([[9.0, 9.0], [1.0, 0.0], [0.0, 2.0], [3.0, 4.0]], dtype=np.float32)


@pytest.fixture
def write(tmp_path):
    from safetensors.numpy import save_file

    def folder(*, normalize=False, **arrays):
        save_word_tokenizer(tmp_path, WORDS)
        save_file(arrays or {"embeddings": TABLE}, tmp_path / "model.safetensors")
        (tmp_path / "config.json").write_text(json.dumps({"normalize": normalize}))
        return tmp_path

    return folder


def encode(folder, texts):
    return make_static(str(folder)).encode(texts)


NEWER = {"embeddings": TABLE, "mapping": np.array([0, 1, 1, 2]), "weights": np.array([1.0, 2.0, 1.0, 0.5])}


@pytest.mark.parametrize(
    ("settings", "texts", "expected"),
    [
        ({}, ["red cat", "dog unheard red", "", "unheard"], [[0.5, 1.0], [2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]),
        ({"normalize": True}, ["dog", "red dog", ""], [[0.6, 0.8], [0.5**0.5, 0.5**0.5], [0, 0]]),
        (NEWER, ["red", "cat", "dog"], [[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    ],
)
def test_vectors_are_means_of_known_tokens(write, settings, texts, expected):
    np.testing.assert_allclose(encode(write(**settings), texts), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"other": TABLE}, "no matrix `embeddings`"),
        ({"embeddings": TABLE[:2]}, "2 vectors for 4 tokens"),
        ({"embeddings": TABLE, "mapping": np.array([0, 1, 2, 9])}, "`mapping`"),
        ({"embeddings": TABLE, "weights": np.ones(3)}, "weights"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(write, arrays, complaint):
    with pytest.raises(ResourceError, match=complaint):
        encode(write(**arrays), ["red"])


def test_it_serves_metrics_by_name(write):
    name = f"static:{write()}"
    report = compare(["red cat", "red", "cat"], ["dog", "dog dog", "red dog"], metrics=f"medoid@{name}")
    means = [np.mean([[0.5, 1], [1, 0], [0, 2]], axis=0), np.mean([[3, 4], [3, 4], [2, 2]], axis=0)]
    cosine = means[0] @ means[1] / np.linalg.norm(means[0]) / np.linalg.norm(means[1])
    assert report[f"medoid@{name}"].value == pytest.approx(1 - cosine)
    assert "files=" in report[f"medoid@{name}"].signature
    assert get_embedder(name).dimension == 2
