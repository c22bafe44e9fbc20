"""Causal language models: a small GPT and its sub-word tokens, trained from scratch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from textgauge.core import InputError
from textgauge.encode import replace_surrogates
from textgauge_papers.generate.sampling import Sampling, continue_texts, draw_uniforms, join_tokens
from textgauge_papers.generate.settings import hash_texts, import_torch
from textgauge_papers.generate.training import Ids, Recipe, Say, Training, ignore_message, pad_rows, seed_weights, train

_NOTHING = -100  # the target of what is no token
_SPECIAL = ("<s>", "</s>", "<sep>")


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
class GptSettings:
    """Sizes and training of a small GPT: about 1.3 million weights as they stand."""

    vocabulary: int = 4_000
    layers: int = 4
    width: int = 128
    heads: int = 4
    longest: int = 64
    dropout: float = 0.1
    batch: int = 32
    rate: float = 2e-3
    warmup: int = 100

    def __post_init__(self) -> None:
        sizes = (self.layers, self.width, self.heads, self.batch)
        if min(sizes) < 1 or self.width % self.heads or not 0 <= self.dropout < 1 or not self.rate > 0:
            raise InputError(f"sizes are 1 or more, width a multiple of heads, dropout in [0, 1), rate above 0: {self}")
        if self.vocabulary < 300 or self.longest < 4:
            raise InputError(f"a vocabulary has 300 tokens or more (256 are bytes), a text 4 or more: {self}")


class Pieces:
    """Byte-level pairs learned from texts: every text has tokens, and words never seen can be written."""

    def __init__(self, written: str) -> None:
        from tokenizers import Tokenizer

        self.written = written
        self._pieces = Tokenizer.from_str(written)
        first, self.end, between = (int(self._pieces.token_to_id(token) or 0) for token in _SPECIAL)
        self.start, self.separator = [first], [between]

    @classmethod
    def of(cls, texts: Sequence[str], *, size: int) -> Pieces:
        """Learn at most `size` tokens."""
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

        pieces = Tokenizer(models.BPE())
        pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        pieces.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            show_progress=False,
            special_tokens=list(_SPECIAL),
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        )
        pieces.train_from_iterator([replace_surrogates(text) for text in texts], trainer)
        return cls(pieces.to_str())

    def __len__(self) -> int:
        return int(self._pieces.get_vocab_size())

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Return the tokens of each text; what looks like a special token is text."""
        clean = [" ".join(replace_surrogates(text).split()) for text in texts]
        self._pieces.encode_special_tokens = True
        return [found.ids for found in self._pieces.encode_batch(clean)]

    def decode(self, ids: Ids) -> str:
        """Return the text, white space run together."""
        return " ".join(str(self._pieces.decode(ids, skip_special_tokens=True)).split())


class GeneratorModel:
    """What all causal models share: examples, loss, texts. Kinds say how logits are computed and how texts are cut."""

    kind: str
    network: Any
    codec: Codec
    longest: int
    recipe: Recipe

    def described(self) -> dict[str, Any]:
        """Kind, settings and vocabulary."""
        raise NotImplementedError

    def logits(self, ids: Any, memory: Any, mask: Any = None) -> tuple[Any, Any]:
        """Logits after every token and the new memory; `mask` tells tokens from what fills rows up."""
        raise NotImplementedError

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
        torch = import_torch("a language model")
        self.network.eval()
        prompt = self.codec.start if label is None else self.prompts([label])[0]
        room = self.longest - len(prompt)
        if room < 1:
            raise InputError(f"the label {label!r} leaves no room for a text of {self.longest} tokens")

        def step(tokens: Any, memory: Any) -> tuple[Any, Any]:
            logits, memory = self.logits(tokens, memory)
            return logits[:, -1], memory

        def write(numbers: list[int]) -> list[str]:
            uniforms, _ = draw_uniforms(numbers, room, seed)
            prompts = torch.tensor([prompt] * len(numbers))
            how = sampling or Sampling()
            rows = continue_texts(step, prompts, None, uniforms, end=self.codec.end, sampling=how, never=self.never())
            return [self.codec.decode(row) for row in rows]

        with torch.inference_mode():
            return join_tokens(write, n)


class SmallGpt(GeneratorModel):
    """A small GPT on byte-level pairs, both learned from the training texts alone."""

    kind = "gpt"

    def __init__(self, pieces: Pieces, settings: GptSettings, *, seed: int = 0) -> None:
        import_torch("a language model")
        s = settings
        self.codec, self.settings, self.longest = pieces, settings, s.longest
        self.recipe = Recipe(batch=s.batch, rate=s.rate, warmup=s.warmup)
        with seed_weights(seed):
            self.network = gpt_network(vocabulary=len(pieces), layers=s.layers, width=s.width, longest=s.longest)
        self._pieces = pieces

    def described(self) -> dict[str, Any]:
        """Kind, settings and tokenizer."""
        return {"kind": self.kind, "settings": asdict(self.settings), "tokenizer": self._pieces.written}

    def logits(self, ids: Any, memory: Any, mask: Any = None) -> tuple[Any, Any]:
        """Return logits; rows are filled up on the right, where causal attention does not look, no mask is needed."""
        dropout = self.settings.dropout
        return gpt_logits(self.network, ids, memory, heads=self.settings.heads, dropout=dropout)

    def never(self) -> list[int]:
        """Start and separator."""
        return [*self.codec.start, *self.codec.separator]


def language_model(
    texts: Sequence[str], *, model: str | None = None, settings: GptSettings | None = None, seed: int = 0
) -> GeneratorModel:
    """Return a model to train: a small GPT with a tokenizer of these texts, or a ready one by hub name or folder."""
    if not texts:
        raise InputError("a language model needs at least one text")
    if model is not None:
        from textgauge_papers.generate.pretrained import Pretrained, TunedSettings

        return Pretrained(TunedSettings(model=model))
    chosen = settings or GptSettings()
    import_torch("a language model")
    return SmallGpt(Pieces.of(texts, size=chosen.vocabulary), chosen, seed=seed)


def train_language_model(
    texts: Sequence[str],
    *,
    labels: Sequence[str] | None = None,
    epochs: int = 10,
    seed: int = 0,
    model: str | None = None,
    settings: GptSettings | None = None,
    checkpoint: str | Path | None = None,
    on_step: Say = ignore_message,
    on_note: Say = ignore_message,
) -> GeneratorModel:
    """Train a causal language model; a `checkpoint` folder lets the same call resume.

    Without `model` a small GPT from scratch (extra `generate`), else a transformers model of that hub name or folder
    (extra `hf`). With `labels`, one for each text, it learns to write texts of a label.
    """
    if labels is not None and len(labels) != len(texts):
        raise InputError(f"{len(texts)} texts but {len(labels)} labels")
    learner = language_model([*texts, *(labels or [])], model=model, settings=settings, seed=seed)
    training = Training(
        learner,
        learner.recipe,
        seed=seed,
        data=hash_texts([*texts, *(labels or [])]),
        folder=None if checkpoint is None else Path(checkpoint),
        on_step=on_step,
        on_note=on_note,
    )
    train(training, learner.examples(texts, labels), epochs=epochs)
    return learner


def gpt_network(*, vocabulary: int, layers: int, width: int, longest: int) -> Any:
    """Return the layers, with weights drawn from torch's random numbers as they stand.

    Source of the sizes of first weights: Radford et al. 2019 (0.02, smaller by √(2·layers) where a block adds).
    """
    nn = import_torch("a language model").nn

    def block() -> Any:
        return nn.ModuleDict(
            {
                "norm_1": nn.LayerNorm(width),
                "mixed": nn.Linear(width, 3 * width),
                "joined": nn.Linear(width, width),
                "norm_2": nn.LayerNorm(width),
                "wide": nn.Linear(width, 4 * width),
                "narrow": nn.Linear(4 * width, width),
            }
        )

    network = nn.ModuleDict(
        {
            "tokens": nn.Embedding(vocabulary, width),
            "places": nn.Embedding(longest, width),
            "blocks": nn.ModuleList([block() for _ in range(layers)]),
            "norm": nn.LayerNorm(width),
        }
    )
    for name, weights in network.named_parameters():
        if weights.dim() > 1:
            adds = "joined" in name or "narrow" in name
            nn.init.normal_(weights, std=0.02 / ((2 * layers) ** 0.5 if adds else 1.0))
    return network


def gpt_logits(network: Any, ids: Any, memory: Any, *, heads: int, dropout: float) -> tuple[Any, Any]:
    """Logits after every token, and keys and values of all tokens so far, block by block; None is an empty memory."""
    torch = import_torch("a language model")
    drop = torch.nn.functional.dropout
    past = 0 if memory is None else memory[0][0].shape[2]
    places = torch.arange(past, past + ids.shape[1])
    x = drop(network["tokens"](ids) + network["places"](places), dropout, network.training)
    kept = []
    for number, block in enumerate(network["blocks"]):
        seen, new = _attention(block, x, None if memory is None else memory[number], heads)
        kept.append(new)
        x = x + drop(seen, dropout, network.training)
        wide = torch.nn.functional.gelu(block["wide"](block["norm_2"](x)))
        x = x + drop(block["narrow"](wide), dropout, network.training)
    return network["norm"](x) @ network["tokens"].weight.T, kept


def _attention(block: Any, x: Any, memory: Any, heads: int) -> tuple[Any, Any]:
    torch = import_torch("a language model")
    rows, length, width = x.shape
    mixed = block["mixed"](block["norm_1"](x)).view(rows, length, 3, heads, width // heads)
    query, key, value = mixed.permute(2, 0, 3, 1, 4)
    if memory is not None:
        key, value = torch.cat([memory[0], key], dim=2), torch.cat([memory[1], value], dim=2)
    # Several tokens come at once only at the start; a single one sees everything before it.
    seen = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=length > 1)
    return block["joined"](seen.transpose(1, 2).reshape(rows, length, width)), (key, value)
