"""The unified benchmark of pair metrics, tables 1 to 4, 6 and 7: five tasks, ensembles, and what goes into them.

`our data` rows are ours from the texts on; `published means` feed the paper's own numbers through our formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, cast

import numpy as np

from textgauge.bench import (
    WORD_METRICS,
    Clustering,
    ComparedAlignment,
    Contribution,
    Group,
    Metrics,
    Plan,
    Protocol,
    RatedAlignment,
    Results,
    Retrieval,
    Robustness,
    Sensitivity,
    Task,
    Verdict,
    make_plans,
    make_task_plans,
)
from textgauge.core import Floats, Row, drop_nonfinite_values
from textgauge.metrics import get_pair_metrics
from textgauge.stats import is_ahead
from textgauge_papers.ledger import (
    INCLUDES_ZERO,
    NOT_RUN,
    Claim,
    MeasuredDifference,
    Outcome,
    estimate_from_draws,
    judge_above_all,
    judge_below_all,
    judge_claims,
    list_claims,
    look_up,
)
from textgauge_papers.paper import Paper, PaperFigure, Request, load_published, make_row

# The five metrics of the benchmark. A static encoder sees whole texts in little time.
STATIC = "wordllama"
TASK_METRICS = f"cosine@{STATIC},{WORD_METRICS}"
# Cosine counts as its mean over `encoders`: those of the paper's eight that are to be had. Queries are those of each
# whole corpus, where there are as many.
ENCODERS = "minilm|mpnet|gte-small|e5-small|bge-small|paraphrase-minilm"
PARAMS: dict[str, int | str] = {"encoders": ENCODERS, "queries": 200}

TASK_DATA: dict[type[Task], tuple[str, ...]] = {
    RatedAlignment: ("summeval", "cnndm_chaganty"),
    ComparedAlignment: ("openai_summary_comparisons",),
    Robustness: ("scitldr", "bbc_news", "legal_summ"),
    Sensitivity: ("paul_graham_essays", "bbc_news", "squality", "newsgroups20"),
    Clustering: (
        "newsgroups20",
        "stackoverflow_titles",
        "biomedical_titles",
        "banking77",
        "clinc150",
        "ag_news",
        "bbc_news",
        "nfcats",
        "atis",
        "huffpost_headlines",
    ),
    Retrieval: ("scifact_beir", "cranfield", "vaswani_npl"),
}

Scores = Mapping[str, Mapping[str, float]]

_TASK_ENSEMBLE = "task ensemble"

_TABLES = {"1": "usmb_table1_axis", "2": "usmb_table2_comparisons", "3": "usmb_table3_robustness", "4": "usmb_table4"}
_WEIGHTS = "6-7"
# Our measures by table and published column; those of table 4 are columns of the leaderboard.
_MEASURES: dict[str, dict[str, str]] = {
    "1": {"overall": "axis", **{aspect: f"axis_{aspect}" for aspect in ("accuracy", "coverage", "coherence")}},
    "2": {"accuracy": "comparisons", **{name: f"comparisons_{name}" for name in ("precision", "recall", "f1")}},
    "3": {
        "overall": "robustness",
        **{name: name for name in ("summary_gt_semantic", "superficial_gt_semantic", "superficial_gt_summary")},
    },
}
_PARTS = {
    "alignment": ("axis", "comparisons"),
    **{name: (name,) for name in ("robustness", "sensitivity", "clustering", "retrieval")},
}
_PROTOCOLS = {"alignment_axis": "axis", "alignment_comparisons": "comparisons"}
_COSINE, _ENSEMBLE = "cosine", "ensemble"
# Folds of documents leave some for ensembles to be scored on; single metrics also face whole corpora.
WHOLE = Retrieval(n=0, queries=200, folds=1)
_WHOLE_MEASURE, _WHOLE_DATA = "retrieval_whole", f"whole {', '.join(TASK_DATA[Retrieval])}"
_FED = "published means"
_MISPRINT = "table 7 repeats the row of alignment (axis) of table 6: a misprint"


def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Five tasks of the unified benchmark on real data, with ensembles: about a quarter of an hour."""
    chosen = metrics or TASK_METRICS
    sources = [Retrieval.data.read(name) for name in TASK_DATA[Retrieval]]
    return [*make_task_plans(TASK_DATA, chosen, seed), *make_plans([WHOLE], sources, chosen, seed)]


def plans(request: Request) -> list[Plan]:
    """Return the suite with the encoders requested; whole corpora, of 160,000 texts, have the static one alone."""
    params = PARAMS | dict(request.params)
    whole = replace(WHOLE, queries=int(params["queries"]))
    sources = [Retrieval.data.read(name) for name in TASK_DATA[Retrieval]]
    return [
        *make_task_plans(TASK_DATA, f"cosine@{params['encoders']},{WORD_METRICS}", request.seed),
        *make_plans([whole], sources, TASK_METRICS, request.seed),
    ]


def _name_instead(request: Request) -> str:
    encoders = str((PARAMS | dict(request.params))["encoders"]).split("|")
    mean = "cosine is the mean of " * (len(encoders) > 1)
    return f"{mean}{', '.join(encoders)}{' (static)' * (encoders == [STATIC])} in place of the paper's eight encoders"


def rows(results: Results, request: Request) -> list[Row]:
    """Return all tables: published numbers next to ours, and to what our formulas make of theirs."""
    found = [*_our_rows(results, _name_instead(request)), *_fed_rows()] if results.manifests else list(_fed_rows())
    return [drop_nonfinite_values(row) for row in found]


def scores(groups: Sequence[Group]) -> dict[str, dict[str, float]]:
    """Return every measure by published metric name: means over the data sets that give it."""
    values: dict[str, dict[str, list[float]]] = {}
    for name, verdicts in _by_published_name(groups).items():
        for verdict in verdicts:
            if not np.isnan(verdict.value):
                values.setdefault(name, {}).setdefault(verdict.measure, []).append(verdict.value)
    return {name: {measure: float(np.mean(of)) for measure, of in found.items()} for name, found in values.items()}


def task_scores(found: Mapping[str, float]) -> dict[str, float]:
    """Return the columns of table 4: alignment is the mean of its two halves, overall that of the five tasks.

    >>> task_scores({"axis": 0.5, "comparisons": 0.7})["alignment"]
    0.6
    """
    columns = {task: _mean([found.get(part, np.nan) for part in parts]) for task, parts in _PARTS.items()}
    return {**columns, "overall": _mean(list(columns.values()))}


def _our_rows(results: Results, instead: str) -> Iterator[Row]:
    groups, whole = _own(results.groups())
    ours, sets = scores(groups), _data(groups)
    for table, measures in _MEASURES.items():
        data = {column: sets.get(measure, "") for column, measure in measures.items()}
        named = {name: {of: found[one] for of, one in measures.items() if one in found} for name, found in ours.items()}
        yield from _table(table, named, data, instead)
    tasks = {task: "; ".join(filter(None, (sets.get(part) for part in parts))) for task, parts in _PARTS.items()}
    tasks["overall"] = "; ".join(filter(None, tasks.values()))
    yield from _table("4", {name: task_scores(found) for name, found in ours.items()}, tasks, instead)
    for name, found in scores(whole).items():
        theirs = _published("4")[name]["retrieval"]
        yield _row("4", name, "retrieval", theirs, found["retrieval"], "our data, whole") | {"data": _WHOLE_DATA}
    yield from _weights(results.ensembles.contributions, instead)


def _own(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """Return what the suite gives of all that a run may hold: its tasks, and retrieval from whole corpora."""
    tasks = {(kind(), name) for kind, names in TASK_DATA.items() for name in names}
    whole = [group for group in groups if group.data in TASK_DATA[Retrieval] and _searches_whole_corpus(group.protocol)]
    return [group for group in groups if (group.protocol, group.data) in tasks], whole


def _searches_whole_corpus(protocol: Protocol) -> bool:
    return isinstance(protocol, Retrieval) and replace(WHOLE, queries=protocol.queries) == protocol


def _data(groups: Sequence[Group]) -> dict[str, str]:
    """Return the data sets that each measure is a mean over."""
    found: dict[str, list[str]] = {}
    for group in groups:
        for measure in (measure for of in group.verdicts.values() for measure in of):
            found.setdefault(measure, []).append(group.data)
    return {measure: ", ".join(sorted(set(names))) for measure, names in found.items()}


def _fed_rows() -> Iterator[Row]:
    """Yield means of the rates of table 3; alignment and robustness of table 4 from the others; its overall scores."""
    axis, comparisons, rates, tasks = (_published(table) for table in _TABLES)
    for name, row in rates.items():
        mean = _mean([value for column, value in row.items() if column != "overall"])
        yield _row("3", name, "overall", row["overall"], mean, _FED)
    for name, row in tasks.items():
        alignment = _mean([axis[name]["overall"], comparisons[name]["accuracy"]])
        overall = _mean([value for column, value in row.items() if column != "overall"])
        fed = {"alignment": alignment, "robustness": rates[name]["overall"], "overall": overall}
        yield from (_row("4", name, column, row[column], value, _FED) for column, value in fed.items())


def _table(table: str, ours: Scores, data: Mapping[str, str], instead: str) -> Iterator[Row]:
    for name, row in _published(table).items():
        for column, theirs in row.items():
            mine = ours.get(name, {}).get(column, np.nan)
            note = instead if name == _COSINE else None
            yield _row(table, name, column, theirs, mine, "our data", note) | {"data": data[column]}


def _weights(contributions: Sequence[Contribution], instead: str) -> Iterator[Row]:
    for row in load_published("usmb_table6_7_weights").iter_rows(named=True):
        task = _PROTOCOLS.get(row["task"], row["task"])
        for name in [column for column in row if column not in ("task", "model")]:
            parts = [
                item
                for item in contributions
                if (item.ensemble, item.task) == (_TASK_ENSEMBLE, task) and _metric_of(item.metric) == name
            ]
            about = {"metric": name, "measure": "share", "task": row["task"], "model": row["model"]}
            notes = [instead] * (name == _COSINE) + [_MISPRINT] * (row["task"] == "alignment_comparisons")
            mine = make_row(_WEIGHTS, about, row[name], _mean([item.share for item in parts]), "our data")
            data = ", ".join(sorted({item.data for item in parts}))
            yield mine | {"note": "; ".join(notes) or None, "data": data}


def _row(
    table: str, metric: str, measure: str, theirs: float, ours: float, source: str, note: str | None = None
) -> Row:
    return make_row(table, {"metric": metric, "measure": measure}, theirs, ours, source) | {"note": note}


def _published(table: str) -> dict[str, dict[str, float]]:
    frame = load_published(_TABLES[table])
    return {row.pop("metric"): row for row in frame.iter_rows(named=True)}


def _by_published_name(groups: Sequence[Group]) -> dict[str, list[Verdict]]:
    """Return verdicts by published name: cosine is the mean over embedders, the ensemble that of each task."""
    words = {metric.key: metric.name for metric in get_pair_metrics(WORD_METRICS)} | {_TASK_ENSEMBLE: _ENSEMBLE}
    found: dict[str, list[Verdict]] = {}
    for group in groups:
        cosines = [key for key in group.verdicts if key.startswith(_COSINE)]
        mean = [key for key in cosines if ", mean of " in key] or cosines
        names = words | dict.fromkeys(mean, _COSINE)
        for metric, verdicts in group.verdicts.items():
            if metric in names:
                found.setdefault(names[metric], []).extend(verdicts.values())
    return found


def _metric_of(key: str) -> str:
    return get_pair_metrics(key)[0].name


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


@dataclass(frozen=True, eq=False)
class UsmbEvidence:
    """Values and resamples by published metric name and measure, means over data sets; by `ideal` of sensitivity."""

    found: Mapping[str, Mapping[str, tuple[float, Floats, int]]]
    ideals: Mapping[str, Mapping[str, float]]

    def gaps(self, name: str, others: Sequence[str], measures: Sequence[str]) -> dict[str, MeasuredDifference]:
        """Return first less each other in the mean of several measures, units of every data set resampled."""
        value, draws, units = self.average(name, measures)
        found = {other: self.average(other, measures) for other in others}
        return {
            other: estimate_from_draws(value - theirs, draws - drawn, min(units, fewest))
            for other, (theirs, drawn, fewest) in found.items()
        }

    def average(self, name: str, measures: Sequence[str]) -> tuple[float, Floats, int]:
        """Return the mean of several measures, on every resample, and the fewest units."""
        values, draws, units = zip(*look_up(self.found.get(name, {}), *measures), strict=True)
        return float(np.mean(values)), np.mean(draws, axis=0), min(units)


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """Return the ledger."""
    own, whole = _own(results.groups())
    found = _resampled(own)
    for name, measures in _resampled(whole).items():
        found[name][_WHOLE_MEASURE] = measures[Retrieval.name]
    groups = [group for group in results.groups() if own and isinstance(group.protocol, Sensitivity)]
    ideals = {ideal: _judge_by_ideal(groups, ideal) for ideal in ("straight", "quadratic", "root")}
    other = f"the data named here in place of the paper's, a sample of each; {_name_instead(request)}"
    said = [replace(c, deviation="; ".join(filter(None, (other, c.deviation)))) if c.test else c for c in claims()]
    return judge_claims(said, UsmbEvidence(found, ideals))


def _judge_by_ideal(groups: Sequence[Group], ideal: Literal["straight", "quadratic", "root"]) -> dict[str, float]:
    """Sensitivity of each metric by another ideal curve, mean over data sets and encoders."""
    found: dict[str, list[float]] = {}
    for group in groups:
        protocol = replace(cast(Sensitivity, group.protocol), ideal=ideal)
        for key, observed in group.complete.items():
            found.setdefault(_metric_of(key), []).append(protocol.judge(observed)[0].value)
    return {name: _mean(values) for name, values in found.items()}


def _resampled(groups: Sequence[Group]) -> dict[str, dict[str, tuple[float, Floats, int]]]:
    found: dict[str, dict[str, tuple[float, Floats, int]]] = {}
    for name, verdicts in _by_published_name(groups).items():
        for measure in {verdict.measure for verdict in verdicts}:
            parts = [verdict for verdict in verdicts if verdict.measure == measure and verdict.draws]
            if parts:
                draws = np.mean([part.draws for part in parts], axis=0)
                units = min(part.units for part in parts)
                value = float(np.mean([part.value for part in parts]))
                found.setdefault(name, {})[measure] = (value, draws, units)
    return found


def claims() -> list[Claim[UsmbEvidence]]:
    """Return the paper's findings on the five tasks."""
    singles = [name for name in _published("4") if name != _ENSEMBLE]

    def others(name: str) -> list[str]:
        return [one for one in singles if one != name]

    table7 = "weights of the ensemble of comparisons (table 7)"
    cosine = (_extreme(_COSINE, "overall", others(_COSINE), best=True, whole=whole) for whole in (False, True))
    return [
        *list_claims(
            "the ensemble is above all on each task", *(_extreme(_ENSEMBLE, t, singles, best=True) for t in _PARTS)
        ),
        *list_claims("the ensemble is 40 % above cosine overall", _lead(_ENSEMBLE, [_COSINE])),
        *list_claims("cosine is the best single metric overall", *cosine),
        *list_claims("cosine is 6 % above the next single metric", _lead(_COSINE, others(_COSINE))),
        *list_claims("no single metric is best on every task", *(_beaten(name, others(name)) for name in singles)),
        *list_claims("single metrics are equal on comparisons", _equal_comparisons(singles)),
        *(
            claim
            for name, task, best in _EXTREMES
            for claim in list_claims(
                f"{name} is {'best' if best else 'worst'} on {task}", _extreme(name, task, others(name), best=best)
            )
        ),
        *list_claims("other ideal curves give similar orders", *_similar_orders(singles)),
        *list_claims(
            table7, Claim(table7, "as table 6", "none", "none", why=f"{_MISPRINT}; what was meant is not known")
        ),
    ]


_EXTREMES = (
    ("levenshtein", "axis", False),
    ("jaccard", "sensitivity", True),
    ("bm25plus", "sensitivity", False),
    ("bm25plus", "clustering", False),
)
_EQUAL = 0.03  # of accuracies that the paper prints as .63


def _extreme(name: str, task: str, others: Sequence[str], *, best: bool, whole: bool = False) -> Claim[UsmbEvidence]:
    measures, data = _list_measures(task, whole=whole)

    def test(evidence: UsmbEvidence) -> Outcome:
        gaps = evidence.gaps(name, others, measures)
        return judge_above_all(name, gaps) if best else judge_below_all(name, gaps)

    side = "highest" if best else "lowest"
    criterion = (
        f"95 % interval of its difference with every other, units resampled, is {'above' if best else 'below'} 0"
    )
    column = _published("1")[name]["overall"] if task == "axis" else _published("4")[name][task]
    place = f"{task}, retrieval in whole corpora" if whole else task
    said = _OVERFIT if (name, task) == (_ENSEMBLE, Retrieval.name) else f"whole corpora: {STATIC} alone" * whole
    return Claim(f"{name} is {side} on {place}", f"{column:g}", data, criterion, test, said)


# Seen after the run: `python -m benchmarks.forests` on 250 documents of each corpus.
_OVERFIT = (
    "the forest of scikit-learn's usual settings grows to single documents and learns from 180 to 277 ideal ones: with "
    "wordllama as the encoder, a logistic regression of the same features reaches cosine (.534 and .531), the forest "
    "with 20 a leaf .503, this one .365 (benchmarks.forests)"
)


def _list_measures(task: str, *, whole: bool = False) -> tuple[list[str], str]:
    """Return the measures of a task, or of all for "overall", and their data in words."""
    parts = {"axis": ("axis",), "comparisons": ("comparisons",), **_PARTS}
    measures = [*parts[task]] if task in parts else [part for of in _PARTS.values() for part in of]
    kinds = [kind for kind in TASK_DATA if kind.name in measures and not (whole and kind is Retrieval)]
    data = sorted({name for kind in kinds for name in TASK_DATA[kind]})
    if whole:
        measures = [_WHOLE_MEASURE if measure == Retrieval.name else measure for measure in measures]
        data.append(_WHOLE_DATA)
    return measures, ", ".join(data)


def _lead(name: str, others: Sequence[str]) -> Claim[UsmbEvidence]:
    """Return how far a metric is ahead of the best of others, as a share of its score."""
    measures, data = _list_measures("overall")
    printed = _published("4")[name]["overall"] / max(_published("4")[one]["overall"] for one in others) - 1

    def test(evidence: UsmbEvidence) -> Outcome:
        own, theirs = evidence.average(name, measures), {one: evidence.average(one, measures) for one in others}
        rival = max(others, key=lambda one: theirs[one][0])
        other = theirs[rival]
        found = estimate_from_draws(own[0] / other[0] - 1, own[1] / other[1] - 1, min(own[2], other[2]))
        holds = found.low <= printed <= found.high and is_ahead(found.low)
        why = "" if holds else "less" if found.high < printed else "more" if found.low > printed else INCLUDES_ZERO
        return Outcome(holds, f"{name} {found.value:+.1%} above {rival}", f"{found.low:+.1%} to {found.high:+.1%}", why)

    criterion = "the published share is inside the 95 % interval of ours, units resampled, which is above 0"
    return Claim(f"{name} is {printed:.1%} above", f"{printed:+.1%}", data, criterion, test)


def _beaten(name: str, others: Sequence[str]) -> Claim[UsmbEvidence]:
    def test(evidence: UsmbEvidence) -> Outcome:
        for task in _PARTS:
            for other, gap in evidence.gaps(name, others, _list_measures(task)[0]).items():
                if not gap.known:
                    return Outcome(None, why=NOT_RUN)
                if is_ahead(-gap.high):
                    return Outcome(True, f"{name} − {other} on {task} = {gap.value:+.3g}", gap.interval)
        return Outcome(False, why="no other is above it anywhere")

    criterion = "on some task the 95 % interval of its difference with another metric, units resampled, is below 0"
    data = _list_measures("overall")[1]
    return Claim(f"{name} is not best on every task", "table 4", data, criterion, test)


def _equal_comparisons(singles: Sequence[str]) -> Claim[UsmbEvidence]:
    def test(evidence: UsmbEvidence) -> Outcome:
        gaps = {
            (one, other): gap for one in singles for other, gap in evidence.gaps(one, singles, ["comparisons"]).items()
        }
        if any(not gap.known for gap in gaps.values()):
            return Outcome(None, why=NOT_RUN)
        (one, other), gap = max(gaps.items(), key=lambda item: item[1].high)
        holds = is_ahead(_EQUAL - gap.high)
        return Outcome(holds, f"{one} − {other} = {gap.value:+.3g}", gap.interval, "" if holds else "farther apart")

    criterion = f"95 % intervals of all differences of accuracy, units resampled, are within {_EQUAL:g}"
    claim, data = "the five accuracies are equal", _list_measures("comparisons")[1]
    return Claim(claim, ".63 each", data, criterion, test)


def _similar_orders(singles: Sequence[str]) -> Iterator[Claim[UsmbEvidence]]:
    for ideal in ("quadratic", "root", "straight"):

        def test(evidence: UsmbEvidence, ideal: str = ideal) -> Outcome:
            bent = dict(zip(singles, look_up(evidence.ideals.get(ideal, {}), *singles), strict=True))
            line = {name: evidence.average(name, ["sensitivity"])[0] for name in singles}
            pairs = list(combinations(singles, 2))
            signs = [np.sign(line[a] - line[b]) * np.sign(bent[a] - bent[b]) for a, b in pairs]
            tau = float(np.mean(signs))
            order = " > ".join(sorted(singles, key=lambda name: -bent[name]))
            return Outcome(tau > _SIMILAR, f"τ = {tau:.1f}: {order}", strict=tau == 1)

        data = ", ".join(TASK_DATA[Sensitivity])
        claim = f"the {ideal} ideal curve gives a similar order of the five metrics on sensitivity"
        criterion = f"Kendall's τ of the two orders of the five means on the same changes is above {_SIMILAR:g}"
        yield Claim(claim, "similar order", data, criterion, test)


_SIMILAR = 0.5


_FIGURES = (
    PaperFigure(
        "1-2",
        "sensitivity",
        "Lines on the dashed curve answer a change in proportion; flat lines do not see it. rouge lies on levenshtein.",
    ),
    PaperFigure("3-5", "tasks", "Bars there: no single metric is dark in every column; compare the ensemble's row."),
    PaperFigure("D", "contributions", "Which metrics each ensemble draws on, task by task (appendix D)."),
)
PAPER = Paper(
    "usmb",
    (*_TABLES, _WEIGHTS),
    ("definition",),
    plans,
    rows,
    ledger_rows,
    _FIGURES,
    fed=True,
    draws=lambda protocol: not _searches_whole_corpus(protocol),
    minutes=100,
    params=PARAMS,
)
