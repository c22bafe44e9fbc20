"""Texts of a label: a language model writes them, a classifier keeps those it finds right (LAMBADA)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textgauge.core import InputError, begin_step, warn
from textgauge.data import Corpus
from textgauge_papers.generate.language_model import ADAPTED, Settings, train_language_model
from textgauge_papers.generate.sampling import Sampling
from textgauge_papers.generate.settings import hash_text

# From texts to the probabilities of all labels, one row a text.
Classifier = Callable[[Sequence[str]], NDArray[np.float64]]
# From labels, a seed for each, and a number to that many texts of each label.
Write = Callable[[Mapping[str, int], int], Mapping[str, list[str]]]


@dataclass(frozen=True)
class Labelled:
    """A generated text, the label it was written for, and how sure the classifier is of it."""

    text: str
    label: str
    confidence: float


def conditional(
    texts: Sequence[str],
    labels: Sequence[str],
    *,
    n: int,
    candidates: float = 5.0,
    embedder: str = "minilm",
    epochs: int = 3,
    seed: int = 0,
    model: str = ADAPTED,
    settings: Settings | None = None,
    sampling: Sampling | None = None,
    checkpoint: str | Path | None = None,
) -> list[Labelled]:
    """Return `n` new texts for each label: those of `candidates`·n that the classifier is surest of.

    The model learns "label, separator, text" (see `train_language_model`), and the classifier is a logistic
    regression on sentence embeddings of the same texts. Source: Anaby-Tavor et al. 2020.
    """
    known = check_labels(texts, labels, n, candidates)
    writer = train_language_model(
        texts, labels=labels, epochs=epochs, seed=seed, model=model, settings=settings, checkpoint=checkpoint
    )
    begin_step("training the classifier")
    classify = classifier(texts, labels, embedder=embedder)
    begin_step(f"writing texts of {len(known)} labels")
    write = partial(writer.generate_of_labels, sampling=sampling)
    return filter_texts(write, classify, known, n=n, candidates=candidates, seed=seed, taken=texts)


def classifier(texts: Sequence[str], labels: Sequence[str], *, embedder: str = "minilm") -> Classifier:
    """Return a logistic regression on sentence embeddings; columns of its probabilities are the sorted labels."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=10.0, max_iter=1_000, tol=1e-3)
    fitted.fit(_embed(texts, embedder), np.array(labels))
    return lambda new: np.asarray(fitted.predict_proba(_embed(new, embedder)), dtype=np.float64)


def filter_texts(
    write: Write,
    classify: Classifier,
    labels: Sequence[str],
    *,
    n: int,
    candidates: float,
    seed: int = 0,
    taken: Sequence[str] = (),
    fill: bool = False,
) -> list[Labelled]:
    """For each of the sorted labels the `n` texts, of candidates·n different new ones, that the classifier gives this
    label and is surest of; fewer, with a warning, where fewer pass. Texts that are `taken` do not count as new. With
    `fill`, texts that it gives another label follow, the surest first, until there are n.
    """
    found: list[Labelled] = []
    short: list[str] = []
    old = set(taken)
    seeds = {label: (seed + hash_text(label)) % 2**63 for label in labels}
    written = write(seeds, max(n, int(np.ceil(candidates * n))))
    for column, label in enumerate(labels):
        new = [text for text in dict.fromkeys(written[label]) if text not in old]
        shares = classify(new) if new else np.zeros((0, len(labels)))
        right = shares.argmax(axis=1) == column if new else np.zeros(0, dtype=bool)
        order = np.lexsort((-shares[:, column], ~right))
        best = order[: n if fill else min(n, int(right.sum()))]
        found += [Labelled(new[row], label, float(shares[row, column])) for row in best.tolist()]
        if len(best) < n:
            short.append(f"{label} ({len(best)})")
    if short:
        labels_short = f"{', '.join(short[:5])}{' and others' if len(short) > 5 else ''}"
        warn(f"fewer than {n} texts passed the classifier for {labels_short}; raise candidates")
    return found


def _embed(texts: Sequence[str], embedder: str) -> NDArray[np.float64]:
    return np.asarray(Corpus.of(list(texts)).embeddings(embedder), dtype=np.float64)


def check_labels(texts: Sequence[str], labels: Sequence[str], n: int, candidates: float) -> list[str]:
    """Return the sorted labels; refuse what no conditional texts can be written of."""
    if len(texts) != len(labels):
        raise InputError(f"{len(texts)} texts but {len(labels)} labels")
    if n < 1 or not candidates >= 1:
        raise InputError(f"at least 1 text for each label and 1 candidate for each text are needed: {n}, {candidates}")
    counts = Counter(labels)
    if len(counts) < 2:
        raise InputError("at least two labels are needed")
    return sorted(counts)
