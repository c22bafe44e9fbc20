"""A trained ensemble and its JSON file: everything in the file is checked, and nothing in it is run."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError, ResourceError, TextgaugeError
from textgauge.core.files import replacing
from textgauge.core.sealed import Damaged, seal_json, unsealed_json
from textgauge.metrics.numerics.regression import MAX_DEPTH, Boosting, Ridge
from textgauge.metrics.pair_metric import BROUGHT, PairMetric
from textgauge.metrics.text_sketch import TextSketch, parse_sketch

Model: TypeAlias = Ridge | Boosting

FORMAT = "textgauge ensemble 1"
MAX_BYTES = 50_000_000
MAX_NESTING = 16
MAX_FEATURES = 1_000
MAX_TREES = 10_000
MAX_NODES = 500_000

_BUILT_IN = re.compile(r"[\w-]*")
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)|[][{}]', re.DOTALL)  # strings whole, so that none is in one


@dataclass(frozen=True, eq=False)
class Trained:
    """A model of ratings over the values of pair metrics, turned so that larger is closer.

    `worst` and `best` are the ratings of texts with nothing in common and of texts that say the same. `signatures` are
    those of the metrics when the model was trained; `about` says what it was trained on, `texts` is a sketch of it.
    """

    metrics: tuple[PairMetric, ...]
    signatures: tuple[str, ...]
    model: Model
    worst: float
    best: float
    about: Mapping[str, Any] = field(default_factory=dict)
    texts: TextSketch | None = None

    def similarity(self, features: Floats) -> Floats:
        """Predicted ratings, clamped to their scale, from 0 (worst) to 1 (best)."""
        return np.clip((self.model.predict(features) - self.worst) / (self.best - self.worst), 0.0, 1.0)

    def to_json(self) -> str:
        """The text of the model file."""
        parameters = {item.name: _listed(getattr(self.model, item.name)) for item in fields(self.model)}
        features = [
            {"metric": metric.key, "signature": signature}
            for metric, signature in zip(self.metrics, self.signatures, strict=True)
        ]
        content = {
            "format": FORMAT,
            "model": self.model.kind,
            "features": features,
            "scale": [self.worst, self.best],
            "parameters": parameters,
            "trained": dict(self.about),
        } | ({} if self.texts is None else {"texts": self.texts.to_dict()})
        return json.dumps(seal_json(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        target = Path(path)
        try:
            with replacing(target) as part:
                part.write_text(self.to_json(), encoding="utf-8")
        except OSError as error:
            raise ResourceError(f"cannot write {target}: {error.strerror or error}") from None


def load(path: str | os.PathLike[str]) -> tuple[Trained, str]:
    """The model of a file and a digest of its content; read again only when the file has changed."""
    file = Path(path).expanduser()
    try:
        status = file.stat()
    except (OSError, ValueError):
        raise InputError(f"{path}: no such model file; `textgauge train ensemble ... -o FILE` makes one") from None
    if not S_ISREG(status.st_mode):
        raise InputError(f"{file}: a model file is a regular file, not a folder or a device")
    return _read(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _read(file: Path, _changed: int, size: int) -> tuple[Trained, str]:
    if size > MAX_BYTES:
        raise InputError(f"{file}: {size:,} bytes; a model file has at most {MAX_BYTES:,}")
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    try:
        trained = parse(data)
    except TextgaugeError as error:
        raise InputError(f"{file}: {error}") from None
    return trained, hashlib.blake2b(data, digest_size=8).hexdigest()


def parse(data: bytes | str) -> Trained:
    """The model in the text of a model file; anything amiss is an error in words."""
    content = _document(data)
    metrics, signatures = _features(content.get("features"))
    worst, best = _numbers(content.get("scale"), "scale", length=2)
    if worst == best:
        raise InputError("both ends of the scale are equal")
    readers: dict[str, Callable[[dict[str, Any], int], Ridge | Boosting]] = {
        Ridge.kind: _ridge,
        Boosting.kind: _boosting,
    }
    kind, parameters, about = content.get("model"), content.get("parameters"), content.get("trained", {})
    if str(kind) not in readers or not isinstance(parameters, dict) or not isinstance(about, dict):
        raise InputError(f"unknown model {str(kind)[:40]!r}, or its parameters are missing")
    model = readers[str(kind)](parameters, len(metrics))
    return Trained(metrics, signatures, model, float(worst), float(best), about, parse_sketch(content.get("texts")))


def checked_feature(metric: PairMetric) -> PairMetric:
    """The metric, if it can be a feature: computed here, on what is built in.

    A model file travels. A path means nothing elsewhere, and a file that names a service or a model of the hub would
    decide where texts are sent and what is fetched.
    """
    if metric.needs == "column":
        return metric
    if not is_feature(metric):
        raise InputError(f"{metric.key} needs a {metric.needs} of its own and cannot be a feature of an ensemble")
    if not _BUILT_IN.fullmatch(metric.on):
        raise InputError(f"{metric.key}: a feature of an ensemble can use built-in names only, not {metric.on}")
    return metric


def is_feature(metric: PairMetric) -> bool:
    """Whether a metric asks no model, service or column of its own."""
    return metric.needs not in BROUGHT


def _document(data: bytes | str) -> dict[str, Any]:
    _check_nesting(data.encode(errors="surrogatepass") if isinstance(data, str) else data)
    try:
        json.loads(data, parse_constant=_refuse)
        content = unsealed_json(data if isinstance(data, str) else data.decode())
    except Damaged as error:
        raise InputError(f"not a model file, or a damaged one: {error}") from None
    except ValueError as error:
        raise InputError(f"not a model file: bad JSON ({str(error)[:80]})") from None
    if content.get("format") != FORMAT:
        raise InputError(f"not a model file of this version ({FORMAT!r})")
    return content


def _check_nesting(data: bytes) -> None:
    depth = 0
    for found in _BRACKETS.finditer(data):
        depth += (found[0] in b"[{") - (found[0] in b"]}")
        if depth > MAX_NESTING:
            raise InputError(f"JSON nested deeper than {MAX_NESTING}")


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _features(rows: Any) -> tuple[tuple[PairMetric, ...], tuple[str, ...]]:
    from textgauge.metrics.registry import get_metric, get_pair_metrics

    if not isinstance(rows, list) or not 0 < len(rows) <= MAX_FEATURES:
        raise InputError(f"features must be a list of 1 to {MAX_FEATURES}")
    cells = [(row.get("metric"), row.get("signature")) if isinstance(row, dict) else (None, None) for row in rows]
    if not all(isinstance(cell, str) for row in cells for cell in row):
        raise InputError("each feature has a metric and a signature")
    metrics = get_pair_metrics([get_metric(str(key)) for key, _ in cells])
    if len(metrics) != len(cells):
        raise InputError("a feature is named twice")
    return tuple(map(checked_feature, metrics)), tuple(str(signature) for _, signature in cells)


def _ridge(parameters: dict[str, Any], width: int) -> Ridge:
    mean, scale, weights, missing = (
        _numbers(parameters.get(name), name, length=width) for name in ("mean", "scale", "weights", "missing")
    )
    if not (scale > 0).all():
        raise InputError("scale holds a number that is not positive")
    return Ridge(
        mean=mean,
        scale=scale,
        weights=weights,
        missing=missing,
        intercept=_number(parameters, "intercept"),
        penalty=_number(parameters, "penalty"),
    )


def _boosting(parameters: dict[str, Any], width: int) -> Boosting:
    value = _numbers(parameters.get("value"), "value", most=MAX_NODES)
    nodes = len(value)
    whole = {
        name: _whole(parameters.get(name), name, length=nodes) for name in ("feature", "left", "right", "missing_left")
    }
    model = Boosting(
        baseline=_number(parameters, "baseline"),
        roots=_whole(parameters.get("roots"), "roots", most=MAX_TREES),
        threshold=_numbers(parameters.get("threshold"), "threshold", length=nodes),
        value=value,
        **whole,
    )
    _check_trees(model, nodes, width)
    return model


def _check_trees(model: Boosting, nodes: int, width: int) -> None:
    roots, own = model.roots, np.arange(nodes)
    if roots[0] != 0 or roots[-1] >= nodes or (np.diff(roots) <= 0).any():
        raise InputError("the roots of the trees are not in order")
    ends = np.repeat([*roots[1:], nodes], np.diff([*roots, nodes]))
    leaf = (model.left == own) & (model.right == own)
    # Children stand after their parent, within its tree: every walk ends.
    inner = (np.minimum(model.left, model.right) > own) & (np.maximum(model.left, model.right) < ends)
    if not (leaf | inner).all():
        raise InputError("a node of a tree has a child outside of it, or before itself")
    if not ((model.feature >= 0) & (model.feature < width)).all():
        raise InputError("a node uses a feature that does not exist")
    if model.depth > MAX_DEPTH:
        raise InputError(f"a tree is deeper than {MAX_DEPTH}")


def _number(parameters: dict[str, Any], name: str) -> float:
    return float(_numbers([parameters.get(name)], name, length=1)[0])


def _whole(cells: Any, name: str, *, length: int | None = None, most: int = MAX_NODES) -> NDArray[np.int64]:
    numbers = _numbers(cells, name, length=length, most=most)
    if not ((numbers == np.floor(numbers)) & (np.abs(numbers) <= MAX_NODES)).all():
        raise InputError(f"{name} must hold whole numbers up to {MAX_NODES:,}")
    return numbers.astype(np.int64)


def _numbers(cells: Any, name: str, *, length: int | None = None, most: int = MAX_NODES) -> Floats:
    if not isinstance(cells, list) or not 0 < len(cells) <= most or (length is not None and len(cells) != length):
        raise InputError(f"{name} must be a list of {length if length is not None else f'1 to {most:,}'} numbers")
    if not all(type(cell) in (int, float) for cell in cells):
        raise InputError(f"{name} holds something that is not a number")
    try:
        numbers = np.array([float(cell) for cell in cells])
    except OverflowError:
        raise InputError(f"{name} holds a number that is too large") from None
    if not all(map(math.isfinite, numbers.tolist())):
        raise InputError(f"{name} holds a number that is not finite")
    return numbers


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
