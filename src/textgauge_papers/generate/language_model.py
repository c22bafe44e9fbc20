"""Causal language models that are trained further on texts: by adapters (`smollm2`), or whole (`hf:NAME`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from textgauge.core import InputError
from textgauge_papers.generate.sampling import BATCH, Sampling, continue_texts, draw_uniforms, join_tokens
from textgauge_papers.generate.settings import hash_texts, import_torch
from textgauge_papers.generate.training import Ids, Recipe, Training, pad_rows, train

_NOTHING = -100  # the target of what is no token
ADAPTED, READY = "smollm2", "hf:"


class Codec(Protocol):
    """Texts to tokens and back; `start` comes before every text, `end` after it, `separator` after a label."""

    start: Ids
    end: int
    separator: Ids

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Return the tokens of each text."""

    def decode(self, ids: Ids) -> str:
        """Return the text of tokens, without special tokens."""


@dataclass(frozen=True, kw_only=True)
class AdapterSettings:
    """Adapters of `smollm2` and their training: 4.9 million weights as they stand.

    Next to a linear map stand two of `rank` lines, times `scale`; texts are cut at `longest` tokens. With `bits` 16,
    maps multiply in bfloat16, 1.6 times as fast where the processor knows it; adapters themselves always have 32.
    """

    rank: int = 16
    scale: float = 2.0
    longest: int = 64
    batch: int = 32
    rate: float = 3e-4
    warmup: int = 30
    bits: int = 32

    def __post_init__(self) -> None:
        if self.bits not in (16, 32):
            raise InputError(f"bits are 16 or 32, not {self.bits}")
        if min(self.rank, self.batch) < 1 or self.longest < 4 or not self.rate > 0 or not self.scale > 0:
            raise InputError(f"rank and batch are 1 or more, longest 4 or more, rate and scale above 0: {self}")


@dataclass(frozen=True, kw_only=True)
class TunedSettings:
    """How a model of transformers is trained further, all weights of it."""

    longest: int = 64
    batch: int = 16
    rate: float = 5e-5
    warmup: int = 50


Settings = AdapterSettings | TunedSettings


class GeneratorModel:
    """What all causal models share: examples, loss, texts. Kinds say how logits are computed and how texts are cut."""

    kind: str
    network: Any
    codec: Codec
    longest: int
    recipe: Recipe

    def describe(self) -> dict[str, Any]:
        """Kind, settings and vocabulary."""
        raise NotImplementedError

    def logits(self, ids: Any, memory: Any, mask: Any = None) -> tuple[Any, Any]:
        """Logits after every token and the new memory; `mask` tells tokens from what fills rows up."""
        raise NotImplementedError

    def keep(self, memory: Any, rows: Any) -> Any:
        """Return the memory of some rows; here keys and values of every block."""
        return [(key[rows], value[rows]) for key, value in memory]

    def never(self) -> list[int]:
        """Return tokens that no text may contain."""
        return []

    def examples(self, texts: Sequence[str], labels: Sequence[str] | None = None) -> list[Ids]:
        """Return texts as tokens, each after its label if there are labels, cut at the longest."""
        before = [self.codec.start] * len(texts) if labels is None else self.prompts(labels)
        rows = zip(before, self.codec.encode(texts), strict=True)
        return [[*prompt, *ids, self.codec.end][: self.longest] for prompt, ids in rows]

    def prompts(self, labels: Sequence[str]) -> list[Ids]:
        """Return the tokens before the texts of each label: start, label, separator."""
        known = list(dict.fromkeys(labels))
        coded = dict(zip(known, self.codec.encode(known), strict=True))
        return [[*self.codec.start, *coded[label], *self.codec.separator] for label in labels]

    def loss(self, rows: list[Ids], step: int) -> Any:
        """Return the mean cross-entropy of the next token."""
        torch = import_torch("a language model")
        ids, targets = pad_rows([row[:-1] for row in rows]), pad_rows([row[1:] for row in rows], _NOTHING)
        logits, _ = self.logits(ids, None, targets != _NOTHING)
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=_NOTHING)

    def generate(
        self, n: int, *, seed: int = 0, sampling: Sampling | None = None, label: str | None = None
    ) -> list[str]:
        """Write new texts, of a label if the model was trained with labels."""
        prompt = self.codec.start if label is None else self.prompts([label])[0]

        def write(numbers: list[int]) -> list[str]:
            return self._continue([prompt] * len(numbers), self._draw(numbers, prompt, seed, label), sampling)

        return join_tokens(write, n)

    def generate_of_labels(
        self, seeds: Mapping[str, int], n: int, sampling: Sampling | None = None
    ) -> dict[str, list[str]]:
        """Write `n` texts of each label, by a seed for each; labels of as many tokens are written together."""
        torch = import_torch("a language model")
        prompts = dict(zip(seeds, self.prompts(list(seeds)), strict=True))
        found: dict[str, list[str]] = {}
        for length in sorted({len(prompt) for prompt in prompts.values()}):
            same = [label for label, prompt in prompts.items() if len(prompt) == length]
            size = max(1, BATCH // n)
            for part in (same[start : start + size] for start in range(0, len(same), size)):
                uniforms = torch.cat([self._draw(range(n), prompts[one], seeds[one], one) for one in part])
                texts = self._continue([prompts[one] for one in part for _ in range(n)], uniforms, sampling)
                found |= {one: texts[place * n : (place + 1) * n] for place, one in enumerate(part)}
        return {
            label: found[label]
            if all(found[label])  # a text may be blank: others take its place
            else self.generate(n, seed=seed, sampling=sampling, label=label)
            for label, seed in seeds.items()
        }

    def _draw(self, numbers: Sequence[int], prompt: Ids, seed: int, label: str | None) -> Any:
        """Return random numbers for as many tokens as there is room for."""
        if len(prompt) >= self.longest:
            raise InputError(f"the label {label!r} leaves no room for a text of {self.longest} tokens")
        return draw_uniforms(numbers, self.longest - len(prompt), seed)[0]

    def _continue(self, prompts: list[Ids], uniforms: Any, sampling: Sampling | None) -> list[str]:
        """Return the text that follows each prompt; prompts are as long as each other."""
        torch = import_torch("a language model")
        self.network.eval()

        def step(tokens: Any, memory: Any) -> tuple[Any, Any]:
            logits, memory = self.logits(tokens, memory)
            return logits[:, -1], memory

        how: dict[str, Any] = {"end": self.codec.end, "sampling": sampling or Sampling(), "never": self.never()}
        with torch.inference_mode():
            rows = continue_texts(step, self.keep, torch.tensor(prompts), None, uniforms, **how)
        return [self.codec.decode(row) for row in rows]


def language_model(
    texts: Sequence[str], *, model: str = ADAPTED, settings: Settings | None = None, seed: int = 0
) -> GeneratorModel:
    """Return a model to train on these texts, by name: `smollm2`, or `hf:NAME` of transformers."""
    if not texts:
        raise InputError("a language model needs at least one text")
    kind = get_settings_class(model)
    chosen = settings or kind()
    if not isinstance(chosen, kind):
        raise InputError(f"settings of {model} are {kind.__name__}, not {type(chosen).__name__}")
    if isinstance(chosen, TunedSettings):
        from textgauge_papers.generate.pretrained import Pretrained

        return Pretrained(model.removeprefix(READY), chosen)
    from textgauge_papers.generate.adapted import Adapted

    return Adapted.load(texts, chosen, seed=seed)


def get_settings_class(model: str) -> type[Settings]:
    """Return the class of the settings of a model; refuse a name that is none."""
    if model == ADAPTED:
        return AdapterSettings
    if model.startswith(READY) and model != READY:
        return TunedSettings
    raise InputError(f"a language model is {ADAPTED} or {READY}NAME, not {model!r}")


def train_language_model(
    texts: Sequence[str],
    *,
    labels: Sequence[str] | None = None,
    epochs: int = 3,
    seed: int = 0,
    model: str = ADAPTED,
    settings: Settings | None = None,
    checkpoint: str | Path | None = None,
) -> GeneratorModel:
    """Train a causal language model; a `checkpoint` folder lets the same call resume.

    `model` is `smollm2`, SmolLM2-135M with adapters (extra `generate`), or `hf:NAME`, a transformers model by hub name
    or folder, all weights of it (extra `hf`). With `labels`, one for each text, it learns to write texts of a label.
    """
    if labels is not None and len(labels) != len(texts):
        raise InputError(f"{len(texts)} texts but {len(labels)} labels")
    learner = language_model([*texts, *(labels or [])], model=model, settings=settings, seed=seed)
    training = Training(learner, seed=seed, data=hash_texts([*texts, *(labels or [])]), folder=checkpoint)
    train(training, learner.examples(texts, labels), epochs=epochs)
    return learner
