"""A transformers model trained further: a tiny GPT-2 with random weights, in a folder."""

import pytest

from textgauge.core import ResourceError
from textgauge_papers.generate import ifc_corpora, train_language_model

TEXTS = [f"the {how} cat {what}" for how in ("big", "old", "new") for what in ("runs", "sleeps", "is lost")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch = pytest.importorskip("torch", reason="the extra `hf` is not installed")
    transformers = pytest.importorskip("transformers", reason="the extra `hf` is not installed")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    place = tmp_path_factory.mktemp("gpt2")
    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer, pieces.decoder = pre_tokenizers.ByteLevel(), decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces.train_from_iterator(TEXTS, trainers.BpeTrainer(special_tokens=["<s>", "</s>"], initial_alphabet=alphabet))
    pieces.save(str(place / "tokenizer.json"))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(place / "tokenizer.json"), bos_token="<s>", eos_token="</s>"
    )
    tokenizer.save_pretrained(place)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=32, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=1
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(place)
    return place


def trained(folder, epochs, checkpoint=None, **options):
    return train_language_model(TEXTS, model=f"hf:{folder}", epochs=epochs, checkpoint=checkpoint, **options)


def test_training_goes_on_exactly_and_texts_follow_the_seed(folder, tmp_path):
    import torch

    whole = trained(folder, 3)
    trained(folder, 1, tmp_path)
    rest = trained(folder, 3, tmp_path)
    for mine, yours in zip(whole.network.parameters(), rest.network.parameters(), strict=True):
        assert torch.equal(mine, yours)
    made = whole.generate(10, seed=2)
    assert len(made) == 10
    assert made == rest.generate(10, seed=2)
    assert made != whole.generate(10, seed=3)


def test_labels_stand_before_their_texts(folder):
    labels = [text.split()[1] for text in TEXTS]
    model = trained(folder, 1, labels=labels)
    prompt, (example, *_) = model.prompts(["big"])[0], model.examples(TEXTS, labels)
    assert example[: len(prompt)] == prompt
    assert example[-1] == model.codec.end
    assert len(model.generate(4, label="big")) == 4


def test_steps_of_a_ready_model(folder):
    found = dict(ifc_corpora(TEXTS, steps=2, per_step=4, model=f"hf:{folder}", n=3))
    assert {number: len(corpus) for number, corpus in found.items()} == {1: 3, 2: 3}


def test_weights_that_are_pickled_are_refused(folder, tmp_path):
    import torch

    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(ResourceError, match="cannot load"):
        trained(tmp_path, 1)
