"""Yamshchikov et al. 2021, tables 1 to 5 and figure 1: thirteen metrics and people on fourteen sets of pairs.

`our data` rows are ours from the texts on; `published ranks` and `published means` feed the paper's own numbers
through our formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.arrays import Floats
from textgauge.evaluate.contrasts import pair_columns, rated_groups
from textgauge.evaluate.pair_sources import read_rated
from textgauge.evaluate.plan import Plan, make_plans
from textgauge.evaluate.protocols import Agreement
from textgauge.evaluate.results import Group, Results
from textgauge.evaluate.suites import Metrics, register_suite
from textgauge.metrics import get_metric
from textgauge.papers.ledger import (
    NOT_RUN,
    Claim,
    Finding,
    MeasuredDifference,
    above,
    above_all,
    below_all,
    ledger,
    of_draws,
)
from textgauge.papers.paper import Paper, PaperFigure, Request, compared, published
from textgauge.stats import orders
from textgauge.stats.correlation import pearson, spearman
from textgauge.stats.resampling import resampled_sums
from textgauge.tabular import Row, plain_row

# The paper's thirteen; word vectors and encoders are the built-in ones where theirs are not to be had.
YAMSHCHIKOV_METRICS = (
    "pos_distance,overlap,chrf,wordvec_cosine,wmd,contextual_l2,rouge1@rouge,rouge2@rouge,rougeL@rouge,"
    "bleu(smoothing=none,effective=false)@whitespace,meteor,bertscore"
)
_DATA = "yamshchikov14"
_HUMAN = "human"
_STYLES = {"bibles": "Bible", "paralex": "Paralex", "paraphrase": "Paraphrase", "yelp_rewrite": "Yelp"}
_STYLES |= {"gyafc_rewrite": "GYAFC_rewrites", "gyafc_informal": "GYAFC_informal", "gyafc_formal": "GYAFC_formal"}
_SETS = {f"{theirs}{tail}": f"{ours}{tail}" for theirs, ours in _STYLES.items() for tail in ("", "_random")}
_OURS = {
    "pos_distance": "pos_distance",
    "word_overlap": "overlap",
    "chrf": "chrf",
    "cosine_word2vec": "wordvec_cosine",
    "cosine_fasttext": "wordvec_cosine",
    "wmd": "wmd",
    "elmo_l2": "contextual_l2",
    "rouge1": "rouge1@rouge",
    "rouge2": "rouge2@rouge",
    "rougeL": "rougeL@rouge",
    "bleu": "bleu(smoothing=none,effective=false)@whitespace",
    "meteor": "meteor",
    "bertscore": "bertscore",
}
_FIRST_TABLE = (_HUMAN, "pos_distance", "word_overlap", "chrf", "cosine_word2vec", "cosine_fasttext", "wmd")
_DISTANCES = ("pos_distance", "cosine_word2vec", "cosine_fasttext", "wmd", "elmo_l2")
_MISPRINT = {("paraphrase_random", "wmd"): 1.34}  # printed as 0.34, which no table or figure agrees with
_HALF = 0.005  # means are printed with two digits
_RESAMPLES, _PAIRS = 1_000, 473  # of pairs within sets; the smallest set
# What stands in for a model that is not to be had here.
_INSTEAD = {
    "pos_distance": "{wordvec} in place of the paper's vectors",
    "cosine_word2vec": "{wordvec} in place of word2vec",
    "cosine_fasttext": "{vectors} in place of fastText",
    "wmd": "{wordvec} in place of the paper's vectors",
    "elmo_l2": "minilm in place of ELMo",
    "bertscore": "minilm in place of BERT",
}


@dataclass(frozen=True, eq=False)
class Numbers:
    """Means, deviations and ranks of sets (columns, in the order of `_SETS`) by published metric name."""

    means: dict[str, Floats] = field(default_factory=dict)
    deviations: dict[str, Floats] = field(default_factory=dict)
    ranks: dict[str, Floats] = field(default_factory=dict)


@register_suite("yamshchikov2020")
def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """The tables of Yamshchikov et al. 2021: thirteen metrics of pairs and people, on fourteen sets."""
    return make_plans([Agreement()], [read_rated(_DATA)], metrics or YAMSHCHIKOV_METRICS, seed)


def plans(request: Request) -> list[Plan]:
    """The suite, with the word vectors requested and the built-in ones."""
    return suite(list(dict.fromkeys(_keys(request).values())), request.seed)


def rows(results: Results, request: Request) -> list[Row]:
    """All tables and the figure: published numbers next to ours, and to what our formulas make of theirs.

    `note` says what stands in for a model and which misprint was put right. Variability is a small range over a large
    one, so that printed means tell little of it: `low` and `high` are the ends of what means that round to the printed
    ones can give.
    """
    found = _of_run(results, request)
    made = [] if found is None else [_noted(row, request) for row in _our_rows(published_numbers(), found)]
    theirs = published_numbers(corrected=True)
    made += [row | _reach(row, theirs) | {"note": _fed_note(row)} for row in _fed_rows(theirs)]
    return [plain_row(row) for row in made]


def published_numbers(*, corrected: bool = False) -> Numbers:
    """The published means, deviations and ranks; `corrected` puts the misprinted mean right."""
    numbers = Numbers()
    place = {name: at for at, name in enumerate(_SETS)}
    for dataset, metric, mean, std in published("yamshchikov2020_table1_2").iter_rows():
        for table, value in ((numbers.means, mean), (numbers.deviations, std)):
            table.setdefault(metric, np.full(len(_SETS), np.nan))[place[dataset]] = value
    for row in published("yamshchikov2020_table3_ranks").iter_rows(named=True):
        numbers.ranks[row["metric"]] = np.array([row[name] for name in _SETS], dtype=np.float64)
    if corrected:
        for (dataset, metric), value in _MISPRINT.items():
            numbers.means[metric][place[dataset]] = value
    return numbers


def _noted(row: Row, request: Request) -> Row:
    instead = _INSTEAD.get(row["metric"])
    note = None if instead is None else instead.format(wordvec="wordvec", vectors=Path(request.word_vectors).name)
    if row["measure"] == "mean" and (row["dataset"], row["metric"]) in _MISPRINT:
        note = f"{_said_misprint(row['metric'])}; {note}"
    return row | {"note": note}


def _fed_note(row: Row) -> str | None:
    misprinted = row["source"] == "published means" and row["metric"] in {metric for _, metric in _MISPRINT}
    return _said_misprint(row["metric"]) if misprinted else None


def _reach(row: Row, theirs: Numbers) -> Row:
    if row["measure"] != _TABLE4["variability"][0]:
        return {}
    low, high = variability_of_rounded(theirs.means[row["metric"]], _random_sets(), _HALF)
    return {"low": low, "high": high}


def variability_of_rounded(means: Floats, random: NDArray[np.bool_], half: float) -> tuple[float, float]:
    """The least and the greatest variability of means that lie within `half` of the ones given.

    The greatest and the least of some means can each take every value within `half` of theirs. Variability grows with
    the greatest on random sets and falls with the greatest on the others, and so with the least ones the other way
    round: its ends are where all four are at theirs. There are at least two random sets and one other.

    >>> low, high = variability_of_rounded(np.array([0.1, 0.1, 0.6]), np.array([True, True, False]), 0.05)
    >>> low, round(high, 1)
    (0.0, 20.0)
    """
    top, bottom, others_top, others_bottom = (
        float(end(means[chosen])) for chosen in (random, ~random) for end in (np.max, np.min)
    )

    def share(step: float) -> float:
        inner = max(top - bottom + 2 * step, 0.0)
        whole = max(top + step, others_top - step) - min(bottom - step, others_bottom + step)
        return 100.0 * inner / max(whole, inner)

    return share(-half), share(half)


def _said_misprint(metric: str) -> str:
    return "; ".join(f"mean of {d} misprinted, read as {value}" for (d, m), value in _MISPRINT.items() if m == metric)


def _keys(request: Request) -> dict[str, str]:
    """Our metrics by published name."""
    named = _OURS | {"cosine_fasttext": f"wordvec_cosine@{request.word_vectors}"}
    return {name: get_metric(text).key for name, text in named.items()}


def _of_run(results: Results, request: Request) -> Numbers | None:
    groups = [group for group in rated_groups(results.groups()) if group.data == _DATA]
    return _our_numbers(groups[-1], request) if groups else None


def _our_numbers(group: Group, request: Request) -> Numbers:
    numbers, labels, columns = Numbers(), list(_SETS.values()), pair_columns(group)
    near = {name: -group.observed[key].value for name, key in _keys(request).items() if key in group.observed}
    for name, values in {**near, _HUMAN: columns["rating"].astype(np.float64)}.items():
        own = values if name not in _DISTANCES else -values
        numbers.means[name] = orders.set_means(own, columns["set"], labels)
        numbers.deviations[name] = orders.set_deviations(own, columns["set"], labels)
        numbers.ranks[name] = orders.ranks(numbers.means[name], best=_best(name))
    return numbers


def _best(name: str) -> Literal["smaller", "larger"]:
    return "smaller" if name in _DISTANCES else "larger"


def _our_rows(theirs: Numbers, ours: Numbers) -> Iterator[Row]:
    for name in theirs.ranks:
        if name in ours.means:
            yield from _set_rows(name, theirs, ours)
            if name != _HUMAN:
                yield from _table4(name, ours, "our data", ("correlation", "order", "variability"))
                yield from _table5(name, ours, "our data")
    yield from _figure1(ours, "our data")


def _fed_rows(theirs: Numbers) -> Iterator[Row]:
    for name in theirs.ranks:
        if name != _HUMAN:
            yield from _table4(name, theirs, "published means", ("correlation", "variability"))
            yield from _table4(name, theirs, "published ranks", ("order",))
            yield from _table5(name, theirs, "published ranks")
    yield from _figure1(theirs, "published ranks")


def _set_rows(name: str, theirs: Numbers, ours: Numbers) -> Iterator[Row]:
    first = "1" if name in _FIRST_TABLE else "2"
    columns = [(first, "mean", theirs.means, ours.means), (first, "std", theirs.deviations, ours.deviations)]
    for table, measure, published_values, our_values in (*columns, ("3", "rank", theirs.ranks, ours.ranks)):
        for dataset, their, mine in zip(_SETS, published_values[name], our_values[name], strict=True):
            about = {"dataset": dataset, "metric": name, "measure": measure}
            yield compared(table, about, float(their), float(mine), "our data")


def _table4(name: str, numbers: Numbers, source: str, which: tuple[str, ...]) -> Iterator[Row]:
    for kind in which:
        measure, value = _TABLE4[kind]
        about = {"dataset": None, "metric": name, "measure": measure}
        yield compared("4", about, _printed(name, measure), value(name, numbers), source)


def _correlation(name: str, numbers: Numbers) -> float:
    return abs(pearson(numbers.means[name], numbers.means[_HUMAN]))


def _order(name: str, numbers: Numbers) -> float:
    return spearman(numbers.ranks[name], numbers.ranks[_HUMAN])


def _variability(name: str, numbers: Numbers) -> float:
    return orders.variability(numbers.means[name], _random_sets())


def _random_sets() -> NDArray[np.bool_]:
    return np.array([dataset.endswith("_random") for dataset in _SETS])


_TABLE4: dict[str, tuple[str, Callable[[str, Numbers], float]]] = {
    "correlation": ("correlation_with_human", _correlation),
    "order": ("order_correlation_with_human", _order),
    "variability": ("variability_on_random_pct", _variability),
}


def _table5(name: str, numbers: Numbers, source: str) -> Iterator[Row]:
    for measure, of in (("coinciding_ranks", orders.coinciding), ("swaps", orders.swaps)):
        about = {"dataset": None, "metric": name, "measure": measure}
        value = of(numbers.ranks[name], numbers.ranks[_HUMAN])
        yield compared("5", about, _printed(name, measure), value, source)


def _figure1(numbers: Numbers, source: str) -> Iterator[Row]:
    """The cells above the diagonal: every two of the thirteen metrics and people."""
    printed = {
        row["metric"]: row for row in published("yamshchikov2020_figure1_order_correlation").iter_rows(named=True)
    }
    for name, other in combinations([name for name in printed if name in numbers.ranks], 2):
        about = {"dataset": None, "metric": name, "measure": "order_correlation", "other": other}
        value = spearman(numbers.ranks[name], numbers.ranks[other])
        yield compared("figure1", about, float(printed[name][other]), value, source)


def _printed(name: str, measure: str) -> float:
    rows = published("yamshchikov2020_table4_5").iter_rows(named=True)
    return next(float(row[measure]) for row in rows if row["metric"] == name)


@dataclass(frozen=True, eq=False)
class YamshchikovEvidence:
    """Set means of a run, and of resamples of the pairs within each set; empty where nothing was run."""

    ours: Numbers
    drawn: Mapping[str, Floats]
    kept: dict[tuple[object, str], Floats] = field(default_factory=dict)

    def of_resamples(self, measure: Callable[[str, Numbers], float], name: str) -> MeasuredDifference:
        """A measure of one metric with its interval over resampled pairs."""
        if name not in self.drawn or _HUMAN not in self.drawn:
            return MeasuredDifference(np.nan, np.nan, np.nan)
        return of_draws(measure(name, self.ours), self.resampled(measure, name), _PAIRS)

    def resampled(self, measure: Callable[[str, Numbers], float], name: str) -> Floats:
        """A measure of one metric on every resample."""
        if (measure, name) not in self.kept:
            found = [measure(name, self._draw(at, name)) for at in range(_RESAMPLES)]
            self.kept[measure, name] = np.array(found)
        return self.kept[measure, name]

    def _draw(self, at: int, name: str) -> Numbers:
        means = {one: self.drawn[one][at] for one in {name, _HUMAN}}
        return Numbers(means, {}, {one: orders.ranks(value, best=_best(one)) for one, value in means.items()})


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """The ledger."""
    groups = [group for group in rated_groups(results.groups()) if group.data == _DATA]
    if not groups:
        return ledger(claims(request), YamshchikovEvidence(Numbers(), {}))
    ours = _our_numbers(groups[-1], request)
    return ledger(claims(request), YamshchikovEvidence(ours, _resampled_means(groups[-1], request)))


def claims(request: Request) -> list[Claim[YamshchikovEvidence]]:
    """Claims on our data, and those that follow from the published ranks and means."""
    theirs = published_numbers(corrected=True)
    names = [name for name in theirs.ranks if name != _HUMAN]
    return [
        *(_inequality(name, theirs, request) for name in names),
        *_correlations(names, request),
        *(_within_a_swap(name, request) for name in names),
        _sentiment(),
        _variability_order(names),
        *_exact(theirs, names),
    ]


def _gap(name: str, numbers: Numbers) -> float:
    """The least similar paraphrase or rewrite set less the most similar random one: inequality 1 where above 0."""
    near = -numbers.means[name] if name in _DISTANCES else numbers.means[name]
    random = _random_sets()
    return float(near[~random].min() - near[random].max())


def _inequality(name: str, theirs: Numbers, request: Request) -> Claim[YamshchikovEvidence]:
    printed = _gap(name, theirs)
    random, ranks = _random_sets(), theirs.ranks[name]  # printed means may tie, ranks do not
    passes = ranks[~random].max() < ranks[random].min()

    def test(evidence: YamshchikovEvidence) -> Finding:
        found = evidence.of_resamples(_gap, name)
        if not found.known:
            return Finding(None, why=NOT_RUN)
        holds = found.low > 0 if passes else found.high < 0
        why = "" if holds else "the interval includes 0" if found.low <= 0 <= found.high else "the other side"
        return Finding(holds, f"{found.value:+.3f}", found.interval, why)

    claim = f"{name} {'puts every' if passes else 'does not put every'} random set below all others (inequality 1)"
    side = "above" if passes else "below"
    criterion = f"95 % interval of the gap between the two kinds of sets, pairs resampled within sets, is {side} 0"
    return Claim(claim, f"gap {printed:+.2f}", _DATA, criterion, test, _instead(name, request))


def _instead(name: str, request: Request) -> str:
    said = _INSTEAD.get(name, "")
    return said.format(wordvec="wordvec", vectors=Path(request.word_vectors).name)


def _correlations(names: list[str], request: Request) -> Iterator[Claim[YamshchikovEvidence]]:
    """WMD first, vectors of word2vec and fastText last, in both correlations with people."""
    for kind in ("correlation", "order"):
        measure, value = _TABLE4[kind]

        def first(evidence: YamshchikovEvidence, value: Callable[[str, Numbers], float] = value) -> Finding:
            return above_all("wmd", _gaps(evidence, value, "wmd", [n for n in names if n != "wmd"]))

        criterion = "95 % interval of its difference with every other metric, pairs resampled within sets, is above 0"
        shown = f"{_printed('wmd', measure):g}"
        instead = _instead("wmd", request)
        yield Claim(f"wmd has the highest {measure.replace('_', ' ')}", shown, _DATA, criterion, first, instead)
        for last in ("cosine_word2vec", "cosine_fasttext"):

            def lowest(
                evidence: YamshchikovEvidence, value: Callable[[str, Numbers], float] = value, last: str = last
            ) -> Finding:
                others = [name for name in names if not name.startswith("cosine")]
                return below_all(last, _gaps(evidence, value, last, others))

            criterion = "95 % interval of the difference of every other metric with it, pairs resampled, is above 0"
            claim = f"{last} has the lowest {measure.replace('_', ' ')}"
            yield Claim(claim, f"{_printed(last, measure):g}", _DATA, criterion, lowest, _instead(last, request))


def _gaps(
    evidence: YamshchikovEvidence, value: Callable[[str, Numbers], float], name: str, others: list[str]
) -> dict[str, MeasuredDifference]:
    if any(one not in evidence.drawn for one in (name, _HUMAN, *others)):
        return {"": MeasuredDifference(np.nan, np.nan, np.nan)}
    own, drawn = value(name, evidence.ours), evidence.resampled(value, name)
    return {
        other: of_draws(own - value(other, evidence.ours), drawn - evidence.resampled(value, other), _PAIRS)
        for other in others
    }


def _within_a_swap(name: str, request: Request) -> Claim[YamshchikovEvidence]:
    printed = _printed(name, "swaps")

    def test(evidence: YamshchikovEvidence) -> Finding:
        found = evidence.of_resamples(_swaps, name)
        if not found.known:
            return Finding(None, why=NOT_RUN)
        holds = found.low <= printed <= found.high
        return Finding(holds, f"{found.value:g}", f"{found.low:g} to {found.high:g}", "" if holds else "outside")

    claim = f"{name} needs {printed:g} swaps to the order of people"
    criterion = "the published number is inside the 95 % interval of ours, pairs resampled within sets"
    return Claim(claim, f"{printed:g}", _DATA, criterion, test, _instead(name, request))


def _swaps(name: str, numbers: Numbers) -> float:
    return float(orders.swaps(numbers.ranks[name], numbers.ranks[_HUMAN]))


def _sentiment() -> Claim[YamshchikovEvidence]:
    at, random = list(_SETS).index("yelp_rewrite"), _random_sets()

    def test(evidence: YamshchikovEvidence) -> Finding:
        if _HUMAN not in evidence.drawn:
            return Finding(None, why=NOT_RUN)
        means, drawn = evidence.ours.means[_HUMAN], evidence.drawn[_HUMAN]
        gaps = {
            name: of_draws(float(means[place] - means[at]), drawn[:, place] - drawn[:, at], _PAIRS)
            for place, name in enumerate(_SETS)
            if place != at and not random[place]
        }
        rival = min(gaps, key=lambda name: gaps[name].low)
        return above(rival, "yelp_rewrite", gaps[rival])

    criterion = "95 % interval of every other set's mean rating less its own, pairs resampled, is above 0"
    claim = "people rate sentiment rewrites (yelp) least similar of the sets that are not random"
    return Claim(claim, "table 1", _DATA, criterion, test)


def _variability_order(names: list[str]) -> Claim[YamshchikovEvidence]:
    measure, value = _TABLE4["variability"]

    def test(evidence: YamshchikovEvidence) -> Finding:
        if any(name not in evidence.drawn for name in names):
            return Finding(None, why=NOT_RUN)
        said = np.array([_printed(name, measure) for name in names])
        own = np.array([[value(name, evidence.ours), *evidence.resampled(value, name)] for name in names])
        found = of_draws(spearman(said, own[:, 0]), np.array([spearman(said, o) for o in own.T[1:]]), _PAIRS)
        holds = found.low > 0
        return Finding(holds, f"Spearman's ρ {found.value:.2f}", found.interval, "" if holds else "includes 0")

    criterion = (
        "95 % interval of Spearman's ρ of published and our variability over metrics, pairs resampled, is above 0"
    )
    return Claim("the order of metrics by variability on random pairs", "table 4", _DATA, criterion, test)


def _exact(theirs: Numbers, names: list[str]) -> Iterator[Claim[YamshchikovEvidence]]:
    """What follows from the paper's own ranks must follow to the printed digit."""
    for measure, digits, of in (
        ("coinciding_ranks", 0, lambda name: orders.coinciding(theirs.ranks[name], theirs.ranks[_HUMAN])),
        ("swaps", 0, lambda name: orders.swaps(theirs.ranks[name], theirs.ranks[_HUMAN])),
        ("order_correlation_with_human", 2, lambda name: _order(name, theirs)),
    ):

        def test(
            _: YamshchikovEvidence, measure: str = measure, digits: int = digits, of: Callable[[str], float] = of
        ) -> Finding:
            wrong = [name for name in names if round(of(name), digits) != round(_printed(name, measure), digits)]
            shown = f"{len(names) - len(wrong)} of {len(names)}"
            return Finding(not wrong, shown, "exact", f"not for {', '.join(wrong)}" if wrong else "")

        claim = f"{measure.replace('_', ' ')} of all {len(names)} metrics follow from the published ranks"
        yield Claim(claim, "tables 3 to 5", "published ranks", "equal to the printed digit", test)


def _resampled_means(group: Group, request: Request) -> dict[str, Floats]:
    """Set means on resamples of the pairs within each set, the same for all metrics: resamples by sets."""
    columns, labels = pair_columns(group), list(_SETS.values())
    near = {name: -group.observed[key].value for name, key in _keys(request).items() if key in group.observed}
    values = {**near, _HUMAN: columns["rating"].astype(np.float64)}
    own = np.stack([-of if name in _DISTANCES else of for name, of in values.items()], axis=1)
    found = np.empty((_RESAMPLES, len(labels), own.shape[1]))
    for place, label in enumerate(labels):
        of = own[columns["set"] == label]
        known = np.isfinite(of)  # a pair that one metric has no value for still counts for the others
        sums = resampled_sums(np.hstack([np.where(known, of, 0.0), known]), _RESAMPLES, place)
        found[:, place] = sums[:, : own.shape[1]] / sums[:, own.shape[1] :]
    return {name: found[:, :, at] for at, name in enumerate(values)}


PAPER = Paper(
    "yamshchikov2020",
    ("1", "2", "3", "4", "5", "figure1"),
    ("definition",),
    plans,
    rows,
    ledger_rows,
    (PaperFigure("1", "order", "Light rows order the sets unlike all others: word2vec and fastText in the paper."),),
    fed=True,
)
