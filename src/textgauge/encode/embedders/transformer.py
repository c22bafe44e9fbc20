"""Sentence vectors from a transformer: tokenize, run in batches of equal length, pool, normalise.

`minilm`, `mpnet`: all-MiniLM-L6-v2 and all-mpnet-base-v2 in exact float32. `graphs.zip`, written by
benchmarks/transformer_graphs.py, has their graphs, that of minilm up to each layer; onnxruntime gets the weights from
the checked safetensors files, of which minilm's also has the vectors `wordvec`.
The other built-in ones: ONNX files as they are.
`onnx:MODEL`: a sentence-transformers model exported to ONNX, by folder or hub name, without torch. `tokenizer.json`,
`model.onnx` (or `onnx/model.onnx`) and the settings of sentence-transformers are read, as data; without settings: mean
pooling, not normalised, 512 tokens, no prompt.

**The same text gives the same bits**, whatever the batch size, the order, the other texts and the number of threads:
- only texts of the same number of tokens share a batch, so that nothing is ever padded or masked;
- each run uses one thread, and several runs go side by side: a product split over threads may sum in another order;
- the average over tokens and the norm are taken here, in float64: onnxruntime's own reductions depend on the batch.
- a network whose numbers depend on the batch (int8 activations, scaled by the largest of a run), or that takes one text
  at a time, gets one text a run.
What is left are matrix products, whose rows onnxruntime computes independently of how many there are; tests check it.
Another processor or version of onnxruntime may differ in the last bits.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.errors import ResourceError
from textgauge.core.parallel import count_workers
from textgauge.core.progress import advance
from textgauge.core.settings import read_stored_bytes, split_into_blocks
from textgauge.encode.embedders import BUILT_IN
from textgauge.encode.embedders.whole import WordSpans, find_words
from textgauge.encode.encoders import explain_unloadable, find_folder, pin_folder, shorten_name
from textgauge.encode.resources import get_resource, locate
from textgauge.encode.tokenizers import load_pieces, open_tokenizer, replace_surrogates

Run = Callable[[Ints], Floats32]
"""Token ids (texts, length) to the last hidden states (texts, length, dimension)."""
PairRun = Callable[[Ints, Ints], Floats32]
"""Token ids of two texts together, and which text each is of, to one number for each pair (pairs, 1)."""
CROSS_ENCODER = "ms-marco-int8"
_CPU = "CPUExecutionProvider"

_NO_RUNTIME = "onnxruntime is not installed; it has no package for some machines, where wordllama runs without it"
LONGEST = 512  # tokens read of a text, or of a window of it, where a model does not say
LAYERS = {"minilm": 6, "mpnet": 12}
TOKENS_PER_RUN = 2048  # keeps a batch of long texts within tens of megabytes; more is not faster
_FILES = (
    "tokenizer.json", "model.onnx", "onnx/model.onnx", "modules.json", "1_Pooling/config.json",
    "sentence_bert_config.json", "config_sentence_transformers.json", "tokenizer_config.json", "config.json",
)  # fmt: skip
_MODULES = {"Transformer", "Pooling", "Normalize"}
_POOLINGS: dict[str, Callable[[NDArray[Any]], Floats]] = {
    "cls_token": lambda hidden: hidden[:, 0].astype(np.float64),
    "mean_tokens": lambda hidden: hidden.mean(axis=1, dtype=np.float64),
    "max_tokens": lambda hidden: hidden.max(axis=1).astype(np.float64),
    "lasttoken": lambda hidden: hidden[:, -1].astype(np.float64),
}


@dataclass(frozen=True)
class TransformerEmbedder:
    """A transformer; the empty text is what the tokenizer makes of it, the zero vector where that is nothing.

    The tokenizer and the network are loaded on first use, by functions that are called once.
    """

    name: str
    identity: str
    max_length: int
    normalise: bool
    load_network: Callable[[], Run]
    load_tokenizer: Callable[[], Any] = load_pieces
    pooling: str = "mean_tokens"
    prompt: str = ""
    declared_dimension: int | None = None

    @cached_property
    def run(self) -> Run:
        return self.load_network()

    @cached_property
    def _tokenizers(self) -> tuple[Any, Any]:
        """The tokenizer of whole texts, and the one that cuts them at the longest input."""
        from tokenizers import Tokenizer

        _ = self.run  # first of all, because the weights of minilm bring the word pieces with them
        whole = self.load_tokenizer()
        cut = Tokenizer.from_str(whole.to_str())
        cut.enable_truncation(self.max_length)
        return whole, cut

    @cached_property
    def dimension(self) -> int:
        """The length of a vector; where it is not declared, a text is encoded to find out."""
        return self.declared_dimension or int(self._encode_batch(np.array([self.tokenize(["dimension"])[0]])).shape[1])

    @property
    def window(self) -> int:
        """How many tokens of a text it reads, special ones and the prompt not counted."""
        return self.max_length - len(self.tokenize([""])[0])

    def words(self, texts: Sequence[str]) -> Iterator[WordSpans]:
        return find_words(self._tokenizers[0], texts)

    def tokenize(self, texts: Sequence[str]) -> list[Ints]:
        """Return the token ids of each text, cut at the longest input."""
        prompted = [self.prompt + replace_surrogates(text) for text in texts]
        return [np.array(encoding.ids, dtype=np.int64) for encoding in self._tokenizers[1].encode_batch(prompted)]

    def encode(self, texts: Sequence[str], *, batch_size: int = 64) -> Floats32:
        # Texts that differ in case or beyond the longest input have the same tokens, which are encoded once.
        places: dict[bytes, int] = {}
        inverse = [places.setdefault(row.tobytes(), len(places)) for row in self.tokenize(texts)]
        ids = [np.frombuffer(row, dtype=np.int64) for row in places]
        vectors, done = np.empty((len(ids), self.dimension), dtype=np.float32), 0
        for rows, block in run_batches(self._encode_batch, ids, batch_size):
            vectors[rows] = block
            done += len(rows)
            advance(done, len(ids))
        return vectors[inverse]

    def _encode_batch(self, ids: Ints) -> Floats:
        if not ids.shape[1]:
            return np.zeros((len(ids), self.dimension))
        hidden = self.run(ids)
        if hidden.ndim != 3 or hidden.shape[:2] != ids.shape:
            raise ResourceError(f"{self.name}: the network's output has shape {hidden.shape}, not one row per token")
        vectors = _POOLINGS[self.pooling](hidden)
        return vectors / np.sqrt((vectors * vectors).sum(axis=1, keepdims=True)) if self.normalise else vectors


def split_by_length(ids: Sequence[Ints], batch_size: int) -> Iterator[list[int]]:
    """Yield row numbers of texts with equally many tokens, longest first, so that threads finish together."""
    by_length: dict[int, list[int]] = {}
    for row, tokens in enumerate(ids):
        by_length.setdefault(len(tokens), []).append(row)
    for length in sorted(by_length, reverse=True):
        rows = by_length[length]
        yield from (
            rows[some] for some in split_into_blocks(len(rows), min(batch_size, TOKENS_PER_RUN // max(length, 1)))
        )


def run_batches(
    run: Callable[[Ints], NDArray[Any]], ids: Sequence[Ints], batch_size: int
) -> Iterator[tuple[list[int], NDArray[Any]]]:
    """Yield the rows of each batch and what `run` makes of their tokens, on several threads."""
    batches = list(split_by_length(ids, batch_size))
    with ThreadPoolExecutor(count_workers()) as pool:
        yield from zip(batches, pool.map(lambda rows: run(np.stack([ids[row] for row in rows])), batches), strict=True)


def make_built_in(name: str, layers: int | None = None) -> TransformerEmbedder:
    """Return a built-in one; `minilm` with fewer layers ends at the hidden states of that one, 0 the embeddings."""
    model = BUILT_IN[name]
    digest = next(iter(get_resource(name).files.values()))
    settings = f"pooling={model.pooling.partition('_')[0]},normalise={str(model.normalise).lower()}"
    settings += f",prompt={model.prompt!r}" if model.prompt else ""
    # The runtime's version belongs to it, because another may round differently.
    settings += f",max_length={model.max_length},dtype=float32,runtime={_format_runtime()}"
    return TransformerEmbedder(
        name,
        f"{model.model}(weights={digest[:16]},{settings})",
        model.max_length,
        model.normalise,
        partial(_open_graph, name, layers) if name in LAYERS else partial(_open_resource, name, model.output),
        (lambda: open_tokenizer(locate(name) / "tokenizer.json")) if name == "mpnet" else load_pieces,
        model.pooling,
        model.prompt,
        model.dimension,
    )


def _open_graph(name: str, layers: int | None) -> Run:
    from safetensors.numpy import load_file

    layers = LAYERS[name] if layers is None else layers
    onnxruntime, weights = import_onnxruntime(), load_file(locate(name) / "model.safetensors")
    used = ("embeddings.", "encoder.relative_", *(f"encoder.layer.{layer}." for layer in range(layers)))
    names = [key for key in weights if key.startswith(used) and key != "embeddings.position_ids"]
    options = onnxruntime.SessionOptions()
    # onnxruntime copies them when the session opens: nothing of the weights given is kept.
    given = [onnxruntime.OrtValue.ortvalue_from_numpy(weights[key]) for key in names]
    options.add_external_initializers(names, given)
    with ZipFile(Path(__file__).with_name("graphs.zip")) as graphs:
        session = open_session(graphs.read(f"{name}_{layers}.onnx"), options)
    session.disable_fallback()  # which would open it again, without them
    return lambda ids: session.run(None, {"ids": ids})[0]


def make_onnx(model: str) -> TransformerEmbedder:
    """Return the embedder `onnx:MODEL`; what textgauge would not do as the model was made for is refused."""
    name = f"onnx:{model}"
    folder, path = _find_network(name)
    with explain_unloadable(name):
        modules = [module["type"].rpartition(".")[2] for module in _read_json(folder / "modules.json", [])]
        pooling = _read_json(folder / "1_Pooling/config.json", {"pooling_mode_mean_tokens": True})
        longest = _read_json(folder / "sentence_bert_config.json", {}).get("max_seq_length") or LONGEST
        prompts = _read_json(folder / "config_sentence_transformers.json", {})
        prompt = (prompts.get("prompts") or {}).get(prompts.get("default_prompt_name"), "")
        modes = [mode.removeprefix("pooling_mode_") for mode, on in pooling.items() if on is True and "mode_" in mode]
    if unsupported := sorted(set(modules) - _MODULES):
        raise ResourceError(f"{name}: the model has a part that is not run here: {', '.join(unsupported)}")
    if len(modes) != 1 or modes[0] not in _POOLINGS or not pooling.get("include_prompt", True):
        raise ResourceError(f"{name}: pooling of {', '.join(modes) or 'no kind'} is not done here")
    if not isinstance(longest, int) or not 0 < longest <= 2**20 or not isinstance(prompt, str):
        raise ResourceError(f"{name}: its settings have a length or a prompt that is none")
    settings = f"files={pin_folder(folder)},dtype=float32,runtime={_format_runtime()}"
    return TransformerEmbedder(
        name,
        f"onnx:{shorten_name(str(folder))}({settings})",
        longest,
        "Normalize" in modules,
        partial(_open_file, name, path),
        partial(_load_tokenizer, name, folder / "tokenizer.json"),
        modes[0],
        prompt,
    )


@dataclass(frozen=True)
class PairTransformer:
    """A cross-encoder: a transformer that reads two texts together and gives one number, here through a sigmoid.

    With a `label` it gives a number for each of several labels, and the value is the chance of that one (softmax).
    """

    name: str
    identity: str
    max_length: int
    load_network: Callable[[], PairRun]
    load_tokenizer: Callable[[], Any] = load_pieces
    label: int | None = None

    @cached_property
    def _loaded(self) -> tuple[PairRun, Any]:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(self.load_tokenizer().to_str())
        tokenizer.enable_truncation(self.max_length)
        return self.load_network(), tokenizer

    def score(self, left: Sequence[str], right: Sequence[str]) -> Floats:
        """Return a number between 0 and 1 for each pair."""
        from scipy.special import expit, softmax

        network, tokenizer = self._loaded
        pairs = [(replace_surrogates(a), replace_surrogates(b)) for a, b in zip(left, right, strict=True)]
        rows = [np.array([one.ids, one.type_ids], dtype=np.int64).T for one in tokenizer.encode_batch(pairs)]
        values = np.empty(len(rows))
        for places, raw in run_batches(lambda block: network(*np.moveaxis(block, 2, 0)), rows, 64):
            if raw.ndim != 2 or len(raw) != len(places) or not (raw.shape[1] == 1 if self.label is None else True):
                raise ResourceError(f"{self.name}: an output of shape {raw.shape}, not one number for each pair")
            found = raw.astype(np.float64)
            values[places] = expit(found[:, 0]) if self.label is None else softmax(found, axis=1)[:, self.label]
        return values


def make_cross_encoder(name: str) -> PairTransformer:
    """Return the cross-encoder `ms-marco-int8`, or `onnx:MODEL`: a folder, or its name on the hub."""
    runtime = _format_runtime()
    if name == CROSS_ENCODER:
        settings = f"weights={get_resource(name).files['model.onnx'][:16]},max_length={LONGEST},runtime={runtime}"
        identity = f"ms-marco-MiniLM-L-12-v2-int8({settings},activation=sigmoid)"
        return PairTransformer(name, identity, LONGEST, partial(_open_resource, name, None))
    folder, path = _find_network(name)
    with explain_unloadable(name):
        longest = min(int(_read_json(folder / "tokenizer_config.json", {}).get("model_max_length", LONGEST)), LONGEST)
    return PairTransformer(
        name,
        f"onnx:{shorten_name(str(folder))}(files={pin_folder(folder)},max_length={longest},runtime={runtime},"
        "activation=sigmoid)",
        longest,
        partial(_open_file, name, path),
        partial(_load_tokenizer, name, folder / "tokenizer.json"),
    )


@cache
def get_nli(name: str) -> PairTransformer:
    """Return the model `onnx:MODEL` of natural language inference: how likely the left text entails the right one.

    The same object each time.
    """
    made, (folder, _) = make_cross_encoder(name), _find_network(name)
    with explain_unloadable(name):
        labels = _read_json(folder / "config.json", {}).get("id2label", {})
        places = [int(place) for place, label in labels.items() if str(label).lower() == "entailment"]
    if len(places) != 1:
        raise ResourceError(f"{name}: its config.json names no label `entailment`")
    identity = made.identity.replace("activation=sigmoid", f"activation=softmax,label={places[0]}")
    return replace(made, label=places[0], identity=identity)


def _find_network(name: str) -> tuple[Path, Path]:
    """Return the folder of `onnx:MODEL` and the network in it."""
    folder = find_folder(name, name.partition(":")[2], ("tokenizer.json",), optional=_FILES)
    for path in (folder / "model.onnx", folder / "onnx" / "model.onnx"):
        if path.is_file():
            return folder, path
    raise ResourceError(f"{name}: the folder has neither model.onnx nor onnx/model.onnx")


def _read_json(path: Path, otherwise: Any) -> Any:
    return json.loads(read_stored_bytes(path)) if path.is_file() else otherwise


def _load_tokenizer(name: str, path: Path) -> Any:
    with explain_unloadable(name):
        return open_tokenizer(path)


def _open_resource(name: str, output: str | None) -> Callable[..., Floats32]:
    return _open_file(name, locate(name) / next(iter(get_resource(name).files)), output)


def _open_file(name: str, path: Path, output: str | None = None) -> Callable[..., Floats32]:
    """Open a network of a file, which gives its first output, or the one that is named."""
    with explain_unloadable(name):
        session = open_session(str(path))
    names = [given.name for given in session.get_inputs()]
    known = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
    if unsupported := set(names) - known:
        raise ResourceError(f"{name}: the network wants inputs that texts do not have: {', '.join(unsupported)}")
    one_a_run = session.get_outputs()[0].shape[:1] == [1] or _scales_by_run(path)

    def run(ids: Ints, kinds: Ints | None = None) -> Floats32:
        if one_a_run and len(ids) > 1:
            rows = [slice(row, row + 1) for row in range(len(ids))]
            return np.concatenate([run(ids[row], None if kinds is None else kinds[row]) for row in rows])
        inputs = {
            "input_ids": np.ascontiguousarray(ids),
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids) if kinds is None else np.ascontiguousarray(kinds),
            "position_ids": np.ascontiguousarray(np.broadcast_to(np.arange(ids.shape[1]), ids.shape)),
        }
        return session.run(output and [output], {name: inputs[name] for name in names})[0]  # type: ignore[no-any-return]

    return run


def _scales_by_run(path: Path) -> bool:
    """Return whether a network scales the numbers of a whole run together, found by the name of the operator."""
    with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(b"DynamicQuantizeLinear") >= 0


def _format_runtime() -> str:
    *others, _ = _list_providers()
    try:
        return "+".join([f"onnxruntime-{version('onnxruntime')}", *others])
    except PackageNotFoundError:
        raise ResourceError(_NO_RUNTIME) from None


def import_onnxruntime() -> Any:
    """Return the module onnxruntime, with its telemetry off; every import of it goes through here.

    From version 1.31 on, its import opens a queue of events in the user's home unless the environment forbids it.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ImportError:
        raise ResourceError(_NO_RUNTIME) from None
    if hasattr(onnxruntime, "disable_telemetry_events"):
        onnxruntime.disable_telemetry_events()
    return onnxruntime


def _list_providers() -> list[str]:
    """List what runs networks: `TEXTGAUGE_PROVIDERS`, such as CUDAExecutionProvider, and the CPU for what it cannot."""
    named = [name.strip() for name in os.environ.get("TEXTGAUGE_PROVIDERS", "").split(",") if name.strip()]
    known = import_onnxruntime().get_available_providers() if named else []
    if wrong := [name for name in named if name not in known]:
        raise ResourceError(f"TEXTGAUGE_PROVIDERS: no {wrong[0][:80]} here; onnxruntime has {', '.join(known)}")
    return [*(name for name in named if name != _CPU), _CPU]


def open_session(model: bytes | str, options: Any = None) -> Any:
    """Open a model on onnxruntime, on the CPU or what `TEXTGAUGE_PROVIDERS` names, with one thread per run."""
    onnxruntime = import_onnxruntime()
    options = options or onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=_list_providers())
