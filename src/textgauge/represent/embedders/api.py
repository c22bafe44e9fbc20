"""`api:MODEL`: embeddings from an OpenAI-compatible endpoint (extra `api`).

Settings: `TEXTGAUGE_API_BASE` or `OPENAI_BASE_URL` (the address before `/embeddings`), `TEXTGAUGE_API_KEY` or
`OPENAI_API_KEY`. The key is sent in one header and appears in no message.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from textgauge.errors import MissingExtra, ResourceError
from textgauge.represent.embedders.base import Progress, Vectors
from textgauge.represent.tokenizers import without_surrogates

ATTEMPTS = 6
LONGEST_WAIT = 60.0
DEFAULT_BASE = "https://api.openai.com/v1"


@dataclass(frozen=True)
class ApiEmbedder:
    """A hosted model. An empty text is sent as one space, because endpoints refuse empty input.

    Answers are checked: one finite vector per text, one dimension, put in order by their `index`. Status 429, 5xx and
    lost connections are tried again with growing pauses, at most six times.
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
        address = urlsplit(_base())
        port = f":{address.port}" if address.port else ""
        return f"{self.name}(base={address.hostname}{port}{address.path.rstrip('/')},dtype=float32)"

    @cached_property
    def dimension(self) -> int:
        """The length of a vector, found by asking for one."""
        return int(self.encode(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str], *, batch_size: int = 64, progress: Progress | None = None) -> Vectors:
        """Give one vector per text, shape (texts, dimension)."""
        blocks: list[Vectors] = []
        with self._client() as client:
            for start in range(0, len(texts), batch_size):
                batch = [without_surrogates(text) or " " for text in texts[start : start + batch_size]]
                blocks.append(_checked(self.name, self._ask(client, batch), len(batch)))
                if blocks[-1].shape[1] != blocks[0].shape[1]:
                    raise ResourceError(f"{self.name} answered with vectors of different dimensions")
                if progress is not None:
                    progress(start + len(batch), len(texts))
        return np.concatenate(blocks) if blocks else np.empty((0, self.dimension), dtype=np.float32)

    def _client(self) -> Any:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra.named(self.name, "api") from error
        key = os.environ.get("TEXTGAUGE_API_KEY") or os.environ.get("OPENAI_API_KEY") or ""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(headers=headers, timeout=httpx.Timeout(60, connect=10))

    def _ask(self, client: Any, batch: list[str]) -> Any:
        import httpx

        body = {"model": self.model, "input": batch, "encoding_format": "float"}
        problem = ""
        for attempt in range(ATTEMPTS):
            pause = min(0.5 * 2**attempt, LONGEST_WAIT)
            try:
                answer = client.post(f"{_base().rstrip('/')}/embeddings", json=body)
            except httpx.TransportError as error:
                problem = type(error).__name__
            else:
                if answer.status_code == 200:
                    return _json(self.name, answer)
                problem = f"status {answer.status_code}"
                if answer.status_code != 429 and answer.status_code < 500:
                    break
                pause = _retry_after(answer.headers.get("retry-after"), pause)
            if attempt < ATTEMPTS - 1:
                self.sleep(pause)
        raise ResourceError(f"{self.name} did not answer: {problem} from {urlsplit(_base()).hostname}")


def _base() -> str:
    return os.environ.get("TEXTGAUGE_API_BASE") or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE


def _retry_after(header: str | None, pause: float) -> float:
    try:
        return min(max(float(header or pause), 0.0), LONGEST_WAIT)
    except ValueError:
        return pause


def _json(name: str, answer: Any) -> Any:
    try:
        return answer.json()
    except ValueError as error:
        raise ResourceError(f"{name} answered with something that is not JSON") from error


def _checked(name: str, answer: Any, count: int) -> Vectors:
    try:
        rows = {row["index"]: row["embedding"] for row in answer["data"]}
        vectors = np.array([rows[index] for index in range(count)], dtype=np.float32)
    except (KeyError, TypeError, ValueError) as error:
        raise ResourceError(f"{name} answered without one vector of the same dimension per text") from error
    if len(answer["data"]) != count or vectors.ndim != 2 or vectors.shape[1] == 0:
        raise ResourceError(f"{name} answered with {len(answer['data'])} vectors for {count} texts")
    if not np.isfinite(vectors).all():
        raise ResourceError(f"{name} answered with a vector that is not finite")
    return vectors
