"""Settings by name: what a user types becomes the fields of a settings class."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from textgauge.core import InputError, MissingExtra, UnknownName

T = TypeVar("T")


def parse_settings(kind: type[T], given: Sequence[str]) -> T:
    """Parse settings from `name=value` texts; what is not named is as usual.

    >>> from textgauge_papers.generate import AdapterSettings
    >>> parse_settings(AdapterSettings, ["rank=8", "rate=1e-3"]).rank
    8
    """
    kinds = {item.name: type(item.default) for item in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, int | float] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"settings are written name=value, not {text!r}")
        if name not in kinds:
            raise UnknownName(f"no setting {name!r}; the settings are {', '.join(kinds)}")
        try:
            values[name] = int(value) if kinds[name] is int else float(value)
        except ValueError:
            raise InputError(f"the setting {name} is a number, not {value!r}") from None
    return kind(**values)


def hash_text(text: str) -> int:
    """Return a whole number that stands for a text, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def make_generator(seed: int, *words: int) -> np.random.Generator:
    """Return a random generator for one purpose; whole numbers name the purpose."""
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


def hash_texts(texts: Sequence[str]) -> str:
    """Return a short hash of texts in their order."""
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        digest.update(hash_text(text).to_bytes(8, "little"))
    return digest.hexdigest()


def import_torch(what: str) -> Any:
    """Return torch."""
    try:
        import torch
    except ImportError:
        raise MissingExtra.named(what, "generate") from None
    return torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread, so that the number of threads cannot change how sums round and what a model learns."""
    if find_spec("torch") is None:  # what trains says so
        yield
        return
    torch = import_torch("training")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
