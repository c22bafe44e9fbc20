"""Yamshchikov et al. 2021, tables 1 to 5 and figure 1: published numbers next to ours.

`our data` rows are ours from the texts on; `published ranks` and `published means` feed the paper's own numbers
through our formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.bench import Group, Results, get_pair_columns, select_rated_groups
from textgauge.core import Floats, Row, drop_nonfinite_values
from textgauge.metrics import get_metric
from textgauge.stats import orders, pearson, spearman
from textgauge_papers.paper import Request, load_published, make_row

DATA = "yamshchikov14"
HUMAN = "human"
_STYLES = {"bibles": "Bible", "paralex": "Paralex", "paraphrase": "Paraphrase", "yelp_rewrite": "Yelp"}
_STYLES |= {"gyafc_rewrite": "GYAFC_rewrites", "gyafc_informal": "GYAFC_informal", "gyafc_formal": "GYAFC_formal"}
SETS = {f"{theirs}{tail}": f"{ours}{tail}" for theirs, ours in _STYLES.items() for tail in ("", "_random")}
WMD_AGAIN = "wmd, other vectors"  # no published name: the same metric on the second file of vectors
# What stands in for the paper's vectors and encoders; ELMo is a folder with its weights.
PARAMS = {"word2vec": "glove-840b", "fasttext": "wordvec", "elmo": ""}
_OURS = {
    "pos_distance": "pos_distance",
    "word_overlap": "overlap",
    "chrf": "chrf",
    "cosine_word2vec": "wordvec_cosine@{word2vec}",
    "cosine_fasttext": "wordvec_cosine@{fasttext}",
    "wmd": "wmd",
    WMD_AGAIN: "wmd@{word2vec}",
    "elmo_l2": "contextual_l2",
    "rouge1": "rouge1@rouge",
    "rouge2": "rouge2@rouge",
    "rougeL": "rougeL@rouge",
    "bleu": "bleu(smoothing=none,effective=false)@whitespace",
    "meteor": "meteor",
    "bertscore": "bertscore",
}
_FIRST_TABLE = (HUMAN, "pos_distance", "word_overlap", "chrf", "cosine_word2vec", "cosine_fasttext", "wmd")
DISTANCES = ("pos_distance", "cosine_word2vec", "cosine_fasttext", "wmd", WMD_AGAIN, "elmo_l2")
_MISPRINT = {("paraphrase_random", "wmd"): 1.34}  # printed as 0.34, which no table or figure agrees with
_HALF = 0.005  # means are printed with two digits
# What stands in for a model that is not to be had here.
INSTEAD = {
    "pos_distance": "wordvec in place of the paper's vectors",
    "cosine_word2vec": "{word2vec} in place of word2vec",
    "cosine_fasttext": "{fasttext} in place of fastText",
    "wmd": "wordvec in place of the paper's vectors",
    WMD_AGAIN: "{word2vec} in place of the paper's vectors",
    "elmo_l2": "minilm in place of ELMo",
    "bertscore": "minilm in place of BERT",
}


@dataclass(frozen=True, eq=False)
class Numbers:
    """Means, deviations and ranks of sets (columns, in the order of `SETS`) by published metric name."""

    means: dict[str, Floats] = field(default_factory=dict)
    deviations: dict[str, Floats] = field(default_factory=dict)
    ranks: dict[str, Floats] = field(default_factory=dict)


def rows(results: Results, request: Request) -> list[Row]:
    """Return all tables and the figure: published numbers next to ours, and to what our formulas make of theirs.

    `note` says what stands in for a model and which misprint was put right. Variability is a small range over a large
    one, so that printed means tell little of it: `low` and `high` are the ends of what means that round to the printed
    ones can give.
    """
    groups = [group for group in select_rated_groups(results.groups()) if group.data == DATA and group.observed]
    found = compute_our_numbers(groups[-1], request) if groups else None
    made = [] if found is None else [_add_note(row, request) for row in _our_rows(load_published_numbers(), found)]
    theirs = load_published_numbers(corrected=True)
    made += [row | _reach(row, theirs) | {"note": _fed_note(row)} for row in _fed_rows(theirs)]
    return [drop_nonfinite_values(row) for row in made]


def load_published_numbers(*, corrected: bool = False) -> Numbers:
    """Return the published means, deviations and ranks; `corrected` puts the misprinted mean right."""
    numbers = Numbers()
    place = {name: at for at, name in enumerate(SETS)}
    for dataset, metric, mean, std in load_published("yamshchikov2020_table1_2").iter_rows():
        for table, value in ((numbers.means, mean), (numbers.deviations, std)):
            table.setdefault(metric, np.full(len(SETS), np.nan))[place[dataset]] = value
    for row in load_published("yamshchikov2020_table3_ranks").iter_rows(named=True):
        numbers.ranks[row["metric"]] = np.array([row[name] for name in SETS], dtype=np.float64)
    if corrected:
        for (dataset, metric), value in _MISPRINT.items():
            numbers.means[metric][place[dataset]] = value
    return numbers


def _add_note(row: Row, request: Request) -> Row:
    note = name_instead(row["metric"], request) or None
    if row["measure"] == "mean" and (row["dataset"], row["metric"]) in _MISPRINT:
        note = f"{_said_misprint(row['metric'])}; {note}"
    return row | {"note": note}


def name_instead(name: str, request: Request) -> str:
    """Return what stands in for the model of a published metric, in words; nothing where it is the paper's."""
    params = PARAMS | dict(request.params)
    if name == "elmo_l2" and params["elmo"]:
        return ""
    return INSTEAD.get(name, "").format(**{key: Path(value).name for key, value in params.items()})


def _fed_note(row: Row) -> str | None:
    misprinted = row["source"] == "published means" and row["metric"] in {metric for _, metric in _MISPRINT}
    return _said_misprint(row["metric"]) if misprinted else None


def _reach(row: Row, theirs: Numbers) -> Row:
    if row["measure"] != TABLE4["variability"][0]:
        return {}
    low, high = variability_of_rounded(theirs.means[row["metric"]], mark_random_sets(), _HALF)
    return {"low": low, "high": high}


def variability_of_rounded(means: Floats, random: NDArray[np.bool_], half: float) -> tuple[float, float]:
    """Return the least and the greatest variability of means that lie within `half` of the ones given.

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


def get_our_keys(request: Request) -> dict[str, str]:
    """Return our metrics by published name."""
    params = PARAMS | dict(request.params)
    named = _OURS | ({"elmo_l2": "contextual_l2@elmo:{elmo}"} if params["elmo"] else {})
    return {name: get_metric(text.format(**params)).key for name, text in named.items()}


def compute_our_numbers(group: Group, request: Request) -> Numbers:
    """Return means, deviations and ranks of a run."""
    numbers, labels, columns = Numbers(), list(SETS.values()), get_pair_columns(group)
    near = {name: -group.observed[key].value for name, key in get_our_keys(request).items() if key in group.observed}
    for name, values in {**near, HUMAN: columns["rating"].astype(np.float64)}.items():
        own = values if name not in DISTANCES else -values
        numbers.means[name] = orders.average_sets(own, columns["set"], labels)
        numbers.deviations[name] = set_deviations(own, columns["set"], labels)
        numbers.ranks[name] = orders.rank_sets(numbers.means[name], best=best_end(name))
    return numbers


def best_end(name: str) -> Literal["smaller", "larger"]:
    """Return which values of a published metric are nearer."""
    return "smaller" if name in DISTANCES else "larger"


def _our_rows(theirs: Numbers, ours: Numbers) -> Iterator[Row]:
    for name in theirs.ranks:
        if name in ours.means:
            yield from _set_rows(name, theirs, ours)
            if name != HUMAN:
                yield from _table4(name, ours, "our data", ("correlation", "order", "variability"))
                yield from _table5(name, ours, "our data")
    yield from _figure1(ours, "our data")


def _fed_rows(theirs: Numbers) -> Iterator[Row]:
    for name in theirs.ranks:
        if name != HUMAN:
            yield from _table4(name, theirs, "published means", ("correlation", "variability"))
            yield from _table4(name, theirs, "published ranks", ("order",))
            yield from _table5(name, theirs, "published ranks")
    yield from _figure1(theirs, "published ranks")


def _set_rows(name: str, theirs: Numbers, ours: Numbers) -> Iterator[Row]:
    first = "1" if name in _FIRST_TABLE else "2"
    columns = [(first, "mean", theirs.means, ours.means), (first, "std", theirs.deviations, ours.deviations)]
    for table, measure, published_values, our_values in (*columns, ("3", "rank", theirs.ranks, ours.ranks)):
        for dataset, their, mine in zip(SETS, published_values[name], our_values[name], strict=True):
            about = {"dataset": dataset, "metric": name, "measure": measure}
            yield make_row(table, about, float(their), float(mine), "our data")


def _table4(name: str, numbers: Numbers, source: str, which: tuple[str, ...]) -> Iterator[Row]:
    for kind in which:
        measure, value = TABLE4[kind]
        about = {"dataset": None, "metric": name, "measure": measure}
        yield make_row("4", about, get_printed_value(name, measure), value(name, numbers), source)


def order_correlation(name: str, numbers: Numbers) -> float:
    """Return Spearman of the ranks of sets by a metric and by people."""
    return spearman(numbers.ranks[name], numbers.ranks[HUMAN])


def mark_random_sets() -> NDArray[np.bool_]:
    """Return which sets are random pairs."""
    return np.array([dataset.endswith("_random") for dataset in SETS])


TABLE4: dict[str, tuple[str, Callable[[str, Numbers], float]]] = {
    "correlation": ("correlation_with_human", lambda name, of: abs(pearson(of.means[name], of.means[HUMAN]))),
    "order": ("order_correlation_with_human", order_correlation),
    "variability": (
        "variability_on_random_pct",
        lambda name, of: compute_variability(of.means[name], mark_random_sets()),
    ),
}


def count_coinciding(a: Floats, b: Floats) -> float:
    """Return how many sets have the same rank in both orders; NaN where a set has no rank, as a set without a mean.

    >>> count_coinciding(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    1.0
    """
    return float((a == b).sum()) if np.isfinite(a + b).all() else float("nan")


def count_swaps(a: Floats, b: Floats) -> float:
    """Half of Spearman's footrule, Σ|a − b|/2: what the paper publishes as the number of swaps; NaN as above.

    >>> count_swaps(np.array([1.0, 2, 3, 4]), np.array([4.0, 2, 3, 1]))
    3.0
    """
    return float(np.abs(a - b).sum()) / 2.0


def compute_variability(means: Floats, random: NDArray[np.bool_]) -> float:
    """Range of the means on random sets over their range on all sets, in percent; NaN where all means are equal.

    >>> compute_variability(np.array([0.0, 0.1, 0.5, 1.0]), np.array([True, True, False, False]))
    10.0
    """
    whole = float(np.ptp(means)) if len(means) else 0.0
    if not random.any() or not np.isfinite(whole) or whole == 0.0:
        return float("nan")
    return 100.0 * float(np.ptp(means[random])) / whole


def set_deviations(values: Floats, sets: NDArray[np.str_], labels: list[str]) -> Floats:
    """Return the standard deviation of each set over its values that are finite; NaN where none is."""
    parts = [values[(sets == label) & np.isfinite(values)] for label in labels]
    return np.array([float(part.std()) if len(part) else np.nan for part in parts])


def _table5(name: str, numbers: Numbers, source: str) -> Iterator[Row]:
    for measure, of in (("coinciding_ranks", count_coinciding), ("swaps", count_swaps)):
        about = {"dataset": None, "metric": name, "measure": measure}
        value = of(numbers.ranks[name], numbers.ranks[HUMAN])
        yield make_row("5", about, get_printed_value(name, measure), value, source)


def _figure1(numbers: Numbers, source: str) -> Iterator[Row]:
    """Yield the cells above the diagonal: every two of the thirteen metrics and people."""
    printed = {
        row["metric"]: row for row in load_published("yamshchikov2020_figure1_order_correlation").iter_rows(named=True)
    }
    for name, other in combinations([name for name in printed if name in numbers.ranks], 2):
        about = {"dataset": None, "metric": name, "measure": "order_correlation", "other": other}
        value = spearman(numbers.ranks[name], numbers.ranks[other])
        yield make_row("figure1", about, float(printed[name][other]), value, source)


def get_printed_value(name: str, measure: str) -> float:
    """Return a number of tables 4 and 5."""
    rows = load_published("yamshchikov2020_table4_5").iter_rows(named=True)
    return next(float(row[measure]) for row in rows if row["metric"] == name)
