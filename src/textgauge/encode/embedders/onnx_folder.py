"""`onnx:MODEL`: a sentence-transformers model exported to ONNX, by folder or hub name, without torch.

Read as data, never executed: `tokenizer.json`, `model.onnx` (or `onnx/model.onnx`), and the settings of
sentence-transformers where they exist: `modules.json`, `1_Pooling/config.json`, `sentence_bert_config.json`,
`config_sentence_transformers.json`. Without them: mean pooling, not normalised, 512 tokens, no prompt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.errors import ResourceError
from textgauge.core.limits import stored_bytes
from textgauge.encode.embedders import Progress
from textgauge.encode.embedders.transformer import encode_tokens, onnx_session, runtime_identity
from textgauge.encode.embedders.whole import WordSpans, words_of
from textgauge.encode.hugging_face import LONGEST, model_folder, pinned, readable, short_name
from textgauge.encode.tokenizers import without_surrogates

_FILES = (
    "tokenizer.json", "model.onnx", "onnx/model.onnx", "modules.json", "1_Pooling/config.json",
    "sentence_bert_config.json", "config_sentence_transformers.json",
)  # fmt: skip
_LONGEST = 2**20  # tokens
_MODULES = {"Transformer", "Pooling", "Normalize"}
_POOLINGS: dict[str, Callable[[NDArray[Any]], Floats]] = {
    "cls_token": lambda hidden: hidden[:, 0].astype(np.float64),
    "mean_tokens": lambda hidden: hidden.mean(axis=1, dtype=np.float64),
    "max_tokens": lambda hidden: hidden.max(axis=1).astype(np.float64),
    "lasttoken": lambda hidden: hidden[:, -1].astype(np.float64),
}


@dataclass(frozen=True)
class OnnxSettings:
    """How a model reads texts and what it makes of its hidden states."""

    pooling: str
    normalise: bool
    max_length: int
    prompt: str

    @classmethod
    def of(cls, folder: Path, name: str) -> OnnxSettings:
        """Those of a folder; what textgauge would not do as the model was made for is refused."""
        modules = [module["type"].rpartition(".")[2] for module in _json(folder / "modules.json", [])]
        if strange := sorted(set(modules) - _MODULES):
            raise ResourceError(f"{name}: the model has a part that is not run here: {', '.join(strange)}")
        pooling = _json(folder / "1_Pooling/config.json", {"pooling_mode_mean_tokens": True})
        modes = [mode.removeprefix("pooling_mode_") for mode, on in pooling.items() if on is True and "mode_" in mode]
        if len(modes) != 1 or modes[0] not in _POOLINGS or not pooling.get("include_prompt", True):
            raise ResourceError(f"{name}: pooling of {', '.join(modes) or 'no kind'} is not done here")
        longest = _json(folder / "sentence_bert_config.json", {}).get("max_seq_length") or LONGEST
        prompts = _json(folder / "config_sentence_transformers.json", {})
        prompt = (prompts.get("prompts") or {}).get(prompts.get("default_prompt_name"), "")
        if not isinstance(longest, int) or not 0 < longest <= _LONGEST or not isinstance(prompt, str):
            raise ResourceError(f"{name}: its settings have a length or a prompt that is none")
        return cls(modes[0], "Normalize" in modules, longest, prompt)

    def pool(self, hidden: NDArray[Any]) -> Floats:
        """Sentence vectors of hidden states (texts, length, dimension)."""
        vectors = _POOLINGS[self.pooling](hidden)
        return vectors / np.sqrt((vectors * vectors).sum(axis=1, keepdims=True)) if self.normalise else vectors


@dataclass(frozen=True)
class OnnxEmbedder:
    """A model of a folder. Texts of equally many tokens run together, so that nothing is padded."""

    name: str
    folder: Path

    @cached_property
    def settings(self) -> OnnxSettings:
        """How it reads texts."""
        with readable(self.name):
            return OnnxSettings.of(self.folder, self.name)

    @cached_property
    def identity(self) -> str:
        """Everything the numbers depend on."""
        runtime = runtime_identity()
        return f"onnx:{short_name(str(self.folder))}(files={pinned(self.folder)},dtype=float32,runtime={runtime})"

    @cached_property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self._vectors(np.array([self._tokens(["dimension"])[0]])).shape[1])

    @property
    def window(self) -> int:
        """How many tokens of a text it reads, special ones and the prompt not counted."""
        return self.settings.max_length - len(self._tokens([""])[0])

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        with readable(self.name):
            library = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        library.no_padding()
        library.enable_truncation(self.settings.max_length)
        return library

    @cached_property
    def _session(self) -> Any:
        path = next(path for path in _models(self.folder) if path.is_file())
        with readable(self.name):
            session = onnx_session(str(path))
        known = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
        if strange := {given.name for given in session.get_inputs()} - known:
            raise ResourceError(f"{self.name}: the network wants inputs that texts do not have: {', '.join(strange)}")
        return session

    def words(self, texts: Sequence[str]) -> Iterator[WordSpans]:
        """The words of each text with their numbers of tokens."""
        from tokenizers import Tokenizer

        whole = Tokenizer.from_str(self._tokenizer.to_str())
        whole.no_truncation()
        return words_of(whole, texts)

    def encode(self, texts: Sequence[str], *, batch_size: int = 64, progress: Progress | None = None) -> Floats32:
        """Give one vector per text, shape (texts, dimension)."""
        tokens = self._tokens(texts)
        return encode_tokens(tokens, self._vectors, dimension=self.dimension, batch_size=batch_size, progress=progress)

    def _tokens(self, texts: Sequence[str]) -> list[Ints]:
        read = [self.settings.prompt + without_surrogates(text) for text in texts]
        return [np.array(encoding.ids, dtype=np.int64) for encoding in self._tokenizer.encode_batch(read)]

    def _vectors(self, ids: Ints) -> Floats:
        """The vectors of texts with equally many tokens; a text without any is the zero vector."""
        places = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.ascontiguousarray(places),
        }
        if not ids.shape[1]:
            return np.zeros((len(ids), self.dimension))
        hidden = self._session.run(None, {given.name: inputs[given.name] for given in self._session.get_inputs()})[0]
        if hidden.ndim != 3 or hidden.shape[:2] != ids.shape:
            raise ResourceError(f"{self.name}: the network's first output has shape {hidden.shape}, not one per token")
        return self.settings.pool(hidden)


def onnx_embedder(model: str) -> OnnxEmbedder:
    """Give the embedder `onnx:MODEL`; its network is loaded when it is first used."""
    name = f"onnx:{model}"
    folder = model_folder(name, model, ("tokenizer.json",), wanted=_FILES)
    if not any(path.is_file() for path in _models(folder)):
        raise ResourceError(f"{name}: the folder has neither model.onnx nor onnx/model.onnx")
    return OnnxEmbedder(name, folder)


def _models(folder: Path) -> tuple[Path, Path]:
    return folder / "model.onnx", folder / "onnx" / "model.onnx"


def _json(path: Path, otherwise: Any) -> Any:
    if not path.is_file():
        return otherwise
    return json.loads(stored_bytes(path))
