"""Models of Hugging Face on torch, on the CPU, by hub name or folder; code that comes with a model is never run.

st:MODEL          sentence vectors, by sentence-transformers (extra `st`)
hf:MODEL          vectors of tokens, by transformers (extra `hf`)
hf-causal:MODEL   how surprising a text is, read from left to right
hf-masked:MODEL   how surprising its tokens are, one hidden at a time

and cross-encoders, which read two texts together. Of language models only safetensors are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.errors import InputError, ResourceError
from textgauge.core.progress import advance
from textgauge.core.settings import split_into_blocks
from textgauge.encode.embedders.transformer import (
    CROSS_ENCODER,
    LONGEST,
    PairTransformer,
    make_cross_encoder,
    split_by_length,
)
from textgauge.encode.embedders.whole import WordSpans, group_words
from textgauge.encode.encoders import explain_unloadable, pin_folder, shorten_name
from textgauge.encode.language_models import Surprise, cut_windows, score_distinct
from textgauge.encode.resources import is_offline
from textgauge.encode.token_vectors import CHOSEN, Encoding, TokenVectors, check_layer, fill_vectors
from textgauge.encode.tokenizers import Tokens, compute_offsets, replace_surrogates

_TOKENS = 1024  # scored at once: each has a number for every token of the vocabulary


def load_pretrained(name: str, model: str, kind: str, **options: Any) -> Any:
    """Return what the class `kind` of transformers makes of a model; `name` is what errors call it."""
    with explain_unloadable(name, "hf"):
        import torch  # noqa: F401, transformers without it can do nothing here
        import transformers

        options |= {"trust_remote_code": False, "local_files_only": is_offline()}
        return getattr(transformers, kind).from_pretrained(model, **options)


def _load_sentence_transformers(name: str, model: str, kind: str) -> Any:
    with explain_unloadable(name, "st"):
        import sentence_transformers

        return getattr(sentence_transformers, kind)(model, local_files_only=is_offline())


def pin_revision(model: str, config: Any) -> str:
    """Return the digest of a folder's files, else the hub's revision."""
    if Path(model).is_dir():
        return pin_folder(Path(model))
    return str(getattr(config, "_commit_hash", None) or "unknown")


@dataclass(frozen=True)
class SentenceTransformersEmbedder:
    """A model run by sentence-transformers, unchanged: its own pooling, normalisation and longest input.

    torch pads the texts of a batch and may round by its shape: the last bit of a vector can depend on the rest of
    its batch (differences around 1e-7). Texts are sorted by length first, to pad little.
    """

    model: str

    @property
    def name(self) -> str:
        return f"st:{self.model}"

    @cached_property
    def _encoder(self) -> Any:
        return _load_sentence_transformers(self.name, self.model, "SentenceTransformer")

    @cached_property
    def identity(self) -> str:
        longest = getattr(self._encoder, "max_seq_length", None)
        pinned = pin_revision(self.model, getattr(getattr(self._encoder[0], "auto_model", None), "config", None))
        runtime = f"sentence-transformers-{version('sentence-transformers')}"
        settings = f"revision={pinned},max_length={longest},dtype=float32,runtime={runtime}"
        return f"st:{shorten_name(self.model)}({settings})"

    @cached_property
    def dimension(self) -> int:
        renamed = hasattr(self._encoder, "get_embedding_dimension")
        return int(getattr(self._encoder, f"get_{'' if renamed else 'sentence_'}embedding_dimension")())

    @cached_property
    def window(self) -> int | None:
        """How many tokens of a text it reads; None where the model has no end."""
        longest = getattr(self._encoder, "max_seq_length", None)
        return None if longest is None else int(longest) - int(self._tokenizer.num_special_tokens_to_add())

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = getattr(self._encoder, "tokenizer", None)
        if not getattr(tokenizer, "is_fast", False):
            raise ResourceError(f"{self.name} has no fast tokenizer, which is needed to find its tokens in a text")
        return tokenizer

    def words(self, texts: Sequence[str]) -> Iterator[WordSpans]:
        options = {"add_special_tokens": False, "truncation": False, "verbose": False}
        for text in texts:
            encoding = self._tokenizer(replace_surrogates(text), return_offsets_mapping=True, **options)
            yield group_words(encoding.word_ids(), encoding["offset_mapping"])

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> Floats32:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]), reverse=True)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            batch = [replace_surrogates(texts[row]) for row in rows]
            vectors[rows] = self._encoder.encode(batch, batch_size=batch_size, show_progress_bar=False)
            advance(start + len(rows), len(texts))
        return vectors


@dataclass(frozen=True)
class CrossEncoderModel:
    """A model that reads two texts together and gives one number, run by sentence-transformers (extra `st`).

    Its raw number goes through a sigmoid, whatever the model's own activation: models trained on similarities have the
    sigmoid anyway, rankers keep their order. torch pads a batch and may round by its shape, in the 7th decimal.
    """

    model: str

    @cached_property
    def _encoder(self) -> Any:
        return _load_sentence_transformers(f"cross-encoder {self.model}", self.model, "CrossEncoder")

    @cached_property
    def identity(self) -> str:
        """Model and revision; for a folder the digest of its files."""
        pinned = pin_revision(self.model, getattr(getattr(self._encoder, "model", None), "config", None))
        renamed = "max_seq_length" if hasattr(self._encoder, "max_seq_length") else "max_length"
        longest = getattr(self._encoder, renamed, None)
        return f"{shorten_name(self.model)}(revision={pinned},max_length={longest},activation=sigmoid,dtype=float32)"

    def score(self, left: Sequence[str], right: Sequence[str]) -> Floats:
        """Return a number between 0 and 1 for each pair."""
        from scipy.special import expit

        pairs = [(replace_surrogates(a), replace_surrogates(b)) for a, b in zip(left, right, strict=True)]
        predict = self._encoder.predict  # first of all, because it says which package is missing

        from torch.nn import Identity

        # The name of this option changed with version 4.
        activation = "activation_fn" if "activation_fn" in signature(predict).parameters else "activation_fct"
        options: dict[str, Any] = {"batch_size": 32, "show_progress_bar": False, activation: Identity()}
        # Neighbours in length are padded little.
        order = sorted(range(len(pairs)), key=lambda row: len(pairs[row][0]) + len(pairs[row][1]))
        raw = np.asarray(predict([pairs[row] for row in order], **options), dtype=np.float64)
        if raw.shape != (len(pairs),):
            raise InputError(
                f"{self.model} gives an array of shape {raw.shape} for {len(pairs)} pairs, not one number each"
            )
        values = np.empty(len(pairs))
        values[order] = expit(raw)
        return values


@cache
def get_cross_encoder(model: str) -> CrossEncoderModel | PairTransformer:
    """Return the cross-encoder of that name, the same object each time; it is loaded when it is first used."""
    on_onnx = model == CROSS_ENCODER or model.startswith("onnx:")
    return make_cross_encoder(model) if on_onnx else CrossEncoderModel(model)


@dataclass(frozen=True)
class TransformersModel:
    """A model run by transformers on torch, on the CPU, with its tokenizer; loaded when it is first used."""

    model: str
    prefix: ClassVar[str]
    kind: ClassVar[str]

    @property
    def name(self) -> str:
        return f"{self.prefix}:{self.model}"

    @cached_property
    def tokenizer(self) -> Any:
        return load_pretrained(self.name, self.model, "AutoTokenizer")

    @cached_property
    def network(self) -> Any:
        return load_pretrained(self.name, self.model, self.kind).eval()

    @cached_property
    def longest(self) -> int:
        """How many tokens it reads, at most 512."""
        places = getattr(self.network.config, "max_position_embeddings", LONGEST)
        return int(min(self.tokenizer.model_max_length, places, LONGEST))

    def spell_identity(self, length: str, last: str) -> str:
        """Return everything the numbers depend on, with the longest input under the name `length`."""
        digest = pin_revision(self.model, self.network.config)  # first, because it says which package is missing
        runtime = f"transformers-{version('transformers')}+torch-{version('torch')}"
        settings = f"{length}={self.longest},dtype=float32,runtime={runtime},{last}"
        return f"{self.prefix}:{shorten_name(self.model)}(revision={digest},{settings})"


@dataclass(frozen=True)
class HuggingFaceTokens(TransformersModel):
    """`hf:MODEL`: the hidden states of any transformers encoder (extra `hf`); the last layer by default.

    Texts are cut at the model's longest input, at most 512 tokens. Texts of equal length share a batch and nothing is
    padded; torch may still round the last bit by the size of a batch.
    """

    layer: int = CHOSEN
    prefix = "hf"
    kind = "AutoModel"

    @cached_property
    def identity(self) -> str:
        return self.spell_identity("max_length", f"layer={self._layer}")

    def tokenize(self, texts: Sequence[str]) -> Encoding:
        return self._tokenize(texts)[1]

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> TokenVectors:
        ids, encoding = self._tokenize(texts)
        batches = [rows for rows in split_by_length(ids, batch_size) if len(ids[rows[0]])]
        blocks = ((rows, self._run(np.stack([ids[row] for row in rows]))) for rows in batches)
        return fill_vectors(encoding, blocks, int(self.network.config.hidden_size), self.identity)

    @cached_property
    def _layer(self) -> int:
        layers = int(self.network.config.num_hidden_layers)
        return check_layer(self.name, self.layer, layers, layers)

    @cached_property
    def _vocabulary(self) -> tuple[str, ...]:
        return tuple(self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer)))))

    def _tokenize(self, texts: Sequence[str]) -> tuple[list[Ints], Encoding]:
        options = {"truncation": True, "max_length": self.longest, "return_special_tokens_mask": True}
        clean = [replace_surrogates(text) for text in texts]
        rows: Any = self.tokenizer(clean, **options) if clean else {"input_ids": [], "special_tokens_mask": []}
        ids = [np.array(row, dtype=np.int64) for row in rows["input_ids"]]
        flat = np.concatenate([np.empty(0, np.int64), *ids]).astype(np.int32)
        special = np.concatenate(
            [np.empty(0, bool), *(np.array(row, dtype=bool) for row in rows["special_tokens_mask"])]
        )
        return ids, Encoding(Tokens(flat, compute_offsets([len(row) for row in ids]), self._vocabulary), special)

    def _run(self, ids: Ints) -> Floats32:
        import torch

        with torch.inference_mode():
            states = self.network(
                input_ids=torch.from_numpy(ids),
                attention_mask=torch.ones(ids.shape, dtype=torch.long),
                output_hidden_states=True,
            ).hidden_states
        return np.asarray(states[self._layer].to(torch.float32).numpy())


@dataclass(frozen=True)
class _LanguageModel(TransformersModel):
    """Texts of equal length share a batch and nothing is padded. Longer texts are cut into windows of at most 512
    tokens that do not see each other.
    """

    @cached_property
    def signature(self) -> str:
        return self.spell_identity("window", "version=1")

    @cached_property
    def network(self) -> Any:
        return load_pretrained(self.name, self.model, self.kind, use_safetensors=True).float().eval()

    def surprise(self, texts: Sequence[str]) -> Surprise:
        return score_distinct(self._surprise, texts)

    def _surprise(self, texts: list[str]) -> Surprise:
        nats, tokens = np.zeros(len(texts)), np.zeros(len(texts), dtype=np.int64)
        before, after = self._marks
        cut, owner = cut_windows(self._ids(texts), self.longest - len(after), before=before)
        windows = [np.append(window, np.array(after, dtype=np.int64)) for window in cut]
        for rows in split_by_length(windows, _TOKENS):
            costs = self._costs(np.stack([windows[row] for row in rows]))
            np.add.at(nats, owner[rows], costs.sum(axis=1))
            np.add.at(tokens, owner[rows], costs.shape[1])
        return nats, tokens

    @cached_property
    def _marks(self) -> tuple[list[int], list[int]]:
        """What stands before and after a text."""
        raise NotImplementedError

    def _costs(self, ids: Ints) -> Floats:
        raise NotImplementedError

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        clean = [replace_surrogates(text) for text in texts]
        return list(self.tokenizer(clean, add_special_tokens=False, verbose=False)["input_ids"]) if clean else []

    def _logs(self, ids: Ints) -> Any:
        """Return ln P of every token at every place, as a tensor."""
        import torch

        with torch.inference_mode():
            tokens = torch.from_numpy(ids)
            return torch.log_softmax(self.network(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits, -1)


@dataclass(frozen=True)
class CausalModel(_LanguageModel):
    """A model that reads from left to right: −Σ ln P(token | tokens before).

    A text is scored after the model's mark of beginning (of end, where it has none of beginning), so its first token
    counts; with neither mark it does not.
    """

    prefix = "hf-causal"
    kind = "AutoModelForCausalLM"

    @cached_property
    def _marks(self) -> tuple[list[int], list[int]]:
        marks = (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id)
        return [mark for mark in marks if mark is not None][:1], []

    def _costs(self, ids: Ints) -> Floats:
        import torch

        chosen = self._logs(ids)[:, :-1].gather(2, torch.from_numpy(ids[:, 1:, None]))
        return -np.asarray(chosen[..., 0].numpy(), dtype=np.float64)


@dataclass(frozen=True)
class MaskedModel(_LanguageModel):
    """A model that fills gaps: −Σ ln P(token | all others), one token hidden at a time (pseudo-perplexity).

    A text stands between the model's marks, which are not scored. The work grows with the square of a text's length.
    Source: Salazar et al. 2020.
    """

    prefix = "hf-masked"
    kind = "AutoModelForMaskedLM"

    @cached_property
    def _marks(self) -> tuple[list[int], list[int]]:
        if self.tokenizer.mask_token_id is None:
            raise ResourceError(f"{self.name} has no token for a gap: use hf-causal:{self.model}")
        # What the tokenizer itself puts around a text, found by a text of one token.
        inner = self._ids(["a"])[0]
        whole = list(self.tokenizer(["a"])["input_ids"][0])
        start = next(i for i in range(len(whole)) if whole[i : i + len(inner)] == inner)
        return whole[:start], whole[start + len(inner) :]

    def _costs(self, ids: Ints) -> Floats:
        before, after = self._marks
        places = np.arange(len(before), ids.shape[1] - len(after))
        costs = np.empty((len(ids), len(places)))
        for number, row in enumerate(ids):
            for some in split_into_blocks(len(places), _TOKENS, len(row)):
                hidden, copy = places[some], np.arange(len(places[some]))
                copies = np.repeat(row[None], len(hidden), axis=0)
                copies[copy, hidden] = self.tokenizer.mask_token_id
                costs[number, some] = -self._logs(copies).numpy()[copy, hidden, row[hidden]]
        return costs
