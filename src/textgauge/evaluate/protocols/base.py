"""What a protocol is: trials that know no metric, and a verdict that knows no text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from textgauge.errors import InputError
from textgauge.evaluate.protocols.batch import Batch, Column
from textgauge.evaluate.protocols.sources import Data, PairSources, Sources, TaskSources

__all__ = [
    "RESAMPLES",
    "Data",
    "Measure",
    "Observations",
    "PairSources",
    "Protocol",
    "Sources",
    "TaskSources",
    "Verdict",
    "generator",
    "over_repetitions",
    "why_undefined",
]

RESAMPLES = 1_000  # of repetitions or of pairs: one number, so that measures of all protocols can be averaged


@dataclass(frozen=True)
class Measure:
    """A number about a metric: its name, its range, which end is the better one, and how it is computed.

    `column` is the column of a leaderboard it counts for, its own unless given; a `detail` counts for none. One without
    `quality` tells what a metric is like, not how good it is.
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    best: Literal["larger", "smaller"] = "larger"
    about: str = ""
    column: str = ""
    detail: bool = False
    quality: bool = True

    def share(self, value: Any) -> Any:
        """The value as a share of the way from the worst to the best; NaN for measures without two ends."""
        if self.best == "smaller" or np.isinf(self.high):
            return np.full_like(np.asarray(value, dtype=np.float64), np.nan)
        return np.clip((np.asarray(value, dtype=np.float64) - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True)
class Verdict:
    """One measure of one metric: mean over repetitions, their deviation, and an interval for the mean.

    `low` and `high` come from Student's t over repetitions, `boot_low` and `boot_high` from resampling them; `values`
    are those of the single repetitions. `error` is the standard error of having looked at a sample of judgements (or of
    lotteries), 0 where all were looked at. NaN has a `reason`; so has a mean that leaves repetitions out.

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
    chance: float = float("nan")


@dataclass(frozen=True)
class Observations:
    """What one metric gave on the trials of all batches: a value per trial, beside what is known about the trial."""

    value: NDArray[np.float64]
    batch: NDArray[np.int64]
    columns: Mapping[str, Column] = field(default_factory=dict)

    def batches(self) -> Iterator[Observations]:
        """The trials of each batch by themselves."""
        return (self._where(self.batch == number) for number in np.unique(self.batch))

    def of(self, column: str, value: Any) -> Observations:
        """The trials that have this value in a column."""
        return self._where(self.columns[column] == value)

    def _where(self, here: NDArray[np.bool_]) -> Observations:
        return Observations(self.value[here], self.batch[here], {k: v[here] for k, v in self.columns.items()})


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Base of all protocols: its fields are its parameters."""

    name: ClassVar[str]
    of: ClassVar[Literal["corpora", "pairs"]] = "corpora"
    measures: ClassVar[tuple[Measure, ...]]
    timed: ClassVar[bool] = False  # whether the value of a trial is its time, alone and cold
    similarities: ClassVar[bool] = False  # whether trials are judged as similarities, not as distances
    ensembles: ClassVar[bool] = False  # whether ensembles of the metrics are trained on its trials
    paraphrases: ClassVar[bool] = False  # whether the data are pairs that mean the same, though metrics are of corpora
    version: ClassVar[int] = 1

    @property
    def key(self) -> str:
        """Name and parameters, in one string: what a stored cell is filed under."""
        given = ",".join(f"{item.name}={getattr(self, item.name)}" for item in fields(self))
        return f"{self.name}({given})|v{self.version}"

    def also(self, metrics: Iterable[str]) -> tuple[str, ...]:
        """Keys of the metrics that judging these needs beside them."""
        del metrics
        return ()

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for item in fields(self):
            _check_parameter(self.name, item.name, hints[item.name], getattr(self, item.name))

    def check(self, sources: Any) -> None:
        """Refuse parameters and data that do not fit, in one line that says what is needed."""

    def notes(self, sources: Any) -> tuple[str, ...]:
        """What of the data is left out, in words."""
        return ()

    def trials(self, sources: Any, seed: int) -> Iterator[Batch]:
        """The batches of trials; the same for every metric."""
        raise NotImplementedError

    def judge(self, observations: Observations) -> list[Verdict]:
        """The measures of one metric from what it gave, oriented so that farther is larger."""
        raise NotImplementedError

    def judge_all(self, observations: Mapping[str, Observations]) -> dict[str, list[Verdict]]:
        """The measures of all metrics of a run; each by itself, unless a protocol holds them against each other."""
        return {metric: self.judge(found) for metric, found in observations.items()}


def generator(protocol: Protocol, sources: Data, seed: int, number: int) -> np.random.Generator:
    """A generator that depends on seed, protocol, data and repetition alone: no metric changes another's draws."""
    import hashlib

    text = f"{protocol.key}|{sources.fingerprint}".encode()
    words = np.frombuffer(hashlib.blake2b(text, digest_size=16).digest(), dtype=np.uint32)
    return np.random.default_rng(np.random.SeedSequence([seed, number, *words.tolist()]))


def why_undefined(observations: Observations) -> str | None:
    """How many trials have no value, and the reason of the first; None where all have one."""
    undefined = np.flatnonzero(np.isnan(observations.value))
    if not len(undefined):
        return None
    first = observations.columns["reason"][undefined[0]] if "reason" in observations.columns else None
    count = f"undefined in {len(undefined)} of {len(observations.value)} trials"
    return f"{count}: {first}" if first else count


def over_repetitions(
    measure: str,
    values: Sequence[float],
    reasons: Sequence[str | None] = (),
    *,
    error: float = 0.0,
    level: float = 0.95,
    seed: int = 0,
) -> Verdict:
    """A verdict from the values of single repetitions; undefined ones are left out, and their `reasons` are said."""
    from scipy.special import stdtrit

    from textgauge.stats.resampling import percentile_interval, resampled_sums

    known = np.array([value for value in values if not np.isnan(value)])
    n = len(known)
    reason = _left_out(values, reasons)
    if n == 0:
        return Verdict(measure, float("nan"), error=error, values=tuple(values), reason=reason)
    mean = float(known.mean())
    if n == 1:
        return Verdict(measure, mean, error=error, values=tuple(values), reason=reason)
    std = float(known.std(ddof=1))
    reach = float(-stdtrit(n - 1, (1 - level) / 2)) * std / np.sqrt(n)
    boot = percentile_interval(resampled_sums(known[:, None], 1_000, seed)[:, 0] / n, n, level)
    interval = (mean - reach, mean + reach, *boot)
    return Verdict(measure, mean, std, *interval, error=error, values=tuple(values), reason=reason)


def _left_out(values: Sequence[float], reasons: Sequence[str | None]) -> str | None:
    undefined = sum(bool(np.isnan(value)) for value in values)
    if not undefined and values:
        return None
    said = "; ".join(dict.fromkeys(filter(None, reasons))) or "no repetition is finished"
    return said if undefined == len(values) else f"{undefined} of {len(values)} repetitions left out: {said}"


def _check_parameter(protocol: str, name: str, kind: Any, value: Any) -> None:
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise InputError(f"{protocol}: {name}={value} is not one of {', '.join(map(str, get_args(kind)))}")
    if kind is int and (isinstance(value, bool) or not isinstance(value, int)):
        raise InputError(f"{protocol}: {name}={value} is not a whole number")
