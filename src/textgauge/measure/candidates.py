"""`compare` with several candidates, or slice by slice: which one is nearest, and which labels differ.

All corpora are cut into disjoint quarters and halves, the reference the same way for every candidate. What the
reference's luck adds to all distances alike then cancels in their differences, as it does in the values themselves.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.parallel import use_one_blas_thread
from textgauge.core.progress import begin_step
from textgauge.core.show import shorten_line
from textgauge.data import Comparison, Corpus, LabelledTexts, load_aligned, load_corpus, load_texts
from textgauge.data.source import Source
from textgauge.data.tables import get_cells
from textgauge.data.units import FEWEST_GROUPS
from textgauge.measure.compare_report import CandidateScore, CompareReport
from textgauge.measure.comparing import (
    MANY_METRICS,
    PERMUTATIONS,
    Metrics,
    UncertaintyOptions,
    Views,
    find_undefined,
    measure_all,
    prepare_two,
)
from textgauge.measure.dependence import LabelSource, cut_uneven_groups, find_signs, read_belonging
from textgauge.metrics import CorpusMetric, Score, get_corpus_metrics
from textgauge.metrics.base import Undefined
from textgauge.metrics.uncertainty import DisjointSplits, NullValues
from textgauge.stats.decisions import ALPHA, TOO_CLOSE
from textgauge.stats.rankings import Ranking, rank_values
from textgauge.stats.resampling import adjust_by_holm

MIN_TEXTS = 200  # of each corpus: the smallest size at which false statements were simulated
MIN_UNITS = 40  # groups or blocks of each corpus
_TRIALS = 16  # cuts into quarters; every candidate pays for all of them
_LABEL_TEXTS = 20  # of a label in each corpus: fewer could hardly differ by 199 exchanges
_NAMED = 5


def compare_many(
    reference: Source,
    candidates: Mapping[str, Source],
    metrics: Metrics | None,
    options: UncertaintyOptions,
    on_score: Callable[[Score], None],
    *,
    limit: int | None,
    paired: bool,
    column: str | None,
    **labels: LabelSource | None,
) -> CompareReport:
    """Measure how far each candidate is from one reference, and rank them; see `compare`."""
    sources = {"reference": reference, **candidates}
    if not candidates:
        raise InputError("there is no candidate to compare with the reference")
    if "reference" in candidates:
        raise InputError("a candidate cannot be called 'reference'")
    if paired:
        corpora = _load_paired(sources, column)
    else:
        how: dict[str, Any] = {"column": column, "limit": limit, "seed": options.seed}
        corpora = {name: load_corpus(source, role=_format_role(name), **how) for name, source in sources.items()}
    in_rows = paired and len({len(corpus) for corpus in corpora.values()}) == 1
    corpora, belonging = read_belonging(corpora, sources, paired=in_rows, column=column, **labels)
    joint = reduce(or_, corpora.values())  # one pool, so that every text is embedded once
    starts = accumulate(map(len, corpora.values()), initial=0)
    views = {
        name: joint.take(range(start, start + len(corpora[name]))) for name, start in zip(corpora, starts, strict=False)
    }
    options = _allow_single_findings(options, len(candidates))
    n = len(corpora["reference"])
    halves = joint.take(range(n)), joint.take(range(n, len(joint)))
    _, chosen, missing = prepare_two(*halves, metrics, options.seed, default=MANY_METRICS)
    pairs = {name: belonging.compare(views["reference"], views[name], name) for name in candidates}
    scores, nulls = dict[str, list[Score]](), dict[str, list[NullValues | None]]()
    warnings = list(belonging.notes)
    rankings, unranked = dict[str, Ranking](), dict(missing)
    ranked = [metric for metric in chosen if metric.key not in missing]
    with use_one_blas_thread():
        for name, pair in pairs.items():
            scores[name], confounds, nulls[name] = measure_all(Views(pair), chosen, missing, options, on_score, name)
            warnings += [f"{name}: {text}" for text in (*find_undefined(scores[name]), *confounds)]
        for number, metric in enumerate(ranked):
            begin_step(metric.key, number, len(ranked), "ranking")
            values = np.array([mine[chosen.index(metric)].value for mine in scores.values()])
            level = 1 - (1 - options.level) / len(ranked)
            try:
                rankings[metric.key] = rank_candidates(
                    metric, list(pairs.values()), values, level=level, seed=options.seed, paired=paired
                )
            except Undefined as reason:
                unranked[metric.key] = str(reason)
    signs = find_signs(pairs, ranked, nulls, options.seed) if options.test else {}
    if options.test:
        scores = _adjust_all(scores)
    warnings += [f"no ranks by {metric}: {reason}" for metric, reason in unranked.items()]
    rows, names = list[CandidateScore](), list(candidates)
    for found in zip(*scores.values(), strict=True):  # by one metric, nearest first
        ranking = rankings.get(found[0].metric)
        for placing in ranking.placings() if ranking else [{"place": place} for place in range(len(names))]:
            place = placing.pop("place")
            rows.append(_extend_score(found[place], candidate=names[place], **placing))
    too_close = [name for name, sign in signs.items() if sign == TOO_CLOSE]
    warnings += [f"{name}: {TOO_CLOSE}: made from the reference, or for the same prompts?" for name in too_close]
    sign = next(iter(signs.values()), None)
    return CompareReport(
        tuple(rows), tuple(warnings), rankings=rankings, candidates=tuple(candidates), level=options.level, sign=sign
    )


def _allow_single_findings(options: UncertaintyOptions, statements: int) -> UncertaintyOptions:
    """Ask for so many exchanges that the smallest p-value, adjusted for all statements, can say "different".

    Fewer than the usual number are a choice, for a quick look.
    """
    enough = math.ceil(statements / ALPHA) - 1
    return replace(options, permutations=enough) if PERMUTATIONS <= options.permutations < enough else options


def _extend_score(score: Score, **more: Any) -> CandidateScore:
    return CandidateScore(**{one.name: getattr(score, one.name) for one in fields(score)}, **more)


def _format_role(name: str) -> str:
    return name if name == "reference" else f"candidate {name}"


def _load_paired(sources: Mapping[str, Source], column: str | None) -> dict[str, Corpus]:
    """Load corpora that keep their places, so that candidates need as many texts, none of them blank."""
    corpora = {name: Corpus.of(load_aligned(source, column=column)) for name, source in sources.items()}
    for name, corpus in corpora.items():
        blank = [row for row, text in enumerate(corpus.texts if corpus.pool.has_texts else ()) if not text.strip()]
        if blank:
            raise InputError(
                f"text {blank[0] + 1} of the {_format_role(name)} is blank: paired candidates need every text"
            )
    sizes = {name: len(corpus) for name, corpus in corpora.items() if name != "reference"}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError(f"paired candidates need equally many texts; they have: {counts}")
    return {name: load_corpus(corpus, role=_format_role(name)) for name, corpus in corpora.items()}


def _adjust_all(scores: Mapping[str, Sequence[Score]]) -> dict[str, list[Score]]:
    """Adjust p-values, adjusted within each candidate already, for all candidates by Holm's correction."""
    if len(scores) < 2:
        return {name: list(mine) for name, mine in scores.items()}
    groups = [number for number, mine in enumerate(scores.values()) for _ in mine]
    p = iter(
        adjust_by_holm(np.array([score.p_adjusted for mine in scores.values() for score in mine]), groups).tolist()
    )
    return {
        name: [replace(score, p_adjusted=next(p), adjustment=_name_adjustment(score)) for score in mine]
        for name, mine in scores.items()
    }


def _name_adjustment(score: Score) -> str | None:
    """By what the p-value of a score is adjusted; None where it has none."""
    if np.isnan(score.p_adjusted) or "Holm" in (score.adjustment or ""):
        return score.adjustment
    return " and ".join(filter(None, (score.adjustment, "Holm")))


def compare_slices(
    reference: Source | LabelledTexts,
    candidates: Mapping[str, Source | LabelledTexts],
    by: str,
    group: str | None,
    column: str | None,
    metrics: Metrics,
    options: UncertaintyOptions,
    on_score: Callable[[Score], None],
) -> CompareReport:
    """Compare the texts of each label alone, and say which labels drive the distance; see `compare`."""
    first = _split_by_label(reference, by, group, column, "reference")
    others = {name: _split_by_label(source, by, group, column, name) for name, source in candidates.items()}
    jobs = [(label, name) for name in others for label in sorted(set(first) & set(others[name]))]
    sides = {(label, name): (first[label], others[name][label]) for label, name in jobs}
    large = [job for job in jobs if all(map(_is_large, sides[job]))]
    fewest = f"{_LABEL_TEXTS} texts" if group is None else f"{_LABEL_TEXTS} texts of {FEWEST_GROUPS} groups"
    if not large:
        raise InputError(f"no label of `{by}` has {fewest} in the reference and in a candidate")
    metrics = get_corpus_metrics(metrics)
    options = _allow_single_findings(options, len(large) * len(metrics))
    total = {name: sum(map(len, groups.values())) for name, groups in {"": first, **others}.items()}
    rows: list[CandidateScore] = []
    for number, (label, name) in enumerate(large):
        begin_step(f"{name}: {label}", number, len(large), "comparing slices")
        own, other = sides[label, name]
        first_texts, second_texts = ([text for text, _ in side] for side in (own, other))
        comparison, chosen, missing = prepare_two(first_texts, second_texts, metrics, options.seed)
        if group is not None:
            numbers = np.unique([of for _, of in (*own, *other)], return_inverse=True)[1]
            labels = {"reference": numbers[: len(own)], "candidate": numbers[len(own) :]}
            corpora, belonging = cut_uneven_groups(dict(zip(labels, comparison.sides, strict=True)), labels)
            comparison = belonging.compare(corpora["reference"], corpora["candidate"])
        with use_one_blas_thread():
            scores, _, _ = measure_all(Views(comparison), chosen, missing, options, on_score, f"{name}: {label}")
        shares = {
            "share_reference": len(first[label]) / total[""],
            "share_candidate": len(others[name][label]) / total[name],
        }
        rows += [_extend_score(score, candidate=name, slice=label, **shares) for score in scores]
    small = list(dict.fromkeys(label for label, name in jobs if (label, name) not in large))
    more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
    named = ", ".join(shorten_line(label, 40) for label in small[:_NAMED])
    left_out = f"left out, with fewer than {fewest} in a corpus, or one text alone: {named}{more}"
    rows = _adjust_discoveries(rows)
    rows.sort(key=lambda row: (not row.differs, -row.effect if np.isfinite(row.effect) else np.inf))
    return CompareReport(tuple(rows), (left_out,) if small else (), candidates=tuple(candidates), is_sliced=True)


def _is_large(side: Sequence[tuple[str, str]]) -> bool:
    """Return whether a slice, texts with their groups, has enough of both."""
    texts, groups = (set(of) for of in zip(*side, strict=True))
    return len(side) >= _LABEL_TEXTS and len(texts) > 1 and len(groups) >= FEWEST_GROUPS


def _split_by_label(
    source: Source | LabelledTexts, by: str, group: str | None, column: str | None, role: str
) -> dict[str, list[tuple[str, str]]]:
    """Return the texts of each label, each with its group: its own place where there are none."""
    columns = {name: read_labelled(source, name, column, role) for name in (by, group) if name is not None}
    texts, labels = columns[by]
    groups = map(str, range(len(texts))) if group is None else columns[group][1]
    slices: dict[str, list[tuple[str, str]]] = {}
    for text, label, of in zip(texts, labels, groups, strict=True):
        if text.strip():
            slices.setdefault(str(label), []).append((text, str(of)))
    return slices


def read_labelled(
    source: Source | LabelledTexts, label: str, column: str | None, role: str
) -> tuple[Sequence[str], Sequence[Any]]:
    """Return texts and their labels, a column of this name."""
    if isinstance(source, str | os.PathLike):
        source = load_texts(source, column=column, labels=label)
    if not isinstance(source, LabelledTexts):
        return get_cells(source, column), get_cells(source, label)
    if source.labels is None:
        raise InputError(f"the {role} has no labels: give a table with the column {label!r}")
    return source.texts, source.labels


def _adjust_discoveries(rows: Sequence[CandidateScore]) -> list[CandidateScore]:
    """Adjust p-values for the false discovery rate of all slices that have one."""
    from scipy.stats import false_discovery_control

    p = np.array([row.p_value for row in rows])
    known = np.isfinite(p)
    if known.any():
        p[known] = false_discovery_control(p[known])
    return [
        replace(row, p_adjusted=q, adjustment="Benjamini–Hochberg") for row, q in zip(rows, p.tolist(), strict=True)
    ]


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
