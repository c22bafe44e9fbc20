"""`api:MODEL`: embeddings from an OpenAI-compatible endpoint (extra `api`); settings as in endpoint.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats32
from textgauge.core.errors import ResourceError
from textgauge.encode.embedders import Progress
from textgauge.encode.endpoint import base_address, open_client, post, shown_address
from textgauge.encode.tokenizers import without_surrogates


@dataclass(frozen=True)
class ApiEmbedder:
    """A hosted model. An empty text is sent as one space, because endpoints refuse empty input.

    Answers are checked: one finite vector per text, one dimension, put in order by their `index`.
    """

    model: str
    sleep: Callable[[float], None] = field(default=time.sleep, compare=False)

    @property
    def name(self) -> str:
        """The name it is called by."""
        return f"api:{self.model}"

    @property
    def identity(self) -> str:
        """Model and address; what runs behind the address is the provider's word."""
        return f"{self.name}(base={shown_address(base_address())},dtype=float32)"

    @cached_property
    def dimension(self) -> int:
        """The length of a vector, found by asking for one."""
        return int(self.encode(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str], *, batch_size: int = 64, progress: Progress | None = None) -> Floats32:
        """Return one vector per text, shape (texts, dimension)."""
        blocks: list[Floats32] = []
        with open_client(self.name, base_address()) as client:
            for start in range(0, len(texts), batch_size):
                batch = [without_surrogates(text) or " " for text in texts[start : start + batch_size]]
                blocks.append(_read_vectors(self.name, self._ask(client, batch), len(batch)))
                if blocks[-1].shape[1] != blocks[0].shape[1]:
                    raise ResourceError(f"{self.name} answered with vectors of different dimensions")
                if progress is not None:
                    progress(start + len(batch), len(texts))
        return np.concatenate(blocks) if blocks else np.empty((0, self.dimension), dtype=np.float32)

    def _ask(self, client: Any, batch: list[str]) -> Any:
        body = {"model": self.model, "input": batch, "encoding_format": "float"}
        url = f"{base_address().rstrip('/')}/embeddings"
        return post(client, url, body, name=self.name, sleep=self.sleep)


def _read_vectors(name: str, answer: Any, count: int) -> Floats32:
    try:
        rows = {row["index"]: row["embedding"] for row in answer["data"]}
        numbers = np.array([rows[index] for index in range(count)])
        if numbers.dtype.kind not in "iuf" or numbers.ndim != 2 or not numbers.shape[1] or len(answer["data"]) != count:
            raise TypeError("not one vector of numbers per text")
    except (KeyError, TypeError, ValueError) as error:
        raise ResourceError(f"{name} answered without one vector of the same dimension per text") from error
    with np.errstate(over="ignore"):
        vectors = numbers.astype(np.float32)
    if not np.isfinite(vectors).all():
        raise ResourceError(f"{name} answered with a vector that is not finite")
    return vectors
