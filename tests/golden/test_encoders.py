"""Numbers of the reference libraries, run on the same weights.

sentence-transformers 6.2.0 on torch 2.13.0 (CPU, one thread), from the folder that `peer_model` of
benchmarks/encoder.py writes around the resource `minilm`:

    SentenceTransformer(folder, device="cpu").encode([text])[0][[0, 1, 2, 100, 200, 383]]

wordllama 0.4.0.post1, from its own package folder:

    WordLlama.load(cache_dir=folder, disable_download=True).embed(["hello world"])[0][:4]
"""

import numpy as np
import polars as pl
import pytest
from scipy.special import logit
from scipy.stats import spearmanr

from textgauge.core.errors import ResourceError
from textgauge.data import is_here
from textgauge.data.datasets import find_data_table
from textgauge.encode.embedders import get_embedder
from textgauge.encode.resources import is_available, locate
from textgauge.encode.word_vectors import get_word_vectors
from textgauge.metrics import get_metric
from textgauge.metrics.numerics.moments import to_unit

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


def find(name):
    if not is_available(name):
        pytest.skip(f"{name} is not on this machine: textgauge resources fetch {name}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("minilm", 0.8203),
        ("paraphrase-minilm", 0.8241),
        ("mpnet", 0.8342),
        ("gte-small", 0.8557),
        ("e5-small", 0.8636),
        ("bge-small", 0.8587),
        ("bge-small-int8", 0.8568),
    ],
)
def test_known_agreement_with_people_on_stsb(name, known):
    """Spearman's correlation on the test part that others found with the same files, e5 with its prompt."""
    find(name)
    if not is_here("stsb"):
        pytest.skip("the data folder has no stsb")
    from textgauge_papers.datasets import stsb

    items = [item for item in stsb() if item.split == "test"]
    found = get_metric(f"cosine@{name}")(left=[item.left for item in items], right=[str(item.right) for item in items])
    assert spearmanr(found.values, [item.grade for item in items])[0] == pytest.approx(known, abs=0.001)


def test_the_example_of_the_cross_encoders_card():
    """The model's card has 9.22 for the first; int8 numbers vary by some .4 with the processor and onnxruntime."""
    find("ms-marco-int8")
    right = [
        "Berlin has a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
        "Berlin is well known for its museums.",
        "New York City is famous for the Metropolitan Museum of Art.",
    ]
    found = get_metric("cross_encoder@ms-marco-int8")(left=["How many people live in Berlin?"] * 3, right=right)
    np.testing.assert_allclose(logit(found.values), [9.21, -4.43, -11.18], rtol=0, atol=0.45)


@pytest.mark.parametrize(
    ("part", "known"), [("EN-WS-353-ALL", 0.750), ("EN-SIMLEX-999", 0.409), ("EN-MEN-TR-3k", 0.802)]
)
def test_known_agreement_of_word_vectors(part, known):
    find("glove-840b")
    path = find_data_table("word_similarity/word_similarity")
    if path is None:
        pytest.skip("the data folder has no word_similarity")
    rows = pl.read_csv(path).filter(pl.col("dataset") == part)
    (left, known_left), (right, known_right) = (
        get_word_vectors("glove-840b").lookup(rows[column].to_list()) for column in ("word1", "word2")
    )
    known_both = known_left & known_right
    cosines = (to_unit(left[known_both]) * to_unit(right[known_both])).sum(axis=1)
    assert spearmanr(cosines, rows["score"].to_numpy()[known_both])[0] == pytest.approx(known, abs=0.001)
