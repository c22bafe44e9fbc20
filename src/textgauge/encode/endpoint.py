"""Embeddings and chats of an OpenAI-compatible endpoint (extra `api`): patience, checked answers, no secret shown.

Settings: `TEXTGAUGE_API_BASE` or `OPENAI_BASE_URL` (the address before `/embeddings` or `/chat/completions`),
`TEXTGAUGE_API_KEY` or `OPENAI_API_KEY`. The key is sent in one header. Neither it nor a password of the address appears
in a message, not even where the endpoint repeats it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import time
from base64 import b64encode
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar
from urllib.parse import SplitResult, unquote, urlsplit

import numpy as np

from textgauge.core.arrays import Floats32
from textgauge.core.errors import MissingExtra, ResourceError, UnknownName, warn
from textgauge.core.files import seal_json, unseal_json
from textgauge.core.progress import advance
from textgauge.core.settings import (
    ANSWER_BYTES,
    get_cache_root,
    keeps_cache,
    make_cache_folder,
    open_at_once,
    read_stored_bytes,
)
from textgauge.core.show import hide_user, shorten_line
from textgauge.encode.resources import is_offline
from textgauge.encode.tokenizers import replace_surrogates

ATTEMPTS = 6
LONGEST_WAIT = 60.0
LONGEST_ANSWER = 900  # seconds; one that comes byte by byte would never be too late otherwise
DEFAULT_BASE = "https://api.openai.com/v1"
AT_ONCE = 8
_LONGEST_REASON = 200  # characters of an endpoint's message that an error repeats
_KEY_START = 7  # characters that tell a key that was cut short
_OPTIONAL = ("temperature",)  # what a request may leave out where the endpoint refuses it
_refused: dict[tuple[str, str], set[str]] = {}  # by address and model
_KEY = re.compile("[!-~]*")
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


class RequestRefused(ResourceError):
    """The endpoint did not take a request; the message has its reason."""


def get_base_address() -> str:
    """Return the address from the environment, or that of OpenAI."""
    return os.environ.get("TEXTGAUGE_API_BASE") or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE


def format_address(base: str) -> str:
    """Return host, port and path of an address, without what is secret in it.

    >>> format_address("https://user:password@host.example:8000/v1/")
    'host.example:8000/v1'
    """
    address = split_address(base)
    port = f":{address.port}" if address.port else ""
    return f"{address.hostname}{port}{address.path.rstrip('/')}"


def split_address(base: str) -> SplitResult:
    """Return the parts of an address; what is none is refused without repeating it."""
    with contextlib.suppress(ValueError):
        address = urlsplit(base)
        if address.scheme in ("http", "https") and address.hostname and address.port != 0 and base.isprintable():
            return address
    raise ResourceError("the endpoint's address (TEXTGAUGE_API_BASE, or URL#MODEL) must read as http://HOST:PORT/PATH")


def open_client(name: str, base: str, *, has_key: bool = True) -> Any:
    """Open a client of the web, by the proxy that the environment names.

    The key goes to the address of the environment and to no other host. Where the user forbids the network, only an
    address on this machine is asked.
    """
    try:
        import httpx
    except ImportError as error:
        raise MissingExtra.named(name, "api") from error
    headers = _make_headers(name, base) if has_key else {}
    if is_offline() and split_address(base).hostname not in _THIS_MACHINE:
        raise ResourceError(
            f"{name} is not asked: TEXTGAUGE_OFFLINE is set, and {format_address(base)} is another machine"
        )
    try:
        return httpx.Client(headers=headers, timeout=httpx.Timeout(60, connect=10))
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        problem = type(error).__name__
        raise ResourceError(f"{name}: the proxy of the environment cannot be used ({problem})") from None


def _make_headers(name: str, base: str) -> dict[str, str]:
    key = _get_api_key()
    if not _KEY.fullmatch(key):
        raise ResourceError(f"{name}: TEXTGAUGE_API_KEY (or OPENAI_API_KEY) has blanks or letters that no key has")
    if not key and _get_origin(base) == _get_origin(DEFAULT_BASE):
        raise ResourceError(
            f"{name} needs a key: set TEXTGAUGE_API_KEY (or OPENAI_API_KEY), or TEXTGAUGE_API_BASE for another server"
        )
    return {"Authorization": f"Bearer {key}"} if key and _get_origin(base) == _get_origin(get_base_address()) else {}


def ask(
    client: Any,
    url: str,
    *,
    name: str,
    attempts: int | None = None,
    **content: Any,
) -> Any:
    """Send a request and return the JSON of the answer.

    Status 429, 5xx and lost connections are tried again with growing pauses, at most six times. What else the endpoint
    does not take raises `RequestRefused` with the reason it gives.
    """
    import httpx

    problem, host, most = "", urlsplit(url).hostname, attempts or ATTEMPTS
    for attempt in range(most):
        pause = min(0.5 * 2**attempt, LONGEST_WAIT)
        try:
            status, answer, retry_after = _send(client, url, name, content)
        except httpx.RequestError as error:
            problem = f"{type(error).__name__} from {host}"
        except (httpx.InvalidURL, UnicodeError):
            raise RequestRefused(f"{name} cannot be asked: {host} is no name of a machine") from None
        else:
            if status == 200:
                try:
                    return json.loads(answer)
                except (ValueError, RecursionError) as error:
                    raise ResourceError(f"{name} answered with something that is not JSON") from error
            problem = f"status {status} from {host}{_explain(answer, _list_secrets(url))}"
            if status != 429 and status < 500:
                raise RequestRefused(f"{name} did not answer: {problem}")
            with contextlib.suppress(ValueError):
                asked = float(retry_after or pause)
                pause = pause if math.isnan(asked) else min(max(asked, 0.0), LONGEST_WAIT)
        if attempt < most - 1:
            time.sleep(pause)
    raise ResourceError(f"{name} did not answer: {problem}")


def _send(client: Any, url: str, name: str, content: dict[str, Any]) -> tuple[int, bytes, str | None]:
    """Return status, content and `retry-after` of an answer that is neither larger nor slower than any good one."""
    end, most, parts, size = time.monotonic() + LONGEST_ANSWER, ANSWER_BYTES.most, [], 0
    with client.stream("POST", url, **content) as answer:
        if "," in answer.headers.get("content-encoding", ""):
            raise ResourceError(f"{name} answered with something that is packed twice")
        for part in answer.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > most:
                raise ResourceError(f"{name} answered with over {most:,} bytes; {ANSWER_BYTES.variable} allows more")
            if time.monotonic() > end:
                raise ResourceError(f"{name} did not end its answer within {LONGEST_ANSWER} s")
        return answer.status_code, b"".join(parts), answer.headers.get("retry-after")


def _explain(answer: bytes, secrets: Sequence[str]) -> str:
    """Return what the endpoint says is wrong, in one line, without words that hold a secret."""
    try:
        reason = json.loads(answer)
        reason = reason.get("error", reason.get("message", "")) if isinstance(reason, dict) else reason
        reason = reason.get("message", "") if isinstance(reason, dict) else reason
    except (ValueError, RecursionError):
        reason = answer.decode("utf-8", "replace")
    words = ["…" if any(secret in word for secret in secrets) else word for word in str(reason or "").split()]
    return f": {shorten_line(' '.join(words), _LONGEST_REASON)}" if words else ""


def _list_secrets(url: str) -> list[str]:
    """Return both ends of the key, and user and password of address and proxies, in each form that may be repeated."""
    from urllib.request import getproxies  # takes as long to load as ten metrics

    key = _get_api_key()
    given = [key[:_KEY_START], key[-_KEY_START:], b64encode(key.encode()).decode()[:_KEY_START], urlsplit(url).query]
    proxies = (proxy if "://" in proxy else f"//{proxy}" for name, proxy in getproxies().items() if name != "no")
    for address in map(urlsplit, (url, *proxies)):
        user, password = (unquote(part or "") for part in (address.username, address.password))
        basic = b64encode(f"{user}:{password}".encode()).decode() if user or password else ""
        given += [password or user, address.password or address.username or "", basic]
    return [secret for secret in given if secret]


def _get_api_key() -> str:
    return os.environ.get("TEXTGAUGE_API_KEY") or os.environ.get("OPENAI_API_KEY") or ""


def _get_origin(base: str) -> tuple[str, str | None, int | None]:
    address = split_address(base)
    return address.scheme, address.hostname, address.port


@dataclass(frozen=True)
class ApiEmbedder:
    """A hosted model. An empty text is sent as one space, because endpoints refuse empty input.

    Answers are checked: one finite vector per text, one dimension, put in order by their `index`.
    """

    model: str
    per_request: ClassVar[int] = 64
    """Texts of a request: what it answers is kept before the next one is sent."""

    @property
    def name(self) -> str:
        return f"api:{self.model}"

    @property
    def identity(self) -> str:
        """Model and address; what runs behind the address is the provider's word."""
        return f"{self.name}(base={format_address(get_base_address())},dtype=float32)"

    @cached_property
    def dimension(self) -> int:
        """The length of a vector, found by asking for one."""
        return int(self.encode(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str], *, batch_size: int = per_request) -> Floats32:
        blocks: list[Floats32] = []
        url = f"{get_base_address().rstrip('/')}/embeddings"
        with open_client(self.name, get_base_address()) as client:
            for start in range(0, len(texts), batch_size):
                batch = [replace_surrogates(text) or " " for text in texts[start : start + batch_size]]
                body = {"model": self.model, "input": batch, "encoding_format": "float"}
                answer = ask(client, url, name=self.name, json=body)
                blocks.append(_read_vectors(self.name, answer, len(batch)))
                if blocks[-1].shape[1] != blocks[0].shape[1]:
                    raise ResourceError(f"{self.name} answered with vectors of different dimensions")
                advance(start + len(batch), len(texts))
        return np.concatenate(blocks) if blocks else np.empty((0, self.dimension), dtype=np.float32)


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


@dataclass(frozen=True)
class Chat:
    """A model at an address, called at temperature 0 unless it refuses to have one."""

    model: str
    base: str

    @classmethod
    def named(cls, name: str) -> Chat:
        """Return the chat model that `api:MODEL` or `URL#MODEL` stands for."""
        if name.startswith("api:") and len(name) > len("api:"):
            return cls(name.removeprefix("api:"), get_base_address())
        base, _, model = name.partition("#")
        if not base.startswith(("http://", "https://")) or not model:
            raise UnknownName(f"{hide_user(name)!r} names no chat model: write api:MODEL or URL#MODEL")
        if hide_user(base) != base:
            raise UnknownName(
                f"{format_address(base)}: names are printed and kept, so a URL in one has no user, password or query; "
                "set TEXTGAUGE_API_BASE and write api:MODEL"
            )
        return cls(model, base)

    @property
    def identity(self) -> str:
        """Model and address; what runs behind the address is the provider's word."""
        return f"{self.model}(base={format_address(self.base)},temperature=0)"

    def ask(self, system: str | None, questions: Sequence[str], *, turn: int = 0) -> list[str]:
        """Return the answer to each question, in order; known ones from disk, the others several at a time.

        The same question in another `turn` is asked again.
        """
        instructions = [] if system is None else [{"role": "system", "content": system}]
        answers, keys, missing = Answers.of(self.identity), [], {}
        for question in questions:
            messages = [*instructions, {"role": "user", "content": question}]
            body: dict[str, Any] = {"model": self.model, "messages": messages, "temperature": 0}
            content = json.dumps({**body, "turn": turn} if turn else body, sort_keys=True).encode()
            keys.append(hashlib.blake2b(content, digest_size=16).hexdigest())
            if keys[-1] not in answers.known:
                missing[keys[-1]] = body
        if missing:
            pool, secrets = ThreadPoolExecutor(AT_ONCE), _list_secrets(self.base)
            with open_client(self.model, self.base) as client:
                try:
                    list(pool.map(lambda key: answers.keep(key, self._answer(client, missing[key]), secrets), missing))
                finally:  # what is under way is waited for, and kept
                    pool.shutdown(cancel_futures=True)
        return [answers.known[key] for key in keys]

    def _answer(self, client: Any, body: dict[str, Any]) -> str:
        """Send a request without what this endpoint has refused before, or refuses now."""
        refused = _refused.setdefault((self.base, self.model), set())
        sent = {name: value for name, value in body.items() if name not in refused}
        url = f"{self.base.rstrip('/')}/chat/completions"
        try:
            content = ask(client, url, name=self.model, json=sent)["choices"][0]["message"]["content"]
        except RequestRefused as error:
            named = {name for name in _OPTIONAL if name in sent and name in str(error)}
            if not named:
                raise
            refused |= named
            return self._answer(client, body)
        except (KeyError, IndexError, TypeError) as error:
            raise ResourceError(f"{self.model} answered without a message") from error
        return content if isinstance(content, str) else ""


@dataclass
class Answers:
    """Answers by the key of their request, one JSON line with a checksum each; damaged lines are passed over."""

    file: Path | None
    known: dict[str, str]
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def of(cls, identity: str) -> Answers:
        """Return the answers of one model that are on disk; none where `TEXTGAUGE_NO_CACHE` is set."""
        if not keeps_cache():
            return cls(None, {})
        file = get_cache_root() / "answers" / f"{hashlib.blake2b(identity.encode(), digest_size=12).hexdigest()}.jsonl"
        return cls(file, cls.read(file))

    @staticmethod
    def read(file: Path) -> dict[str, str]:
        """Return the whole answers of a file; the first one where a request has several."""
        try:
            lines = read_stored_bytes(file).split(b"\n")
        except OSError:
            return {}
        known: dict[str, str] = {}
        for line in filter(None, lines):
            with contextlib.suppress(ValueError, KeyError, TypeError):
                entry = unseal_json(line.decode())
                known.setdefault(entry["key"], entry["answer"])
        return known

    def keep(self, key: str, answer: str, secrets: Sequence[str] = ()) -> None:
        """Add an answer, on disk as well where that can be written and it neither is empty nor repeats a secret."""
        with self.lock:
            self.known[key] = answer
            if self.file is None or not answer.strip() or any(secret in answer for secret in secrets):
                return
            try:
                make_cache_folder(self.file.parent)
                with open(self.file, "ab", opener=open_at_once) as stream:
                    # Its own line even after a torn one.
                    stream.write(f"\n{json.dumps(seal_json({'key': key, 'answer': answer}))}\n".encode())
            except OSError as error:
                message = f"cannot write the answers {self.file.parent} ({error.strerror}); going on without them"
                self.file = None
                warn(message, RuntimeWarning)
