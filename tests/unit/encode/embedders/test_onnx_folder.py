"""`onnx:FOLDER` on tiny networks that the test writes: each token's hidden state is a row of a table."""

import json

import numpy as np
import pytest
from tests.unit.encode.conftest import save_word_tokenizer
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from textgauge.core.errors import ParameterError, ResourceError
from textgauge.encode.embedders.transformer import make_onnx
from textgauge.metrics import get_metric

WORDS = {"[UNK]": 0, "[CLS]": 1, "red": 2, "cat": 3, "dog": 4, "query": 5}
TABLE = np.arange(18, dtype=np.float32).reshape(6, 3) ** 2 / 10

GATHER = [("Gather", ["table", "input_ids"], ["hidden"], {})]


@pytest.fixture
def write(tmp_path):
    from onnx import TensorProto, helper, numpy_helper, save

    def folder(*, extra=(), nodes=GATHER, given=(), **files):
        save_word_tokenizer(tmp_path, WORDS, begin="[CLS]")
        shape = ["texts", "length"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape)
            for name in ("input_ids", "attention_mask", *extra)
        ]
        output = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, None)
        made = [helper.make_node(kind, taken, given, **options) for kind, taken, given, options in nodes]
        stored = [numpy_helper.from_array(array, name) for name, array in {"table": TABLE, **dict(given)}.items()]
        graph = helper.make_graph(made, "tiny", inputs, [output], stored)
        save(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), tmp_path / "model.onnx"
        )
        for name, content in files.items():
            path = tmp_path / {"pooling": "1_Pooling/config.json"}.get(name, f"{name}.json")
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(content))
        return str(tmp_path)

    return folder


def test_the_mean_of_hidden_states_where_nothing_is_said(write):
    model = make_onnx(write())
    texts = ["red cat", "", "dog", "red cat"]
    expected = [TABLE[[1, 2, 3]].mean(axis=0), TABLE[1], TABLE[[1, 4]].mean(axis=0), TABLE[[1, 2, 3]].mean(axis=0)]
    np.testing.assert_allclose(model.encode(texts), expected, rtol=1e-6)
    assert model.dimension == 3
    assert model.window == 511
    assert "files=" in model.identity


@pytest.mark.parametrize(
    ("mode", "expected"), [("cls_token", TABLE[1]), ("max_tokens", TABLE[3]), ("lasttoken", TABLE[3])]
)
def test_pooling_of_the_configuration(write, mode, expected):
    pooling = {"word_embedding_dimension": 3, "pooling_mode_mean_tokens": False, f"pooling_mode_{mode}": True}
    np.testing.assert_allclose(make_onnx(write(pooling=pooling)).encode(["red cat"]), [expected], rtol=1e-6)


def test_length_prompt_and_unit_vectors_of_the_configuration(write):
    kinds = ["Transformer", "Pooling", "Normalize"]
    model = make_onnx(
        write(
            modules=[{"type": f"sentence_transformers.models.{kind}"} for kind in kinds],
            sentence_bert_config={"max_seq_length": 3},
            config_sentence_transformers={"prompts": {"q": "query "}, "default_prompt_name": "q"},
        )
    )
    mean = TABLE[[1, 5, 2]].mean(axis=0)
    np.testing.assert_allclose(model.encode(["red cat dog"]), [mean / np.linalg.norm(mean)], rtol=1e-6)
    assert model.window == 1


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"modules": [{"type": "sentence_transformers.models.Dense"}]}, "Dense"),
        ({"pooling": {"pooling_mode_weightedmean_tokens": True}}, "weightedmean_tokens"),
        ({"extra": ["pixel_values"]}, "pixel_values"),
        ({"sentence_bert_config": {"max_seq_length": -3}}, "a length or a prompt that is none"),
        ({"config_sentence_transformers": {"prompts": {"q": 3}, "default_prompt_name": "q"}}, "a length or a prompt"),
    ],
)
def test_what_is_not_done_as_the_model_wants_it_is_refused(write, files, complaint):
    with pytest.raises(ResourceError, match=complaint):
        make_onnx(write(**files)).encode(["red"])


def test_numbers_scaled_by_a_whole_run_do_not_depend_on_other_texts(write):
    scaled = [
        ("Gather", ["table", "input_ids"], ["rows"], {}),
        ("DynamicQuantizeLinear", ["rows"], ["whole", "scale", "zero"], {}),
        ("DequantizeLinear", ["whole", "scale", "zero"], ["hidden"], {}),
    ]
    model = make_onnx(write(nodes=scaled))
    together = model.encode(["red", "dog"])
    np.testing.assert_array_equal(together, [model.encode([text])[0] for text in ("red", "dog")])
    assert np.abs(together - make_onnx(write()).encode(["red", "dog"])).max() > 1e-3


# Each token counts its number, three times in the right text.
COUNTS = [
    ("Add", ["token_type_ids", "token_type_ids"], ["twice"], {}),
    ("Mul", ["twice", "input_ids"], ["more"], {}),
    ("Add", ["more", "input_ids"], ["counts"], {}),
    ("Cast", ["counts"], ["numbers"], {"to": 1}),
]


def read_pairs(folder):
    """Let the tokenizer of a folder put two texts one after the other."""
    library = Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.post_processor = TemplateProcessing("[CLS] $A", "[CLS] $A $B:1", special_tokens=[("[CLS]", 1)])
    library.save(str(folder / "tokenizer.json"))


def test_a_cross_encoder_reads_both_texts_with_their_kinds(write, tmp_path):
    nodes = [*COUNTS, ("ReduceMean", ["numbers", "axis"], ["hidden"], {"keepdims": 1})]
    axis = {"axis": np.array([1], dtype=np.int64)}
    folder = write(extra=["token_type_ids"], nodes=nodes, given=axis, tokenizer_config={"model_max_length": 4})
    read_pairs(tmp_path)
    found = get_metric(f"cross_encoder@onnx:{folder}")(
        left=["red", "dog cat", "red cat", ""], right=["cat", "red red red", "red cat", "dog"]
    )
    raw = np.array([(1 + 2 + 3 * 3) / 3, (1 + 4 + 3 * (2 + 2)) / 4])
    np.testing.assert_allclose(found.values, [*(1 / (1 + np.exp(-raw))), 1, 0], rtol=1e-6)
    assert "max_length=4" in found.signature
    with pytest.raises(ResourceError, match="not one number for each pair"):
        get_metric(f"cross_encoder@onnx:{write(more={})}/.")(left=["red"], right=["cat"])


def test_nli_is_the_mean_over_sentences_of_the_largest_entailment(write, tmp_path):
    """The logit of entailment is the mean number of the tokens, those of the right text counted three times."""
    nodes = [
        *COUNTS,
        ("ReduceMean", ["numbers", "axis"], ["mean"], {"keepdims": 1}),
        ("Concat", ["mean", "zero"], ["hidden"], {"axis": 1}),
    ]
    given = {"axis": np.array([1], dtype=np.int64), "zero": np.zeros((1, 1), dtype=np.float32)}
    labels = {"0": "ENTAILMENT", "1": "contradiction"}
    folder = write(extra=["token_type_ids"], nodes=nodes, given=given, config={"id2label": labels})
    read_pairs(tmp_path)
    metric = get_metric(f"nli@onnx:{folder}")

    def chance(premise, hypothesis):
        counts = [1, *(WORDS.get(w, 0) for w in premise.split()), *(3 * WORDS.get(w, 0) for w in hypothesis.split())]
        return 1 / (1 + np.exp(-np.mean(counts)))

    parts = [max(chance(one, two) for one in ("cat dog", "red")) for two in ("red !", "dog")]
    found = metric(left=["red ! dog", "red", "", "red"], right=["cat dog\nred", "cat", "", ""])
    np.testing.assert_allclose(found.values, [np.mean(parts), chance("cat", "red"), 1, 0], rtol=1e-6)
    assert "label=0" in found.signature
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ResourceError, match="entailment"):
        get_metric(f"nli@onnx:{folder}/.")(left=["red"], right=["cat"])
    with pytest.raises(ParameterError, match="onnx:"):
        get_metric("nli@minilm")


def test_a_provider_that_is_not_there_is_refused(write, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_PROVIDERS", "NoSuchExecutionProvider")
    with pytest.raises(ResourceError, match="CPUExecutionProvider"):
        make_onnx(write()).encode(["red"])
    monkeypatch.setenv("TEXTGAUGE_PROVIDERS", "CPUExecutionProvider")
    assert make_onnx(write()).encode(["red"]).shape == (1, 3)
