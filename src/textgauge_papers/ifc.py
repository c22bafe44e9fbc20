"""Increasingly fine-tuned corpora: what a model writes as it learns should come nearer and nearer to its texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.bench import (
    CORPUS_METRICS,
    CorpusBatch,
    DataKind,
    Measure,
    Metrics,
    Observations,
    Plan,
    Protocol,
    Sources,
    explain_undefined,
    make_generator,
    make_plans,
    merge_rounding_ties,
    register_protocol,
)
from textgauge.core import InputError, Ints
from textgauge.data import Corpus, get_source_name, is_text_file, list_endings, load_corpus, load_texts
from textgauge.metrics import Range
from textgauge.stats import spearman
from textgauge_papers.generate.ngrams import write_ngram_corpora

REFERENCE = "reference"
_LEARNED = "sample:banking"
SELF, STEP = "self", "step"
_FEWEST_STEPS, _FEWEST_TEXTS = 3, 10


class StepsAndReference(DataKind):
    """Corpora in order, one for each step, and the corpus that they should approach."""

    needs = ("steps", "reference")
    takes = ("column",)
    about = "`steps`, a folder of corpora in order, and `reference`"

    def load(self, given: Mapping[str, Any], seed: int) -> Sources:
        """Return the corpora that the values name; of no values, those of a small model of built-in texts."""
        if not given:
            return make_learned_steps(steps=4, texts=80, per_step=30, seed=seed)
        return read_steps(given["steps"], given["reference"], column=given.get("column"))


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Ifc(Protocol):
    """How a distance to the training texts falls, step by step, towards the distance of these texts from themselves.

    In each repetition: n texts of the reference against n texts of every step (repeated texts count as often as they
    were written), and against n other texts of the reference, the self-distance. `n=0` takes as many as fit. Measures,
    mean over repetitions:

    - `trend`: Spearman's ρ of step and distance; −1 where every step comes nearer.
    - `slope`: of the least-squares line of distance over step, in units of the metric for each step.
    - `gap`: (d_last − d_self)/(d_first − d_self), what is left at the last step of the first step's distance beyond the
      self-distance; 0 where the self-distance is reached. Undefined where the first step is no farther than that.

    `slope` and `gap` depend on the model as much as on the metric, and are not averaged. Every trial carries the
    share of different words among all words (type–token ratio) of its corpus. Source: Kour et al. 2022, section 5.
    """

    name = "ifc"
    heading = "A generator as it learns"
    question = "Does the distance to the training texts fall while a generator learns?"
    data = StepsAndReference()
    figures = ("steps", "radar", "box")
    measures = (
        Measure("trend", low=1.0, high=-1.0, about="Spearman of step and distance; −1 is best"),
        Measure("slope", low=-np.inf, high=np.inf, best="smaller", about="change of the distance at each step"),
        Measure("gap", low=-np.inf, high=np.inf, best="smaller", about="distance left beyond the self-distance"),
    )

    ranges = (Range("n", 0), Range("repetitions", 1))

    n: int = 0
    repetitions: int = 5

    def check(self, sources: Sources) -> None:
        """Refuse too few steps, and samples that the corpora are too small for."""
        steps = _list_steps(sources)
        if len(steps) < _FEWEST_STEPS:
            raise InputError(f"a trend needs at least {_FEWEST_STEPS} steps, not {len(steps)}")
        if self.n == 1:
            raise InputError(f"samples have 2 texts or more, or 0 for as many as fit, not {self.n}")
        n = self._size(sources)
        needed = {REFERENCE: 2 * max(n, _FEWEST_TEXTS // 2), **dict.fromkeys(steps, max(n, _FEWEST_TEXTS // 2))}
        for role, count in needed.items():
            have = len(sources.corpora[role])
            if have < count:
                raise InputError(f"{role} has {have} texts, but samples of {max(n, _FEWEST_TEXTS // 2)} need {count}")

    def trials(self, sources: Sources, seed: int) -> Iterator[CorpusBatch]:
        """Yield one batch per repetition: every step, then the reference against itself."""
        rows, n = _list_rows(sources), self._size(sources)
        for number in range(self.repetitions):
            rng = make_generator(self, sources, seed, number)
            drawn = {role: rng.permutation(of) for role, of in rows.items()}
            reference = drawn.pop(REFERENCE)
            sides = [*(of[:n] for of in drawn.values()), reference[n : 2 * n]]
            columns = {
                "kind": np.array([STEP] * len(drawn) + [SELF]),
                "step": np.array([*range(1, len(drawn) + 1), 0]),
                "ttr": np.array([compute_type_token_ratio(sources.joint.take(side)) for side in sides]),
            }
            trials = [(reference[:n], side) for side in sides]
            yield CorpusBatch.of_rows(number, sources.joint, np.concatenate([reference[:n], *sides]), trials, columns)

    def judge_repetition(self, batch: Observations) -> dict[str, float | str] | str:
        """Return trend, slope and gap of one repetition."""
        why = explain_undefined(batch)
        if why is not None or not np.isfinite(batch.value).all():
            return why or "a distance is infinite"
        value = merge_rounding_ties(batch.value)
        along = batch.columns["kind"] == STEP
        step, d, own = batch.columns["step"][along].astype(np.float64), value[along], float(value[~along].mean())
        trend, beyond, away = spearman(step, d), d[0] - own, step - step.mean()
        nearer = "the first step is no farther than the reference is from itself"
        return {
            "trend": "all distances are equal" if np.isnan(trend) else trend,
            "slope": float(away @ d / (away @ away)),
            "gap": float((d[-1] - own) / beyond) if beyond > 0 else nearer,
        }

    def _size(self, sources: Sources) -> int:
        if self.n:
            return self.n
        return min(len(sources.corpora[REFERENCE]) // 2, *(len(sources.corpora[role]) for role in _list_steps(sources)))


def compute_type_token_ratio(corpus: Corpus) -> float:
    """Different words as a share of all words; NaN where there are none."""
    tokens = corpus.tokens("words")
    return len(np.unique(tokens.ids)) / len(tokens.ids) if len(tokens.ids) else float("nan")


def _list_steps(sources: Sources) -> list[str]:
    return sorted(role for role in sources.corpora if role != REFERENCE)


def _list_rows(sources: Sources) -> dict[str, Ints]:
    """Return the rows of each corpus in the joint one, in an order of their content alone; the reference first."""
    starts, start = {}, 0
    for role, corpus in sources.corpora.items():
        starts[role] = start
        start += len(corpus)
    order = [REFERENCE, *_list_steps(sources)]
    return {role: starts[role] + np.argsort(sources.corpora[role].keys, kind="stable") for role in order}


def read_steps(steps: str | os.PathLike[str] | Sequence[Any], reference: Any, *, column: str | None = None) -> Sources:
    """Return the reference and the corpora of the steps.

    These are all text files of a folder in natural order (2 before 10), or files or texts in the order given.
    """
    files = list_step_files(steps) if isinstance(steps, str | os.PathLike) else list(steps)
    folder = Path(steps).name if isinstance(steps, str | os.PathLike) else f"{len(files)} files"
    corpora = [load_corpus(step, column=column) for step in files]
    approached = Path(get_source_name(reference, REFERENCE)).name
    return _join_steps(
        f"{folder or 'steps'},{approached}", load_corpus(reference, role=REFERENCE, column=column), corpora
    )


def list_step_files(folder: str | os.PathLike[str]) -> list[str]:
    """Return the text files of a folder, in natural order of their names: step2 before step10."""
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{folder} is not a folder of corpora, one file for each step")
    names = [path.name for path in place.iterdir() if path.is_file() and is_text_file(path) and path.name[0] != "."]
    if not names:
        raise InputError(f"{folder} holds no corpora ({', '.join(list_endings())})")
    return [str(place / name) for name in sorted(names, key=_make_natural_key)]


def _make_natural_key(name: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(0, int(part), part) if part[0] in "0123456789" else (1, 0, part) for part in parts]


def make_learned_steps(*, steps: int = 8, texts: int = 2_000, per_step: int = 300, seed: int = 0) -> Sources:
    """Return built-in texts, and what a back-off trigram model writes that has seen 1/128, 1/64, … and all of them."""
    learned = load_texts(_LEARNED, limit=texts).texts
    corpora = write_ngram_corpora(learned, steps=steps, per_step=per_step, seed=seed)
    return _join_steps(f"trigrams,{_LEARNED}", Corpus.of(learned), [Corpus.of(list(texts)) for texts in corpora])


def format_step_role(number: int) -> str:
    """Return the role of a step's corpus.

    >>> format_step_role(7)
    'step-007'
    """
    return f"step-{number:03d}"


def _join_steps(name: str, reference: Corpus, steps: Sequence[Corpus]) -> Sources:
    corpora = {format_step_role(number): corpus for number, corpus in enumerate(steps, start=1)}
    return Sources(name, {REFERENCE: reference, **corpora})


def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Trigram model that learns more and more of built-in texts: about a minute."""
    return make_plans([Ifc()], [make_learned_steps()], metrics or f"{CORPUS_METRICS},mauve", seed)
