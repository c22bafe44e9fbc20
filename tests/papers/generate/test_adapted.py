"""SmolLM2 with adapters: its numbers are those of the NumPy network, only adapters are kept, ended rows are dropped."""

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `generate` is not installed")

from textgauge.core import InputError  # noqa: E402
from textgauge.encode import SmolLM2  # noqa: E402
from textgauge_papers.generate import AdapterSettings, Sampling, train_language_model  # noqa: E402
from textgauge_papers.generate.language_model import language_model  # noqa: E402
from textgauge_papers.generate.sampling import continue_texts, draw_tokens, draw_uniforms  # noqa: E402
from textgauge_papers.generate.training import FILE  # noqa: E402

TEXTS = [f"the {how} {thing}" for how in ("big", "old", "new", "odd") for thing in ("cat", "dog is lost", "card")]
SETTINGS = AdapterSettings(rank=2, longest=24, batch=4, rate=1e-2, warmup=3)


def costs(model, text):
    """−ln P of every token of a text."""
    ids = torch.tensor([[*model.codec.start, *model.codec.encode([text])[0]]])
    with torch.no_grad():
        logits, _ = model.logits(ids[:, :-1], None)
    return -torch.log_softmax(logits[0].double(), -1).gather(1, ids[0, 1:, None])[:, 0].numpy()


@pytest.mark.usefixtures("tiny_smollm2")
def test_logits_are_those_of_the_network_on_numpy(tiny_smollm2):
    tokenizer, llama = tiny_smollm2.parts
    everything = [bytes([number]).decode("latin-1") for number in range(256)]
    model = language_model([*TEXTS, *everything], settings=SETTINGS)
    kept = np.array(model.codec.kept)
    llama.weights["token_embd.weight"] = llama.weights["token_embd.weight"][kept]
    for text in TEXTS:
        whole = [0, *tokenizer.encode(text).ids]
        expected = llama.compute_costs(np.searchsorted(kept, whole))
        for mode in (True, False):
            model.network.train(mode)
            np.testing.assert_allclose(costs(model, text), expected, rtol=0, atol=2e-5)


@pytest.mark.slow
def test_the_resource_has_the_perplexity_of_the_network_on_numpy(need):
    need("smollm2")
    text, everything = "The cat sat on the mat.", SmolLM2().parts[0].get_vocab_size()
    model = language_model([text])
    assert len(model.codec.kept) < 12 < everything
    model.codec.kept = list(range(everything))
    model._weights["token_embd.weight"] = torch.from_numpy(SmolLM2().parts[1].weights["token_embd.weight"])
    ids = torch.tensor([[0, *SmolLM2().parts[0].encode(text).ids]])
    with torch.no_grad():
        logs = torch.log_softmax(model.logits(ids[:, :-1], None)[0][0].double(), -1)
    assert -float(logs.gather(1, ids[0, 1:, None]).sum()) == pytest.approx(20.91645, abs=1e-3)


@pytest.mark.usefixtures("tiny_smollm2")
def test_maps_in_16_bits_cost_about_the_same_and_learn_as_well():
    whole, half = (replace(SETTINGS, bits=bits) for bits in (32, 16))
    for settings, epochs in ((whole, 0), (half, 0), (whole, 8), (half, 8)):
        model = language_model(TEXTS, settings=settings)
        if epochs:
            model = train_language_model(TEXTS, epochs=epochs, settings=settings)
        model.network.eval()
        found = np.array([costs(model, text).mean() for text in TEXTS])
        if settings is whole:
            expected = found
        else:
            assert found.mean() == pytest.approx(expected.mean(), rel=0.02)
    with pytest.raises(InputError, match="bits are 16 or 32, not 8"):
        AdapterSettings(bits=8)


@pytest.mark.usefixtures("tiny_smollm2")
def test_adapters_alone_are_learned_kept_and_read_again(tmp_path):
    trained = train_language_model(TEXTS, epochs=8, settings=SETTINGS, checkpoint=tmp_path)
    raw = (tmp_path / FILE).read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    about = json.loads(header.pop("__metadata__")["textgauge"])
    assert about["losses"][-1] < 0.9 * about["losses"][0]
    assert all(name.endswith(("-up", "-down")) for name in header)
    again = train_language_model(TEXTS, epochs=8, settings=SETTINGS, checkpoint=tmp_path)
    assert again.generate(5, seed=1) == trained.generate(5, seed=1)
    fresh = language_model(TEXTS, settings=SETTINGS)
    fresh.network.eval()
    assert costs(fresh, TEXTS[0]).sum() > costs(trained, TEXTS[0]).sum()
    trained.network.train()
    apart = costs(trained, TEXTS[0])
    trained.network.eval()
    np.testing.assert_allclose(costs(trained, TEXTS[0]), apart, rtol=0, atol=1e-4)


def write_without_dropping(model, prompt, uniforms, sampling):
    """All rows are computed to the end, from the start of the text at every token."""
    rows = torch.tensor([prompt] * len(uniforms))
    for place in range(uniforms.shape[1]):
        logits = model.logits(rows, None)[0][:, -1].clone()
        logits[:, [*model.never(), *([model.codec.end] if place == 0 else [])]] = -torch.inf
        rows = torch.cat([rows, draw_tokens(logits, uniforms[:, place], sampling)[:, None]], dim=1)
    cut = [row[len(prompt) :] for row in rows.tolist()]
    return [row[: row.index(model.codec.end)] if model.codec.end in row else row for row in cut]


@pytest.mark.usefixtures("tiny_smollm2")
def test_rows_that_have_ended_are_dropped_and_the_others_stay_as_they_are():
    model, sampling, sizes = train_language_model(TEXTS, epochs=8, settings=SETTINGS), Sampling(), []
    model.network.eval()

    def step(tokens, memory):
        sizes.append(len(tokens))
        logits, memory = model.logits(tokens, memory)
        return logits[:, -1], memory

    uniforms, _ = draw_uniforms(range(40), 20, 3)
    prompts = torch.tensor([model.codec.start] * 40)
    how = {"end": model.codec.end, "sampling": sampling, "never": model.never()}
    with torch.inference_mode():
        found = continue_texts(step, model.keep, prompts, None, uniforms, **how)
        assert found == write_without_dropping(model, model.codec.start, uniforms, sampling)
    assert sizes[0] == 40 > sizes[-1]
    assert len({len(row) for row in found}) > 3


@pytest.mark.usefixtures("tiny_smollm2")
def test_texts_are_made_of_pieces_of_the_texts_alone():
    model = language_model(TEXTS, settings=SETTINGS)
    made = model.generate(50, sampling=Sampling(temperature=3.0, top_k=0, top_p=1.0))
    assert {sign for text in made for sign in text} <= {sign for text in TEXTS for sign in text}
    assert model.codec.decode(model.codec.encode(["  the\tbig cat \ud800"])[0]) == "the big cat"


@pytest.mark.usefixtures("tiny_smollm2")
def test_labels_that_are_written_together_have_the_texts_of_each_alone():
    labels = ["cat", "dog", "lost card"] * 4
    model = train_language_model(TEXTS, labels=labels, epochs=2, settings=SETTINGS)
    seeds = {"lost card": 1, "cat": 2, "dog": 3}
    found = model.generate_of_labels(seeds, 5)
    assert list(found) == list(seeds)
    assert found == {label: model.generate(5, seed=seed, label=label) for label, seed in seeds.items()}
