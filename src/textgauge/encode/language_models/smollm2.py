"""`smollm2`: SmolLM2-135M-Instruct (Allal et al. 2025) with 4-bit weights, on onnxruntime, without torch.

A text is scored after the mark between documents, so its first token counts too; the end of a text does
not. Longer texts are cut into windows of 512 tokens which do not see each other. Marks of the model that are spelt out
in a text are read as plain characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from textgauge.encode.embedders.transformer import equal_length_batches
from textgauge.encode.language_models import Ids, Surprise, once, windowed
from textgauge.encode.language_models.gguf import Gguf, read_gguf
from textgauge.encode.language_models.llama import Score, load_llama
from textgauge.encode.resources import locate, resource
from textgauge.encode.tokenizers import without_surrogates
from textgauge.errors import ResourceError
from textgauge.parallel import workers

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SEPARATOR = "<|endoftext|>"
WINDOW = 512
BATCH = 16  # texts; more are not faster
TOKENS = 512  # at once: each has a number for every token of the vocabulary, 100 MB together


@dataclass(frozen=True)
class SmolLM2:
    """The model; loaded when it is first used, about two gigabytes in memory."""

    name = "smollm2"

    @property
    def signature(self) -> str:
        """Everything the numbers depend on."""
        settings = f"window={WINDOW},dtype=float32,runtime=onnxruntime-{version('onnxruntime')}"
        return f"smollm2(sha256={resource('smollm2').files[FILE][:16]},{settings},version=1)"

    @cached_property
    def _parts(self) -> tuple[Any, int, Score]:
        model = read_gguf(locate("smollm2") / FILE)
        pieces = byte_pieces(model)
        return pieces, pieces.token_to_id(SEPARATOR), load_llama(model, WINDOW)

    def surprise(self, texts: Sequence[str]) -> Surprise:
        """Give −ln P of each text in nats, and how many tokens were scored."""
        return once(self._surprise, texts)

    def _surprise(self, texts: list[str]) -> Surprise:
        pieces, separator, score = self._parts
        found = [encoding.ids for encoding in pieces.encode_batch([without_surrogates(text) for text in texts])]
        windows, owner = windowed(found, WINDOW, before=[separator])
        nats = np.zeros(len(texts))
        batches = list(_batches(windows))
        with ThreadPoolExecutor(workers()) as pool:
            costs = pool.map(lambda rows: score(np.stack([windows[row] for row in rows])), batches)
            for rows, block in zip(batches, costs, strict=True):
                np.add.at(nats, owner[rows], block.sum(axis=1, dtype=np.float64))
        return nats, np.array([len(ids) for ids in found], dtype=np.int64)


def _batches(windows: list[Ids]) -> Iterator[list[int]]:
    for rows in equal_length_batches(windows, BATCH):
        step = max(1, TOKENS // len(windows[rows[0]]))
        yield from (rows[start : start + step] for start in range(0, len(rows), step))


def byte_pieces(model: Gguf) -> Any:
    """Build the byte-level tokenizer that a file describes: digits stand alone, merges as listed."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    known = model.metadata
    try:
        vocabulary = {token: number for number, token in enumerate(known["tokenizer.ggml.tokens"])}
        merges = [tuple(pair.split(" ")) for pair in known["tokenizer.ggml.merges"]]
        pieces = Tokenizer(models.BPE(vocabulary, merges, unk_token=SEPARATOR))
    except (KeyError, TypeError, ValueError) as error:
        raise ResourceError(f"the model's tokenizer cannot be read: {error}") from error
    digits, words = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
    return pieces
