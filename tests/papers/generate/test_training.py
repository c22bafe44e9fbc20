"""Models that learn: exact resumption, seeds, and what they write."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `generate` is not installed")

from textgauge.core import InputError, listen  # noqa: E402
from textgauge.encode.tokenizers import split_folded_words  # noqa: E402
from textgauge_papers.generate import (  # noqa: E402
    AdapterSettings,
    Sampling,
    VaeSettings,
    ifc_corpora,
    train_language_model,
    train_vae,
)
from textgauge_papers.generate.language_model import language_model  # noqa: E402
from textgauge_papers.generate.sampling import draw_tokens  # noqa: E402
from textgauge_papers.generate.settings import one_thread  # noqa: E402
from textgauge_papers.generate.training import FILE, Training, load_checkpoint, split_batches  # noqa: E402

THINGS = ["cat", "dog", "card"]
TEXTS = [
    f"the {how} {thing} {what}." for how in ("big", "old", "new") for thing in THINGS for what in ("runs", "is lost")
]
VAE = VaeSettings(embedding=8, hidden=12, latent=3, longest=8, batch=4, min_texts=1)
LM = AdapterSettings(rank=2, longest=24, batch=4, rate=1e-2, warmup=3)
pytestmark = pytest.mark.usefixtures("tiny_smollm2")


def vae(epochs, folder=None, **options):
    return train_vae(TEXTS, epochs=epochs, settings=VAE, checkpoint=folder, **options)


def lm(epochs, folder=None, **options):
    return train_language_model(TEXTS, epochs=epochs, settings=LM, checkpoint=folder, **options)


def weights(model):
    return {name: value.detach().clone() for name, value in model.network.named_parameters()}


def same(first, second):
    return all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("trained", [vae, lm])
def test_training_goes_on_exactly_where_it_was_left(trained, tmp_path, monkeypatch):
    whole = weights(trained(3))
    assert same(whole, weights(trained(3)))
    assert not same(whole, weights(trained(3, seed=1)))
    trained(1, tmp_path / "a")
    said = []
    with listen(lambda stage: said.append(stage) if stage.kind == "note" else None):
        assert same(whole, weights(trained(3, tmp_path / "a")))
    assert "1 epochs and 0 batches are done" in said[0]
    step, calls = Training._step, []

    def stops(self, rows):
        calls.append(rows)
        if len(calls) == 8:
            raise KeyboardInterrupt
        step(self, rows)
        self.save()

    monkeypatch.setattr(Training, "_step", stops)
    with pytest.raises(KeyboardInterrupt):
        trained(3, tmp_path / "b")
    monkeypatch.setattr(Training, "_step", step)
    assert load_checkpoint(tmp_path / "b").about["batch"] > 0
    assert same(whole, weights(trained(3, tmp_path / "b")))


@pytest.mark.parametrize("trained", [vae, lm])
def test_training_learns_and_a_text_depends_on_seed_and_number_alone(trained, tmp_path):
    before = torch.get_rng_state()
    model = trained(12, tmp_path)
    losses = load_checkpoint(tmp_path).about["losses"]
    made = model.generate(20, seed=5)
    assert torch.equal(before, torch.get_rng_state())
    assert np.mean(losses[-2:]) < 0.9 * losses[0]
    assert len(made) == 20
    assert all(text == text.strip() != "" for text in made)
    assert model.generate(7, seed=5) == made[:7]
    assert model.generate(20, seed=6) != made


@pytest.mark.parametrize(("function", "own"), [(train_vae, VAE), (train_language_model, LM)])
def test_another_training_is_refused(function, own, tmp_path):
    asked = {"texts": TEXTS, "epochs": 2, "seed": 0, "settings": own, "checkpoint": tmp_path}
    function(**asked)
    for change, complaint in (
        ({"seed": 3}, "another seed"),
        ({"epochs": 1}, "more than the 1 wanted"),
        ({"texts": [*TEXTS[:-1], "the odd cat is lost."]}, "other texts"),
        ({"settings": replace(own, batch=3)}, "other settings"),
    ):
        with pytest.raises(InputError, match=complaint):
            function(**asked | change)


@pytest.mark.parametrize("content", [b"", b"not safetensors", b"\x02\x00\x00\x00\x00\x00\x00\x00{}"])
def test_a_damaged_checkpoint_is_one_clear_line(content, tmp_path):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(InputError, match="no checkpoint of textgauge"):
        vae(1, tmp_path)


def test_a_vae_writes_words_of_the_texts_alone():
    made = vae(2).generate(50, sampling=Sampling(temperature=5.0, top_p=1.0))
    assert {word for text in made for word in split_folded_words(text)} <= {
        word for text in TEXTS for word in split_folded_words(text)
    }


def test_a_token_sees_what_is_before_it_from_memory_too_and_nothing_after_it():
    model = language_model(TEXTS, settings=LM)
    model.network.eval()
    ids = torch.tensor(model.examples(TEXTS[:1]))
    other = ids.clone()
    other[:, 4:] = 7
    with torch.inference_mode():
        whole, _ = model.logits(ids, None)
        torch.testing.assert_close(model.logits(other, None)[0][:, :4], whole[:, :4])
        first, memory = model.logits(ids[:, :3], None)
        parts = [first]
        for place in range(3, ids.shape[1]):
            found, memory = model.logits(ids[:, place : place + 1], memory)
            parts.append(found)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)


LOGITS = torch.log(torch.tensor([[0.1, 0.5, 0.15, 0.25]]))


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(top_k=0, top_p=1.0), [0.1, 0.5, 0.15, 0.25]),
        (Sampling(top_k=2, top_p=1.0), [0, 2 / 3, 0, 1 / 3]),
        (Sampling(top_k=0, top_p=0.75), [0, 2 / 3, 0, 1 / 3]),
        (Sampling(top_k=4, top_p=0.76), [0, 5 / 9, 1.5 / 9, 2.5 / 9]),
        (Sampling(temperature=0.5, top_p=1.0), np.array([0.01, 0.25, 0.0225, 0.0625]) / 0.345),
        (Sampling(temperature=0), [0, 1, 0, 0]),
    ],
)
def test_tokens_are_drawn_with_their_probabilities(sampling, expected):
    uniform = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000
    found = draw_tokens(LOGITS.expand(20_000, -1), uniform, sampling)
    np.testing.assert_allclose(np.bincount(found.numpy(), minlength=4) / 20_000, expected, atol=1e-4)


def test_batches_hold_every_row_once_and_change_with_the_epoch():
    examples = [[0] * (1 + i % 7) for i in range(101)]
    first, second = (split_batches(examples, 8, 0, epoch) for epoch in (0, 1))
    assert sorted(row for batch in first for row in batch) == list(range(101))
    assert first != second
    assert first == split_batches(examples, 8, 0, 0)


def steps(folder, upto):
    options = {"per_step": 6, "passes": 2, "n": 5, "settings": LM, "checkpoint": folder}
    return dict(ifc_corpora(TEXTS, steps=upto, **options))


def test_steps_go_on_exactly_where_they_were_left(tmp_path):
    whole = steps(None, 4)
    assert sorted(whole) == [1, 2, 3, 4]
    assert all(len(corpus) == 5 for corpus in whole.values())
    early = steps(tmp_path, 2)
    late = steps(tmp_path, 4)
    assert sorted(late) == [2, 3, 4]
    assert early | late == whole
    with pytest.raises(InputError, match="past step 3"):
        steps(tmp_path, 3)


def test_steps_of_labels_have_as_many_texts_of_each():
    labels = ["animal", "money"] * (len(TEXTS) // 2)
    texts = TEXTS[: len(labels)]
    options = {"labels": labels, "per_step": 6, "n": 5, "candidates": 2.0, "settings": LM}
    first, again = (dict(ifc_corpora(texts, steps=2, **options)) for _ in range(2))
    assert first == again
    assert [len(corpus) for corpus in first.values()] == [6, 6]  # 3 of each label
    assert not set(first[1]) & set(texts)
    with pytest.raises(InputError, match="no texts of a label"):
        list(ifc_corpora(texts, labels=labels, model="ngram"))


def test_one_thread_gives_the_same_texts_whatever_the_number_of_threads():
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            with one_thread():
                assert torch.get_num_threads() == 1
                found.append(lm(1).generate(5, seed=0))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1]
