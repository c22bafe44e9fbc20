"""`compare` with several candidates, or slice by slice: which one is nearest, and which labels differ.

All corpora are cut into disjoint quarters and halves, the reference the same way for every candidate. What the
reference's luck adds to all distances alike then cancels in their differences, as it does in the values themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.progress import begin_step
from textgauge.core.show import shorten_line
from textgauge.data import Comparison, Corpus, load_aligned, load_corpus
from textgauge.data.units import FEWEST_GROUPS
from textgauge.measure.compare_report import CandidateScore, CompareReport, Terms
from textgauge.measure.dependence import cut_uneven_groups, find_signs, read_labels, read_side_labels
from textgauge.metrics import CorpusMetric, Score
from textgauge.metrics.base import Undefined
from textgauge.metrics.uncertainty import DisjointSplits, NullValues
from textgauge.stats.decisions import TOO_CLOSE
from textgauge.stats.rankings import Ranking, rank_values
from textgauge.stats.resampling import adjust_by_holm

if TYPE_CHECKING:
    from textgauge.measure.comparing import Asked

MIN_TEXTS = 200  # of each corpus: the smallest size at which false statements were simulated
MIN_UNITS = 40  # groups or blocks of each corpus
_TRIALS = 16  # cuts into quarters; every candidate pays for all of them
_LABEL_TEXTS = 20  # of a label in each corpus: fewer could hardly differ by 199 exchanges
_NAMED = 5


@dataclass(frozen=True)
class Pairing:
    """A candidate, or a slice of one, against the reference, and what was measured.

    The only candidate has no name. A slice has its label, and how common it is in both corpora.
    """

    candidate: str
    comparison: Comparison
    slice: Mapping[str, Any] = field(default_factory=dict)
    scores: Sequence[Score] = ()
    warnings: Sequence[str] = ()
    nulls: Sequence[NullValues | None] = ()

    def extend(self, score: Score, **more: Any) -> CandidateScore:
        """Return a score with what it is of, and its ranks."""
        return CandidateScore(**{**vars(score), "candidate": self.candidate, **self.slice, **more})


def load_candidates(sources: Mapping[str, Any], column: str | None, *, paired: bool) -> dict[str, Corpus]:
    """Load a reference and candidates as views of one pool, so that every text is embedded once.

    Paired ones keep their places, so that candidates need as many texts, none of them blank.
    """
    if len(sources) < 2:
        raise InputError("there is no candidate to compare with the reference")
    corpora = dict[str, Corpus]()
    for name, source in sources.items():
        role = name if name == "reference" else f"candidate {name}"
        given = Corpus.of(load_aligned(source, column=column)) if paired else source
        for row, text in enumerate(given.texts if isinstance(given, Corpus) and given.pool.has_texts else ()):
            if paired and not text.strip():
                raise InputError(f"text {row + 1} of the {role} is blank: paired candidates need every text")
        corpora[name] = load_corpus(given, role=role, column=column)
    sizes = {name: len(corpus) for name, corpus in corpora.items() if name != "reference"}
    if paired and len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError(f"paired candidates need equally many texts; they have: {counts}")
    joint = reduce(or_, corpora.values())
    starts = accumulate(map(len, corpora.values()), initial=0)
    return {
        name: joint.take(range(start, start + len(corpora[name]))) for name, start in zip(corpora, starts, strict=False)
    }


def split_into_slices(
    corpora: Mapping[str, Corpus], sources: Mapping[str, Any], by: str, group: Any, column: str | None
) -> tuple[list[Pairing], list[str]]:
    """Return the texts of each label, of every candidate with the reference, and which labels have too few of them."""
    if not (group is None or isinstance(group, str)):
        raise ArgumentError("`group` is a column where `by` is one")
    groups = None if group is None else read_labels(corpora, sources, group, column, "group")
    labels = {
        name: read_side_labels(corpus, sources[name], by, column, name, blank=True) for name, corpus in corpora.items()
    }
    fewest = f"{_LABEL_TEXTS} texts" if group is None else f"{_LABEL_TEXTS} texts of {FEWEST_GROUPS} groups"
    found, small = list[Pairing](), list[str]()
    for name in list(corpora)[1:]:
        for label in sorted({*labels["reference"]} & {*labels[name]}):
            rows = {role: np.flatnonzero(labels[role] == label) for role in ("reference", name)}
            sides = {role: corpora[role].take(rows[role]) for role in rows}
            units = {role: np.arange(len(of)) if groups is None else groups[role][of] for role, of in rows.items()}
            if not all(_is_large(sides[role], units[role]) for role in rows):
                small.append(label)
                continue
            shares = [len(rows[role]) / len(corpora[role]) for role in rows]
            comparison = Comparison(sides["reference"], sides[name])
            if groups is not None:
                cut, belonging = cut_uneven_groups(sides, units)
                comparison = belonging.compare(cut["reference"], cut[name], name)
            about = {"slice": label, "share_reference": shares[0], "share_candidate": shares[1]}
            found.append(Pairing(name, comparison, about))
    if not found:
        raise InputError(f"no label of `{by}` has {fewest} in the reference and in a candidate")
    small = list(dict.fromkeys(small))
    more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
    named = ", ".join(shorten_line(label, 40) for label in small[:_NAMED])
    note = f"left out, with fewer than {fewest} in a corpus, or one text alone: {named}{more}"
    return found, [note] if small else []


def _is_large(side: Corpus, units: Ints) -> bool:
    """Return whether a slice has enough texts and groups, and two texts that differ."""
    return len(side) >= _LABEL_TEXTS and len(np.unique(side.keys)) > 1 and len(np.unique(units)) >= FEWEST_GROUPS


def report_slices(pairings: Sequence[Pairing], notes: Sequence[str]) -> CompareReport:
    """Say which slices differ, p-values adjusted for the false discovery rate of all slices that have one."""
    from scipy.stats import false_discovery_control

    rows = [pairing.extend(score) for pairing in pairings for score in pairing.scores]
    p = np.array([row.p_value for row in rows])
    known = np.isfinite(p)
    if known.any():
        p[known] = false_discovery_control(p[known])
    rows = [
        replace(row, p_adjusted=q, adjustment="Benjamini–Hochberg") for row, q in zip(rows, p.tolist(), strict=True)
    ]
    rows.sort(key=lambda row: (not row.differs, -row.effect if np.isfinite(row.effect) else np.inf))
    candidates = tuple(dict.fromkeys(pairing.candidate for pairing in pairings))
    return CompareReport(tuple(rows), tuple(notes), candidates=candidates, is_sliced=True)


def report_candidates(
    pairings: Sequence[Pairing],
    ranked: Sequence[CorpusMetric],
    missing: Mapping[str, str],
    asked: Asked,
    notes: Sequence[str],
) -> CompareReport:
    """Rank candidates by each metric, p-values adjusted for all of them by Holm's correction."""
    comparisons, rankings, unranked = [one.comparison for one in pairings], dict[str, Ranking](), dict(missing)
    every: Sequence[Sequence[Score]] = [one.scores for one in pairings]
    for number, metric in enumerate(ranked):
        begin_step(metric.key, number, len(ranked), "ranking")
        values = np.array([score.value for scores in every for score in scores if score.metric == metric.key])
        how: Any = {"level": 1 - (1 - asked.level) / len(ranked), "seed": asked.seed}
        try:
            rankings[metric.key] = rank_candidates(metric, comparisons, values, **how, paired="paired" in asked.given)
        except Undefined as reason:
            unranked[metric.key] = str(reason)
    signs = find_signs(pairings, ranked, asked.seed) if asked.test else {}
    warnings = [*notes, *(f"{one.candidate}: {text}" for one in pairings for text in one.warnings)]
    warnings += [f"no ranks by {metric}: {reason}" for metric, reason in unranked.items()]
    too_close = [name for name, sign in signs.items() if sign == TOO_CLOSE]
    warnings += [f"{name}: {TOO_CLOSE}: made from the reference, or for the same prompts?" for name in too_close]
    rows = list[CandidateScore]()
    if asked.test and len(pairings) > 1:
        every = _adjust_by_holm(every)
    for scores in zip(*every, strict=True):  # by one metric, nearest first
        ranking = rankings.get(scores[0].metric)
        for placing in ranking.placings() if ranking else [{"place": place} for place in range(len(pairings))]:
            place = placing.pop("place")
            rows.append(pairings[place].extend(scores[place], **placing))
    names, found = tuple(one.candidate for one in pairings), next(iter(signs.values()), None)
    return CompareReport(tuple(rows), tuple(warnings), {}, Terms(), rankings, names, asked.level, sign=found)


def _adjust_by_holm(scores: Sequence[Sequence[Score]]) -> list[list[Score]]:
    """Adjust p-values, adjusted within each candidate already, for all candidates."""
    groups = [number for number, own in enumerate(scores) for _ in own]
    p = iter(adjust_by_holm(np.array([score.p_adjusted for own in scores for score in own]), groups).tolist())

    def adjust(score: Score) -> Score:
        before = score.adjustment or "Holm"
        return replace(score, p_adjusted=next(p), adjustment=before if "Holm" in before else f"{before} and Holm")

    return [list(map(adjust, own)) for own in scores]


def rank_candidates(
    metric: CorpusMetric,
    comparisons: Sequence[Comparison],
    values: Floats,
    *,
    level: float,
    seed: int,
    paired: bool = False,
) -> Ranking:
    """Rank candidates that are compared with one reference, given the metric's values.

    `paired`: text i of every candidate belongs together. Raises `Undefined` with the reason where the corpora are too
    small for this metric's errors.
    """
    fewest = min(one.smaller for one in comparisons)
    if fewest < MIN_TEXTS:
        raise Undefined(f"corpora are ranked from {MIN_TEXTS} texts on; one has {fewest}")
    if comparisons[0].units.named:
        fewest = min(one.units.fewest for one in comparisons)
        if fewest < MIN_UNITS:
            raise Undefined(f"corpora are ranked from {MIN_UNITS} groups or blocks on; one has {fewest}")
    cut = DisjointSplits.of_rows if paired and comparisons[0].blocks is None else DisjointSplits.of
    parts = [cut(comparison, trials=_TRIALS, seed=seed) for comparison in comparisons]
    on_parts = metric.orient(np.stack([metric.select(metric.compute_draws(part.joint, part.draws)) for part in parts]))
    # Half the texts, as of an interval of a single value, and one and a half per cut, since that is about what the few
    # cuts leave of the variances of halves and quarters.
    freedom = 1.0 / (2.0 / (fewest - 1) + 1.0 / (1.5 * _TRIALS))
    differences = parts[0].half_differences(on_parts)
    draws = differences[:, np.isfinite(differences).all(axis=0)].T
    errors = _estimate_errors(parts[0], on_parts)
    return rank_values(metric.orient(values), errors, np.asarray(draws), freedom=freedom, level=level)


def _estimate_errors(parts: DisjointSplits, on_parts: Floats) -> Floats:
    """Return the standard error of the difference of every two candidates; NaN where it cannot be estimated.

    V(n) ≈ V(n/2) · V(n/2)/V(n/4), where the ratio is that of all pairs together, or the pair's own if that is larger:
    one pair's ratio alone would be too noisy.
    """
    quarters, halves = np.zeros((2, len(on_parts), len(on_parts)))
    for first, second in zip(*np.triu_indices(len(on_parts), 1), strict=True):
        try:
            variances = parts.variances(on_parts[first] - on_parts[second])
        except Undefined:
            variances = (np.nan, np.nan)
        quarters[first, second], halves[first, second] = variances
    quarters, halves = quarters + quarters.T, halves + halves.T
    with np.errstate(invalid="ignore", divide="ignore"):
        own, pooled = halves / quarters, np.nansum(halves) / np.nansum(quarters)
    return np.asarray(np.sqrt(np.where(halves == 0, 0.0, halves * np.fmax(own, pooled))))
