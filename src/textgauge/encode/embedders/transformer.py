"""Sentence vectors from a transformer: tokenize, run in batches of equal length, average, normalise.

**The same text gives the same bits**, whatever the batch size, the order, the other texts and the number of threads:
- only texts of the same number of tokens share a batch, so that nothing is ever padded or masked;
- each run uses one thread, and several runs go side by side: a product split over threads may sum in another order;
- the average over tokens and the norm are taken here, in float64: onnxruntime's own reductions depend on the batch.
What is left are matrix products, whose rows onnxruntime computes independently of how many there are; tests check it.
Another processor or version of onnxruntime may differ in the last bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats32, Ints
from textgauge.core.errors import ResourceError
from textgauge.core.parallel import workers
from textgauge.core.sizes import blocks
from textgauge.encode.embedders import Progress
from textgauge.encode.embedders.whole import WordSpans, words_of
from textgauge.encode.tokenizers import load_pieces, without_surrogates

Run = Callable[[Ints], Floats32]
"""Token ids (texts, length) to the last hidden states (texts, length, dimension)."""

_NO_RUNTIME = (
    "onnxruntime is not installed; it has no package for some machines, where minilm and wordllama run without it"
)
TOKENS_PER_RUN = 2048  # keeps a batch of long texts within tens of megabytes; more is not faster


@dataclass(frozen=True)
class TransformerEmbedder:
    """A transformer over word pieces with mean pooling; the empty text is [CLS] [SEP], as the model has it.

    `load` gives the function that runs the network; it is called once, on first use.
    """

    name: str
    identity: str
    dimension: int
    max_length: int
    normalise: bool
    load: Callable[[], Run]

    @cached_property
    def run(self) -> Run:
        """The network, loaded."""
        return self.load()

    @property
    def window(self) -> int:
        """How many tokens of a text it reads; [CLS] and [SEP] take two places."""
        return self.max_length - 2

    def words(self, texts: Sequence[str]) -> Iterator[WordSpans]:
        """The words of each text with their numbers of pieces."""
        _ = self.run  # the weights bring the word pieces with them
        return words_of(load_pieces(), texts)

    def encode(self, texts: Sequence[str], *, batch_size: int = 64, progress: Progress | None = None) -> Floats32:
        """Give one vector per text, shape (texts, dimension)."""
        run = self.run  # first of all, because the weights bring the word pieces with them
        return encode_tokens(
            token_ids(texts, self.max_length),
            lambda ids: self._pool(run(ids)),
            dimension=self.dimension,
            batch_size=batch_size,
            progress=progress,
        )

    def _pool(self, hidden: Floats32) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = hidden.mean(axis=1, dtype=np.float64)
        if self.normalise:
            mean /= np.sqrt((mean * mean).sum(axis=1, keepdims=True))
        return mean


def token_ids(texts: Sequence[str], max_length: int) -> list[Ints]:
    """Give the word-piece ids of each text with [CLS] and [SEP], cut at `max_length`."""
    encodings = load_pieces(max_length).encode_batch([without_surrogates(text) for text in texts])
    return [np.array(encoding.ids, dtype=np.int64) for encoding in encodings]


def distinct_rows(ids: Sequence[Ints]) -> tuple[list[Ints], NDArray[np.intp]]:
    """Different rows of tokens, and which one each text has: texts that differ in case or beyond the end share one."""
    places: dict[bytes, int] = {}
    inverse = np.array([places.setdefault(row.tobytes(), len(places)) for row in ids], dtype=np.intp)
    return [np.frombuffer(row, dtype=np.int64) for row in places], inverse


def encode_tokens(
    tokens: Sequence[Ints],
    encode: Callable[[Ints], NDArray[np.float64]],
    *,
    dimension: int,
    batch_size: int,
    progress: Progress | None,
) -> Floats32:
    """The vector of each row of token ids; equal rows are encoded once, rows of one length together."""
    ids, inverse = distinct_rows(tokens)
    vectors, done = np.empty((len(ids), dimension), dtype=np.float32), 0
    with ThreadPoolExecutor(workers()) as pool:
        batches = list(equal_length_batches(ids, batch_size))
        encoded = pool.map(lambda rows: encode(np.stack([ids[row] for row in rows])), batches)
        for rows, block in zip(batches, encoded, strict=True):
            vectors[rows] = block
            done += len(rows)
            if progress is not None:
                progress(done * len(tokens) // len(ids), len(tokens))
    return vectors[inverse]


def equal_length_batches(ids: Sequence[Ints], batch_size: int) -> Iterator[list[int]]:
    """Yield row numbers of texts with equally many tokens, longest first, so that threads finish together."""
    by_length: dict[int, list[int]] = {}
    for row, tokens in enumerate(ids):
        by_length.setdefault(len(tokens), []).append(row)
    for length in sorted(by_length, reverse=True):
        rows = by_length[length]
        yield from (rows[some] for some in blocks(len(rows), min(batch_size, TOKENS_PER_RUN // length)))


def identity(model: str, digest: str, *, max_length: int, normalise: bool, runtime: str) -> str:
    """Spell out what the vectors depend on, the runtime's version included, because another may round differently."""
    return (
        f"{model}(weights={digest[:16]},pooling=mean,normalise={str(normalise).lower()},max_length={max_length},"
        f"dtype=float32,runtime={runtime_identity(runtime)})"
    )


def runtime_identity(package: str = "onnxruntime") -> str:
    """The package that runs a network, with its version."""
    try:
        return f"{package}-{version(package)}"
    except PackageNotFoundError:
        raise ResourceError(_NO_RUNTIME) from None


def silent_onnxruntime() -> Any:
    """The module onnxruntime, with its telemetry off; every import of it goes through here.

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


def onnx_session(model: bytes | str, options: Any = None) -> Any:
    """Open a model on onnxruntime, on the CPU, with one thread per run."""
    onnxruntime = silent_onnxruntime()
    options = options or onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
