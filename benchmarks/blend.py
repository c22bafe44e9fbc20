"""`blend` from rated sets: values of features, families left out in turn, and the weights that the package brings.

    python -m benchmarks.blend features SETS STATE
    python -m benchmarks.blend table SETS STATE
    python -m benchmarks.blend weights SETS STATE
    python -m benchmarks.blend ratings SETS STATE

SETS is a CSV table of rated sets: set, family, file, low, high, licence, weights, pairs. `file` is a CSV table with the
columns left, right and rating; `low` and `high` are the ends of the scale; `weights` is 1 where the licence allows to
publish sums of the ratings; `pairs` of the set are drawn at random. STATE is a folder; values are kept there and
computed once. No text is kept.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from textgauge.bench.learned import (
    find_best_metric,
    fit_curve,
    fit_model,
    make_start,
    solve_weights,
    sum_products,
    weigh_own_ratings,
)
from textgauge.bench.rated_features import RatedFeatures
from textgauge.core.arrays import Floats
from textgauge.data import Corpus, Pairs
from textgauge.metrics import get_pair_metrics
from textgauge.metrics.pair.ensemble import Trained, compute_features
from textgauge.metrics.pair_metric import PairMetric
from textgauge.stats.correlation import spearman

FEATURES = (
    "chrf,rouge1,rouge2,rougeL,levenshtein,meteor,cosine,cosine@bge-small-int8,bertscore,cosine@gte-small,cosine@mpnet,"
    "cosine@e5-small"
)
SMALL = "chrf,rouge1,rouge2,rougeL,levenshtein,meteor,cosine,cosine@bge-small-int8,bertscore"


@dataclass(frozen=True)
class Shipped:
    """A model that the package brings: which features it uses, and whether their weights are equal."""

    name: str
    recipe: str
    features: str
    plain: bool

    def use(self, key: str) -> bool:
        return key in self.features.split(",")


SHIPPED = (
    Shipped(
        "blend",
        "plain mean of standardised cosines",
        "cosine,cosine@bge-small-int8,cosine@gte-small,cosine@mpnet,cosine@e5-small",
        True,
    ),
    Shipped("blend-small", "plain mean of standardised cosines", "cosine,cosine@bge-small-int8", True),
)
SPLITS, _FEWEST_TESTED = 6, 60  # of own ratings: repetitions, and pairs that are left to test on
TOP = 0.98  # the value of texts that all features find equal
FOLDER = Path(__file__).parents[1] / "src" / "textgauge" / "metrics" / "pair"


@dataclass(frozen=True)
class RatedSet:
    """One rated set: where it is, the ends of its scale, whether sums of its ratings may be published."""

    name: str
    family: str
    file: Path
    low: float
    high: float
    licence: str
    weights: bool
    pairs: int

    def read(self) -> tuple[Pairs, Floats]:
        """Return the pairs that are used, and their ratings from 0 to 1."""
        with self.file.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        some = np.sort(np.random.default_rng(0).permutation(len(rows))[: self.pairs])
        left, right = ([rows[i][side] for i in some] for side in ("left", "right"))
        ratings = np.array([float(rows[i]["rating"]) for i in some])
        return Pairs(Corpus.of(left), Corpus.of(right)), (ratings - self.low) / (self.high - self.low)


def read_sets(path: Path) -> list[RatedSet]:
    """Return the rated sets of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            RatedSet(
                row["set"],
                row["family"],
                path.parent / row["file"],
                float(row["low"]),
                float(row["high"]),
                row["licence"],
                row["weights"] == "1",
                int(row["pairs"]),
            )
            for row in csv.DictReader(file)
        ]


def keep_features(sets: list[RatedSet], state: Path, metrics: Sequence[PairMetric]) -> None:
    """Compute what the state lacks, one feature after the other."""
    file = state / "features.jsonl"
    there = {(row["set"], row["metric"]) for row in map(json.loads, file.open())} if file.exists() else set()
    for metric in metrics:
        for one in sets:
            if (one.name, metric.key) in there:
                continue
            pairs, ratings = one.read()
            values = compute_features([metric], pairs)[:, 0].tolist()
            row = {"set": one.name, "metric": metric.key, "values": values, "ratings": ratings.tolist()}
            with file.open("a") as out:
                out.write(json.dumps(row) + "\n")
            print(metric.key, one.name, flush=True)


Use = Callable[[str], bool]  # whether a feature is used, by its name
Values = dict[str, tuple[Floats, Floats]]  # of each set: features, pairs by features, and ratings


def read_values(sets: list[RatedSet], state: Path, features: list[str]) -> Values:
    """Return what the state holds of these sets."""
    rows = {(row["set"], row["metric"]): row for row in map(json.loads, (state / "features.jsonl").open())}
    return {
        one.name: (
            np.column_stack([rows[one.name, feature]["values"] for feature in features]),
            np.array(rows[one.name, features[0]]["ratings"]),
        )
        for one in sets
    }


def average_families(sets: list[RatedSet], of: Callable[[RatedSet], Floats]) -> Floats:
    """Return the mean over families of the mean over their sets."""
    families: dict[str, list[Floats]] = {}
    for one in sets:
        families.setdefault(one.family, []).append(of(one))
    return np.mean([np.mean(found, axis=0) for found in families.values()], axis=0)


def fit_prior(sets: list[RatedSet], values: Values, metrics: Sequence[PairMetric], use: Use, plain: bool) -> Trained:
    """Fit weights of the features in use (equal ones if `plain`), and the curve from their sum to ratings.

    The sums are such that training on other ratings starts from these weights: least squares would give them.
    """
    mean = average_families(sets, lambda one: np.nanmean(values[one.name][0], axis=0))
    scale = np.sqrt(average_families(sets, lambda one: np.nanvar(values[one.name][0], axis=0)))

    def sum_set(one: RatedSet) -> Floats:
        features, ratings = values[one.name]
        standard = np.nan_to_num((features - mean) / scale)
        return sum_products(standard, ratings, np.zeros(len(ratings), dtype=np.int64))

    found = len({one.family for one in sets}) * average_families(sets, sum_set)
    products, along = found[:, :-1], found[:, -1]
    some = np.flatnonzero([use(metric.key) for metric in metrics])
    weights = np.zeros(len(mean))
    weights[some] = 1.0 if plain else solve_weights(found[np.ix_(some, [*some, -1])])
    weights *= (along @ weights) / (weights @ products @ weights)
    scores = {one.name: np.nan_to_num((values[one.name][0] - mean) / scale) @ weights for one in sets}
    of_family = [one.family for one in sets]
    slope, intercept = fit_curve(
        np.concatenate([scores[one.name] for one in sets]),
        np.concatenate([values[one.name][1] for one in sets]),
        np.concatenate([np.full(n := len(scores[one.name]), 1.0 / n / of_family.count(one.family)) for one in sets]),
    )
    # People rate equal texts at the top of their scale: the curve keeps its middle and reaches TOP there.
    top = intercept + slope * float(weights @ ((1.0 - mean) / scale))
    steeper = float(np.log(TOP / (1.0 - TOP))) / top
    sums = np.column_stack([products, products @ weights])
    return Trained(tuple(metrics), mean, scale, steeper * slope * weights, steeper * intercept, sums)


def leave_families_out(
    sets: list[RatedSet], values: Values, metrics: Sequence[PairMetric], use: Use, plain: bool = False
) -> dict[str, float]:
    """Return ρ on each set by weights of the other families whose sums may be published."""
    found = {}
    for family in dict.fromkeys(one.family for one in sets):
        others = [one for one in sets if one.family != family and one.weights]
        model = fit_prior(others, values, metrics, use, plain)
        for one in sets:
            if one.family == family:
                features, ratings = values[one.name]
                found[one.name] = spearman(ratings, model.predict(features))
    return found


def print_table(sets: list[RatedSet], values: Values, metrics: Sequence[PairMetric]) -> None:
    """Print each recipe and single feature: mean ρ, and how it compares with cosine and bertscore."""
    keys = [metric.key for metric in metrics]
    small = set(SMALL.split(","))
    singles = {
        key: {one.name: spearman(values[one.name][1], np.nan_to_num(values[one.name][0][:, place])) for one in sets}
        for place, key in enumerate(keys)
    }
    dense = ("cosine", "bertscore")
    recipes: dict[str, tuple[Use, bool]] = {
        "plain mean of cosines": (lambda key: key.startswith("cosine"), True),
        "plain mean of cosines and bertscores": (lambda key: key.startswith(dense), True),
        "plain mean, small": (lambda key: key in small and key.startswith("cosine"), True),
        "plain mean, small, bertscore": (lambda key: key in small and key.startswith(dense), True),
        "all features": (lambda key: True, False),
        "all, small": (lambda key: key in small, False),
        "without n-grams": (lambda key: key.startswith((*dense, "cross")), False),
        "cosines": (lambda key: key.startswith("cosine"), False),
        **{f"without {key}": (lambda other, key=key: other != key, False) for key in keys},
        **{
            f"plain mean without {key}": (lambda other, key=key: other != key and other.startswith("cosine"), True)
            for key in keys
            if key.startswith("cosine")
        },
    }
    rows = {name: leave_families_out(sets, values, metrics, *recipe) for name, recipe in recipes.items()} | singles
    rows["best single, known afterwards"] = {
        one.name: max(single[one.name] for single in singles.values()) for one in sets
    }
    for name, rhos in rows.items():
        by_family = average_families(sets, lambda one, rhos=rhos: np.array(rhos[one.name]))  # type: ignore[misc]
        means = float(np.mean(list(rhos.values()))), float(by_family)
        against = [compare_rows(sets, rhos, rows[other]) for other in ("cosine", "bertscore")]
        print(f"| {name} | {means[0]:.3f} | {means[1]:.3f} | {' | '.join(against)} |")


def compare_rows(sets: list[RatedSet], rhos: dict[str, float], others: dict[str, float]) -> str:
    """Return the mean difference with an interval over families, the sets where it is above 0, and the worst one."""
    families = list(dict.fromkeys(one.family for one in sets))
    gaps = [np.array([rhos[one.name] - others[one.name] for one in sets if one.family == of]) for of in families]
    rng, found = np.random.default_rng(0), np.concatenate(gaps)
    draws = [np.concatenate([gaps[i] for i in rng.integers(len(gaps), size=len(gaps))]).mean() for _ in range(2_000)]
    low, high = np.quantile(draws, [0.025, 0.975])
    wins = f"{(found > 0).sum()} of {len(found)}, worst {found.min():+.3f}"
    return f"{found.mean():+.3f} ({low:+.3f} to {high:+.3f}), {wins}"


def write_weights(sets: list[RatedSet], values: Values, metrics: Sequence[PairMetric], shipped: Shipped) -> None:
    """Write a model file of the package, with its card."""
    trained = fit_prior(sets, values, metrics, shipped.use, shipped.plain)
    rhos = leave_families_out(sets, values, metrics, shipped.use, shipped.plain)
    card = {
        "recipe": shipped.recipe,
        "pairs": sum(len(values[one.name][1]) for one in sets),
        "sets": [
            {
                "set": one.name,
                "family": one.family,
                "licence": one.licence,
                "pairs": len(values[one.name][1]),
                "spearman_left_out": round(rhos[one.name], 3),
            }
            for one in sets
        ],
    }

    def cut(numbers: Floats) -> Floats:
        return np.array([float(f"{number:.6g}") for number in numbers.ravel()]).reshape(numbers.shape)

    kept = replace(
        trained,
        **{name: cut(getattr(trained, name)) for name in ("mean", "scale", "weights", "sums")},
        intercept=float(f"{trained.intercept:.6g}"),
        signatures=tuple(metric.signature for metric in metrics),
        about=card,
    )
    kept.save(FOLDER / f"{shipped.name}.json")
    print(shipped.name, {metric.key: float(weight) for metric, weight in zip(metrics, kept.weights, strict=True)})


def print_own_ratings(sets: list[RatedSet], values: Values, metrics: Sequence[PairMetric], counts: list[int]) -> None:
    """Print what ratings of the same set add, on its other pairs; the prior has no pair of the set's family."""
    keys = [metric.key for metric in metrics]
    rows: dict[int, dict[str, dict[str, float]]] = {count: {} for count in counts}
    for one in sets:
        others = [other for other in sets if other.family != one.family and other.weights]
        prior = fit_prior(others, values, metrics, SHIPPED[-1].use, SHIPPED[-1].plain)
        features, ratings = values[one.name]
        for count in (count for count in counts if len(ratings) >= count + _FEWEST_TESTED):
            found = []
            for split in range(SPLITS):
                order = np.random.default_rng([split, 5]).permutation(len(ratings))
                mine, rest = order[:count], order[count:]
                zeros = np.zeros(count, dtype=np.int64)
                rated = RatedFeatures(
                    tuple(metrics), features[mine], ratings[mine], zeros, zeros, np.arange(count), zeros
                )
                if (rated.ratings == rated.ratings[0]).all():
                    continue
                start = make_start(rated, prior)
                model = fit_model(rated, start, weigh_own_ratings(rated, start))
                columns = {
                    "learned": model.predict(features[rest]),
                    "prior": prior.predict(features[rest]),
                    "best single of the same ratings": features[rest, find_best_metric(rated)],
                    **{key: features[rest, keys.index(key)] for key in ("cosine", "bertscore")},
                }
                found.append({name: spearman(ratings[rest], column) for name, column in columns.items()})
            rows[count][one.name] = {name: float(np.mean([row[name] for row in found])) for name in found[0]}
    for count, table in rows.items():
        tested = [one for one in sets if one.name in table]
        print(f"{count} ratings, {len(tested)} sets")
        for name in next(iter(table.values()), {}):
            gaps = compare_rows(
                tested, {n: row["learned"] for n, row in table.items()}, {n: row[name] for n, row in table.items()}
            )
            print(f"| {name} | {np.mean([row[name] for row in table.values()]):.3f} | {gaps} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["features", "table", "weights", "ratings"])
    parser.add_argument("sets", type=Path)
    parser.add_argument("state", type=Path)
    parser.add_argument("--features", default=FEATURES)
    parser.add_argument("--once", action="store_true", help="look at the families that are not in the weights, too")
    given = parser.parse_args()
    sets = [one for one in read_sets(given.sets) if one.weights or given.once or given.what == "features"]
    metrics = get_pair_metrics(given.features)
    if given.what == "features":
        keep_features(sets, given.state, metrics)
        return
    values = read_values(sets, given.state, [metric.key for metric in metrics])
    if given.what == "table":
        print_table(sets, values, metrics)
    elif given.what == "ratings":
        print_own_ratings(sets, values, metrics, [20, 50, 100])
    else:
        for one, names in zip(SHIPPED, (given.features, SMALL), strict=True):
            chosen = get_pair_metrics(names)
            some = {
                name: (features[:, [metrics.index(metric) for metric in chosen]], ratings)
                for name, (features, ratings) in values.items()
            }
            write_weights(sets, some, chosen, one)


if __name__ == "__main__":
    main()
