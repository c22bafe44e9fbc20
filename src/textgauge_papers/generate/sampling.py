"""Writing texts with a model, token by token; each text has its own random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.core import InputError
from textgauge_papers.generate.settings import import_torch, make_generator

# From tokens (texts by places) and memory to the logits of the next token and the new memory.
Step = Callable[[Any, Any], tuple[Any, Any]]
# From memory and the numbers of rows to the memory of these rows.
Keep = Callable[[Any, Any], Any]

BATCH = 256
_ATTEMPTS = 10  # for each text, before a model that writes only blank texts is refused
_WRITE = 21


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the next token is drawn: probabilities to the power 1/temperature (0: always the likeliest), from the
    `top_k` likeliest (0: all) and from the fewest of those that have `top_p` of their probability together.
    """

    temperature: float = 1.0
    top_k: int = 100
    top_p: float = 0.95

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise InputError(f"temperature is 0 or more, not {self.temperature}")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise InputError(f"top_k is 0 or more and top_p in (0, 1], not {self.top_k} and {self.top_p}")


def draw_tokens(logits: Any, uniform: Any, sampling: Sampling) -> Any:
    """Return one token for each row of logits, by a number in [0, 1) for each: the place where the sum passes it."""
    torch = import_torch("generation")
    if sampling.temperature == 0:
        return logits.argmax(dim=-1)
    logits, places = logits.float() / sampling.temperature, None
    if 0 < sampling.top_k < logits.shape[-1]:
        logits, places = logits.topk(sampling.top_k, dim=-1)
    elif sampling.top_p < 1:
        logits, places = logits.sort(dim=-1, descending=True, stable=True)
    shares = torch.softmax(logits, dim=-1)
    if sampling.top_p < 1:
        shares = shares * (shares.cumsum(dim=-1) - shares < sampling.top_p)
    sums = shares.cumsum(dim=-1, dtype=uniform.dtype)
    at = (sums <= uniform[:, None] * sums[:, -1:]).sum(dim=-1).clamp(max=sums.shape[-1] - 1)
    return at if places is None else places.gather(1, at[:, None])[:, 0]


def continue_texts(
    step: Step,
    keep: Keep,
    prompts: Any,
    memory: Any,
    uniforms: Any,
    *,
    end: int,
    sampling: Sampling,
    never: Sequence[int] = (),
) -> list[list[int]]:
    """Return the tokens that follow each prompt, until `end` or as many as there are random numbers; at least one.

    A text that has ended is computed no further: `keep` takes its row out of the memory.
    """
    torch = import_torch("generation")
    tokens, going = prompts, torch.arange(len(prompts))
    rows: list[list[int]] = [[] for _ in range(len(prompts))]
    for place in range(uniforms.shape[1]):
        logits, memory = step(tokens, memory)
        logits = logits.clone()
        logits[:, [*never, *([end] if place == 0 else [])]] = -torch.inf
        chosen = draw_tokens(logits, uniforms[going, place], sampling)
        stays = (chosen != end).nonzero()[:, 0]
        if len(stays) < len(going):
            going, chosen, memory = going[stays], chosen[stays], keep(memory, stays)
        if not len(going):
            break
        for row, token in zip(going.tolist(), chosen.tolist(), strict=True):
            rows[row].append(token)
        tokens = chosen[:, None]
    return rows


def join_tokens(write: Callable[[list[int]], list[str]], n: int) -> list[str]:
    """Return the first `n` texts that are not blank; `write` gives the texts of some numbers, batch by batch."""
    if n < 1:
        raise InputError(f"n is at least 1, not {n}")
    found: list[str] = []
    size = min(n, BATCH)
    for start in range(0, _ATTEMPTS * n + size, size):
        found += [text for text in write(list(range(start, start + size))) if text]
        if len(found) >= n:
            return found[:n]
    raise InputError("the model writes blank texts only; train it longer")


def draw_uniforms(numbers: Sequence[int], length: int, seed: int, *, extra: int = 0) -> tuple[Any, Any]:
    """For each text number: uniform numbers, one a token, and `extra` normal ones; always the same for a seed."""
    torch = import_torch("generation")
    uniform = np.empty((len(numbers), length))
    normal = np.empty((len(numbers), extra), dtype=np.float32)
    for row, number in enumerate(numbers):
        rng = make_generator(seed, _WRITE, number)
        normal[row] = rng.standard_normal(extra)
        uniform[row] = rng.random(length)
    return torch.from_numpy(uniform), torch.from_numpy(normal)
