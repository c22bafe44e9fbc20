"""Yamshchikov et al. 2021: thirteen metrics and people on fourteen sets of pairs; the suite and the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from textgauge.bench import (
    Agreement,
    Group,
    Metrics,
    Plan,
    Results,
    get_pair_columns,
    make_plans,
    read_rated,
    select_rated_groups,
)
from textgauge.core import Floats, Row
from textgauge.stats import orders, resample_sums, spearman
from textgauge_papers.ledger import (
    NOT_RUN,
    UNKNOWN,
    Claim,
    Finding,
    MeasuredDifference,
    about,
    above_all,
    below_all,
    estimate_from_draws,
    ledger,
    on_side,
)
from textgauge_papers.paper import Paper, PaperFigure, Request
from textgauge_papers.yamshchikov2020_tables import (
    DATA,
    DISTANCES,
    HUMAN,
    INSTEAD,
    SETS,
    TABLE4,
    Numbers,
    best_end,
    compute_our_numbers,
    get_our_keys,
    get_printed_value,
    load_published_numbers,
    mark_random_sets,
    order_correlation,
    rows,
)

# The paper's thirteen; word vectors and encoders are the built-in ones where theirs are not to be had.
YAMSHCHIKOV_METRICS = (
    "pos_distance,overlap,chrf,wordvec_cosine,wmd,contextual_l2,rouge1@rouge,rouge2@rouge,rougeL@rouge,"
    "bleu(smoothing=none,effective=false)@whitespace,meteor,bertscore"
)
_RESAMPLES, _PAIRS = 1_000, 473  # of pairs within sets; the smallest set


def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Compute the tables of Yamshchikov et al. 2021: thirteen metrics of pairs and people, on fourteen sets."""
    return make_plans([Agreement()], [read_rated(DATA)], metrics or YAMSHCHIKOV_METRICS, seed)


def plans(request: Request) -> list[Plan]:
    """Return the suite, with the word vectors requested and the built-in ones."""
    return suite(list(dict.fromkeys(get_our_keys(request).values())), request.seed)


@dataclass(frozen=True, eq=False)
class YamshchikovEvidence:
    """Set means of a run, and of resamples of the pairs within each set; empty where nothing was run."""

    ours: Numbers
    drawn: Mapping[str, Floats]
    kept: dict[tuple[object, str], Floats] = field(default_factory=dict)

    def of_resamples(self, measure: Callable[[str, Numbers], float], name: str) -> MeasuredDifference:
        """Return a measure of one metric with its interval over resampled pairs."""
        if name not in self.drawn or HUMAN not in self.drawn:
            return UNKNOWN
        return estimate_from_draws(measure(name, self.ours), self.resampled(measure, name), _PAIRS)

    def resampled(self, measure: Callable[[str, Numbers], float], name: str) -> Floats:
        """Return a measure of one metric on every resample."""
        if (measure, name) not in self.kept:
            found = [measure(name, self._draw(at, name)) for at in range(_RESAMPLES)]
            self.kept[measure, name] = np.array(found)
        return self.kept[measure, name]

    def _draw(self, at: int, name: str) -> Numbers:
        means = {one: self.drawn[one][at] for one in {name, HUMAN}}
        return Numbers(means, {}, {one: orders.rank_sets(value, best=best_end(one)) for one, value in means.items()})


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """Return the ledger."""
    groups = [group for group in select_rated_groups(results.groups()) if group.data == DATA]
    if not groups:
        return ledger(claims(request), YamshchikovEvidence(Numbers(), {}))
    ours = compute_our_numbers(groups[-1], request)
    return ledger(claims(request), YamshchikovEvidence(ours, _resampled_means(groups[-1], request)))


def claims(request: Request) -> list[Claim[YamshchikovEvidence]]:
    """Claims on our data, and those that follow from the published ranks and means."""
    theirs = load_published_numbers(corrected=True)
    names = [name for name in theirs.ranks if name != HUMAN]
    first, last = _correlations(names, request)
    return [
        *about("inequality 1: random sets below all others", *(_inequality(name, theirs, request) for name in names)),
        *about("WMD is first in both correlations with people", *first),
        *about("word2vec and fastText are last in both", *last),
        *about("swaps to the order of people", *(_counted(name, "swaps", _swaps, request) for name in names)),
        *about(
            "ranks that coincide with people's",
            *(_counted(name, "coinciding_ranks", _coinciding, request) for name in names),
        ),
        *about("sentiment rewrites are rated least similar", _sentiment()),
        *about("order by variability", _variability_order(names)),
        *about("what follows from the published ranks", *_exact(theirs, names)),
    ]


def _gap(name: str, numbers: Numbers) -> float:
    """Return the least similar paraphrase or rewrite set less the most similar random one (inequality 1)."""
    near = -numbers.means[name] if name in DISTANCES else numbers.means[name]
    random = mark_random_sets()
    return float(near[~random].min() - near[random].max())


def _inequality(name: str, theirs: Numbers, request: Request) -> Claim[YamshchikovEvidence]:
    printed = _gap(name, theirs)
    random, ranks = mark_random_sets(), theirs.ranks[name]  # printed means may tie, ranks do not
    passes = ranks[~random].max() < ranks[random].min()

    def test(evidence: YamshchikovEvidence) -> Finding:
        return on_side("gap", evidence.of_resamples(_gap, name), below=not passes)

    claim = f"{name} {'puts every' if passes else 'does not put every'} random set below all others (inequality 1)"
    side = "above" if passes else "below"
    criterion = f"95 % interval of the gap between the two kinds of sets, pairs resampled within sets, is {side} 0"
    return Claim(claim, f"gap {printed:+.2f}", DATA, criterion, test, _instead(name, request))


def _instead(name: str, request: Request) -> str:
    said = INSTEAD.get(name, "")
    return said.format(wordvec="wordvec", vectors=Path(request.word_vectors).name)


def _correlations(names: list[str], request: Request) -> tuple[list[Claim[YamshchikovEvidence]], ...]:
    """WMD first, vectors of word2vec and fastText last, in both correlations with people."""
    found: tuple[list[Claim[YamshchikovEvidence]], ...] = ([], [])
    for kind in ("correlation", "order"):
        measure, value = TABLE4[kind]

        def first(evidence: YamshchikovEvidence, value: Callable[[str, Numbers], float] = value) -> Finding:
            return above_all("wmd", _gaps(evidence, value, "wmd", [n for n in names if n != "wmd"]))

        criterion = "95 % interval of its difference with every other metric, pairs resampled within sets, is above 0"
        shown = f"{get_printed_value('wmd', measure):g}"
        instead = _instead("wmd", request)
        claim = f"wmd has the highest {measure.replace('_', ' ')}"
        found[0].append(Claim(claim, shown, DATA, criterion, first, instead))
        for last in ("cosine_word2vec", "cosine_fasttext"):

            def lowest(
                evidence: YamshchikovEvidence, value: Callable[[str, Numbers], float] = value, last: str = last
            ) -> Finding:
                others = [name for name in names if not name.startswith("cosine")]
                return below_all(last, _gaps(evidence, value, last, others))

            criterion = "95 % interval of the difference of every other metric with it, pairs resampled, is above 0"
            claim = f"{last} has the lowest {measure.replace('_', ' ')}"
            shown = f"{get_printed_value(last, measure):g}"
            found[1].append(Claim(claim, shown, DATA, criterion, lowest, _instead(last, request)))
    return found


def _gaps(
    evidence: YamshchikovEvidence, value: Callable[[str, Numbers], float], name: str, others: list[str]
) -> dict[str, MeasuredDifference]:
    if any(one not in evidence.drawn for one in (name, HUMAN, *others)):
        return {"": UNKNOWN}
    own, drawn = value(name, evidence.ours), evidence.resampled(value, name)
    return {
        other: estimate_from_draws(own - value(other, evidence.ours), drawn - evidence.resampled(value, other), _PAIRS)
        for other in others
    }


def _counted(
    name: str, measure: str, count: Callable[[str, Numbers], float], request: Request
) -> Claim[YamshchikovEvidence]:
    printed = get_printed_value(name, measure)

    def test(evidence: YamshchikovEvidence) -> Finding:
        found = evidence.of_resamples(count, name)
        if not found.known:
            return Finding(None, why=NOT_RUN)
        holds = found.low <= printed <= found.high
        return Finding(holds, f"{found.value:g}", f"{found.low:g} to {found.high:g}", "" if holds else "outside")

    claim = f"the order by {name} has {printed:g} {measure.replace('_', ' ')} with that of people"
    criterion = "the published number is inside the 95 % interval of ours, pairs resampled within sets"
    return Claim(claim, f"{printed:g}", DATA, criterion, test, _instead(name, request))


def _swaps(name: str, numbers: Numbers) -> float:
    return orders.count_swaps(numbers.ranks[name], numbers.ranks[HUMAN])


def _coinciding(name: str, numbers: Numbers) -> float:
    return orders.count_coinciding(numbers.ranks[name], numbers.ranks[HUMAN])


def _sentiment() -> Claim[YamshchikovEvidence]:
    at, random = list(SETS).index("yelp_rewrite"), mark_random_sets()

    def test(evidence: YamshchikovEvidence) -> Finding:
        if HUMAN not in evidence.drawn:
            return Finding(None, why=NOT_RUN)
        means, drawn = evidence.ours.means[HUMAN], evidence.drawn[HUMAN]
        gaps = {
            name: estimate_from_draws(float(means[at] - means[place]), drawn[:, at] - drawn[:, place], _PAIRS)
            for place, name in enumerate(SETS)
            if place != at and not random[place]
        }
        return below_all("yelp_rewrite", gaps)

    criterion = "95 % interval of every other set's mean rating less its own, pairs resampled, is above 0"
    claim = "people rate sentiment rewrites (yelp) least similar of the sets that are not random"
    return Claim(claim, "table 1", DATA, criterion, test)


def _variability_order(names: list[str]) -> Claim[YamshchikovEvidence]:
    measure, value = TABLE4["variability"]

    def test(evidence: YamshchikovEvidence) -> Finding:
        if any(name not in evidence.drawn for name in names):
            return Finding(None, why=NOT_RUN)
        said = np.array([get_printed_value(name, measure) for name in names])
        own = np.array([[value(name, evidence.ours), *evidence.resampled(value, name)] for name in names])
        found = estimate_from_draws(spearman(said, own[:, 0]), np.array([spearman(said, o) for o in own.T[1:]]), _PAIRS)
        return on_side("Spearman's ρ", found)

    criterion = (
        "95 % interval of Spearman's ρ of published and our variability over metrics, pairs resampled, is above 0"
    )
    return Claim("the order of metrics by variability on random pairs", "table 4", DATA, criterion, test)


def _exact(theirs: Numbers, names: list[str]) -> Iterator[Claim[YamshchikovEvidence]]:
    """Yield claims that follow from the paper's own ranks, to the printed digit."""
    for measure, digits, of in (
        ("coinciding_ranks", 0, _coinciding),
        ("swaps", 0, _swaps),
        ("order_correlation_with_human", 2, order_correlation),
    ):

        def test(
            _: YamshchikovEvidence,
            measure: str = measure,
            digits: int = digits,
            of: Callable[[str, Numbers], float] = of,
        ) -> Finding:
            wrong = [
                name
                for name in names
                if round(of(name, theirs), digits) != round(get_printed_value(name, measure), digits)
            ]
            shown = f"{len(names) - len(wrong)} of {len(names)}"
            return Finding(not wrong, shown, "exact", f"not for {', '.join(wrong)}" if wrong else "")

        claim = f"{measure.replace('_', ' ')} of all {len(names)} metrics follow from the published ranks"
        yield Claim(claim, "tables 3 to 5", "published ranks", "equal to the printed digit", test)


def _resampled_means(group: Group, request: Request) -> dict[str, Floats]:
    """Set means on resamples of the pairs within each set, the same for all metrics: resamples by sets."""
    columns, labels = get_pair_columns(group), list(SETS.values())
    near = {name: -group.observed[key].value for name, key in get_our_keys(request).items() if key in group.observed}
    values = {**near, HUMAN: columns["rating"].astype(np.float64)}
    own = np.stack([-of if name in DISTANCES else of for name, of in values.items()], axis=1)
    found = np.empty((_RESAMPLES, len(labels), own.shape[1]))
    for place, label in enumerate(labels):
        of = own[columns["set"] == label]
        known = np.isfinite(of)  # a pair that one metric has no value for still counts for the others
        sums = resample_sums(np.hstack([np.where(known, of, 0.0), known]), _RESAMPLES, place)
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
