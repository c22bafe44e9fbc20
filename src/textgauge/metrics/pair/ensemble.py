"""A learned pair metric: other pair metrics, stacked by a model of people's ratings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import warn
from textgauge.data import Pairs
from textgauge.metrics.base import PACKAGES, VALUE, Part
from textgauge.metrics.ensemble_file import Trained, load
from textgauge.metrics.pair_metric import Columns, PairMetric, decided
from textgauge.metrics.registry import register


def feature_values(metrics: Sequence[PairMetric], pairs: Pairs) -> Floats:
    """The values of metrics, pairs by metrics, turned so that larger is closer; NaN where undefined.

    Parts of one metric are computed together.
    """
    found: dict[PairMetric, Columns] = {}
    columns = []
    for metric in metrics:
        whole = replace(metric, part=None)
        if whole not in found:
            found[whole] = whole.compute(pairs)
        columns.append(-metric.orient(metric.select(found[whole])))
    return np.column_stack(columns)


@register
@dataclass(frozen=True, kw_only=True)
class Ensemble(PairMetric):
    """The rating people would give two texts, predicted from other pair metrics, on a scale from 0 to 1.

    `ensemble@PATH` names the JSON file of a trained model: ridge regression or boosted trees over the values of its
    metrics (`textgauge train ensemble`). The value is (rating − worst) / (best − worst), clamped to [0, 1]. By rule,
    equal texts and two blank ones score 1, and one blank text scores 0. Where one of the metrics is undefined, ridge
    takes its mean of the training pairs and adds what was learned of such gaps; a tree sends it the way it learned.
    Metrics with fitted weights take them from the pairs scored, not from those of the training. Scores carry a warning
    where the texts are far from those of the training, by the energy distance of their embeddings.

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
        """The content of the model file, and the inputs of its metrics here."""
        trained, digest = load(self.on)
        here = "\n".join(_without_versions(metric.signature, PACKAGES) for metric in trained.metrics)
        data = [f"data={card['fingerprint']}" for card in _cards(trained)]
        return [f"model={digest}", *data, f"features={hashlib.blake2b(here.encode(), digest_size=8).hexdigest()}"]

    def compute(self, pairs: Pairs) -> Columns:
        """One number per pair."""
        trained, _ = load(self.on)
        _warn_of_changes(trained)
        values, open_rows = decided(pairs)
        if len(open_rows):
            values[open_rows] = trained.similarity(feature_values(trained.metrics, pairs.rows(open_rows)))
        return {VALUE: values}

    def warnings(self, pairs: Pairs) -> tuple[str, ...]:
        """Whether the texts are far from those of the training, where the model file tells."""
        sketch = load(self.on)[0].texts
        found = None if sketch is None or not pairs.left.pool.has_texts else sketch.warning(pairs.left | pairs.right)
        return () if found is None else (f"{self.key}: {found}",)


def _cards(trained: Trained) -> list[dict[str, str]]:
    """What is written of each data the model was trained on."""
    cards = trained.about.get("data")
    found = [card for card in cards if isinstance(card, dict)] if isinstance(cards, list) else []
    return [card for card in found if re.fullmatch(r"[0-9a-f]{16}", str(card.get("fingerprint")))]


def _warn_of_changes(trained: Trained) -> None:
    for metric, then in zip(trained.metrics, trained.signatures, strict=True):
        versions = (*PACKAGES, *metric.libraries)
        before, here = _without_versions(then, versions), _without_versions(metric.signature, versions)
        if before != here:
            warn(
                f"{metric.key} has changed since the ensemble was trained; train it again (then {before}, now {here})",
                RuntimeWarning,
            )


def _without_versions(signature: str, packages: Sequence[str]) -> str:
    """A signature without the versions of these packages."""
    return "|".join(piece for piece in signature.split("|") if piece.partition("=")[0] not in packages)
