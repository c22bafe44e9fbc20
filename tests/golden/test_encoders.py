"""Numbers of the reference libraries, run on the same weights.

sentence-transformers 6.2.0 on torch 2.13.0 (CPU, one thread), from the folder that `peer_model` of
benchmarks/encoder.py writes around the resource `minilm`:

    SentenceTransformer(folder, device="cpu").encode([text])[0][[0, 1, 2, 100, 200, 383]]

wordllama 0.4.0.post1, from its own package folder:

    WordLlama.load(cache_dir=folder, disable_download=True).embed(["hello world"])[0][:4]
"""

import numpy as np
import pytest

from textgauge.core.errors import ResourceError
from textgauge.encode.embedders import get_embedder
from textgauge.encode.resources import locate

COLUMNS = [0, 1, 2, 100, 200, 383]
MINILM = {
    "I still have not received my new card.": [-0.0321828, -0.0217557, 0.038984, -0.0110803, -0.0082491, 0.033366],
    "The match was abandoned after heavy rain 🌧️ in the second half!": [
        -0.002386,
        0.0682606,
        0.094177,
        -0.0210296,
        0.0571462,
        0.0552529,
    ],
    "मुझे कल सुबह की ट्रेन का टिकट चाहिए": [0.0128671, 0.015713, -0.0106294, -0.020636, 0.0243773, -0.0197005],
    "": [-0.1188384, 0.0482987, -0.0025481, 0.0359495, 0.0377175, -0.0157173],
    "the river keeps rising and " * 80: [-0.119615, 0.0217548, -0.022924, 0.0741967, 0.015671, -0.0375204],
}


def need(name):
    try:
        locate(name)
    except ResourceError as error:
        pytest.skip(str(error))


def test_minilm_is_the_published_model():
    need("minilm")
    vectors = get_embedder("minilm").encode(list(MINILM))
    np.testing.assert_allclose(vectors[:, COLUMNS], list(MINILM.values()), rtol=0, atol=1e-6)


def test_minilm_int8_is_near_it():
    need("minilm-int8")
    need("wordpiece")
    vectors = get_embedder("minilm-int8").encode(list(MINILM))
    np.testing.assert_allclose(vectors[:, COLUMNS], list(MINILM.values()), rtol=0, atol=0.05)


def test_wordllama_is_its_own_library():
    need("wordllama")
    vector = get_embedder("wordllama").encode(["hello world"])[0]
    np.testing.assert_allclose(vector[:4], [0.6217041, 0.5124817, 0.10290527, -0.5085449], rtol=0, atol=1e-6)
