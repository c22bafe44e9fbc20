"""A sentence VAE: texts through a narrow, noisy passage and back, so that noise alone can be read as texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textgauge.core import InputError
from textgauge_papers.generate.sampling import Sampling, continue_texts, draw_uniforms, join_tokens
from textgauge_papers.generate.settings import hash_texts, import_torch
from textgauge_papers.generate.training import Ids, Recipe, Training, pad_rows, seed_weights, train
from textgauge_papers.generate.word_level import END, PAD, START, UNKNOWN, Vocabulary


@dataclass(frozen=True, kw_only=True)
class VaeSettings:
    """Sizes and training of a sentence VAE.

    `vocabulary` words at most, each seen `min_texts` times or more; texts are cut at `longest` words. `word_dropout` of
    the decoder's input words are hidden from it, and the weight of the Kullback–Leibler term rises from 0 to 1 over
    `anneal` steps: both keep the decoder from leaving the passage unused.
    """

    vocabulary: int = 8_000
    min_texts: int = 2
    embedding: int = 128
    hidden: int = 256
    latent: int = 32
    longest: int = 40
    word_dropout: float = 0.25
    anneal: int = 2_000
    batch: int = 32
    rate: float = 2e-3

    def __post_init__(self) -> None:
        sizes = (self.vocabulary, self.min_texts, self.embedding, self.hidden, self.latent, self.longest, self.batch)
        if min(sizes) < 1 or not 0 <= self.word_dropout < 1 or self.anneal < 0 or not self.rate > 0:
            raise InputError(f"sizes are 1 or more, word_dropout in [0, 1), anneal 0 or more, rate above 0: {self}")


# Nearly greedy: what the decoder is sure of, not what it might say once in a hundred texts.
VAE_SAMPLING = Sampling(temperature=0.3, top_k=0, top_p=1.0)


class Vae:
    """GRU encoder to a Gaussian, GRU decoder from a draw of it; output weights are the word embeddings.

    Loss: −log p(text | z) + w·KL(q(z | text) ‖ N(0, 1)), mean over texts. Source: Bowman et al. 2016; beyond it, z is
    with every input word of the decoder too, not in its first state alone.
    """

    kind = "vae"

    def __init__(self, vocabulary: Vocabulary, settings: VaeSettings, *, seed: int = 0) -> None:
        nn = import_torch("a sentence VAE").nn
        s = settings
        self.vocabulary, self.settings = vocabulary, settings
        self.recipe = Recipe(batch=s.batch, rate=s.rate)
        with seed_weights(seed):
            self.network = nn.ModuleDict(
                {
                    "words": nn.Embedding(len(vocabulary), s.embedding, padding_idx=PAD),
                    "encoder": nn.GRU(s.embedding, s.hidden, batch_first=True),
                    "mean": nn.Linear(s.hidden, s.latent),
                    "spread": nn.Linear(s.hidden, s.latent),
                    "first": nn.Linear(s.latent, s.hidden),
                    "decoder": nn.GRU(s.embedding + s.latent, s.hidden, batch_first=True),
                    "out": nn.Linear(s.hidden, s.embedding),
                }
            )
            nn.init.normal_(self.network["words"].weight, std=s.embedding**-0.5)

    def describe(self) -> dict[str, Any]:
        """Kind, settings and words."""
        return {"kind": self.kind, "settings": asdict(self.settings), "vocabulary": list(self.vocabulary.words)}

    def examples(self, texts: Sequence[str]) -> list[Ids]:
        """Return texts as numbers of words, cut at the longest."""
        rows = [self.vocabulary.encode(text)[: self.settings.longest] for text in texts]
        return [row for row in rows if row]

    def loss(self, rows: list[Ids], step: int) -> Any:
        """Reconstruction and the weighted Kullback–Leibler term, a mean over texts."""
        torch = import_torch("a sentence VAE")
        mean, log_variance = self._encode(rows)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        inputs = pad_rows([[START, *row] for row in rows])
        hidden = torch.rand(inputs.shape) < self.settings.word_dropout
        inputs = inputs.masked_fill(hidden & (inputs > UNKNOWN), UNKNOWN)
        logits, _ = self._decode(inputs, z, self._first(z))
        targets = pad_rows([[*row, END] for row in rows], PAD)
        lost = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, reduction="sum"
        )
        divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum()
        weight = min(1.0, step / max(self.settings.anneal, 1))
        return (lost + weight * divergence) / len(rows)

    def generate(self, n: int, *, seed: int = 0, sampling: Sampling = VAE_SAMPLING) -> list[str]:
        """Return texts read from draws of N(0, 1); made of words of the training texts alone."""
        torch = import_torch("a sentence VAE")
        self.network.eval()

        def write(numbers: list[int]) -> list[str]:
            uniforms, z = draw_uniforms(numbers, self.settings.longest, seed, extra=self.settings.latent)
            prompts = torch.full((len(numbers), 1), START)

            def step(tokens: Any, memory: Any) -> tuple[Any, Any]:
                logits, state = self._decode(tokens, *memory)
                return logits[:, -1], (memory[0], state)

            def keep(memory: Any, rows: Any) -> Any:
                return memory[0][rows], memory[1][:, rows]

            how: dict[str, Any] = {"end": END, "sampling": sampling, "never": [PAD, START, UNKNOWN]}
            rows = continue_texts(step, keep, prompts, (z, self._first(z)), uniforms, **how)
            return [self.vocabulary.decode(row) for row in rows]

        with torch.inference_mode():
            return join_tokens(write, n)

    def _encode(self, rows: list[Ids]) -> tuple[Any, Any]:
        torch = import_torch("a sentence VAE")
        states, _ = self.network["encoder"](self.network["words"](pad_rows(rows)))
        last = torch.tensor([len(row) - 1 for row in rows])
        ends = states[torch.arange(len(rows)), last]
        return self.network["mean"](ends), self.network["spread"](ends)

    def _first(self, z: Any) -> Any:
        return self.network["first"](z).tanh()[None]

    def _decode(self, inputs: Any, z: Any, memory: Any) -> tuple[Any, Any]:
        torch = import_torch("a sentence VAE")
        latent = z[:, None].expand(-1, inputs.shape[1], -1)
        states, memory = self.network["decoder"](torch.cat([self.network["words"](inputs), latent], dim=-1), memory)
        return self.network["out"](states) @ self.network["words"].weight.T, memory


def train_vae(
    texts: Sequence[str],
    *,
    epochs: int = 15,
    seed: int = 0,
    settings: VaeSettings | None = None,
    checkpoint: str | Path | None = None,
) -> Vae:
    """Train a sentence VAE; a `checkpoint` folder lets the same call resume (extra `generate`)."""
    chosen = settings or VaeSettings()
    vocabulary = Vocabulary.of(texts, largest=chosen.vocabulary, fewest=chosen.min_texts)
    model = Vae(vocabulary, chosen, seed=seed)
    examples = model.examples(texts)
    if not examples or len(vocabulary) <= UNKNOWN + 1:
        raise InputError(f"no word occurs {chosen.min_texts} times in the texts: a VAE has nothing to learn")
    train(Training(model, seed=seed, data=hash_texts(texts), folder=checkpoint), examples, epochs=epochs)
    return model
