"""`compare` slice by slice: for texts with labels, which labels drive the distance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from textgauge.core.errors import InputError
from textgauge.core.progress import Stage, Step, show_in_notebook
from textgauge.core.result import Result
from textgauge.core.tabular import Row, format_cell, format_interval, format_percent, one_line
from textgauge.data import LabelledTexts, load_texts
from textgauge.data.source import Source
from textgauge.data.tables import cells_of
from textgauge.measure.comparing.compare import PERMUTATIONS, compare
from textgauge.metrics import CorpusMetric, Score
from textgauge.stats.decisions import different, slices_sentence

MIN_TEXTS = 20  # of a label in each corpus: fewer could hardly differ by 199 exchanges
_NAMED = 5


@dataclass(frozen=True)
class Slice:
    """One label of one candidate: how far its texts are from the reference's, and how common it is in both."""

    label: str
    candidate: str
    score: Score
    share_reference: float
    share_candidate: float

    @property
    def differs(self) -> bool:
        """Whether "same source" is rejected, with the false discovery rate of all slices in mind."""
        return different(self.score.p_adjusted)


@dataclass(frozen=True, repr=False)
class SliceReport(Result):
    """Slices by falling effect; `small` are the labels that are too rare in a corpus to be compared."""

    command: ClassVar[str] = "compare"

    slices: tuple[Slice, ...]
    small: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.slices)

    @property
    def answer(self) -> str:
        """Which slices differ."""
        several = len({one.candidate for one in self.slices}) > 1
        names = [f"{one.label} of {one.candidate}" if several else one.label for one in self.slices if one.differs]
        return slices_sentence(list(dict.fromkeys(names)), len({(one.label, one.candidate) for one in self.slices}))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Labels that were left out."""
        if not self.small:
            return ()
        more = f" and {len(self.small) - _NAMED} more" if len(self.small) > _NAMED else ""
        named = ", ".join(one_line(label, 40) for label in self.small[:_NAMED])
        return (f"left out, with fewer than {MIN_TEXTS} texts in a corpus, or one text alone: {named}{more}",)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per slice and metric, the farthest first."""
        return [
            one.score.to_dict()
            | {
                "slice": one.label,
                "candidate": one.candidate,
                "share_reference": one.share_reference,
                "share_candidate": one.share_candidate,
                "differs": one.differs,
            }
            for one in self.slices
        ]

    def readable(self) -> list[Row]:
        """One row per slice and metric."""
        return [
            {
                "slice": one_line(row["slice"], 40),
                "candidate": row["candidate"],
                "metric": row["metric"],
                "value": format_cell(row["value"]),
                "if same source": format_interval(row["null_low"], row["null_high"]),
                "effect": format_cell(row["effect"]),
                "adjusted p": format_cell(row["p_adjusted"]),
                "differs": "yes" if row["differs"] else "",
                "share of reference": format_percent(row["share_reference"]),
                "of candidate": format_percent(row["share_candidate"]),
            }
            for row in self.to_dicts()
        ]


def compare_slices(
    reference: Source | LabelledTexts,
    candidates: Mapping[str, Source | LabelledTexts],
    *,
    by: str,
    metrics: str | Iterable[str | CorpusMetric] = "energy",
    column: str | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    on_step: Step = show_in_notebook,
) -> SliceReport:
    """Compare the texts of each label alone, and say which labels drive the distance.

    `by` names the column of labels of files and frames. For every label with at least 20 texts on both sides, each
    metric gets a permutation p-value; those of all slices, candidates and metrics are adjusted together for the false
    discovery rate (Benjamini and Hochberg 1995). The shares say how common a label is, which can be a difference too.

    >>> labels = ("animals",) * 40 + ("ships",) * 40
    >>> words = LabelledTexts(("a cat", "a cow") * 20 + ("one ship", "a sail") * 20, labels, "last week")
    >>> moved = LabelledTexts(("a cat", "a cow") * 20 + ("ten boats", "nets") * 20, labels, "this week")
    >>> found = compare_slices(words, {"new": moved}, by="label", metrics="cbdf@words", permutations=99)
    >>> found.answer
    '1 of 2 slices differs (false discovery rate 5 %): ships. In the others no difference was found.'
    """
    first = _labelled(reference, by, column, "reference")
    others = {name: _labelled(source, by, column, name) for name, source in candidates.items()}
    jobs = [(label, name) for name in others for label in sorted(set(first) & set(others[name]))]
    large = [(label, name) for label, name in jobs if _comparable(first[label]) and _comparable(others[name][label])]
    if not large:
        raise InputError(f"no label of `{by}` has {MIN_TEXTS} texts in the reference and in a candidate")
    total = {name: sum(map(len, groups.values())) for name, groups in {"": first, **others}.items()}
    found: list[Slice] = []
    for number, (label, name) in enumerate(large):
        on_step(Stage(f"{name}: {label}", number, len(large), "comparing slices"))
        mine, theirs = first[label], others[name][label]
        report = compare(mine, theirs, metrics=metrics, permutations=permutations, seed=seed, on_step=lambda _: None)
        shares = len(mine) / total[""], len(theirs) / total[name]
        found += [Slice(label, name, score, *shares) for score in report]
    small = dict.fromkeys(label for label, name in jobs if (label, name) not in large)
    return SliceReport(tuple(sorted(_adjusted(found), key=_farthest_first)), tuple(small))


def _labelled(source: Source | LabelledTexts, by: str, column: str | None, role: str) -> dict[str, list[str]]:
    """The texts of every label."""
    if isinstance(source, str | os.PathLike):
        source = load_texts(source, column=column, labels=by)
    if isinstance(source, LabelledTexts):
        texts, labels = source.texts, source.labels
    else:
        texts, labels = tuple(cells_of(source, column)), tuple(map(str, cells_of(source, by)))
    if labels is None:
        raise InputError(f"the {role} has no labels: give a table with the column {by!r}")
    groups: dict[str, list[str]] = {}
    for text, label in zip(texts, labels, strict=True):
        if text.strip():
            groups.setdefault(str(label), []).append(text)
    return groups


def _comparable(texts: list[str]) -> bool:
    return len(texts) >= MIN_TEXTS and len(set(texts)) > 1


def _adjusted(found: list[Slice]) -> list[Slice]:
    """p-values adjusted for the false discovery rate of all slices that have one."""
    from scipy.stats import false_discovery_control

    p = np.array([one.score.p_value for one in found])
    known = np.isfinite(p)
    if known.any():
        p[known] = false_discovery_control(p[known])
    return [
        replace(one, score=replace(one.score, p_adjusted=q, adjustment="Benjamini–Hochberg"))
        for one, q in zip(found, p.tolist(), strict=True)
    ]


def _farthest_first(one: Slice) -> tuple[bool, float]:
    return not one.differs, -one.score.effect if np.isfinite(one.score.effect) else np.inf
