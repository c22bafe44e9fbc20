"""Distributionality: does a distance of corpora follow their distributions, or each text's nearest neighbours?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import Paraphrases
from textgauge.bench.protocols.base import (
    Measure,
    Observations,
    Protocol,
    Verdict,
    explain_undefined,
    make_generator,
    merge_rounding_ties,
    register_protocol,
    summarise_repetitions,
)
from textgauge.bench.protocols.ksc import list_corpus_pairs
from textgauge.bench.sources import CorpusBatch, PairSources, compact_pool
from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.show import join_words
from textgauge.data import Corpus, Draws
from textgauge.metrics import CorpusMetric, Range, get_corpus_metrics
from textgauge.stats.density import FALLBACK, RESOLVED, compute_deviations, group_densities

SCORE = "distributionality"
# By the paper's text of cosine distances, by its authors' code of angles with energy as a root; for all metrics alike.
_PROTOTYPES = {"paper": ("energy@cosine", "ahd@cosine"), "code": ("energy(root=true)@angular", "ahd@angular")}


def _declare_measures(distributional: str, neighbours: str) -> tuple[Measure, ...]:
    away = [
        Measure(f"deviation_{name}", high=float("inf"), best="smaller", about=f"how far from {name}; smaller is nearer")
        for name in (distributional, neighbours)
    ]
    about = f"1 as {distributional}, −1 as {neighbours}; above 0 nearer to {distributional}"
    return (*away, Measure(SCORE, low=-1.0, about=about, quality=False))


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Distributionality(Protocol):
    """Whether a metric moves as a distributional distance or as one of nearest neighbours.

    `n` pairs of paraphrases, 2n different texts, give A and B; corpora c_0 … c_k of n texts each are drawn from both
    again, round(n·i/k) texts of c_i from B (double lottery), `repetitions` times. A metric's distances are standardised
    by the mean and standard deviation of all of them; D_ℓ are those of corpora ℓ steps apart. The deviation of two
    metrics is Σ_ℓ w_ℓ Σ_x (f_ℓ(x) − g_ℓ(x))² δx with Gaussian densities f_ℓ, g_ℓ of D_ℓ (Scott's bandwidth; 3,001
    points of [−8, 8]) and w_ℓ the share of distances at ℓ. The score is (N − D)/(N + D) for the deviations D from the
    prototype `distributional` and N from the prototype `neighbours`, both of which any run computes.

    Angle and cosine distance order texts alike, but the same metric rises early on one and late on the other. So that
    the class is of the metric, not of its ground, a prototype named without `@` takes the input of the metric: its
    embedder and its ground. Where the metric's values are not on the scale of a ground (`fid`, `mauve`, `pr`), that is
    Euclidean distance; where it reads tokens, of the default embedder. One named with `@` stands as it is.
    `prototypes=paper` takes those of the paper's text for all metrics (cosine distances), `prototypes=code` those of
    its authors' code (angles, the root of energy), in place of the two that are named.

    The one distance at ℓ = k is d(A, B) in every repetition: its density has a bandwidth of 0.1. So have those of other
    ℓ whose distances are (almost) equal, and the verdict says so. Undefined where a distance does not exist or is
    infinite, or all are equal.

    `samples` is how many sets of n pairs are drawn. One: `values` are the pseudo-values of a jackknife over
    repetitions, and the intervals cover what other lotteries of the same A and B would give. Several: the value is
    their mean, `values` are theirs, and the intervals cover what other paraphrases would give. `error` is the standard
    error that lotteries alone leave.

    Source: Ackerman et al. 2023.
    """

    name = "distributionality"
    heading = "Distribution or neighbours"
    question = (
        "As paraphrases replace texts, does the metric move like a distance of distributions (1) or of "
        "nearest neighbours (−1)?"
    )
    data = Paraphrases()
    figures = ("trajectory", "deviations", "density", "step_boxes", "component")
    measures = _declare_measures("energy", "ahd")
    judging = ("samples", "distributional", "neighbours", "prototypes")
    ranges = (Range("k", 2), Range("repetitions", 1), Range("samples", 1))

    n: int = 50
    k: int = 15
    repetitions: int = 5
    samples: int = 1
    distributional: str = "energy"
    neighbours: str = "ahd"
    prototypes: Literal["own", "paper", "code"] = "own"

    def __post_init__(self) -> None:
        super().__post_init__()
        named = _PROTOTYPES.get(self.prototypes, (self.distributional, self.neighbours))
        object.__setattr__(self, "distributional", named[0])
        object.__setattr__(self, "neighbours", named[1])
        object.__setattr__(self, "measures", _declare_measures(self.distributional, self.neighbours))

    @property
    def prototype_names(self) -> tuple[str, str]:
        """Both prototypes as they are named."""
        return (self.distributional, self.neighbours)

    def prototypes_of(self, metric: str) -> tuple[str, ...]:
        """Return the keys of the prototypes that a metric is compared with."""
        (judged,) = get_corpus_metrics(metric)
        return tuple(_get_prototype(name, judged).key for name in self.prototype_names)

    def also(self, metrics: Iterable[str]) -> tuple[str, ...]:
        """Return the prototypes of all metrics."""
        return tuple(dict.fromkeys(key for metric in metrics for key in self.prototypes_of(metric)))

    def check(self, sources: PairSources) -> None:
        if len(get_corpus_metrics(list(self.prototype_names))) != 2:
            raise InputError(f"{self.name} needs two different prototypes, not {' and '.join(self.prototype_names)}")
        if self.n < self.k:
            raise InputError(f"{self.k + 1} corpora differ only with at least {self.k} texts each, not {self.n}")
        have = min(len(np.unique(side.keys)) for side in (sources.left, sources.right))
        if have < self.n:
            raise InputError(_explain_too_few(sources.name, have, self.n))

    def batch_numbers(self, sources: PairSources, seed: int) -> Sequence[int]:
        return range(self.samples * self.repetitions)

    def trials(self, sources: PairSources, seed: int) -> Iterator[CorpusBatch]:
        """Yield one batch per sample and repetition: all pairs of the k + 1 corpora, over a pool of what is drawn."""
        generators = [make_generator(self, sources, seed, sample) for sample in range(self.samples)]
        rows = np.concatenate([draw_different_pairs(sources, self.n, rng) for rng in generators])
        pairs = sources.pairs
        pool = compact_pool(pairs.left.take(rows) | pairs.right.take(rows), embedders=())
        i, j = list_corpus_pairs(self.k + 1)
        for number in range(self.samples * self.repetitions):
            sample, repetition = divmod(number, self.repetitions)
            left = np.arange(sample * self.n, (sample + 1) * self.n)
            masks = draw_double_lottery(self.n, self.k, generators[sample])
            columns = {"i": i, "j": j, "sample": np.full(len(i), sample), "repetition": np.full(len(i), repetition)}
            joint = Corpus(pool, np.concatenate([left, left + len(rows)]))
            yield CorpusBatch(number, joint, Draws(masks[i], masks[j]), columns)

    def judge(self, observations: Observations) -> list[Verdict]:
        raise InputError(f"{self.name} compares a metric with its prototypes {' and '.join(self.prototype_names)}")

    def judge_all(self, observations: Mapping[str, Observations]) -> dict[str, list[Verdict]]:
        """Return the deviations of every metric from both prototypes, and its score."""
        moved = {
            (metric, sample): self._compute_trajectories(observed, sample)
            for metric, observed in observations.items()
            for sample in range(self.samples)
        }
        judged = {}
        for metric in observations:
            prototypes = self.prototypes_of(metric)
            missing = f"a run without the prototypes {' and '.join(prototypes)}: add them to its metrics"
            own = [moved[metric, sample] for sample in range(self.samples)]
            compared = [
                _compare_sample(moves, [moved.get((name, sample), missing) for name in prototypes])
                for sample, moves in enumerate(own)
            ]
            found = [moves[0] for moves, (made, _) in zip(own, compared, strict=True) if not np.isnan(made[0, 0])]
            steps = sorted({step for moves in found for step in cast(Trajectory, moves).narrow if step < self.k})
            narrow = f"step{'s' if len(steps) > 1 else ''} {join_words([str(step) for step in steps])}"
            note = f"distances at {narrow} are (almost) equal: the bandwidth there is {FALLBACK}" if steps else None
            judged[metric] = [self._judge_measure(at, compared, note) for at in range(3)]
        return judged

    def _compute_trajectories(self, observed: Observations, sample: int) -> list[Trajectory] | str:
        """Return the deviations of one sample, with all repetitions and without each; or why there are none."""
        here = observed.of("sample", sample)
        repetition, step = here.columns["repetition"], here.columns["j"] - here.columns["i"]
        if len(np.unique(repetition)) < self.repetitions:
            return "not all repetitions are finished"
        reason = explain_undefined(here) or ("a distance is infinite" if np.isinf(here.value).any() else None)
        if reason is not None:
            return reason
        values = merge_rounding_ties(here.value)
        if not np.ptp(values) > 0:
            return "all distances are equal"
        without = [repetition != number for number in range(self.repetitions)] if self.repetitions > 1 else []
        parts = [np.ones(len(values), dtype=bool), *without]
        return [compute_trajectory(values[part], step[part]) for part in parts]

    def _judge_measure(self, at: int, samples: list[tuple[Floats, str | None]], note: str | None) -> Verdict:
        """Return one measure from the samples: the repetitions of a single one, or the values of several."""
        measure = self.measures[at]
        pseudo = [compute_pseudo_values(estimates[at]) for estimates, _ in samples]
        values = pseudo[0] if len(samples) == 1 else np.array([estimates[at, 0] for estimates, _ in samples])
        known = [part.var(ddof=1) / len(part) for part in pseudo if len(part) > 1 and not np.isnan(part).any()]
        error = float(np.sqrt(sum(known)) / len(known)) if known else 0.0
        reasons = [reason for _, reason in samples]
        verdict = summarise_repetitions(measure.name, values.tolist(), reasons, error=error)
        names = ("low", "high", "boot_low", "boot_high")
        ends = {name: float(np.clip(getattr(verdict, name), measure.low, measure.high)) for name in names}
        return replace(verdict, reason="; ".join(filter(None, (verdict.reason, note))) or None, **ends)  # type: ignore[arg-type]


def draw_different_pairs(sources: PairSources, n: int, rng: np.random.Generator) -> Ints:
    """Return rows of n pairs at random whose 2n texts all differ."""
    left, right = sources.pairs.left.keys.tolist(), sources.pairs.right.keys.tolist()
    seen: set[int] = set()
    rows: list[int] = []
    for row in rng.permutation(len(left)).tolist():
        texts = {left[row], right[row]}
        if len(texts) == 2 and not texts & seen:
            seen |= texts
            rows.append(row)
        if len(rows) == n:
            return np.array(rows, dtype=np.int64)
    raise InputError(_explain_too_few(sources.name, len(rows), n))


def draw_double_lottery(n: int, k: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which of n texts of A and n of B are in each of c_0 … c_k: round(n·i/k) of B, drawn again for every corpus.

    >>> draw_double_lottery(4, 2, np.random.default_rng(0)).astype(int).tolist()[::2]
    [[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]]
    """
    masks = np.zeros((k + 1, 2 * n), dtype=bool)
    for mask, second in zip(masks, np.rint(n * np.arange(k + 1) / k).astype(int).tolist(), strict=True):
        mask[rng.choice(n, n - second, replace=False)] = True
        mask[n + rng.choice(n, second, replace=False)] = True
    return masks


def _get_prototype(name: str, metric: CorpusMetric) -> CorpusMetric:
    """Return a prototype on the input that a metric is compared on."""
    (prototype,) = get_corpus_metrics(name)
    if "@" in name or prototype.needs == "tokens":
        return prototype
    if prototype.needs == "ground" and (metric.uses_ground_scale or metric.pair_ground is not None):
        return prototype.with_input(metric.on)
    embedder = prototype.embedder if metric.reads_texts else metric.embedder
    return prototype.with_input(f"{embedder}:euclidean" if prototype.needs == "ground" else embedder)


def _compare_sample(own: list[Trajectory] | str, anchors: list[list[Trajectory] | str]) -> tuple[Floats, str | None]:
    """Return deviations D and N from both prototypes, and (N − D)/(N + D): 1 on the first, −1 on the second.

    Those of all repetitions, then without each; with the reason where they are NaN.
    """
    reason = next((text for text in (own, *anchors) if isinstance(text, str)), None)
    if isinstance(own, str) or reason is not None:
        return np.full((3, 1), np.nan), reason
    far = []
    for other in (anchor for anchor in anchors if not isinstance(anchor, str)):
        pairs = zip(own, other, strict=True)
        far.append(np.array([float(m.shares @ compute_deviations(m.densities, o.densities)) for m, o in pairs]))
    total = far[0] + far[1]
    scores = np.where(total > 0, (far[1] - far[0]) / np.where(total > 0, total, 1.0), np.nan)
    return np.array([*far, scores]), "both prototypes move alike" if np.isnan(scores[0]) else None


def _explain_too_few(name: str, have: int, needed: int) -> str:
    return f"{name} has {have} pairs whose texts all differ, but n={needed} are needed"


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Densities of standardised distances at each step, their shares of all, and steps of (almost) one value."""

    densities: Floats
    shares: Floats
    narrow: tuple[int, ...]


def compute_trajectory(values: Floats, step: Ints) -> Trajectory:
    """Standardise distances by the mean and standard deviation (over n) of all, and take the density at each step.

    Distances that are all equal stand at 0.

    >>> made = compute_trajectory(np.array([1.0, 2.0, 1.0, 2.0, 4.0, 4.0]), np.array([1, 1, 1, 1, 2, 2]))
    >>> made.densities.shape, made.shares.round(2).tolist(), made.narrow
    ((2, 3001), [0.67, 0.33], (2,))
    """
    steps, counts = np.unique(step, return_counts=True)
    densities, bandwidths = group_densities((values - values.mean()) / (values.std() or 1.0), step, steps)
    return Trajectory(densities, counts / len(step), tuple(steps[bandwidths < RESOLVED].tolist()))


def compute_pseudo_values(estimates: Floats) -> Floats:
    """From an estimate and those without one repetition each: what each repetition contributes, with the same mean.

    Their standard deviation over √R is the standard error of the jackknife. A single estimate stays as it is.

    >>> compute_pseudo_values(np.array([5.0, 5.5, 4.5])).tolist()
    [4.5, 5.5]
    """
    whole, parts = estimates[0], estimates[1:]
    return np.asarray(whole + (len(parts) - 1) * (parts.mean() - parts)) if len(parts) else estimates
