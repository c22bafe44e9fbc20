"""Learned pair metrics: non-negative sums of other pair metrics, held by JSON files; `blend` comes with the package."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError, TextgaugeError, warn
from textgauge.core.files import seal_json, unseal_json, write_atomically
from textgauge.core.progress import begin_step
from textgauge.core.settings import read_stored_bytes
from textgauge.core.show import FlatRow
from textgauge.data import Corpus, Pairs
from textgauge.data.view import join_pools
from textgauge.metrics.base import PACKAGES, UNBOUNDED, VALUE, Part
from textgauge.metrics.cautions import TextSketch, parse_sketch
from textgauge.metrics.pair_metric import BROUGHT, Columns, PairMetric, decide_easy_pairs
from textgauge.metrics.registry import get_metric, get_pair_metrics, register

FORMAT = "textgauge ensemble 2"
_BUILT_IN = re.compile(r"[\w-]*")


@dataclass(frozen=True, eq=False)
class Trained:
    """A model of ratings over the values of pair metrics, turned so that larger is closer.

    Each feature is standardised, a missing one at its mean; a logistic curve brings the sum with non-negative `weights`
    to 0 to 1. `worst` and `best` are the ratings of texts with nothing in common and of texts that say the same.
    `signatures` are those of the metrics when the model was trained; `about` says what it was trained on, `texts` is a
    sketch of it. Training on other ratings starts from `sums`: what rated sets say of features, as their products with
    each other and, in the last column, with ratings, within sets, summed by family.
    """

    metrics: tuple[PairMetric, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    intercept: float = 0.0
    sums: Floats = field(default_factory=lambda: np.empty((0, 0)))
    signatures: tuple[str, ...] = ()
    worst: float = 0.0
    best: float = 1.0
    about: Mapping[str, Any] = field(default_factory=dict)
    texts: TextSketch | None = None

    @property
    def shares(self) -> Floats:
        """Each metric's share of the sum of weights."""
        return np.asarray(self.weights / max(float(self.weights.sum()), np.finfo(float).tiny))

    @property
    def used(self) -> Trained:
        """The model of the metrics that have weight: nothing else needs to be computed."""
        some = np.flatnonzero(self.weights) if self.weights.any() else np.arange(1)
        mean, scale, weights = (column[some] for column in (self.mean, self.scale, self.weights))
        metrics = tuple(self.metrics[place] for place in some)
        signatures = tuple(self.signatures[place] for place in some)
        return Trained(metrics, mean, scale, weights, self.intercept, signatures=signatures)

    def standardise(self, features: Floats) -> Floats:
        """Return features at mean 0 and deviation 1; a missing one is at its mean."""
        return np.nan_to_num((features - self.mean) / self.scale)

    def contributions(self, features: Floats) -> Floats:
        """Return what each feature adds to the log-odds, in the shape of the features."""
        return np.asarray(self.standardise(features) * self.weights)

    def predict(self, features: Floats) -> Floats:
        """Return one number from 0 to 1 per row; a row depends on itself alone, bit by bit."""
        return to_share(self.intercept + np.ascontiguousarray(self.contributions(features)).sum(axis=1))

    def to_json(self) -> str:
        """Return the text of the model file."""
        columns = zip(self.metrics, self.signatures, self.mean, self.scale, self.weights, strict=True)
        content = {
            "format": FORMAT,
            "features": [
                {"metric": metric.key, "signature": signature, "mean": mean, "scale": scale, "weight": weight}
                for metric, signature, mean, scale, weight in columns
            ],
            "intercept": self.intercept,
            "scale": [self.worst, self.best],
            "trained": dict(self.about),
        }
        if self.sums.size:
            content["sums"] = {"products": self.sums[:, :-1].tolist(), "along": self.sums[:, -1].tolist()}
        if self.texts is not None:
            content["texts"] = self.texts.to_dict()
        return json.dumps(seal_json(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        write_atomically(Path(path), self.to_json())


def to_share(log_odds: Floats) -> Floats:
    """Return the logistic function of log-odds."""
    from scipy.special import expit

    return np.asarray(expit(log_odds))


def load_model(path: str | os.PathLike[str]) -> tuple[Trained, str]:
    """Return the model of a file and a digest of its content; read again only when the file has changed."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise InputError(f"{path}: no such model file; `textgauge train ensemble ... -o FILE` makes one")
    status = file.stat()
    return _load(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _load(file: Path, _changed: int, _size: int) -> tuple[Trained, str]:
    try:
        data = read_stored_bytes(file)
        return parse_model(data.decode()), hashlib.blake2b(data, digest_size=8).hexdigest()
    except (OSError, TextgaugeError, ValueError) as error:
        raise InputError(f"{file}: {getattr(error, 'strerror', None) or error}") from None


def load_blend(name: str) -> tuple[Trained, str]:
    """Return a model that comes with the package, and a digest of its content."""
    return load_model(Path(__file__).with_name(f"{name}.json"))


def parse_model(text: str) -> Trained:
    """Return the model in the text of a model file; raise `InputError` where it is none."""
    try:
        content = unseal_json(text)
    except ValueError as error:
        raise InputError(f"not a model file, or a damaged one: {str(error)[:80]}") from None
    if content.get("format") != FORMAT:
        raise InputError(f"not a model file of this version ({FORMAT!r}); train the ensemble again")
    try:
        rows, sums = content["features"], content.get("sums")
        keys, signatures = (tuple(str(row[name]) for row in rows) for name in ("metric", "signature"))
        mean, scale, weights = (np.array([float(row[name]) for row in rows]) for name in ("mean", "scale", "weight"))
        intercept, (worst, best) = float(content["intercept"]), map(float, content["scale"])
        parts = (
            [np.array(sums[name], dtype=np.float64) for name in ("products", "along")] if sums else [np.empty((0, 0))]
        )
        prior = np.column_stack(parts)
        about = dict(content.get("trained", {}))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"not a model file: a part is missing or wrong ({type(error).__name__}: {error})") from None
    if not (np.isfinite([*mean, *scale, *weights, intercept]).all() and (weights >= 0).all() and scale.all()):
        raise InputError("not a model file: its numbers are finite, weights at least 0, scales not 0")
    metrics = tuple(map(check_feature, get_pair_metrics([get_metric(key) for key in keys])))
    if len(metrics) != len(keys):
        raise InputError("not a model file: it has a feature twice")
    sketch = parse_sketch(content.get("texts"))
    return Trained(metrics, mean, scale, weights, intercept, prior, signatures, worst, best, about, sketch)


def check_feature(metric: PairMetric) -> PairMetric:
    """Return the metric, if it can be a feature: computed here, on what is built in.

    A model file travels. A path means nothing elsewhere, and a file that names a service or a model of the hub would
    decide where texts are sent and what is fetched.
    """
    if metric.needs == "column":
        return metric
    if metric.needs in BROUGHT:
        raise InputError(f"{metric.key} needs a {metric.needs} of its own and cannot be a feature of an ensemble")
    if not _BUILT_IN.fullmatch(metric.on):
        raise InputError(f"{metric.key}: a feature of an ensemble can use built-in names only, not {metric.on}")
    return metric


def is_turned(metric: PairMetric) -> bool:
    """Say whether a feature is the mean of both directions: where they differ, unless a part or column was named."""
    return not (metric.symmetric or metric.part or metric.needs == "column")


def compute_features(metrics: Sequence[PairMetric], pairs: Pairs) -> Floats:
    """Return the values of metrics, pairs by metrics, turned so that larger is closer; NaN where undefined.

    Parts of one metric are computed together. A metric whose two directions differ counts as their mean.
    """
    wholes = [replace(metric, part=None) for metric in metrics]
    found: dict[PairMetric, Columns] = {}
    for number, whole in enumerate(families := list(dict.fromkeys(wholes))):
        begin_step(whole.key, number, len(families), "scoring rated pairs")
        found[whole] = whole.compute(pairs)
    columns = []
    for metric, whole in zip(metrics, wholes, strict=True):
        value = metric.select(found[whole])
        if is_turned(metric):
            value = (value + metric.select(metric.compute(Pairs(pairs.right, pairs.left)))) / 2
        columns.append(-metric.orient(value))
    return np.column_stack(columns)


@dataclass(frozen=True, kw_only=True)
class FeatureContribution(FlatRow):
    """What one feature of a learned metric adds to the log-odds of the value of one pair."""

    metric: str
    value: float
    contribution: float


_RUNTIME = re.compile(r"(?<=,runtime=onnxruntime)-[\w.]+")  # it moves int8 encoders: docs/results/blend.md


@dataclass(frozen=True, kw_only=True)
class LearnedMetric(PairMetric):
    """Base of metrics that a model holds."""

    headline = Part(VALUE, closer="larger")

    def load(self) -> tuple[Trained, str]:
        """Return the model, and a digest of its content: the one that comes with the package under this name."""
        return load_blend(self.name)

    def input_identity(self) -> list[str]:
        """Return the content of the model, and the inputs of its metrics here."""
        trained, digest = self.load()
        here = "\n".join(_drop_versions(metric.signature, PACKAGES) for metric in trained.used.metrics)
        cards = trained.about.get("data", [])
        data = [f"data={card['fingerprint']}" for card in cards if isinstance(card, dict) and "fingerprint" in card]
        return [f"model={digest}", *data, f"features={hashlib.blake2b(here.encode(), digest_size=8).hexdigest()}"]

    def compute(self, pairs: Pairs) -> Columns:
        trained = self.load()[0].used
        for metric, then in zip(trained.metrics, trained.signatures, strict=True):
            versions = (*PACKAGES, *metric.libraries, "native")
            before, here = (_RUNTIME.sub("", _drop_versions(of, versions)) for of in (then, metric.signature))
            if before != here:
                changed = f"{metric.key} has changed since the ensemble was trained; train it again"
                warn(f"{changed} (then {before}, now {here})", RuntimeWarning)
        added = trained.contributions(compute_features(trained.metrics, pairs))
        values, open_rows = decide_easy_pairs(pairs)
        values[open_rows] = to_share(trained.intercept + np.ascontiguousarray(added).sum(axis=1))[open_rows]
        return {VALUE: values} | {name_part(metric): added[:, place] for place, metric in enumerate(trained.metrics)}

    def explain(self, left: str, right: str) -> list[FeatureContribution]:
        """Return what each feature adds to the log-odds of the value of two texts, largest first.

        The value is the logistic function of their sum and the model's intercept, the first row.
        """
        trained = self.load()[0].used
        features = compute_features(trained.metrics, Pairs([left], [right]))
        columns = zip(trained.metrics, features[0].tolist(), trained.contributions(features)[0].tolist(), strict=True)
        rows = [
            FeatureContribution(metric=metric.key, value=value, contribution=added) for metric, value, added in columns
        ]
        first = FeatureContribution(metric="intercept", value=1.0, contribution=trained.intercept)
        return [first, *sorted(rows, key=lambda row: -abs(row.contribution))]


def name_part(metric: PairMetric) -> str:
    """Return the name of the part that a feature is.

    >>> from textgauge import get_metric
    >>> name_part(get_metric("cosine@bge-small-int8"))
    'cosine_bge_small_int8'
    """
    return re.sub(r"\W", "_", metric.key)


@register
@dataclass(frozen=True, kw_only=True)
class Ensemble(LearnedMetric):
    """The rating people would give two texts, predicted from other pair metrics, on a scale from 0 to 1.

    `ensemble@PATH` names the JSON file of a trained model: a logistic curve over a non-negative sum of the values of
    its metrics, each standardised (`textgauge train ensemble`). The value is the share of the scale, (rating − worst) /
    (best − worst). By rule, equal texts and two blank ones score 1, and one blank text scores 0. Where one of the
    metrics is undefined, its mean of the training pairs is taken. Metrics with fitted weights take them from the pairs
    scored, not from those of the training. Scores carry a warning where the texts are far from those of the training,
    by the energy distance of their embeddings.

    Source: Wolpert 1992, Stacked Generalization.
    """

    name = "ensemble"
    label = "Ensemble"
    source = "Wolpert 1992"
    needs = "model"
    default_on = "ensemble.json"
    symmetric = False
    fitted = True

    def load(self) -> tuple[Trained, str]:
        """Return the model of the file."""
        return load_model(self.on)

    def compute(self, pairs: Pairs) -> Columns:
        return {VALUE: super().compute(pairs)[VALUE]}

    def warnings(self, pairs: Pairs) -> tuple[str, ...]:
        """Return whether the texts are far from those of the training, where the model file tells."""
        sketch = self.load()[0].texts
        text = None if sketch is None or not pairs.left.pool.has_texts else sketch.warning(pairs.left | pairs.right)
        return () if text is None else (f"{self.key}: {text}",)


@dataclass(frozen=True, kw_only=True)
class PackagedBlend(LearnedMetric):
    """Base of the two sizes of `blend`."""

    source = "textgauge"
    default_on = ""
    features: ClassVar[str]  # that have weight, as the parts are named

    def __init_subclass__(cls) -> None:
        cls.parts = tuple(Part(name, closer="larger", bounds=UNBOUNDED) for name in cls.features.split(","))

    @classmethod
    def encoders(cls) -> list[str]:
        """Return the names of the encoders that it takes."""
        return [metric.on for metric in load_blend(cls.name)[0].used.metrics]

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """Return all pairs, from the matrices of the features."""
        rows, columns = join_pools(rows, columns)
        if self.part is not None:
            return super().matrix(rows, columns, background=background)
        model = self.load()[0].used
        total = np.full((len(rows), len(columns)), model.intercept)
        for metric, mean, scale, weight in zip(model.metrics, model.mean, model.scale, model.weights, strict=True):
            value = metric.matrix(rows, columns)
            if is_turned(metric):
                value = (value + metric.matrix(columns, rows).T) / 2
            total += np.nan_to_num((-metric.orient(value) - mean) / scale) * weight
        blank = [np.array([not text.strip() for text in side.texts]) for side in (rows, columns)]
        found = np.where(np.logical_or.outer(*blank), 0.0, to_share(total))
        return np.where(np.logical_and.outer(*blank) | (rows.keys[:, None] == columns.keys), 1.0, found)


@register
@dataclass(frozen=True, kw_only=True)
class Blend(PackagedBlend):
    """Similarity of two texts by five sentence encoders together, from 0 to 1.

    The value is a logistic curve over the mean of the cosines of minilm, bge-small-int8, gte-small, mpnet and e5-small,
    each standardised by constants of 38 rated sets. 0.5 is where people give half of their scale on these sets, and
    texts that all encoders find equal have 0.98. By rule, equal texts and two blank ones score 1, and one blank text
    scores 0. The parts are what each encoder adds to the log-odds. It agrees with people better than each encoder alone
    on sets that it was not made from, by the card of the model (docs: "The card of blend"). The encoders are 0.8 GB.

    Source: textgauge, benchmarks/blend.py.
    """

    name = "blend"
    label = "Blend"
    needs = "model"
    features = "cosine,cosine_bge_small_int8,cosine_gte_small,cosine_mpnet,cosine_e5_small"


@register
@dataclass(frozen=True, kw_only=True)
class BlendSmall(PackagedBlend):
    """Similarity of two texts by two small sentence encoders together, from 0 to 1.

    The same as `blend`, with the cosines of minilm and bge-small-int8 alone.

    Source: textgauge, benchmarks/blend.py.
    """

    name = "blend-small"
    label = "Blend, small"
    needs = "encoders"
    features = "cosine,cosine_bge_small_int8"


def _drop_versions(signature: str, packages: Sequence[str]) -> str:
    return "|".join(piece for piece in signature.split("|") if piece.partition("=")[0] not in packages)
