"""A chat model behind an OpenAI-compatible endpoint, and its answers on disk, so that a question is asked once.

`api:MODEL` takes the address of the environment (see endpoint.py), `URL#MODEL` the one that is named.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from textgauge.errors import ResourceError, UnknownName
from textgauge.represent.endpoint import base_address, open_client, post, shown_address
from textgauge.represent.resources import cache_root

AT_ONCE = 8


@dataclass(frozen=True)
class Chat:
    """A model at an address, asked at temperature 0."""

    model: str
    base: str
    sleep: Callable[[float], None] = field(default=time.sleep, compare=False)

    @classmethod
    def named(cls, name: str) -> Chat:
        """Give the chat model that `api:MODEL` or `URL#MODEL` stands for."""
        if name.startswith("api:") and len(name) > len("api:"):
            return cls(name.removeprefix("api:"), base_address())
        base, _, model = name.partition("#")
        if not base.startswith(("http://", "https://")) or not model:
            raise UnknownName(f"{name!r} names no chat model: write api:MODEL or URL#MODEL")
        return cls(model, base)

    @property
    def identity(self) -> str:
        """Model and address; what runs behind the address is the provider's word."""
        return f"{self.model}(base={shown_address(self.base)},temperature=0)"

    def ask(self, system: str, questions: Sequence[str]) -> list[str]:
        """Give the answer to each question, in order; known ones from disk, the others several at a time."""
        bodies = [self._body(system, question) for question in questions]
        answers = Answers.of(self.identity)
        keys = [_key(body) for body in bodies]
        missing = {key: body for key, body in zip(keys, bodies, strict=True) if key not in answers.known}
        if missing:
            with open_client(self.model, self.base) as client:
                _each(lambda item: answers.keep(item[0], self._answer(client, item[1])), missing.items())
        return [answers.known[key] for key in keys]

    def _body(self, system: str, question: str) -> dict[str, Any]:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        return {"model": self.model, "messages": messages, "temperature": 0}

    def _answer(self, client: Any, body: dict[str, Any]) -> str:
        url = f"{self.base.rstrip('/')}/chat/completions"
        answer = post(client, url, body, name=self.model, sleep=self.sleep)
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ResourceError(f"{self.model} answered without a message") from error
        return content if isinstance(content, str) else ""


@dataclass
class Answers:
    """Answers by the key of their request, one JSON line each; damaged lines are passed over, first ones stay."""

    file: Path | None
    known: dict[str, str]
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def of(cls, identity: str) -> Answers:
        """Give the answers of one model that are on disk; none where `TEXTGAUGE_NO_CACHE` is set."""
        if os.environ.get("TEXTGAUGE_NO_CACHE", "") not in {"", "0"}:
            return cls(None, {})
        file = cache_root() / "answers" / f"{hashlib.blake2b(identity.encode(), digest_size=12).hexdigest()}.jsonl"
        return cls(file, _read(file))

    def keep(self, key: str, answer: str) -> None:
        """Add an answer, on disk as well where that can be written."""
        with self.lock:
            self.known[key] = answer
            if self.file is None:
                return
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                with self.file.open("ab") as stream:
                    # Its own line even after a torn one.
                    stream.write(f"\n{json.dumps({'key': key, 'answer': answer})}\n".encode())
            except OSError as error:
                message = f"cannot write the answers {self.file.parent} ({error.strerror}); going on without them"
                self.file = None
                warnings.warn(message, RuntimeWarning, stacklevel=2)


def _read(file: Path) -> dict[str, str]:
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError:
        return {}
    known: dict[str, str] = {}
    for line in filter(None, lines):
        try:
            entry = json.loads(line)
            key, answer = entry["key"], entry["answer"]
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(key, str) and isinstance(answer, str):
            known.setdefault(key, answer)
    return known


def _key(body: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=16).hexdigest()


def _each(function: Callable[[Any], None], items: Iterable[Any]) -> None:
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        for _ in pool.map(function, items):
            pass
    finally:
        pool.shutdown(cancel_futures=True)
