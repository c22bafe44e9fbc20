"""What a run holds: the one reader of a store, and its verdicts and observations as rows.

Each result file is opened once, nothing is written, nothing trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.ensembles import KeptEnsembles, average_verdicts, format_place, group_by_embedders, read_ensembles
from textgauge.bench.plan import Cell
from textgauge.bench.protocols.base import Observations, Protocol, Verdict, list_protocols
from textgauge.bench.store import Store
from textgauge.core.errors import InputError
from textgauge.core.show import Row, drop_nonfinite, join_words
from textgauge.metrics import get_metric
from textgauge.metrics.pair_metric import to_similarity
from textgauge.stats.decisions import NEW_TEXTS

if TYPE_CHECKING:
    import polars as pl

Options = Mapping[str, Any]
Scope = Literal["texts", "sources", "data"]
SCOPES: dict[Scope, str] = {  # what is new where an interval holds: repetitions, texts too, or data sets too
    "texts": "these texts",
    "sources": NEW_TEXTS,
    "data": "new data sets",
}
Verdicts = Mapping[str, Verdict]  # by measure

_OWN_COLUMNS = {"value", "batch", "failed", "seconds"}  # of a result; the others are about its trials
_FEW = 3
NUMBERS = ("value", "std", "low", "high", "boot_low", "boot_high", "error")  # of a verdict
NOT_TRAINED = "ensembles are not trained; run the same command again"


@dataclass(frozen=True, eq=False)
class Group:
    """All metrics under one protocol, on one data set, with one seed: what they gave, and how that is judged.

    `observed` holds distances (farther is larger), or what else the protocol judges: similarities in tasks, times.
    `missing` counts the results of each metric that the store lacks; `fingerprint` identifies the data, whatever their
    name; `pool_share` is the share of the source texts that each repetition uses, None where it is unknown; `results`
    is what the group was read from; `judged` are verdicts that are known already.
    """

    data: str
    protocol: Protocol
    seed: int
    fingerprint: str = ""
    observed: Mapping[str, Observations] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    results: Results | None = None
    pool_share: float | None = None
    judged: Mapping[str, Sequence[Verdict]] | None = None

    @property
    def trials(self) -> tuple[str, str, str, int]:
        """What identifies the trials, however they are judged."""
        return self.data, self.protocol.key, self.fingerprint, self.seed

    @property
    def source(self) -> str:
        """What identifies the data, whatever they are called."""
        return self.fingerprint or self.data

    @property
    def complete(self) -> dict[str, Observations]:
        """The metrics of which no result is missing."""
        return {metric: found for metric, found in self.observed.items() if not self.missing.get(metric)}

    @cached_property
    def verdicts(self) -> dict[str, Verdicts]:
        """The verdicts of each metric by measure, found when they are first asked for.

        Tasks of pair metrics are also judged for the mean over embedders and for the ensembles that the run trained.
        """
        found = dict(self._judge() if self.judged is None else self.judged)
        return {metric: {verdict.measure: verdict for verdict in of} for metric, of in found.items()}

    def _judge(self) -> dict[str, Sequence[Verdict]]:
        there = {metric: found for metric, found in self.observed.items() if len(found.value)}
        try:
            verdicts: dict[str, Sequence[Verdict]] = {**self.protocol.judge_all(there)}
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            # A manifest may say of its results what they are not: other parameters, another protocol.
            raise InputError(f"{self.data}: stored results do not fit {self.protocol.key} ({error})") from error
        if self.protocol.ensembles:
            for name, metrics in group_by_embedders(list(verdicts)).items():
                verdicts[name] = average_verdicts([verdicts[metric] for metric in metrics], self.protocol)
            if self.results is not None:
                verdicts |= self.results.ensembles.verdicts.get(format_place(self), {})
        return verdicts


class Results:
    """What a store holds when it is first read: observations, verdicts, ensembles, times; of one `seed`, or of all."""

    def __init__(self, store: Store, *, seed: int | None = None) -> None:
        self.store = store
        self._seed = seed
        self._times: dict[str, Row] = {}  # by name of a result
        self._observed: dict[tuple[str, ...], tuple[Observations, int]] = {}
        self._trials: dict[tuple[str, str, int], dict[str, NDArray[Any]]] = {}  # as the first metric has them
        self._groups: dict[str, list[Group]] = {}

    @cached_property
    def manifests(self) -> list[dict[str, Any]]:
        """The manifests of the runs, the latest last."""
        every = self.store.manifests()
        return [one for one in every if self._seed is None or all(c["seed"] == self._seed for c in one["cells"])]

    @cached_property
    def metrics(self) -> set[str]:
        """The metrics of the runs, finished or not."""
        return {cell["metric"] for manifest in self.manifests for cell in manifest["cells"]}

    @property
    def count(self) -> int:
        """How many different results the runs have, finished or not."""
        return len({cell["name"] for manifest in self.manifests for cell in manifest["cells"]})

    def groups(self, options: Options | None = None) -> list[Group]:
        """Return what is held of each protocol on each data set, metrics of several runs together.

        `options` are parameters of protocols that decide how trials are judged; the others are as the run has them.
        """
        key = repr(sorted((options or {}).items()))
        if key not in self._groups:
            self._groups[key] = self._read_groups(options or {})
        return self._groups[key]

    @cached_property
    def ensembles(self) -> KeptEnsembles:
        """The ensembles that the run trained, with what metrics contribute to them, and how many it lacks."""
        return read_ensembles(self.store, self.groups())

    @property
    def warnings(self) -> list[str]:
        """What the store lacks besides results."""
        return [NOT_TRAINED] if self.ensembles.lacking else []

    @cached_property
    def times(self) -> list[Row]:
        """What each result cost: metric, protocol, trials, their seconds, and how many of them failed."""
        self.groups()
        names = dict.fromkeys(cell["name"] for run in self.manifests for cell in run["cells"])
        return [self._times[name] for name in names if name in self._times]

    def _read_groups(self, options: Options) -> list[Group]:
        found: dict[tuple[Protocol, str, int], dict[str, list[Cell]]] = {}
        pool_shares: dict[tuple[Protocol, str], float | None] = {}
        for manifest in self.manifests:
            protocol, about = _make_protocol(manifest["protocol"], options), manifest["data"]
            pool_shares[protocol, about["fingerprint"]] = about.get("pool_share")
            for metric, cells in group_cells(manifest["cells"]).items():
                found.setdefault((protocol, cells[0].fingerprint, cells[0].seed), {})[metric] = cells
        groups = []
        for (protocol, fingerprint, seed), members in found.items():
            read = {metric: self._observe(cells, protocol) for metric, cells in members.items()}
            observed = {metric: of for metric, (of, _) in read.items()}
            missing = {metric: lacking for metric, (_, lacking) in read.items()}
            first, share = next(iter(members.values()))[0], pool_shares.get((protocol, fingerprint))
            groups.append(Group(first.data, protocol, seed, fingerprint, observed, missing, self, share))
        # Manifests of one run may be equally old: protocols have an order of their own.
        order = list(list_protocols())
        return sorted(groups, key=lambda group: order.index(group.protocol.name))

    def _observe(self, cells: Sequence[Cell], protocol: Protocol) -> tuple[Observations, int]:
        """Return what one metric gave, as the protocol judges it, and how many results are missing."""
        import polars as pl

        names = tuple(cell.name for cell in cells)
        if names in self._observed:
            return self._observed[names]
        frames = []
        for cell in cells:
            if (frame := self.store.read(cell)) is not None:
                self._times[cell.name] = {"metric": cell.metric, "protocol": protocol.name, "trials": len(frame)} | {
                    name: frame[name].sum() for name in ("seconds", "failed")
                }
                frames.append(frame.with_columns(batch=pl.lit(cell.batch, pl.Int64)))
        observed = Observations(np.empty(0), np.empty(0, np.int64))
        if frames:
            known = {name: _read_column(column) for name, column in pl.concat(frames).to_dict().items()}
            values = known["value"]
            if not protocol.timed:
                metric: Any = get_metric(cells[0].metric)
                values = np.asarray(to_similarity(metric, values) if protocol.similarities else metric.orient(values))
            # All metrics see the same trials: what is known of these is held once.
            first = self._trials.setdefault((cells[0].protocol, cells[0].fingerprint, cells[0].seed), known)
            known = {name: _share_array(column, first.get(name)) for name, column in known.items()}
            columns = {name: column for name, column in known.items() if name not in _OWN_COLUMNS}
            observed = Observations(values, known["batch"], columns)
        self._observed[names] = observed, len(cells) - len(frames)
        return self._observed[names]


def _read_column(series: pl.Series) -> NDArray[Any]:
    """Return a column as an array.

    Equal strings are one object, because a column has millions of cells and few strings.
    """
    import polars as pl

    if series.dtype != pl.String or series.null_count():
        return series.to_numpy()
    different = series.unique(maintain_order=True)
    places = series.replace_strict(different, np.arange(len(different)), return_dtype=pl.Int64)
    return np.array(different.to_list(), dtype=object).take(places.to_numpy())


def _share_array(own: NDArray[Any], other: NDArray[Any] | None) -> NDArray[Any]:
    """Return another array in the place of one that is the same."""
    if other is None or not np.array_equal(own, other, equal_nan=own.dtype.kind == other.dtype.kind == "f"):
        return own
    return other


def sum_times(runs: Iterable[Results]) -> list[Row]:
    """Return what each metric cost under each protocol, `each` a trial; models and tokenizers are not counted."""
    import polars as pl

    times = [time for run in runs for time in run.times if time["trials"]]
    if not times:
        return []
    sums = pl.DataFrame(times).group_by("metric", "protocol", maintain_order=True).sum()
    return sums.with_columns(each=pl.col("seconds") / pl.col("trials")).to_dicts()


def group_cells(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Cell]]:
    """Return the cells of a manifest, metric by metric."""
    found: dict[str, list[Cell]] = {}
    for row in rows:
        found.setdefault(row["metric"], []).append(Cell(**{item.name: row[item.name] for item in fields(Cell)}))
    return found


def _make_protocol(declared: Mapping[str, Any], options: Options) -> Protocol:
    """Return the protocol a manifest names, with options that change how it judges."""
    kind = list_protocols().get(str(declared["name"]))
    if kind is None:
        raise InputError(f"this version knows no protocol {declared['name']!r}")
    known = {item.name for item in fields(kind)}
    try:
        given = declared["parameters"].keys()
        if known - given - set(kind.tacit) or given - known:  # a tacit one that is not named has its usual value
            raise InputError(f"{kind.name} has other parameters")
        protocol = kind(**declared["parameters"])
    except InputError as error:
        raise InputError(f"stored by another version ({error}); run the same command again into a new folder") from None
    return replace(protocol, **{name: value for name, value in options.items() if name in known})


def check_measures(names: Iterable[str], known: Sequence[str]) -> None:
    """Refuse names of measures that a run does not have."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(f"no measure {unknown[0]!r} in this run; the measures are {', '.join(known)}")


def filter_measures(groups: Sequence[Group], measures: str | Sequence[str] | None) -> list[Group]:
    """Return the groups with verdicts on some measures alone, as `spearman,kendall`; on all by default."""
    if measures is None:
        return list(groups)
    names = [name.strip() for name in measures.split(",")] if isinstance(measures, str) else list(measures)
    check_measures(names, list(dict.fromkeys(n for group in groups for of in group.verdicts.values() for n in of)))
    return [
        replace(group, judged={m: [of[n] for n in of if n in names] for m, of in group.verdicts.items()})
        for group in groups
    ]


def list_verdict_warnings(results: Results, groups: Sequence[Group]) -> list[str]:
    """List what to know before trusting verdicts: results or ensembles that are missing, undefined measures."""
    missing = sum(sum(group.missing.values()) for group in groups)
    found = [format_missing_results(missing, results.count)] if missing else []
    found += results.warnings
    for group in groups:
        for metric, verdicts in group.verdicts.items():
            for reason in dict.fromkeys(verdict.reason for verdict in verdicts.values() if verdict.reason):
                names = [name for name, verdict in verdicts.items() if verdict.reason == reason]
                about = join_words(names) if len(names) <= _FEW else f"{len(names)} measures"
                found.append(f"{about} of {metric} ({group.data}): {reason}")
    return found


def format_missing_results(missing: int, count: int) -> str:
    """Say how many results are missing of how many, and what computes them."""
    return f"{missing} of {count} results are missing; the same `textgauge run` command computes them"


def list_verdicts(groups: Sequence[Group]) -> list[Row]:
    """Return one row per data set, protocol, metric and measure; `scope` is what its intervals are for."""
    rows: list[Row] = []
    for group in groups:
        about = {measure.name: measure.about for measure in group.protocol.measures}
        for metric, verdicts in group.verdicts.items():
            for name, verdict in verdicts.items():
                row: Row = {"data": group.data, "protocol": group.protocol.key, "metric": metric, "measure": name}
                row |= {number: drop_nonfinite(getattr(verdict, number)) for number in NUMBERS}
                row |= {"scope": SCOPES[group.protocol.resampled if verdict.draws else "texts"]}
                row |= {"repetitions": len(verdict.values), "reason": verdict.reason}
                if verdict.n is not None:  # of rated pairs
                    row |= {"n": verdict.n, "chance": drop_nonfinite(verdict.chance), "about": about[name]}
                rows.append(row)
    return rows
