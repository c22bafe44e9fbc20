"""Static encoders, the mean of token vectors: `wordllama` and `static:MODEL`, tens of thousands of texts per second."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32
from textgauge.core.errors import ResourceError
from textgauge.core.progress import advance
from textgauge.core.settings import read_stored_bytes
from textgauge.encode.encoders import explain_unloadable, find_folder, pin_folder, shorten_name
from textgauge.encode.resources import get_resource, locate
from textgauge.encode.tokenizers import compute_offsets, encode_ids, find_used_ids, open_tokenizer

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


@dataclass(frozen=True)
class StaticModel:
    """A vector per token id, a tokenizer, the id of the unknown token, and whether sentence vectors are units."""

    table: NDArray[np.float32]
    tokenizer: Any
    unknown: int | None = None
    normalise: bool = False


@dataclass(frozen=True)
class StaticEmbedder:
    """Mean of the vectors of a text's tokens, unknown ones left out; a text without tokens is the zero vector.

    Sums are taken in float64, token by token.
    """

    name: str
    identity: str
    load: Callable[[], StaticModel]
    window: ClassVar[None] = None  # it reads everything
    cheap: ClassVar[bool] = True  # a vector is computed faster than it is looked up

    @cached_property
    def model(self) -> StaticModel:
        return self.load()

    @property
    def dimension(self) -> int:
        return int(self.model.table.shape[1])

    def encode(self, texts: Sequence[str], *, batch_size: int = 4096) -> Floats32:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), batch_size):
            batch = texts[start : start + batch_size]
            vectors[start : start + len(batch)] = self._means(batch)
            advance(start + len(batch), len(texts))
        return vectors

    def _means(self, texts: Sequence[str]) -> Floats:
        from scipy.sparse import csr_matrix

        model = self.model
        ids, offsets = encode_ids(model.tokenizer, texts)
        if model.unknown is not None and (ids == model.unknown).any():
            known = ids != model.unknown
            ids, offsets = ids[known], compute_offsets(known)[offsets]
        used, place = find_used_ids(ids)
        tokens = csr_matrix((np.ones(len(ids)), place, offsets), shape=(len(texts), len(used)))
        means: Floats = tokens @ model.table[used].astype(np.float64)
        means /= np.maximum(np.diff(offsets), 1)[:, None]
        if model.normalise:
            norms = np.sqrt(np.einsum("ij,ij->i", means, means))[:, None]
            means /= np.where(norms > 0, norms, 1.0)
        return means


def make_wordllama() -> StaticEmbedder:
    """Return the embedder `wordllama`: WordLlama l2_supercat, 256 dimensions, not normalised."""
    digest = get_resource("wordllama").files[_WEIGHTS]
    settings = f"weights={digest[:16]},pooling=mean,normalise=false,dtype=float32"
    return StaticEmbedder("wordllama", f"wordllama-l2-supercat-256({settings})", _load_wordllama)


def _load_wordllama() -> StaticModel:
    from safetensors.numpy import load_file

    folder = locate("wordllama")
    (table,) = load_file(folder / _WEIGHTS).values()
    return StaticModel(np.asarray(table, dtype=np.float32), open_tokenizer(folder / _TOKENIZER))


def make_static(model: str) -> StaticEmbedder:
    """Return the embedder `static:MODEL`: a folder, or a name on the hub, in the layout of Model2Vec.

    `model.safetensors` holds `embeddings` (and, in newer ones, `mapping` from token to row and `weights` of tokens),
    `tokenizer.json` the tokenizer, `config.json` whether vectors are normalised. Texts are read whole.
    """
    name = f"static:{model}"
    folder = find_folder(name, model, ("model.safetensors", "tokenizer.json", "config.json"))
    identity = f"static:{shorten_name(model)}(files={pin_folder(folder)},pooling=mean,dtype=float32)"
    return StaticEmbedder(name, identity, lambda: _load_folder(folder, name))


def _load_folder(folder: Path, name: str) -> StaticModel:
    from safetensors.numpy import load_file

    with explain_unloadable(name):
        arrays = load_file(folder / "model.safetensors")
        library = open_tokenizer(folder / "tokenizer.json")
        normalise = bool(json.loads(read_stored_bytes(folder / "config.json")).get("normalize", True))
        table = _make_token_table(arrays, library.get_vocab_size(), name)
    token = getattr(library.model, "unk_token", None)
    unknown = library.token_to_id(token) if isinstance(token, str) else None
    return StaticModel(table, library, unknown, normalise)


def _make_token_table(arrays: dict[str, Any], tokens: int, name: str) -> NDArray[np.float32]:
    """Return one row per token id: rows mapped, then weighted, where the model has that."""
    table = arrays.get("embeddings")
    if table is None or table.ndim != 2 or table.dtype.kind != "f":
        raise ResourceError(f"{name}: model.safetensors has no matrix `embeddings`")
    mapping, weights = arrays.get("mapping"), arrays.get("weights")
    if mapping is not None:
        if mapping.shape != (tokens,) or mapping.min() < 0 or mapping.max() >= len(table):
            raise ResourceError(f"{name}: `mapping` does not give each of the {tokens} tokens a row of `embeddings`")
        table = table[mapping]
    if len(table) < tokens:
        raise ResourceError(f"{name}: {len(table)} vectors for {tokens} tokens")
    if weights is not None:
        if weights.shape != (len(table),):
            raise ResourceError(f"{name}: {weights.shape} weights for {len(table)} vectors")
        table = table * weights[:, None]
    return np.asarray(table, dtype=np.float32)
