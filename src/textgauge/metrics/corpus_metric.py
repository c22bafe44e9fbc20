"""What a corpus metric is: a metric of two corpora, over pure functions on arrays."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError
from textgauge.data import GIVEN, Comparison, Corpus, Draws
from textgauge.data.view import TextsLike
from textgauge.metrics import uncertainty
from textgauge.metrics.base import VALUE, Metric, Part, Undefined, identify_embedder, take_single
from textgauge.metrics.cautions import find_unread
from textgauge.metrics.numerics.moments import GROUNDS
from textgauge.metrics.pair_metric import to_distance
from textgauge.metrics.registry import METRICS, get_metric, list_explained_metrics
from textgauge.metrics.score import Contributions, Score
from textgauge.metrics.uncertainty import GROUPS, PERMUTATION, DisjointSplits, NullValues

Growth = Literal["sums", "blocks", "fitted"]
Values = dict[str, float]
Ends = tuple[float, float]
Interval = tuple[float, float, str]  # low and high end, and the method
ManyValues = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True)
class CorpusMetric(Metric):
    """Base of all corpus metrics: subclasses declare the class variables and implement `compute`.

    Fields are parameters. `part` selects a component, `on` names the input (tokenizer, embedder, or embedder
    and ground).
    """

    scope = "corpus"
    min_texts: ClassVar[int] = 2  # that each corpus must have
    interval_trials: ClassVar[int] = 40  # how often the corpora are cut into quarters for the standard error
    fitted: ClassVar[bool] = False  # whether something is fitted to the texts: clusters, a classifier
    min_texts_interval: ClassVar[int] = 100  # of each corpus: from there on simulated coverage is 93 to 97 %
    most_unequal: ClassVar[float] = float("inf")  # how many times as large one corpus may be for an interval
    knows_groups: ClassVar[bool] = False  # whether its own interval does not take texts to be independent
    no_interval: ClassVar[str | None] = None  # why there is no interval at any size
    variance_grows_with_value: ClassVar[bool] = False  # whether it does, as that of a squared length
    uses_ground_scale: ClassVar[bool] = False  # whether values are on the scale of the ground, not merely ordered by it
    is_sum: ClassVar[bool] = False  # whether sums over texts decide; `compute_many` then takes draws of groups as such

    embedder: str = field(init=False, repr=False, compare=False)
    """The embedder's name, for metrics of embeddings."""
    ground: str = field(init=False, repr=False, compare=False)
    """The ground's name, for metrics over a ground of embeddings."""
    pair_ground: str | None = field(init=False, repr=False, compare=False)
    """The key of the pair metric that serves as ground; None for metrics of embeddings or tokens."""
    reads_texts: bool = field(init=False, repr=False, compare=False)
    """Whether the texts themselves are needed, so that ready-made embeddings are not enough."""

    @property
    def token_rows(self) -> str:
        """The name of the pool's rows that metrics of tokens read."""
        return self.on

    def input_identity(self) -> list[str]:
        """Return the tokenizer, or the embedder with its revision."""
        if self.needs == "tokens":
            return [f"tokenizer={self.on}"]
        if self.pair_ground is not None:
            return [f"ground={_get_pair_key(self.pair_ground, full=True)}"]
        return [identify_embedder(self.embedder)]

    def compute(self, comparison: Comparison) -> Values:
        """Headline and parts of one comparison; raises `Undefined` with the reason where there is none.

        A metric overrides this, or `compute_many`, whose only draw it is by default.
        """
        if type(self).compute_many is CorpusMetric.compute_many:
            raise NotImplementedError
        sides = np.repeat([0, 1], [len(side) for side in comparison.sides])
        draw = Draws(np.array([[True, False]]), np.array([[False, True]]), sides)  # the one draw, each side a group
        return take_single(self.compute_draws(comparison.joint, draw))

    @property
    def grows(self) -> Growth:
        """How the work grows with the texts: `sums` with their number, `blocks` with that of pairs, `fitted` faster.

        Decides how large corpora are measured: exactly with all uncertainty, exactly without, or on a sample.
        """
        return "sums" if self.is_sum else "fitted" if self.fitted or self.reads_texts else "blocks"

    def compute_draws(self, joint: Corpus, draws: Draws) -> ManyValues:
        """Return the values of draws of texts or of groups; NaN where undefined."""
        return self.compute_many(joint, draws if self.is_sum else draws.of_texts())

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """`compute` for many draws of sub-corpora from one corpus; NaN where undefined.

        Families override this with a path that shares work between draws; the numbers are the same. Draws are of texts,
        or of groups if the metric is a sum.
        """
        rows = [self.values_or_nan(comparison) for comparison in draws.comparisons(joint)]
        return {name: np.array([row[name] for row in rows]) for name in self.value_names}

    def interval(self, comparison: Comparison, score: Score, *, level: float, seed: int) -> Interval:
        """Low and high end for the expected value at these sizes, and the method's name.

        `score` is what `measure` gave for this comparison, so that nothing is computed twice. Raises `Undefined` with
        the reason where no interval is offered.
        """
        if self.no_interval is not None:
            raise Undefined(f"{self.key} has no interval: {self.no_interval}")
        fewest, most = sorted((len(comparison.reference), len(comparison.candidate)))
        if most > self.most_unequal * fewest:
            raise Undefined(f"{self.key} has no interval where one corpus is over {self.most_unequal:g} times as large")
        if fewest < self.min_texts_interval:
            raise Undefined(f"{self.key} has no interval below {self.min_texts_interval} texts; a corpus has {fewest}")
        if not (self.knows_groups or comparison.units.has_few_repeated):
            return CorpusMetric.interval_ends(self, comparison, score, level=level, seed=seed)
        return self.interval_ends(comparison, score, level=level, seed=seed)

    def interval_ends(self, comparison: Comparison, score: Score, *, level: float, seed: int) -> Interval:
        """Return what `interval` gives for corpora of enough texts; families override this."""
        trials = uncertainty.GROUP_TRIALS if comparison.units.dealt else self.interval_trials
        parts = DisjointSplits.of(comparison, trials=trials, seed=seed)
        values = self.compute_draws(parts.joint, parts.draws)
        reach = uncertainty.compute_student_reach(level, comparison)
        if self.variance_grows_with_value:
            null = self.null_values(comparison, permutations=uncertainty.EXCHANGES, seed=seed)
            ends = uncertainty.invert_interval(score.value, parts.error(self.select(values)), null, reach, self.bounds)
        else:
            ends = self.ends_from_parts(score, values, parts, reach)
        return (*ends, uncertainty.DISJOINT if comparison.units.are_texts else uncertainty.DISJOINT_GROUPS)

    def ends_from_parts(self, score: Score, values: ManyValues, parts: DisjointSplits, reach: float) -> Ends:
        """Low and high end, `reach` standard errors to either side, from the values on disjoint parts."""
        return uncertainty.bound_interval(score.value, reach * parts.error(self.select(values)), self.bounds)

    def null_values(self, comparison: Comparison, *, permutations: int, seed: int) -> NullValues:
        """Return the value and those after exchanging texts between the corpora: null range, p-value and effect."""
        # The observed split is computed by the same path as the permuted ones, so that they round alike.
        joint = comparison.derive(uncertainty.order_by_content)
        draws = comparison.derive(uncertainty.draw_exchanges, permutations, seed)
        values = np.asarray(self.select(self.compute_draws(joint, draws)), dtype=np.float64)
        method = PERMUTATION if comparison.units.are_texts else GROUPS
        return NullValues(float(values[0]), values[1:], method, 1 if self.closer == "smaller" else -1)

    @property
    def has_ratio_to_null(self) -> bool:
        """Whether value over null mean says something: only for distances that are 0 between equal corpora.

        Not for shares that are larger when closer, accuracies (½ is chance), and estimates that can be negative.
        """
        return self.closer == "smaller" and self.value_at_identity == 0.0 and self.bounds[0] >= 0.0

    @property
    def explains(self) -> bool:
        """Whether the value, or the part that decides it, is a sum over texts, so that `explain` has an answer."""
        return type(self).explain is not CorpusMetric.explain

    def explain(self, comparison: Comparison) -> Contributions:
        """Return what each text of both corpora adds; overridden by metrics whose value is a sum over texts."""
        raise self.not_explained()

    def not_explained(self) -> InputError:
        """Return the error of a metric without contributions, which names those that have them."""
        known = ", ".join(list_explained_metrics())
        return InputError(f"{self.key} has no per-text contributions; the metrics that have are {known}")

    def measure(self, comparison: Comparison) -> Score:
        """Return the score of one comparison, without uncertainty; see `textgauge.compare` for that."""
        start = time.perf_counter()
        reason = None
        try:
            self.require(comparison)
            values = self.compute(comparison)
        except Undefined as undefined:
            reason, values = str(undefined), {}
        shown = values.get(self.part or VALUE, float("nan"))
        return Score(
            metric=self.key,
            label=self.shown_label,
            value=float(shown),
            closer=self.closer,
            parts={part.name: float(values.get(part.name, float("nan"))) for part in self.parts},
            reason=reason,
            n_reference=len(comparison.reference),
            n_candidate=len(comparison.candidate),
            seconds=time.perf_counter() - start,
            signature=self.signature,
        )

    def require(self, comparison: Comparison) -> None:
        """Raise `Undefined` if a corpus has too few texts, or none that the encoder can read."""
        for role, corpus in (("reference", comparison.reference), ("candidate", comparison.candidate)):
            if len(corpus) < self.min_texts:
                count = f"{len(corpus)} text{'s' if len(corpus) != 1 else ''}"
                raise Undefined(f"the {role} has {count}; {self.key} needs at least {self.min_texts}")
            reader = self.embedder.removeprefix("whole:")
            if len(corpus) and find_unread(corpus, reader).all():
                raise Undefined(f"every text of the {role} consists of word pieces that {reader} does not know")

    def __call__(self, reference: TextsLike, candidate: TextsLike) -> Score:
        """Score two corpora given as texts, corpora or embedding arrays."""
        comparison = Comparison(reference, candidate)
        return self.on_given(comparison).measure(comparison)

    def on_given(self, comparison: Comparison) -> CorpusMetric:
        """Return this metric on ready-made embeddings if the corpora bring them and no embedder was named."""
        return self.on_embeddings() if comparison.reference.pool.has_given else self

    def on_embeddings(self, name: str = GIVEN) -> CorpusMetric:
        """Return this metric, moved to ready-made embeddings or to another embedder if none was named."""
        if self.reads_texts or self.embedder != self.default_on.partition(":")[0]:
            return self
        return self.with_input(f"{name}:{self.ground}" if self.needs == "ground" else name)

    def values_or_nan(self, comparison: Comparison) -> Values:
        """`compute`, with NaN for headline and parts where undefined."""
        try:
            self.require(comparison)
            return self.compute(comparison)
        except Undefined:
            return dict.fromkeys(self.value_names, float("nan"))

    def _set_input(self, on: str) -> None:
        if self.needs == "ground":
            default_embedder, _, default_ground = self.default_on.rpartition(":")
            if on.rpartition(":")[2] not in GROUNDS:
                on = _get_pair_key(on) or f"{on}:{default_ground}"
            if on in GROUNDS:
                on = f"{default_embedder}:{on}"
        embedder, _, ground = on.rpartition(":")
        is_pair, short = self.needs == "ground" and ground not in GROUNDS, on
        if self.needs == "ground" and not is_pair:
            short = ground if embedder == default_embedder else embedder if ground == default_ground else on
        vars(self).update(
            on=on,
            _short_on=None if on == self.default_on else short,
            embedder=embedder if self.needs == "ground" else on,
            ground=ground,
            pair_ground=on if is_pair else None,
            reads_texts=is_pair or self.needs == "tokens",
        )


def _get_pair_key(on: str, *, full: bool = False) -> str | None:
    """Return the key, or the signature, of the pair metric this names; None where it names none."""
    name = re.match(r"\w*", on)
    kind = METRICS.get(name.group()) if name else None
    if kind is None or kind.scope != "pair":
        return None
    metric = get_metric(on)
    to_distance(metric, metric.value_at_identity)
    return str(metric.signature if full else metric.key)


class TokenMetric(CorpusMetric):
    """A metric of token counts or sequences."""

    needs, default_on = "tokens", "wordpiece"

    def require(self, comparison: Comparison) -> None:
        """Raise `Undefined` for a corpus with too few texts or without tokens, those that pad texts among them."""
        super().require(comparison)
        for role, corpus in zip(("reference", "candidate"), comparison.sides, strict=True):
            if self.token_rows == self.on and not corpus.tokens(self.on).lengths.any():
                raise Undefined(f"the {role} has no tokens")


class GapMetric(CorpusMetric):
    """The absolute difference of a number of each corpus, its parts `reference` and `candidate`."""

    parts = (Part("reference"), Part("candidate"))

    def ends_from_parts(self, score: Score, values: ManyValues, parts: DisjointSplits, reach: float) -> Ends:
        """Low and high end for the expected absolute difference, from the values on disjoint parts."""
        if self.part:
            return super().ends_from_parts(score, values, parts, reach)
        difference = float(self.difference({name: np.array(value) for name, value in score.parts.items()}))
        return uncertainty.compute_folded_interval(difference, parts.error(self.difference(values)), reach)

    def difference(self, values: ManyValues) -> NDArray[np.float64]:
        """Return the difference whose absolute value is the headline."""
        return values["reference"] - values["candidate"]

    def of_sides(self, reference: NDArray[np.float64], candidate: NDArray[np.float64]) -> ManyValues:
        """Return headline and parts from the numbers of both corpora; NaN where one of them has none."""
        sides = {"reference": reference, "candidate": candidate}
        gap = np.abs(self.difference(sides))
        return {VALUE: gap} | {name: np.where(np.isnan(gap), np.nan, side) for name, side in sides.items()}


class EmbeddingMetric(CorpusMetric):
    """A metric of sentence embeddings."""

    needs, default_on = "embeddings", "minilm"


class GroundMetric(CorpusMetric):
    """A metric over a distance between texts."""

    needs, default_on = "ground", "minilm:cosine"
    uses_ground_scale = True
