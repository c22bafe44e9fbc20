"""Corpora of a model that learns: one after every step of its training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from textgauge.errors import InputError
from textgauge.generate.language_model import GptSettings, language_model
from textgauge.generate.sampling import Sampling
from textgauge.generate.settings import fingerprint, generator_of
from textgauge.generate.training import Say, Training, silent
from textgauge.generate.word_level import ngram_corpora

NGRAM, GPT, READY = "ngram", "gpt", "hf:"
_ORDER = 41


def ifc_corpora(
    texts: Sequence[str],
    *,
    steps: int = 8,
    per_step: int = 1_000,
    n: int | None = None,
    passes: int = 1,
    model: str = GPT,
    settings: GptSettings | None = None,
    sampling: Sampling | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    on_step: Say = silent,
    on_note: Say = silent,
) -> Iterator[tuple[int, list[str]]]:
    """Increasingly fine-tuned corpora: a model learns `per_step` texts, `passes` times over, then writes `n` texts
    (by default as many as it learned); and so on. Once all texts were used, they come again from the start.

    `model` is `gpt` (small, from scratch), `hf:NAME` (a transformers model by hub name or folder), or `ngram`, which
    learns twice as many texts at every step instead. Gives the number of each step, from 1, and its corpus; with a
    `checkpoint` folder it resumes after the last finished step. Source: Kour et al. 2022, section 5.
    """
    count = per_step if n is None else n
    if min(steps, per_step, count, passes) < 1 or not texts:
        raise InputError("steps, texts of a step, texts to write and passes are 1 or more, and there are texts")
    if model == NGRAM:
        yield from enumerate(ngram_corpora(texts, steps=steps, per_step=count, seed=seed), start=1)
        return
    if model != GPT and not model.startswith(READY):
        raise InputError(f"a model that learns step by step is {GPT}, {NGRAM} or {READY}NAME, not {model!r}")
    ready = model.removeprefix(READY) if model.startswith(READY) else None
    learner = language_model(texts, model=ready, settings=settings, seed=seed)
    training = Training(
        learner,
        learner.recipe,
        seed=seed,
        data=fingerprint([*texts, f"{per_step} {passes}"]),
        folder=None if checkpoint is None else Path(checkpoint),
        on_step=on_step,
        on_note=on_note,
    )
    order, examples = generator_of(seed, _ORDER).permutation(len(texts)), learner.examples(texts)
    begun = training.epoch + (training.batch > 0)
    first = max(-(-begun // passes), 1)
    if first > steps:
        raise InputError(f"the checkpoint in {checkpoint} is past step {steps} already; name another folder")
    for step in range(first, steps + 1):
        rows = [int(order[place % len(order)]) for place in range((step - 1) * per_step, step * per_step)]
        while training.epoch < step * passes:
            training.run([examples[row] for row in rows])
        yield step, learner.generate(count, seed=seed + step, sampling=sampling)
