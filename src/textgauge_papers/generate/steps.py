"""Corpora of a model that learns: one after every step of its training."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from textgauge.core import InputError, begin_step
from textgauge_papers.generate.conditional import check_labels, classifier, filter_texts
from textgauge_papers.generate.language_model import ADAPTED, READY, Settings, language_model
from textgauge_papers.generate.ngrams import write_ngram_corpora
from textgauge_papers.generate.sampling import Sampling
from textgauge_papers.generate.settings import hash_texts, make_generator
from textgauge_papers.generate.training import Training

NGRAM = "ngram"
_ORDER = 41


def ifc_corpora(
    texts: Sequence[str],
    *,
    labels: Sequence[str] | None = None,
    candidates: float = 3.0,
    embedder: str = "wordllama",
    steps: int = 8,
    per_step: int = 1_000,
    n: int | None = None,
    passes: int = 1,
    model: str = ADAPTED,
    settings: Settings | None = None,
    sampling: Sampling | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
) -> Iterator[tuple[int, list[str]]]:
    """Increasingly fine-tuned corpora: a model learns `per_step` texts, `passes` times over, then writes `n` texts
    (by default as many as it learned); and so on. Once all texts were used, they come again from the start.

    `model` is one of `train_language_model`, or `ngram`, which learns twice as many texts at every step instead. Gives
    the number of each step, from 1, and its corpus; with a `checkpoint` folder it resumes after the last finished step.
    Source: Kour et al. 2022, section 5.

    With `labels`, one for each text, the model learns to write texts of a label; it writes `candidates` times as many
    texts of every label as are kept, and a classifier on `embedder` keeps the surest (LAMBADA): n over the number of
    labels, rounded up, for each. Those it gives the right label come first, so every step has as many texts.
    """
    count = per_step if n is None else n
    if min(steps, per_step, count, passes) < 1 or not texts:
        raise InputError("steps, texts of a step, texts to write and passes are 1 or more, and there are texts")
    if model == NGRAM:
        if labels is not None:
            raise InputError(f"{NGRAM} writes no texts of a label: use {ADAPTED} or {READY}NAME")
        yield from enumerate(write_ngram_corpora(texts, steps=steps, per_step=count, seed=seed), start=1)
        return
    known = None if labels is None else check_labels(texts, labels, count, candidates)
    learner = language_model([*texts, *(known or [])], model=model, settings=settings, seed=seed)
    training = Training(
        learner, seed=seed, data=hash_texts([*texts, *(labels or []), f"{per_step} {passes}"]), folder=checkpoint
    )
    order, examples = make_generator(seed, _ORDER).permutation(len(texts)), learner.examples(texts, labels)
    begun = training.epoch + (training.batch > 0)
    first = max(-(-begun // passes), 1)
    if first > steps:
        raise InputError(f"the checkpoint in {checkpoint} is past step {steps} already; name another folder")
    if labels is not None and known is not None:
        classify, size = classifier(texts, labels, embedder=embedder), -(-count // len(known))
        choice: dict[str, Any] = {"n": size, "candidates": candidates, "taken": texts, "fill": True}
        write_labels = partial(learner.generate_of_labels, sampling=sampling)
    for step in range(first, steps + 1):
        rows = [int(order[place % len(order)]) for place in range((step - 1) * per_step, step * per_step)]
        while training.epoch < step * passes:
            training.run([examples[row] for row in rows])
        begin_step(f"writing the texts of step {step}")
        if known is None:
            yield step, learner.generate(count, seed=seed + step, sampling=sampling)
            continue
        with warnings.catch_warnings():  # a label whose texts are all copies has fewer
            warnings.simplefilter("ignore", UserWarning)
            kept = filter_texts(write_labels, classify, known, seed=seed + step, **choice)
        yield step, [row.text for row in kept]
