"""Asking an OpenAI-compatible endpoint: address and key from the environment, patience, checked answers.

Settings: `TEXTGAUGE_API_BASE` or `OPENAI_BASE_URL` (the address before `/embeddings` or `/chat/completions`),
`TEXTGAUGE_API_KEY` or `OPENAI_API_KEY`. The key is sent in one header and appears in no message.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from textgauge.errors import MissingExtra, ResourceError

ATTEMPTS = 6
LONGEST_WAIT = 60.0
DEFAULT_BASE = "https://api.openai.com/v1"


def base_address() -> str:
    """Give the address from the environment, or that of OpenAI."""
    return os.environ.get("TEXTGAUGE_API_BASE") or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE


def shown_address(base: str) -> str:
    """Give host, port and path of an address, without what is secret in it.

    >>> shown_address("https://user:password@host.example:8000/v1/")
    'host.example:8000/v1'
    """
    address = urlsplit(base)
    port = f":{address.port}" if address.port else ""
    return f"{address.hostname}{port}{address.path.rstrip('/')}"


def open_client(name: str, base: str) -> Any:
    """Open a client; the key goes to the address of the environment and to no other host."""
    try:
        import httpx
    except ImportError as error:
        raise MissingExtra.named(name, "api") from error
    key = os.environ.get("TEXTGAUGE_API_KEY") or os.environ.get("OPENAI_API_KEY") or ""
    headers = {"Authorization": f"Bearer {key}"} if key and _origin(base) == _origin(base_address()) else {}
    return httpx.Client(headers=headers, timeout=httpx.Timeout(60, connect=10))


def post(client: Any, url: str, body: dict[str, Any], *, name: str, sleep: Callable[[float], None]) -> Any:
    """Send a request and give the JSON of the answer.

    Status 429, 5xx and lost connections are tried again with growing pauses, at most six times.
    """
    import httpx

    problem = ""
    for attempt in range(ATTEMPTS):
        pause = min(0.5 * 2**attempt, LONGEST_WAIT)
        try:
            answer = client.post(url, json=body)
        except httpx.TransportError as error:
            problem = type(error).__name__
        else:
            if answer.status_code == 200:
                return _json(name, answer)
            problem = f"status {answer.status_code}"
            if answer.status_code != 429 and answer.status_code < 500:
                break
            pause = _retry_after(answer.headers.get("retry-after"), pause)
        if attempt < ATTEMPTS - 1:
            sleep(pause)
    raise ResourceError(f"{name} did not answer: {problem} from {urlsplit(url).hostname}")


def _origin(base: str) -> tuple[str, str | None, int | None]:
    address = urlsplit(base)
    return address.scheme, address.hostname, address.port


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
