"""Train a stacked pair metric on rated pairs, and test on sets left out whether it beats the best of its parts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.arrays import Floats, Ints
from textgauge.data import Pairs
from textgauge.data.view import TextsLike
from textgauge.errors import InputError
from textgauge.evaluate.contrasts import EnsembleContrast, RatingAgreement, ensemble_contrasts, rating_agreement
from textgauge.metrics import Metric, PairMetric, get_metric, get_pair_metrics, list_metrics
from textgauge.metrics.base import versions
from textgauge.metrics.ensemble_file import Model, Trained, checked_feature, is_feature
from textgauge.metrics.pair.ensemble import feature_values
from textgauge.numerics.regression import fit_boosting, fit_ridge, one_scale
from textgauge.scoring.score import References, checked_pairs
from textgauge.tabular import Tabular, plain_row, text_table

Kind = Literal["ridge", "boosting"]
Step: TypeAlias = Callable[[str], None]
KINDS: tuple[Kind, ...] = ("ridge", "boosting")
# Beside every metric in its default form: encoders that were trained on other data than the default one.
_ENCODERS = "cosine@paraphrase-minilm|wordllama"
_PACKAGES = {"pos_distance": "pycrfsuite"}  # of extras
_MOST_FOLDS = 20
_FEWEST_PAIRS = 20
Rated: TypeAlias = tuple[TextsLike, References, Iterable[float], Iterable[Any] | None]
_SHOWN = ("measure", "ensemble", "best", "single", "difference", "low", "high", "p", "n")


@dataclass(frozen=True, eq=False)
class RatedFeatures:
    """Values of metrics (pairs by metrics, larger is closer), ratings, and what is left out together.

    `groups` are the sets whose means are ranked, one for all pairs where none were given; `folds` the pairs that
    cross-validation leaves out together.
    """

    metrics: tuple[PairMetric, ...]
    values: Floats
    ratings: Floats
    groups: Ints
    folds: Ints
    fingerprint: str

    def __len__(self) -> int:
        return len(self.ratings)

    def take(self, rows: NDArray[Any]) -> RatedFeatures:
        """Some of the pairs."""
        columns = {name: getattr(self, name)[rows] for name in ("values", "ratings", "groups", "folds")}
        return replace(self, **columns)

    def joined(self, other: RatedFeatures) -> RatedFeatures:
        """These pairs, then others on the same metrics, which are groups of their own and never left out (fold −1)."""
        if self.metrics != other.metrics:
            raise InputError("pairs to learn from need the same metrics as the pairs they are to help with")
        return replace(
            self,
            values=np.concatenate([self.values, other.values]),
            ratings=np.concatenate([self.ratings, other.ratings]),
            groups=np.concatenate([self.groups, other.groups + self.groups.max() + 1]),
            folds=np.concatenate([self.folds, np.full(len(other), -1)]),
            fingerprint=f"{self.fingerprint}+{other.fingerprint}",
        )


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """Predictions for left-out pairs on one scale, and how well they and each single metric agree with people.

    `contrasts` set the stacked metric against the best single one, measure by measure. That one is chosen with the
    ratings of all pairs in sight, which is in its favour.
    """

    predictions: Floats
    stacked: RatingAgreement
    singles: tuple[RatingAgreement, ...]
    contrasts: tuple[EnsembleContrast, ...]

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per measure."""
        return [row.to_dict() for row in self.contrasts]


def all_features() -> list[PairMetric]:
    """Every pair metric that is computed here, its parts, and `cosine` of the other built-in encoders.

    Left out are metrics that ask a model or service of the user's, and those whose optional package is not installed.
    """
    found: list[PairMetric] = list_metrics(kind="pair")
    here = [metric for metric in found if is_feature(metric) and _installed(metric)]
    parts = [replace(metric, part=part.name) for metric in here for part in metric.parts]
    return [*here, *parts, *get_pair_metrics(_ENCODERS)]


def rated_features(
    pairs: Pairs,
    ratings: Iterable[float],
    *,
    metrics: str | Iterable[str | Metric] | None = None,
    groups: Iterable[Any] | None = None,
    folds: Iterable[Any] | None = None,
    on_step: Step = lambda _: None,
) -> RatedFeatures:
    """The values of metrics on rated pairs, ready for training; of `all_features` unless some are named.

    Without `folds`, whole groups are left out, up to 20 at a time where there are more; without groups, the pairs of
    one left text. Metrics with fitted weights take them from the texts of all pairs; no rating has a part in that.
    """
    named = all_features() if metrics is None else get_pair_metrics(metrics)
    chosen = tuple(checked_feature(metric) for metric in named)
    if not chosen:
        raise InputError("an ensemble needs at least one metric")
    grades = _checked_ratings(ratings, len(pairs))
    sets = None if groups is None else _labels(groups, "groups", len(pairs))
    given = None if folds is None else _labels(folds, "folds", len(pairs))
    split = _folds(pairs, sets) if given is None else given
    if len(np.unique(split)) < 2:
        raise InputError("cross-validation leaves out one group of pairs after the other and needs at least two")
    distinct, inverse = pairs.distinct()
    values = _values(chosen, distinct, on_step)[inverse]
    together = np.zeros(len(pairs), dtype=np.int64) if sets is None else sets
    return RatedFeatures(chosen, values, grades, together, split, _fingerprint(pairs, grades, together))


def train(
    rated: RatedFeatures,
    *,
    also: RatedFeatures | None = None,
    model: Kind = "ridge",
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    about: str = "",
) -> Trained:
    """A model trained on all pairs; `save` writes it to a file that `ensemble@FILE` scores pairs with.

    `scale` holds the ratings of texts with nothing in common and of texts that say the same; the smallest and the
    largest rating unless given. Where small ratings mean closer, give the larger one first. `also` holds rated pairs of
    other data to learn from, larger ratings closer; its smallest and largest one are put on the ends of the scale.
    """
    worst, best = _scale(rated, scale)
    known = _with(rated, also, worst, best)
    fitted = _fit(known, model, best > worst, seed)
    trained = {
        "data": about,
        "pairs": len(known),
        "groups": len(np.unique(known.groups)),
        "fingerprint": known.fingerprint,
        "seed": seed,
        "versions": list(versions("textgauge", "numpy", "scikit-learn")),
    }
    signatures = tuple(metric.signature for metric in rated.metrics)
    return Trained(rated.metrics, signatures, fitted, worst, best, trained)


def cross_validated(
    rated: RatedFeatures,
    *,
    also: RatedFeatures | None = None,
    model: Kind = "ridge",
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = 1_000,
    level: float = 0.95,
    on_step: Step = lambda _: None,
) -> CrossValidated:
    """Leave out one fold after the other, train on the rest and on all of `also`, predict what was left out.

    The parameters of a model, its penalty among them, come from the rest alone. The predictions of all models are
    brought to one scale before they are put together: the rank that each gives a pair among all pairs, from 0 to 1. An
    undefined value of a single metric counts as the mean of the others.
    """
    worst, best = _scale(rated, scale)
    up = best > worst
    predictions = np.empty(len(rated))
    for fold in np.unique(rated.folds):
        on_step(f"fold {fold + 1}")
        here = rated.folds == fold
        fitted = _fit(_with(rated.take(~here), also, worst, best), model, up, seed)
        clamped = np.clip(fitted.predict(rated.values), min(worst, best), max(worst, best))
        predictions[here] = one_scale(clamped if up else -clamped)[here]
    gold = rated.ratings if up else -rated.ratings
    columns = {metric.key: _filled(rated.values[:, i]) for i, metric in enumerate(rated.metrics)}
    singles = tuple(rating_agreement(name, gold, column, rated.groups) for name, column in columns.items())
    stacked = rating_agreement("ensemble", gold, predictions, rated.groups)
    options: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
    contrasts = ensemble_contrasts(gold, predictions, columns, rated.groups, stacked, singles, **options)
    return CrossValidated(predictions, stacked, singles, contrasts)


def _installed(metric: PairMetric) -> bool:
    return metric.name not in _PACKAGES or find_spec(_PACKAGES[metric.name]) is not None


def _fit(rated: RatedFeatures, model: Kind, up: bool, seed: int) -> Model:
    if model not in KINDS:
        raise InputError(f"the model is one of {', '.join(KINDS)}, not {model!r}")
    if model == "boosting":
        return fit_boosting(rated.values, rated.ratings, rising=up, seed=seed)
    folds, own = rated.folds, rated.folds >= 0
    if len(np.unique(folds[own])) < 2:  # nothing to choose a penalty by but halves of it
        folds = np.where(own, np.arange(len(rated)) % 2, -1)
    return fit_ridge(rated.values, rated.ratings, rated.groups, folds)


def _with(rated: RatedFeatures, also: RatedFeatures | None, worst: float, best: float) -> RatedFeatures:
    if also is None:
        return rated
    low, high = float(also.ratings.min()), float(also.ratings.max())
    if low == high:
        raise InputError("all ratings of the pairs to learn from, too, are equal")
    return rated.joined(replace(also, ratings=worst + (also.ratings - low) * (best - worst) / (high - low)))


def _values(metrics: tuple[PairMetric, ...], distinct: Pairs, on_step: Step) -> Floats:
    """Feature values, the metrics of one family named as they are computed."""
    blocks: dict[int, Floats] = {}
    wholes = [replace(metric, part=None) for metric in metrics]
    for whole in dict.fromkeys(wholes):
        on_step(whole.key)
        places = [place for place, other in enumerate(wholes) if other == whole]
        found = feature_values([metrics[place] for place in places], distinct)
        blocks |= dict(zip(places, found.T, strict=True))
    return np.column_stack([blocks[place] for place in range(len(metrics))])


def _checked_ratings(ratings: Iterable[float], pairs: int) -> Floats:
    grades = np.array(list(ratings), dtype=np.float64)
    if len(grades) != pairs:
        raise InputError(f"{pairs} pairs but {len(grades)} ratings")
    if pairs < _FEWEST_PAIRS:
        raise InputError(f"{pairs} rated pairs are too few to learn from; give at least {_FEWEST_PAIRS}")
    if not np.isfinite(grades).all():
        raise InputError(f"rating {int(np.argmin(np.isfinite(grades)))} is not a finite number")
    if (grades == grades[0]).all():
        raise InputError(f"all ratings are {grades[0]:g}: there is nothing to learn")
    return grades


def _labels(cells: Iterable[Any], name: str, pairs: int) -> Ints:
    found = np.array([str(cell) for cell in cells])
    if len(found) != pairs:
        raise InputError(f"{pairs} pairs but {len(found)} {name}")
    return np.asarray(np.unique(found, return_inverse=True)[1], dtype=np.int64)


def _folds(pairs: Pairs, groups: Ints | None) -> Ints:
    if groups is not None:
        return groups if groups.max() < _MOST_FOLDS else groups % _MOST_FOLDS
    # Keys are hashes of texts: the remainder of their rank is a random deal that no order of the rows decides.
    return np.asarray(np.unique(pairs.left.keys, return_inverse=True)[1] % 10, dtype=np.int64)


def _scale(rated: RatedFeatures, scale: tuple[float, float] | None) -> tuple[float, float]:
    worst, best = scale or (float(rated.ratings.min()), float(rated.ratings.max()))
    if not (np.isfinite([worst, best]).all() and worst != best):
        raise InputError(f"the scale needs two different numbers, not {worst:g} and {best:g}")
    if rated.ratings.min() < min(worst, best) or rated.ratings.max() > max(worst, best):
        raise InputError(f"there are ratings outside the scale from {worst:g} to {best:g}")
    return float(worst), float(best)


def _filled(column: Floats) -> Floats:
    known = column[~np.isnan(column)]
    return np.where(np.isnan(column), known.mean() if len(known) else 0.0, column)


def _fingerprint(pairs: Pairs, ratings: Floats, groups: Ints) -> str:
    columns = (pairs.left.keys, pairs.right.keys, ratings, groups)
    return hashlib.blake2b(b"".join(column.tobytes() for column in columns), digest_size=8).hexdigest()


@dataclass(frozen=True, eq=False)
class Stack(Tabular):
    """A trained ensemble; its rows set it against the best single metric on pairs that were left out.

    `trained` is the model of all pairs, `judged` holds the predictions for left-out pairs and all single metrics.
    """

    trained: Trained
    judged: CrossValidated

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per measure."""
        return self.judged.to_dicts()

    def shares(self) -> list[dict[str, Any]]:
        """How much of the model each metric has, most first: of |weights|, or of the splits of trees."""
        metrics = self.trained.metrics
        found = zip(metrics, self.trained.model.shares(len(metrics)), strict=True)
        rows = [plain_row({"metric": metric.key, "share": float(share)}) for metric, share in found]
        return sorted(rows, key=lambda row: -row["share"])

    def save(self, path: str | os.PathLike[str]) -> PairMetric:
        """Write the model to a JSON file and give the metric that scores with it, `ensemble@path`."""
        self.trained.save(path)
        metric: PairMetric = get_metric(f"ensemble@{os.fspath(path)}")
        return metric

    def __str__(self) -> str:
        return text_table([{name: row[name] for name in _SHOWN} for row in self.to_dicts()])


def ensemble(
    *,
    left: TextsLike,
    right: References,
    target: Iterable[float],
    metrics: str | Iterable[str | Metric] | None = None,
    groups: Iterable[Any] | None = None,
    also: Rated | None = None,
    model: Kind = "ridge",
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = 1_000,
    about: str = "",
    on_step: Step = lambda _: None,
) -> Stack:
    """Stack pair metrics into one that predicts `target`, people's ratings of the pairs.

    `metrics` are by default all that can be computed here (`all_features`). `groups` are the sets of the pairs: one
    is left out after the other to see what was learned; without them, the pairs of some texts. `also` holds the left
    texts, right texts, ratings, and groups (or None) of other data to learn from, never left out. `scale` holds the
    ratings of texts with nothing in common and of texts that say the same, where they are not the smallest and the
    largest.

    >>> left = ["a red cat sleeps", "the old house", "a stone in the river", "blue dogs run"] * 10
    >>> right = ["a red cat naps", "the new tree", "a stone in the stream", "cats sleep"] * 10
    >>> stack = ensemble(left=left, right=right, target=[4, 2, 5, 1] * 10, metrics="jaccard,chrf", resamples=100)
    >>> [row["metric"] for row in stack.shares()]
    ['jaccard', 'chrf']
    """

    def features(rated: Rated) -> RatedFeatures:
        texts, references, ratings, sets = rated
        return rated_features(checked_pairs(texts, references), ratings, metrics=metrics, groups=sets, on_step=on_step)

    own = features((left, right, target, groups))
    options: dict[str, Any] = {"model": model, "scale": scale, "seed": seed}
    options["also"] = None if also is None else features(also)
    trained = train(own, **options, about=about)
    return Stack(trained, cross_validated(own, **options, resamples=resamples, on_step=on_step))
