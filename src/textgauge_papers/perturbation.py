"""The illustration on numbers: how a distance answers when a group of points is moved away, a little or far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from textgauge.bench import (
    RESAMPLES,
    CorpusBatch,
    Data,
    DataKind,
    Measure,
    Observations,
    Protocol,
    Sources,
    Verdict,
    explain_undefined,
    make_generator,
    merge_rounding_ties,
    register_protocol,
)
from textgauge.core import Floats, InputError, Ints
from textgauge.data import GIVEN, Corpus, Draws, get_source_name, load_corpus
from textgauge.metrics import POSITIVE, CorpusMetric, Metric, Range, get_corpus_metrics
from textgauge.stats import resample_sums

POINTS = Sources("gaussian blobs", {})  # the protocol draws its points itself
TENTH = 0.1  # of the largest rise: the share at which a rise begins
_BLOBS = 3
_P_STEPS = 10
_STAYS = "never rises above its unperturbed value"


@dataclass(frozen=True, eq=False)
class PointSample:
    """Points A, the same points jittered B, the places of B from the nearest to y* on, and the way the group goes."""

    A: Floats
    B: Floats
    order: Ints
    direction: Floats

    def get_group(self, p: float) -> Ints:
        """Return the places in B of the round(p·|B|) points that move: y* and its nearest neighbours."""
        return self.order[: int(np.rint(p * len(self.B)))]

    def move_group(self, p: float, delta: float) -> Floats:
        """Return the group, moved together by δ."""
        return np.asarray(self.B[self.get_group(p)] + delta * self.direction)


def draw_blobs(rng: np.random.Generator, *, n: int, q: int, sigma: float) -> tuple[Floats, Floats, Ints]:
    """Return three Gaussian blobs of spread 1, their jittered copy, and the blob of each point."""
    from sklearn.datasets import make_blobs

    A, blob = make_blobs(n, q, centers=_BLOBS, random_state=int(rng.integers(2**31)))
    return np.asarray(A), A + rng.normal(0.0, sigma, A.shape), np.asarray(blob)


def draw_sample(A: Floats, B: Floats, blob: Ints, rng: np.random.Generator, *, direction: str) -> PointSample:
    """Return a random y* in B, and the direction of its group.

    `direction=outward` points from the centroid of the blob that y* comes from to y*, `random` anywhere on the sphere.
    """
    place, way = rng.integers(len(B)), rng.normal(size=B.shape[1])
    start = B[place]
    outward = start - B[blob == blob[place]].mean(axis=0)
    if direction == "outward" and outward.any():
        way = outward
    order = np.argsort(((B - start) ** 2).sum(axis=1), kind="stable")
    return PointSample(A, B, order, np.asarray(way / np.linalg.norm(way)))


@dataclass
class OwnPoints(DataKind):
    """Nothing, the protocol draws its points itself; or the texts or embeddings whose points are moved."""

    points: Sources
    takes = ("source_a", "column")
    about = "no data, or a corpus whose points are moved: `source_a`"

    def load(self, given: Mapping[str, Any], seed: int) -> Sources:
        """Return the corpus that the values name, or the points of the protocol."""
        if "source_a" not in given:
            return self.points
        corpus = load_corpus(given["source_a"], column=given.get("column"))
        return Sources(get_source_name(given["source_a"], "corpus"), {"a": corpus})


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Perturbation(Protocol):
    """How soon and how far distances rise when a group of points is moved away; needs no data, and takes a corpus.

    A: n points in three Gaussian blobs of spread 1 in q dimensions. B: the same points, each with noise of deviation
    `sigma`. B': y* in B and its nearest neighbours, round(p·n) points in all, moved together by δ away from the
    centroid of the blob that y* comes from (`direction=random`: anywhere). A and B are drawn once for each q, y* in
    every repetition. Sweeps of d(A, B'): δ from 0 (unperturbed) to `largest_delta` in `steps`, at p; p up to
    `largest_p`, at δ = `delta`; q up to `largest_q`, at p and `delta`.

    With a corpus (`source_a`), A are n of its different texts as `embedder` embeds them, or of its embeddings, centred,
    and scaled to the distance from the centroid that blobs have in two dimensions, √2 as a root mean square: δ and
    `sigma` mean the same as there. Groups move away from the centroid of all points; dimensions are not swept.

    Measures, of the mean over repetitions along the sweep of δ, r(δ) = d(δ) − d(0), with intervals from resampling
    repetitions (other y* of the same A and B). Each is in the range of its own distance, without unit:

    - `early_rise`: area under r/max r as a share of the sweep. 1/2 for a distance that grows in proportion to δ, 1/3
      for one that grows with δ², near 1 for one that jumps at once: 1 less the mean place at which a distance rises.
    - `tenth_rise`: the smallest δ, interpolated, at which r passes a tenth of max r, as a share of the sweep: where the
      rise begins. 0.1 in proportion to δ, 0.32 with δ².
    - `saturation`: the share of max r that is reached half-way: 1/2 in proportion, 1 for a distance that is done.

    A distance that never rises has early rise 0, no tenth rise and no saturation, and a reason. All metrics see the
    same resamples, so that `textgauge leaderboard --tests` compares all pairs of metrics.
    Source: Ackerman et al. 2023, section 3; the measures are ours, the paper compares curves by eye.
    """

    name = "perturbation"
    resampled = "texts"  # y* is drawn again, A and B are not
    heading = "A group moved away"
    question = "How soon does the distance rise when a group of points moves away from the rest?"
    data = OwnPoints(POINTS)
    default_metrics = "irpr,fid,mauve,classifier,pr(k=2|5|15),dc(k=2|5|15),energy,ahd"
    figures = ("perturbation",)
    measures = (
        Measure("early_rise", about="area under the rise over δ, as a share of its largest value"),
        Measure("tenth_rise", best="smaller", about="δ at which a tenth of the largest rise is made, as a share"),
        Measure("saturation", best="smaller", about="share of the largest rise that is reached half-way"),
    )

    ranges = (
        *(Range(*of) for of in (("n", _BLOBS), ("repetitions", 1), ("q", 1), ("steps", 2), ("sigma", 0))),
        *(Range(name, POSITIVE) for name in ("delta", "largest_delta")),
        *(Range(name, POSITIVE, 1) for name in ("p", "largest_p")),
    )

    n: int = 300
    repetitions: int = 20
    q: int = 2
    largest_q: int = 6
    sigma: float = 0.1
    p: float = 0.1
    largest_p: float = 0.5
    delta: float = 3.0
    largest_delta: float = 6.0
    steps: int = 24
    direction: Literal["outward", "random"] = "outward"
    embedder: str = "minilm"
    tacit = ("embedder",)
    version = 2

    @classmethod
    def metrics_for(cls, names: str | Iterable[str | Metric], data: Data) -> Sequence[CorpusMetric]:
        """Return the metrics on points; see `get_point_metrics`."""
        return get_point_metrics(names)

    def check(self, sources: Sources) -> None:
        """Refuse sweeps without a point to move, and corpora with too few texts."""
        if self.q > self.largest_q:
            raise InputError(f"dimensions rise from q to largest_q: q={self.q}, largest_q={self.largest_q}")
        if sources.corpora and (have := len(sources.distinct("a"))) < self.n:
            raise InputError(f"{sources.name} has {have} different texts, but n={self.n} points are needed")
        smallest = min(self.p, self.largest_p / _P_STEPS)
        if np.rint(smallest * self.n) < 1:
            raise InputError(f"the smallest share p ({smallest:g} of {self.n}) is at least 1 point")

    @property
    def deltas(self) -> list[float]:
        """The sweep of δ.

        >>> Perturbation(largest_delta=1.0, steps=4).deltas
        [0.0, 0.25, 0.5, 0.75, 1.0]
        """
        return list(np.linspace(0.0, self.largest_delta, self.steps + 1).round(9).tolist())

    @property
    def shares(self) -> list[float]:
        """The sweep of p.

        >>> Perturbation(largest_p=0.2).shares[:3]
        [0.02, 0.04, 0.06]
        """
        return list(np.linspace(0.0, self.largest_p, _P_STEPS + 1)[1:].round(9).tolist())  # steps of 0.05 meet 0.3

    def draw_points(self, q: int, repetition: int, seed: int) -> PointSample:
        """Return the points of one repetition in q dimensions: what its trials compare."""
        points = draw_blobs(make_generator(self, POINTS, seed, self._number(q, 0)), n=self.n, q=q, sigma=self.sigma)
        return self._draw_group(points, POINTS, q, repetition, seed)

    def _draw_group(
        self, points: tuple[Floats, Floats, Ints], sources: Sources, q: int, repetition: int, seed: int
    ) -> PointSample:
        after = self._number(self.largest_q + 1, 0)  # numbers of the draws of y*
        rng = make_generator(self, sources, seed, after + self._number(q, repetition))
        return draw_sample(*points, rng, direction=self.direction)

    def batch_numbers(self, sources: Sources, seed: int) -> Sequence[int]:
        """Return one number for each repetition and number of dimensions."""
        return range(self.repetitions if sources.corpora else self._number(self.largest_q + 1, 0))

    def trials(self, sources: Sources, seed: int) -> Iterator[CorpusBatch]:
        """Yield one batch per repetition and number of dimensions; only the first number is swept over δ and p."""
        across = {(self.p, 0.0), (self.p, self.delta)}
        whole = across | {(self.p, delta) for delta in self.deltas} | {(share, self.delta) for share in self.shares}
        own = self._embed(sources, seed) if sources.corpora else None
        for q in range(self.q, (self.q if own else self.largest_q) + 1):
            for repetition in range(self.repetitions):
                trials = sorted(whole if q == self.q else across)
                drawn = (
                    self._draw_group(own, sources, q, repetition, seed)
                    if own
                    else self.draw_points(q, repetition, seed)
                )
                yield _make_batch(self._number(q, repetition), drawn, trials, q)

    def _embed(self, sources: Sources, seed: int) -> tuple[Floats, Floats, Ints]:
        """Return points of a corpus, their jittered copy, and one blob for all."""
        rng = make_generator(self, sources, seed, 0)
        corpus = sources.corpora["a"].take(rng.permutation(sources.distinct("a"))[: self.n])
        on = GIVEN if corpus.pool.has_given else self.embedder
        found = np.asarray(corpus.pool.embeddings(on)[corpus.index], dtype=np.float64)
        A = found - found.mean(axis=0)
        spread = np.sqrt((A**2).sum(axis=1).mean() / 2)
        if not spread > 0:
            raise InputError(f"{sources.name}: all points are the same")
        A /= spread
        return A, A + rng.normal(0.0, self.sigma * np.sqrt(2 / A.shape[1]), A.shape), np.zeros(self.n, dtype=np.int64)

    def judge(self, observations: Observations) -> list[Verdict]:
        """Return early rise, tenth rise and saturation, with intervals from resampling repetitions."""
        deltas, curves, left_out = select_rising_curves(observations, q=self.q, p=self.p)
        whole = np.isfinite(curves).all(axis=1)
        if not whole.any():
            why = left_out or "no repetition is finished"
            return [Verdict(measure.name, float("nan"), reason=why) for measure in self.measures]
        values = measure_rise(curves[whole], deltas, np.ones((1, whole.sum())))[:, 0]
        weights = resample_sums(np.eye(len(curves)), RESAMPLES, 0)[:, whole]  # all drawn: metrics stay paired
        some = weights.any(axis=1)
        drawn = np.full((len(values), RESAMPLES), np.nan)
        drawn[:, some] = measure_rise(curves[whole], deltas, weights[some])
        stays = _STAYS if np.isnan(values[-1]) else None
        reason = "; ".join(filter(None, (stays, left_out))) or None
        names = [measure.name for measure in self.measures]
        columns = zip(names, values.tolist(), drawn, strict=True)
        return [Verdict.of_draws(*column, int(whole.sum()), reason=reason) for column in columns]

    def _number(self, q: int, repetition: int) -> int:
        return (q - self.q) * self.repetitions + repetition


def select_rising_curves(observations: Observations, *, q: int, p: float) -> tuple[Floats, Floats, str | None]:
    """Return the values of δ, distances over them, one row per repetition, and how many are not all finite and why."""
    here = observations.of("q", q).of("p", p)
    batches = list(here.batches())
    if not batches:
        return np.empty(0), np.empty((0, 0)), None
    order = np.argsort(batches[0].columns["delta"])
    value = np.array([batch.value[order] for batch in batches])
    whole = np.isfinite(value).all(axis=1)
    if whole.any():
        value[whole] = merge_rounding_ties(value[whole].ravel()).reshape(-1, value.shape[1])
    why, fewer = explain_undefined(here) or "a distance is infinite", int((~whole).sum())
    left_out = f"{fewer} of {len(batches)} repetitions left out: {why}" if whole.any() else why
    return batches[0].columns["delta"][order], value, left_out if fewer else None


def measure_rise(curves: Floats, deltas: Floats, weights: Floats) -> Floats:
    """Early rise, tenth rise and saturation of mean curves, one column for each row of weights of repetitions.

    >>> deltas = np.linspace(0.0, 2.0, 5)
    >>> line = measure_rise(np.array([deltas, deltas]), deltas, np.ones((1, 2)))
    >>> line.ravel().tolist()
    [0.5, 0.1, 0.5]
    """
    total = weights.sum(axis=1)
    mean = weights @ curves / total[:, None]
    rise, span = mean - mean[:, :1], deltas[-1] - deltas[0]
    top = rise.max(axis=1)
    leaves = top > 0.0
    scale = np.where(leaves, top, 1.0)
    area = ((rise[:, 1:] + rise[:, :-1]) / 2 @ np.diff(deltas)) / span
    half = np.array([np.interp(deltas[0] + span / 2, deltas, row) for row in rise])
    return np.array(
        [
            np.where(leaves, np.maximum(area, 0.0) / scale, 0.0),
            np.where(leaves, (_find_crossings(rise, TENTH * top, deltas) - deltas[0]) / span, np.nan),
            np.where(leaves, half / scale, np.nan),
        ]
    )


def get_point_metrics(metrics: str | Iterable[str | Metric]) -> Sequence[CorpusMetric]:
    """Metrics on ready-made points: over Euclidean distances where no ground is named, since points have no angle.

    `irpr@given:cosine` names one. Metrics that read texts, or embed them, are refused.

    >>> [metric.key for metric in get_point_metrics("irpr,fid,irpr@angular")]
    ['irpr@given:euclidean', 'fid@given', 'irpr@given:angular']
    """
    moved = []
    for metric in get_corpus_metrics(metrics):
        if metric.reads_texts:
            raise InputError(f"{metric.key} reads texts, and perturbation has points alone")
        if metric.embedder not in (GIVEN, metric.default_on.partition(":")[0]):
            raise InputError(f"{metric.key}: points are not embedded by {metric.embedder}")
        ground = "euclidean" if metric.on == metric.default_on else metric.ground
        on = f"{GIVEN}:{ground}" if metric.needs == "ground" else GIVEN
        moved.append(metric if metric.embedder == GIVEN else metric.with_input(on))
    return list(dict.fromkeys(moved))


def _make_batch(number: int, drawn: PointSample, trials: list[tuple[float, float]], q: int) -> CorpusBatch:
    """Make one corpus of A and B and the moved group of every trial, for distances that several trials share."""
    n = len(drawn.A)
    moved = [drawn.move_group(p, delta) if delta else drawn.B[:0] for p, delta in trials]
    starts = 2 * n + np.cumsum([0, *map(len, moved)])
    left, right = np.zeros((2, len(trials), starts[-1]), dtype=bool)
    left[:, :n], right[:, n : 2 * n] = True, True
    for trial, (p, delta) in enumerate(trials):
        right[trial, starts[trial] : starts[trial + 1]] = True
        right[trial, n + drawn.get_group(p)] = not delta
    p, delta = np.array(trials).T
    columns = {"q": np.full(len(trials), q), "p": p, "delta": delta}
    return CorpusBatch(number, Corpus.of(np.concatenate([drawn.A, drawn.B, *moved])), Draws(left, right), columns)


def _find_crossings(rise: Floats, level: Floats, deltas: Floats) -> Floats:
    """Return where each row first passes its level, between the last place at or below it and the first above."""
    rows, first = np.arange(len(rise)), np.maximum((rise > level[:, None]).argmax(axis=1), 1)
    low, high = rise[rows, first - 1], rise[rows, first]
    share = (level - low) / np.where(high > low, high - low, 1.0)
    return np.asarray(deltas[first - 1] + share * (deltas[first] - deltas[first - 1]))
