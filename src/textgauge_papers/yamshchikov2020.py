"""Yamshchikov et al. 2021: thirteen metrics and people on fourteen sets of pairs; the suite and the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

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
    Claim,
    MeasuredDifference,
    Outcome,
    estimate_from_draws,
    judge_above_all,
    judge_below_all,
    judge_claims,
    judge_side,
    list_claims,
    look_up,
)
from textgauge_papers.paper import Paper, PaperFigure, Request
from textgauge_papers.yamshchikov2020_tables import (
    DATA,
    DISTANCES,
    HUMAN,
    PARAMS,
    SETS,
    TABLE4,
    WMD_AGAIN,
    Numbers,
    best_end,
    compute_our_numbers,
    count_swaps,
    get_our_keys,
    get_printed_value,
    load_published_numbers,
    mark_random_sets,
    name_instead,
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
    """Yamshchikov et al. (arXiv 2020, AAAI 2021), their tables: thirteen metrics of pairs, and people; 14 sets."""
    return make_plans([Agreement()], [read_rated(DATA)], metrics or YAMSHCHIKOV_METRICS, seed)


def plans(request: Request) -> list[Plan]:
    """Return the suite, with the vectors and encoders requested."""
    return suite(list(dict.fromkeys(get_our_keys(request).values())), request.seed)


@dataclass(frozen=True, eq=False)
class YamshchikovEvidence:
    """Set means of a run, and of resamples of the pairs within each set; empty where nothing was run."""

    ours: Numbers
    drawn: Mapping[str, Floats]
    kept: dict[tuple[object, str], Floats] = field(default_factory=dict)

    def estimate(self, measure: Callable[[str, Numbers], float], name: str) -> MeasuredDifference:
        """Return a measure of one metric with its interval over resampled pairs."""
        look_up(self.drawn, name, HUMAN)
        return estimate_from_draws(measure(name, self.ours), self.resample(measure, name), _PAIRS)

    def resample(self, measure: Callable[[str, Numbers], float], name: str) -> Floats:
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
    groups = [group for group in select_rated_groups(results.groups()) if group.data == DATA and group.observed]
    if not groups:
        return judge_claims(claims(request), YamshchikovEvidence(Numbers(), {}))
    ours = compute_our_numbers(groups[-1], request)
    return judge_claims(claims(request), YamshchikovEvidence(ours, _resampled_means(groups[-1], request)))


def claims(request: Request) -> list[Claim[YamshchikovEvidence]]:
    """Claims on our data, and those that follow from the published ranks and means."""
    theirs = load_published_numbers(corrected=True)
    keys = get_our_keys(request)
    same = keys["cosine_word2vec"] == keys["cosine_fasttext"]  # one metric of ours for two of theirs counts once
    names = [name for name in theirs.ranks if name != HUMAN and not (same and name == "cosine_fasttext")]
    first, last = _correlations(names, request)
    marks = "people's marks vary by 19.7 % on random pairs"
    return [
        *list_claims(
            "inequality 1: random sets below all others", *(_inequality(name, theirs, request) for name in names)
        ),
        *list_claims("WMD is first in both correlations with people", *first),
        *list_claims("word2vec and fastText are last in both", *last),
        *list_claims(
            "POS-distance, word2vec and fastText order the sets least as people do", _least_aligned(names, request)
        ),
        *list_claims("WMD and ELMo order the sets alike", _wmd_and_elmo(request)),
        *list_claims("orders are as many swaps from people's as printed", *(_counted(name, request) for name in names)),
        *list_claims("people rate sentiment rewrites least similar", _sentiment()),
        *list_claims(marks, _as_printed(marks, HUMAN, TABLE4["variability"][1], 19.7)),
        *list_claims("the order of metrics by variability", _variability_order(names)),
        *list_claims("BLEU varies least on random pairs", _least_variable(names, request)),
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

    def test(evidence: YamshchikovEvidence) -> Outcome:
        return judge_side("gap", evidence.estimate(_gap, name), below=not passes)

    claim = f"{name} {'puts every' if passes else 'does not put every'} random set below all others (inequality 1)"
    side = "above" if passes else "below"
    criterion = f"95 % interval of the gap between the two kinds of sets, pairs resampled within sets, is {side} 0"
    return _drop_elmo(
        Claim(claim, f"gap {printed:+.2f}", DATA, criterion, test, name_instead(name, request)), name, request
    )


def _drop_elmo(claim: Claim[YamshchikovEvidence], name: str, request: Request) -> Claim[YamshchikovEvidence]:
    """Return a claim without its test where it is about ELMo, whose weights are not given."""
    known = name != "elmo_l2" or request.params.get("elmo")
    return claim if known else replace(claim, test=None, why=_NO_ELMO)


_NO_ELMO = "it needs ELMo's weights (--param elmo=FOLDER): another encoder in its place says nothing of it"


def _correlations(names: list[str], request: Request) -> tuple[list[Claim[YamshchikovEvidence]], ...]:
    """WMD first, vectors of word2vec and fastText last, in both correlations with people."""
    found: tuple[list[Claim[YamshchikovEvidence]], ...] = ([], [])
    for kind in ("correlation", "order"):
        measure, value = TABLE4[kind]

        for own in ("wmd", WMD_AGAIN):

            def first(
                evidence: YamshchikovEvidence, value: Callable[[str, Numbers], float] = value, own: str = own
            ) -> Outcome:
                return judge_above_all("wmd", _gaps(evidence, value, own, [n for n in names if n != "wmd"]))

            criterion = "95 % interval of its difference with every other metric, pairs resampled in sets, is above 0"
            shown = f"{get_printed_value('wmd', measure):g}"
            instead = name_instead(own, request)
            claim = f"wmd has the highest {measure.replace('_', ' ')}"
            way = f"with {instead.partition(' ')[0]}"
            found[0].append(Claim(claim, shown, DATA, criterion, first, instead, way=way))
        for last in (name for name in names if name.startswith("cosine")):

            def lowest(
                evidence: YamshchikovEvidence, value: Callable[[str, Numbers], float] = value, last: str = last
            ) -> Outcome:
                others = [name for name in names if not name.startswith("cosine")]
                return judge_below_all(last, _gaps(evidence, value, last, others))

            criterion = "95 % interval of the difference of every other metric with it, pairs resampled, is above 0"
            claim = f"{last} has the lowest {measure.replace('_', ' ')}"
            shown = f"{get_printed_value(last, measure):g}"
            found[1].append(Claim(claim, shown, DATA, criterion, lowest, name_instead(last, request)))
    return found


def _gaps(
    evidence: YamshchikovEvidence, value: Callable[[str, Numbers], float], name: str, others: list[str]
) -> dict[str, MeasuredDifference]:
    look_up(evidence.drawn, name, HUMAN, *others)
    own, drawn = value(name, evidence.ours), evidence.resample(value, name)
    return {
        other: estimate_from_draws(own - value(other, evidence.ours), drawn - evidence.resample(value, other), _PAIRS)
        for other in others
    }


def _counted(name: str, request: Request) -> Claim[YamshchikovEvidence]:
    printed = get_printed_value(name, "swaps")
    claim = f"the order by {name} has {printed:g} swaps with that of people"
    return _drop_elmo(_as_printed(claim, name, _swaps, printed, name_instead(name, request)), name, request)


def _as_printed(
    claim: str, name: str, measure: Callable[[str, Numbers], float], printed: float, instead: str = ""
) -> Claim[YamshchikovEvidence]:
    def test(evidence: YamshchikovEvidence) -> Outcome:
        found = evidence.estimate(measure, name)
        if not found.known:
            return Outcome(None, why=NOT_RUN)
        holds = found.low <= printed <= found.high
        return Outcome(holds, f"{found.value:.3g}", f"{found.low:.3g} to {found.high:.3g}", "" if holds else "outside")

    criterion = "the published number is inside the 95 % interval of ours, pairs resampled within sets"
    return Claim(claim, f"{printed:g}", DATA, criterion, test, instead)


def _swaps(name: str, numbers: Numbers) -> float:
    return count_swaps(numbers.ranks[name], numbers.ranks[HUMAN])


def _least_aligned(names: list[str], request: Request) -> Claim[YamshchikovEvidence]:
    worst = [name for name in names if name == "pos_distance" or name.startswith("cosine")]

    def test(evidence: YamshchikovEvidence) -> Outcome:
        look_up(evidence.drawn, *names, HUMAN)
        own = {
            n: np.array([order_correlation(n, evidence.ours), *evidence.resample(order_correlation, n)]) for n in names
        }
        others = np.min([own[name] for name in names if name not in worst], axis=0)
        gaps = others - np.max([own[name] for name in worst], axis=0)
        found = estimate_from_draws(float(gaps[0]), gaps[1:], _PAIRS)
        return judge_side("lowest of the others − highest of these", found)

    criterion = "95 % interval of the lowest order correlation of the others less their highest is above 0"
    claim = "POS-distance and cosines of word vectors have the lowest order correlations with people"
    return Claim(claim, ".64 to .72", DATA, criterion, test, name_instead("cosine_word2vec", request))


_ALIKE = 0.9  # of the order correlation that the paper prints as .96


def _wmd_and_elmo(request: Request) -> Claim[YamshchikovEvidence]:
    def test(evidence: YamshchikovEvidence) -> Outcome:
        names = ("wmd", "elmo_l2")
        drawn = look_up(evidence.drawn, *names)
        means = [np.vstack([evidence.ours.means[name], of]) for name, of in zip(names, drawn, strict=True)]
        own = np.array([spearman(one, other) for one, other in zip(*means, strict=True)])
        return judge_side(f"ρ − {_ALIKE:g}", estimate_from_draws(own[0] - _ALIKE, own[1:] - _ALIKE, _PAIRS))

    criterion = f"95 % interval of Spearman's ρ of both orders, pairs resampled within sets, is above {_ALIKE:g}"
    claim = Claim("WMD and ELMo order the sets alike", "ρ = .96", DATA, criterion, test, name_instead("wmd", request))
    return _drop_elmo(claim, "elmo_l2", request)


def _least_variable(names: list[str], request: Request) -> Claim[YamshchikovEvidence]:
    measure, value = TABLE4["variability"]

    def test(evidence: YamshchikovEvidence) -> Outcome:
        return judge_below_all("bleu", _gaps(evidence, value, "bleu", [name for name in names if name != "bleu"]))

    criterion = "95 % interval of the difference of every other metric with it, pairs resampled within sets, is above 0"
    shown = f"{get_printed_value('bleu', measure):g} %"
    return Claim("bleu has the lowest variability on random pairs", shown, DATA, criterion, test)


def _sentiment() -> Claim[YamshchikovEvidence]:
    at, random = list(SETS).index("yelp_rewrite"), mark_random_sets()

    def test(evidence: YamshchikovEvidence) -> Outcome:
        (drawn,), means = look_up(evidence.drawn, HUMAN), evidence.ours.means[HUMAN]
        gaps = {
            name: estimate_from_draws(float(means[at] - means[place]), drawn[:, at] - drawn[:, place], _PAIRS)
            for place, name in enumerate(SETS)
            if place != at and not random[place]
        }
        return judge_below_all("yelp_rewrite", gaps)

    criterion = "95 % interval of every other set's mean rating less its own, pairs resampled, is above 0"
    claim = "people rate sentiment rewrites (yelp) least similar of the sets that are not random"
    return Claim(claim, "table 1", DATA, criterion, test)


def _variability_order(names: list[str]) -> Claim[YamshchikovEvidence]:
    measure, value = TABLE4["variability"]

    def test(evidence: YamshchikovEvidence) -> Outcome:
        look_up(evidence.drawn, *names)
        said = np.array([get_printed_value(name, measure) for name in names])
        own = np.array([[value(name, evidence.ours), *evidence.resample(value, name)] for name in names])
        found = estimate_from_draws(spearman(said, own[:, 0]), np.array([spearman(said, o) for o in own.T[1:]]), _PAIRS)
        return judge_side("Spearman's ρ", found)

    criterion = (
        "95 % interval of Spearman's ρ of published and our variability over metrics, pairs resampled, is above 0"
    )
    return Claim("the order of metrics by variability on random pairs", "table 4", DATA, criterion, test)


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
    minutes=4,
    params=PARAMS,
)
