"""A learned pair metric: other pair metrics, stacked by a ridge model of people's ratings that a JSON file holds."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError, TextgaugeError, warn
from textgauge.core.files import seal_json, unseal_json, write_atomically
from textgauge.core.progress import Stage, Step
from textgauge.core.settings import read_stored_bytes
from textgauge.data import Pairs
from textgauge.metrics.base import PACKAGES, VALUE, Part
from textgauge.metrics.cautions import TextSketch, parse_sketch
from textgauge.metrics.pair_metric import BROUGHT, Columns, PairMetric, decide_easy_pairs
from textgauge.metrics.registry import register

FORMAT = "textgauge ensemble 1"
_COLUMNS = ("mean", "scale", "weights", "missing")
_BUILT_IN = re.compile(r"[\w-]*")


@dataclass(frozen=True, eq=False)
class Ridge:
    """A weighted sum of standardised features; a missing one counts as its mean and adds its `missing` weight."""

    mean: Floats
    scale: Floats
    weights: Floats
    missing: Floats
    intercept: float
    penalty: float

    @property
    def shares(self) -> Floats:
        """Each feature's share of the sum of |weights|."""
        size = np.abs(self.weights)
        return np.asarray(size / max(float(size.sum()), np.finfo(float).tiny))

    def predict(self, features: Floats) -> Floats:
        """Return one rating per row; a row depends on itself alone, bit by bit."""
        known = ~np.isnan(features)
        standard = np.where(known, (features - self.mean) / self.scale, 0.0)
        terms: Floats = np.ascontiguousarray(np.where(known, standard * self.weights, self.missing))
        return np.asarray(self.intercept + terms.sum(axis=1))


@dataclass(frozen=True, eq=False)
class Trained:
    """A model of ratings over the values of pair metrics, turned so that larger is closer.

    `worst` and `best` are the ratings of texts with nothing in common and of texts that say the same. `signatures` are
    those of the metrics when the model was trained; `about` says what it was trained on, `texts` is a sketch of it.
    """

    metrics: tuple[PairMetric, ...]
    signatures: tuple[str, ...]
    model: Ridge
    worst: float
    best: float
    about: Mapping[str, Any] = field(default_factory=dict)
    texts: TextSketch | None = None

    def similarity(self, features: Floats) -> Floats:
        """Return predicted ratings, clamped to their scale, from 0 (worst) to 1 (best)."""
        return np.clip((self.model.predict(features) - self.worst) / (self.best - self.worst), 0.0, 1.0)

    def to_json(self) -> str:
        """Return the text of the model file."""
        features = zip(self.metrics, self.signatures, strict=True)
        values = {item.name: getattr(self.model, item.name) for item in fields(self.model)}
        content = {
            "format": FORMAT,
            "model": "ridge",
            "features": [{"metric": metric.key, "signature": signature} for metric, signature in features],
            "scale": [self.worst, self.best],
            "parameters": {name: np.asarray(value).tolist() for name, value in values.items()},
            "trained": dict(self.about),
        } | ({} if self.texts is None else {"texts": self.texts.to_dict()})
        return json.dumps(seal_json(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        write_atomically(Path(path), self.to_json())


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


def parse_model(text: str) -> Trained:
    """Return the model in the text of a model file; raise `InputError` where it is none."""
    from textgauge.metrics.registry import get_metric, get_pair_metrics

    try:
        content = unseal_json(text)
    except ValueError as error:
        raise InputError(f"not a model file, or a damaged one: {str(error)[:80]}") from None
    if content.get("format") != FORMAT or content.get("model") != "ridge":
        raise InputError(f"not a model file of this version ({FORMAT!r}, ridge); train the ensemble again")
    try:
        keys, signatures = zip(
            *((str(row["metric"]), str(row["signature"])) for row in content["features"]), strict=True
        )
        worst, best = map(float, content["scale"])
        given = content["parameters"]
        columns = {name: np.array(given[name], dtype=np.float64).reshape(len(keys)) for name in _COLUMNS}
        model = Ridge(**columns, intercept=float(given["intercept"]), penalty=float(given["penalty"]))
        about = dict(content.get("trained", {}))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"not a model file: a part is missing or wrong ({type(error).__name__}: {error})") from None
    metrics = tuple(map(check_feature, get_pair_metrics([get_metric(key) for key in keys])))
    if len(metrics) != len(keys):
        raise InputError("not a model file: it has a feature twice")
    return Trained(metrics, signatures, model, worst, best, about, parse_sketch(content.get("texts")))


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


def compute_features(metrics: Sequence[PairMetric], pairs: Pairs, on_step: Step = lambda _: None) -> Floats:
    """Return the values of metrics, pairs by metrics, turned so that larger is closer; NaN where undefined.

    Parts of one metric are computed together.
    """
    wholes = [replace(metric, part=None) for metric in metrics]
    found: dict[PairMetric, Columns] = {}
    for number, whole in enumerate(families := list(dict.fromkeys(wholes))):
        on_step(Stage(whole.key, number, len(families), "scoring rated pairs"))
        found[whole] = whole.compute(pairs)
    values = (-metric.orient(metric.select(found[whole])) for metric, whole in zip(metrics, wholes, strict=True))
    return np.column_stack(list(values))


@register
@dataclass(frozen=True, kw_only=True)
class Ensemble(PairMetric):
    """The rating people would give two texts, predicted from other pair metrics, on a scale from 0 to 1.

    `ensemble@PATH` names the JSON file of a trained model: ridge regression over the values of its metrics (`textgauge
    train ensemble`). The value is (rating − worst) / (best − worst), clamped to [0, 1]. By rule, equal texts and two
    blank ones score 1, and one blank text scores 0. Where one of the metrics is undefined, its mean of the training
    pairs is taken, with what was learned of such gaps. Metrics with fitted weights take them from the pairs scored, not
    from those of the training. Scores carry a warning where the texts are far from those of the training, by the energy
    distance of their embeddings.

    Source: Wolpert 1992, Stacked Generalization.
    """

    name = "ensemble"
    label = "Ensemble"
    source = "Wolpert 1992"
    needs = "model"
    default_on = "ensemble.json"
    headline = Part(VALUE, closer="larger")
    symmetric = False
    fitted = True

    def input_identity(self) -> list[str]:
        """Return the content of the model file, and the inputs of its metrics here."""
        trained, digest = load_model(self.on)
        here = "\n".join(_drop_versions(metric.signature, PACKAGES) for metric in trained.metrics)
        cards = trained.about.get("data", [])
        data = [f"data={card['fingerprint']}" for card in cards if isinstance(card, dict) and "fingerprint" in card]
        return [f"model={digest}", *data, f"features={hashlib.blake2b(here.encode(), digest_size=8).hexdigest()}"]

    def compute(self, pairs: Pairs) -> Columns:
        trained, _ = load_model(self.on)
        _warn_of_changes(trained)
        values, open_rows = decide_easy_pairs(pairs)
        if len(open_rows):
            values[open_rows] = trained.similarity(compute_features(trained.metrics, pairs.rows(open_rows)))
        return {VALUE: values}

    def warnings(self, pairs: Pairs) -> tuple[str, ...]:
        """Return whether the texts are far from those of the training, where the model file tells."""
        sketch = load_model(self.on)[0].texts
        text = None if sketch is None or not pairs.left.pool.has_texts else sketch.warning(pairs.left | pairs.right)
        return () if text is None else (f"{self.key}: {text}",)


def _warn_of_changes(trained: Trained) -> None:
    for metric, then in zip(trained.metrics, trained.signatures, strict=True):
        versions = (*PACKAGES, *metric.libraries, "native")
        before, here = _drop_versions(then, versions), _drop_versions(metric.signature, versions)
        if before != here:
            warn(
                f"{metric.key} has changed since the ensemble was trained; train it again (then {before}, now {here})",
                RuntimeWarning,
            )


def _drop_versions(signature: str, packages: Sequence[str]) -> str:
    return "|".join(piece for piece in signature.split("|") if piece.partition("=")[0] not in packages)
