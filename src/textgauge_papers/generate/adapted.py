"""SmolLM2-135M as a generator: the weights of the resource stay as they are, adapters of low rank learn.

Next to each linear map W of a block stand two narrow ones: x·Wᵀ + scale·x·downᵀ·upᵀ, where `up` is 0 at first (Hu et
al. 2022). Only adapters are trained and kept in checkpoints. The vocabulary is cut to the pieces that the texts have: a
text that is written has no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from textgauge.encode import Llama, SmolLM2, replace_surrogates
from textgauge_papers.generate.language_model import AdapterSettings, GeneratorModel
from textgauge_papers.generate.settings import import_torch
from textgauge_papers.generate.training import Ids, Recipe, seed_weights

_SEPARATOR = "\n"  # white space within texts is run together: no text holds it
_MAPS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


class CutPieces:
    """A tokenizer with the pieces of some texts alone, numbered anew; the mark between documents is their end."""

    def __init__(self, tokenizer: Any, end: str, texts: Sequence[str]) -> None:
        from tokenizers import decoders

        self._tokenizer = tokenizer
        self._tokenizer.decoder = decoders.ByteLevel()
        marks = [tokenizer.token_to_id(end), *tokenizer.encode(_SEPARATOR).ids]
        self.kept: list[int] = sorted({number for ids in self._read(texts) for number in ids} | set(marks))
        self._place = {number: place for place, number in enumerate(self.kept)}
        self.end, *self.separator = (self._place[number] for number in marks)
        self.start = [self.end]

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Return the tokens of each text; pieces that were cut are left out."""
        return [[self._place[number] for number in ids if number in self._place] for ids in self._read(texts)]

    def decode(self, ids: Ids) -> str:
        """Return the text, white space run together."""
        return " ".join(str(self._tokenizer.decode([self.kept[place] for place in ids])).split())

    def _read(self, texts: Sequence[str]) -> list[Ids]:
        clean = [" ".join(replace_surrogates(text).split()) for text in texts]
        return [found.ids for found in self._tokenizer.encode_batch(clean)]


class Adapted(GeneratorModel):
    """A Llama network with adapters; they are added to its weights while it writes."""

    kind = "smollm2"

    def __init__(self, codec: CutPieces, llama: Llama, settings: AdapterSettings, *, made_of: str, seed: int) -> None:
        torch = import_torch("a language model")
        self.codec, self.settings, self.longest, self._llama = codec, settings, settings.longest, llama
        self._made_of, self._pieces = made_of, codec.kept
        self.recipe = Recipe(batch=settings.batch, rate=settings.rate, warmup=settings.warmup)
        self._weights = {name: torch.from_numpy(np.ascontiguousarray(of)) for name, of in llama.weights.items()}
        self._weights["token_embd.weight"] = self._weights["token_embd.weight"][codec.kept]
        self._dtype = torch.bfloat16 if settings.bits == 16 else torch.float32
        for name, weights in self._weights.items():
            if weights.ndim == 2:
                self._weights[name] = weights.to(self._dtype)
        places = np.outer(np.arange(settings.longest), llama.speeds)
        self._turns = torch.from_numpy(np.exp(1j * places).astype(np.complex64))
        self.network = torch.nn.ParameterDict()
        with seed_weights(seed):
            for name, weights in self._adapted():
                wide, narrow = weights.shape
                down = torch.randn(settings.rank, narrow) / narrow**0.5
                self.network[f"{name}-down"] = torch.nn.Parameter(down)
                self.network[f"{name}-up"] = torch.nn.Parameter(torch.zeros(wide, settings.rank))
        self._merged: dict[str, Any] = {}

    @classmethod
    def load(cls, texts: Sequence[str], settings: AdapterSettings, *, seed: int) -> Adapted:
        """Return the model of the resource, with adapters that change nothing yet."""
        import_torch("a language model")  # says that the extra is missing before anything is fetched
        model = SmolLM2()
        tokenizer, llama = model.parts
        return cls(CutPieces(tokenizer, model.separator, texts), llama, settings, made_of=model.signature, seed=seed)

    def describe(self) -> dict[str, Any]:
        """Kind, settings, weights it began with, and pieces that were kept."""
        pieces = {"kept": len(self._pieces), "sum": sum(self._pieces)}
        return {"kind": self.kind, "settings": asdict(self.settings), "made_of": self._made_of, "pieces": pieces}

    def never(self) -> list[int]:
        """Separator."""
        return self.codec.separator

    def logits(self, ids: Any, memory: Any, mask: Any = None) -> tuple[Any, Any]:
        """Return logits; rows are filled up on the right, where causal attention does not look, no mask is needed."""
        functional = import_torch("a language model").nn.functional
        self._merge()
        past = 0 if memory is None else memory[0][0].shape[2]
        turns, kept = self._turns[past : past + ids.shape[1]], []
        table = self._weights["token_embd.weight"]
        x = functional.embedding(ids, table).float()
        for layer in range(self._llama.layers):
            before = None if memory is None else memory[layer]
            seen, new = self._attend(self._norm(x, f"blk.{layer}.attn_norm"), layer, turns, before)
            kept.append(new)
            x = x + seen
            near = self._norm(x, f"blk.{layer}.ffn_norm")
            gate = functional.silu(self._map(near, layer, "ffn_gate"))
            x = x + self._map(gate * self._map(near, layer, "ffn_up"), layer, "ffn_down")
        return functional.linear(self._norm(x, "output_norm").to(self._dtype), table).float(), kept

    def _attend(self, x: Any, layer: int, turns: Any, memory: Any) -> tuple[Any, Any]:
        """Mix the values of the tokens so far; several heads of queries share one of keys and values."""
        torch = import_torch("a language model")
        rows, length, _ = x.shape
        heads, groups = self._llama.key_heads, self._llama.heads // self._llama.key_heads
        query = self._split(self._map(x, layer, "attn_q"), heads * groups, turns)
        key = self._split(self._map(x, layer, "attn_k"), heads, turns)
        value = self._split(self._map(x, layer, "attn_v"), heads)
        if memory is not None:
            key, value = torch.cat([memory[0], key], dim=2), torch.cat([memory[1], value], dim=2)
        # Queries of one group stand one after another, as if the text were that many times as long.
        mask = None if length == 1 else torch.ones(length, length, dtype=torch.bool).tril().repeat(groups, 1)
        query = query.reshape(rows, heads, groups * length, -1)
        seen = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = seen.reshape(rows, heads * groups, length, -1).transpose(1, 2).reshape(rows, length, -1)
        return self._map(mixed, layer, "attn_output"), (key, value)

    def _split(self, x: Any, heads: int, turns: Any = None) -> Any:
        """Return the heads of rows, (rows, heads, length, head), turned by their places if `turns` are given."""
        torch = import_torch("a language model")
        parts = x.view(*x.shape[:2], heads, -1).transpose(1, 2)
        if turns is None:
            return parts
        pairs = torch.view_as_complex(parts.reshape(*parts.shape[:3], -1, 2))
        return torch.view_as_real(pairs * turns).flatten(-2)

    def _map(self, x: Any, layer: int, name: str) -> Any:
        linear, full = import_torch("a language model").nn.functional.linear, f"blk-{layer}-{name}"
        if self._merged:
            return linear(x.to(self._dtype), self._merged[full]).float()
        # What adapters add is small beside the rest: it is computed and added in 32 bits.
        through = linear(linear(x, self.network[f"{full}-down"]), self.network[f"{full}-up"])
        weights = self._weights[f"blk.{layer}.{name}.weight"]
        return linear(x.to(self._dtype), weights).float() + self.settings.scale * through

    def _merge(self) -> None:
        """Add adapters to the weights while nothing is learned; leave them apart while something is."""
        if self.network.training:
            self._merged = {}
        elif not self._merged:
            scale, of = self.settings.scale, self.network
            self._merged = {
                name: (weights + scale * of[f"{name}-up"].detach() @ of[f"{name}-down"].detach()).to(self._dtype)
                for name, weights in self._adapted()
            }

    def _adapted(self) -> list[tuple[str, Any]]:
        """Return the linear maps, by a name that parameters may have."""
        numbers = range(self._llama.layers)
        return [(f"blk-{one}-{name}", self._weights[f"blk.{one}.{name}.weight"]) for one in numbers for name in _MAPS]

    def _norm(self, x: Any, name: str) -> Any:
        size = (x * x).mean(dim=-1, keepdim=True) + float(self._llama.epsilon)
        return x * size.rsqrt() * self._weights[f"{name}.weight"]
