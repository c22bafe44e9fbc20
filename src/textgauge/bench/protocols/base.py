"""What a protocol is: a declaration, trials that know no metric, and a verdict that knows no text; and all by name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, get_type_hints

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import DataKind
from textgauge.bench.sources import Batch, Column, Data, Sources
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.registry import Registry
from textgauge.data import Comparison
from textgauge.metrics import Metric, Range, get_corpus_metrics, get_pair_metrics
from textgauge.metrics.base import check_parameters
from textgauge.stats.resampling import compute_percentile_interval, resample_sums

RESAMPLES = 1_000  # of repetitions or of pairs: one number, so that measures of all protocols can be averaged
CORPUS_METRICS = "energy,mmd,fid,pr,dc,irpr,medoid,ttest,classifier,cbdf,jsd,zipf"
PAIR_METRICS = "cosine,chrf,bleu,rouge1,jaccard,levenshtein,wmd"
_ANY = (-float("inf"), float("inf"))


@dataclass(frozen=True)
class Measure:
    """A number about a metric: its name, its range, which end is the better one, and how it is computed.

    `column` is the column of a leaderboard it counts for, its own by default; a `detail` counts for none. A measure
    without `quality` describes a metric and does not rank it. `chance` is what a metric that knows nothing reaches on
    average, None where that depends on the data.
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    best: Literal["larger", "smaller"] = "larger"
    about: str = ""
    column: str = ""
    detail: bool = False
    quality: bool = True
    chance: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", self.column or self.name)

    @property
    def formula(self) -> str:
        """What counts in an overall score: the measure, or how it is brought to a scale from 0 to 1.

        >>> Measure("accuracy").formula, Measure("spearman", low=-1.0).formula, Measure("percent", high=100.0).formula
        ('accuracy', '(spearman + 1)/2', 'percent/100')
        """
        moved = f"{self.name} {'−' if self.low > 0 else '+'} {abs(self.low):g}" if self.low else self.name
        width = self.high - self.low
        if width == 1:
            return moved
        return f"({moved})/{width:g}".replace("-", "−") if self.low else f"{self.name}/{width:g}"

    def share(self, value: Any) -> Any:
        """Return the value as a share of the way from the worst to the best; NaN for measures without two ends."""
        if self.best == "smaller" or np.isinf(self.high):
            return np.full_like(np.asarray(value, dtype=np.float64), np.nan)
        return np.clip((np.asarray(value, dtype=np.float64) - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True)
class Verdict:
    """One measure of one metric: mean over repetitions, their deviation, and an interval for the mean.

    `low` and `high` come from Student's t over repetitions, `boot_low` and `boot_high` from resampling them; `values`
    are those of the single repetitions. `error` is the standard error that a sample of judgements (or of lotteries)
    adds, 0 where all are used. NaN has a `reason`; so has a mean that leaves repetitions out.

    A measure of rated pairs has no repetitions: its one value comes with `draws`, the values on resamples that are the
    same for all metrics, and its intervals are theirs. `n` counts what is correlated, `units` what was resampled;
    `chance` is the value that a metric which knows nothing reaches in 1 case of 20.
    """

    measure: str
    value: float
    std: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    boot_low: float = float("nan")
    boot_high: float = float("nan")
    error: float = 0.0
    values: tuple[float, ...] = ()
    reason: str | None = None
    draws: tuple[float, ...] = field(default=(), repr=False)
    n: int | None = None
    units: int = 0
    chance: float = field(default=float("nan"), compare=False)  # NaN is not equal to itself

    @classmethod
    def of_draws(
        cls, measure: str, value: float, drawn: Floats, units: int, *, bounds: tuple[float, float] = _ANY, **more: Any
    ) -> Verdict:
        """Return a verdict from one value and its resamples.

        Without interval, draws and chance where there is no value.
        """
        made = cls(measure, value, values=(value,), units=units, **more)
        if np.isnan(value):
            return replace(made, chance=float("nan"))
        low, high = compute_percentile_interval(drawn, units, 0.95)
        low, high = max(low, bounds[0]), min(high, bounds[1])
        return replace(made, low=low, high=high, boot_low=low, boot_high=high, draws=tuple(drawn.tolist()))


@dataclass(frozen=True)
class Observations:
    """The values of one metric on the trials of all batches, with what is known about each trial."""

    value: NDArray[np.float64]
    batch: NDArray[np.int64]
    columns: Mapping[str, Column] = field(default_factory=dict)

    def batches(self) -> Iterator[Observations]:
        """Return the trials of each batch by themselves."""
        return (self.of("batch", number) for number in np.unique(self.batch))

    def of(self, column: str, value: Any) -> Observations:
        """Return the trials that have this value in a column; `batch` is one."""
        here = (self.batch if column == "batch" else self.columns[column]) == value
        return Observations(self.value[here], self.batch[here], {k: v[here] for k, v in self.columns.items()})


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Base of all protocols: class variables declare what it is, fields are its parameters."""

    name: ClassVar[str]
    heading: ClassVar[str] = ""  # what people call it
    question: ClassVar[str] = ""  # what it asks of a metric, in one sentence
    purpose: ClassVar[str] = "Comparing corpora"  # what its metrics are wanted for
    family: ClassVar[str] = ""  # another name that runs it, together with others of the same family
    place: ClassVar[int] = 0  # in lists, before the name
    of: ClassVar[Literal["corpora", "pairs"]] = "corpora"
    data: ClassVar[DataKind]
    default_metrics: ClassVar[str] = CORPUS_METRICS
    measures: ClassVar[tuple[Measure, ...]]
    figures: ClassVar[tuple[str, ...]] = ()  # kinds of figures that its runs have
    timed: ClassVar[bool] = False  # whether the value of a trial is its time, alone and cold
    similarities: ClassVar[bool] = False  # whether trials are judged as similarities, not as distances
    ensembles: ClassVar[bool] = False  # whether runs train ensembles of their metrics
    rated: ClassVar[bool] = False  # whether trials are pairs with people's ratings
    common: ClassVar[str] = ""  # what its measures have in common, in one sentence
    resampled: ClassVar[Literal["texts", "sources"]] = "sources"  # the scope of verdicts with draws: are texts drawn?
    judging: ClassVar[tuple[str, ...]] = ()  # parameters that say how trials are judged, and decide none
    ranges: ClassVar[tuple[Range, ...]] = ()  # of parameters
    tacit: ClassVar[tuple[str, ...]] = ()  # parameters that the key names only where they are not the usual ones
    version: ClassVar[int] = 1

    @property
    def key(self) -> str:
        """Name and what decides the trials, in one string: what a stored cell is filed under."""
        given = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in self.judging}
        usual = {item.name: item.default for item in fields(self) if item.name in self.tacit}
        named = ",".join(
            f"{name}={value}" for name, value in given.items() if name not in usual or value != usual[name]
        )
        return f"{self.name}({named})|v{self.version}"

    @property
    def title(self) -> str:
        """A short word for names of figures and headings."""
        return self.name

    @property
    def summary(self) -> str:
        """What was drawn, in plain words."""
        return self.name

    @classmethod
    def metrics_for(cls, names: str | Iterable[str | Metric], data: Data) -> Sequence[Metric]:
        """Return the metrics that names stand for, as they run on these data."""
        if cls.of == "pairs":
            return get_pair_metrics(names)
        metrics = get_corpus_metrics(names)
        if not isinstance(data, Sources) or not data.joint.pool.has_given:
            return metrics
        given = Comparison(data.joint, data.joint)
        moved = [metric.on_given(given) for metric in metrics]
        blind = [metric.key for metric in moved if metric.reads_texts and not data.joint.pool.has_texts]
        if blind:
            raise InputError(f"{blind[0]} needs texts, but the corpora were given as embeddings")
        return moved

    def also(self, metrics: Iterable[str]) -> tuple[str, ...]:
        """Keys of the other metrics that judging these needs."""
        del metrics
        return ()

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        check_parameters(self, {item.name: hints[item.name] for item in fields(self)}, self.ranges)

    def check(self, sources: Any) -> None:
        """Refuse data, and parameters that do not fit each other, in one line that says what is needed."""

    def notes(self, sources: Any) -> tuple[str, ...]:
        """Return what of the data is left out, and what to watch out for."""
        return tuple(sources.notes)

    def pool_share(self, sources: Any) -> float | None:
        """Return the share of the source texts that one repetition uses.

        None where repetitions are not samples of them.
        """
        del sources
        return None

    def batch_numbers(self, sources: Any, seed: int) -> Sequence[int]:
        """Return the numbers of the batches of `trials`: one for each of the `repetitions`, where there are such."""
        repetitions = getattr(self, "repetitions", None)
        return [batch.number for batch in self.trials(sources, seed)] if repetitions is None else range(repetitions)

    def trials(self, sources: Any, seed: int) -> Iterator[Batch]:
        """Return the batches of trials; the same for every metric."""
        raise NotImplementedError

    def judge(self, observations: Observations) -> list[Verdict]:
        """Return the measures of one metric from what it gave, oriented so that farther is larger."""
        rows = [self.judge_repetition(batch) for batch in observations.batches()]
        verdicts = []
        for name in (measure.name for measure in self.measures):
            cells = [row if isinstance(row, str) else row[name] for row in rows]
            reasons = [cell if isinstance(cell, str) else None for cell in cells]
            values = [float("nan") if isinstance(cell, str) else cell for cell in cells]
            verdicts.append(summarise_repetitions(name, values, reasons))
        return verdicts

    def judge_repetition(self, batch: Observations) -> Mapping[str, float | str] | str:
        """Return the measures of one repetition by name; in the place of one, or of all, why it is undefined."""
        raise NotImplementedError

    def judge_all(self, observations: Mapping[str, Observations]) -> dict[str, list[Verdict]]:
        """Return the measures of all metrics of a run; each by itself, unless a protocol compares them."""
        return {metric: self.judge(found) for metric, found in observations.items()}


PROTOCOLS: Registry[type[Protocol]] = Registry(
    "protocol", modules=["textgauge.bench.protocols"], group="textgauge.protocols"
)
register_protocol = PROTOCOLS.register  # a decorator that makes a class known by its name; a taken one is refused


def list_protocols() -> dict[str, type[Protocol]]:
    """All protocols by name: those of this package, of plug-ins (`textgauge.protocols`) and those users register."""
    return dict(sorted(PROTOCOLS.items(), key=lambda item: (item[1].place, item[0])))


def find_protocols(name: str) -> list[type[Protocol]]:
    """Return the protocol of a name, or all protocols of a family; none where nobody knows the name."""
    known = list_protocols()
    return [known[name]] if name in known else [kind for kind in known.values() if kind.family == name]


def list_data_words() -> list[str]:
    """Return the names of all values that data of some protocol are named by."""
    kinds = [kind.data for kind in list_protocols().values()]
    return list(dict.fromkeys(name for kind in kinds for name in (*kind.needs, *kind.takes) if name != "scores"))


def make_generator(protocol: Protocol, sources: Data, seed: int, number: int) -> np.random.Generator:
    """Make a generator that depends on seed, protocol, data and repetition alone, not on metrics."""
    text = f"{protocol.key}|{sources.fingerprint}".encode()
    words = np.frombuffer(hashlib.blake2b(text, digest_size=16).digest(), dtype=np.uint32)
    return np.random.default_rng(np.random.SeedSequence([seed, number, *words.tolist()]))


def explain_undefined(observations: Observations) -> str | None:
    """Return how many trials have no value, and the reason of the first; None where all have one."""
    undefined = np.flatnonzero(np.isnan(observations.value))
    if not len(undefined):
        return None
    first = observations.columns["reason"][undefined[0]] if "reason" in observations.columns else None
    count = f"undefined in {len(undefined)} of {len(observations.value)} trials"
    return f"{count}: {first}" if first else count


def summarise_repetitions(
    measure: str, values: Sequence[float], reasons: Sequence[str | None] = (), *, error: float = 0.0
) -> Verdict:
    """Return a verdict from the values of single repetitions.

    Undefined ones are left out, and their `reasons` are given.
    """
    from scipy.special import stdtrit

    known = np.array([value for value in values if not np.isnan(value)])
    n = len(known)
    reason = None
    if n < len(values) or not values:
        reason = "; ".join(dict.fromkeys(filter(None, reasons))) or "no repetition is finished"
        reason = f"{len(values) - n} of {len(values)} repetitions left out: {reason}" if n else reason
    value = float(known.mean()) if n else float("nan")
    verdict = Verdict(measure, value, error=error, values=tuple(values), reason=reason)
    if n < 2:
        return verdict
    std = float(known.std(ddof=1))
    reach = float(-stdtrit(n - 1, 0.025)) * std / np.sqrt(n)
    low, high = compute_percentile_interval(resample_sums(known[:, None], RESAMPLES, 0)[:, 0] / n, n, 0.95)
    ends = {"low": verdict.value - reach, "high": verdict.value + reach, "boot_low": low, "boot_high": high}
    return replace(verdict, std=std, **ends)


def merge_rounding_ties(values: Floats) -> Floats:
    """Return the values with those that differ by rounding alone (a part in 10¹²) made equal, so that ties are ties.

    >>> merge_rounding_ties(np.array([0.3, 0.1 + 0.2, 0.4])).tolist()
    [0.3, 0.3, 0.4]
    """
    order = np.argsort(values)
    rising = values[order]
    new = np.concatenate([[True], ~np.isclose(rising[1:], rising[:-1], rtol=1e-12, atol=0.0)])
    made = np.empty_like(values)
    made[order] = rising[new][np.cumsum(new) - 1]
    return made
