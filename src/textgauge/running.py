"""`run`: put metrics to the test, by a protocol on your data or by a suite; and what can be read off a run."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from textgauge.bench import Plan, Store, list_data_words
from textgauge.bench.inputs import drop_none
from textgauge.bench.leaderboard import BoardsResult, Leaderboard, rank_by_kind, rank_metrics
from textgauge.bench.plan import make_suite_or_protocol_plans
from textgauge.bench.results import Results, Scope, filter_measures, list_verdict_warnings, list_verdicts
from textgauge.bench.run import compute
from textgauge.bench.sources import PairSources, TaskSources
from textgauge.core.charts import draw_without_network
from textgauge.core.errors import InputError, warn
from textgauge.core.show import Row
from textgauge.data.source import Source

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = ["Run", "run"]

Named: TypeAlias = "str | os.PathLike[str]"


def run(
    what: str,
    *,
    metrics: str | Sequence[Any] | None = None,
    source_a: Source | None = None,
    source_b: Source | None = None,
    pairs: Named | PairSources | None = None,
    left: str | Sequence[str] | None = None,
    right: str | Sequence[str] | None = None,
    rating: str | Sequence[str] | Sequence[float] | None = None,
    groups: Mapping[str, str] | None = None,
    group: str | None = None,
    only: str | None = None,
    limit: int | None = None,
    steps: Named | Sequence[Source] | int | None = None,
    reference: Source | None = None,
    rated: Named | TaskSources | None = None,
    comparisons: Named | TaskSources | None = None,
    documents: Named | TaskSources | None = None,
    labelled: Named | TaskSources | None = None,
    beir: Named | TaskSources | None = None,
    columns: Mapping[str, Any] | None = None,
    column: str | None = None,
    planted: Named | None = None,
    rated_only: bool = False,
    out: Named | None = None,
    seed: int = 0,
    jobs: int = 1,
    scheduler: str | None = None,
    dry_run: bool = False,
    **parameters: Any,
) -> Run:
    """Run a protocol on data, or a suite, and keep every finished result in a folder.

    Parameters
    ----------
    what
        A suite or a protocol; `textgauge ls suites` and `textgauge ls protocols` list them. A suite and `perturbation`
        bring their data.
    metrics
        Metrics, separated by commas; by default those of the suite or protocol.
    source_a
        The first corpus, as `compare` takes them, for protocols that mix two sources (ksc, size, speed).
    source_b
        The second corpus.
    pairs
        A table, sample or dataset of pairs (agreement, distributionality).
    left
        The column of the left texts of `pairs`, or the texts themselves.
    right
        The column of the right texts of `pairs`, or the texts themselves.
    rating
        A column of ratings of `pairs`, or several, one for each rater; or the ratings themselves.
    groups
        The columns of `set`, `system` and `item`.
    group
        The column that says which `pairs` belong together: of a document, a user, a conversation. Intervals and tests
        count groups, or items where no group is named (agreement).
    only
        The rows of `pairs` to take, as `label=1`.
    limit
        Use a random sample of this many pairs.
    steps
        IFC: a folder with one file for each step of training, in the order of their names, or a list of corpora.
    reference
        IFC: the texts that the steps should approach.
    rated
        Alignment: a table of rated summaries, or a dataset.
    comparisons
        Alignment: a table of two summaries and the chosen one, or a dataset.
    documents
        Robustness, sensitivity: a table, folder or dataset of documents.
    labelled
        Clustering: a table of labelled texts, or a dataset.
    beir
        Retrieval: a folder in the layout of BEIR, or a dataset.
    columns
        Which columns of a task's table hold what, such as text=body,summary=abstract.
    column
        The column of texts of a table that is a corpus.
    planted
        Copies: a .csv, .jsonl or .parquet file for the planted texts, written where it is not there; what another
        detector says of them is a column of it, and `column:NAME` a metric.
    rated_only
        Leave out pairs without a rating.
    out
        A folder that keeps the run and resumes an old one; without it, results live as long as the run object.
    seed
        Random seed.
    jobs
        Number of local processes; a script then needs its `if __name__ == "__main__"`.
    scheduler
        The address of a Dask scheduler.
    dry_run
        Compute nothing: `cells` lists the results and says which are there already.
    **parameters
        Parameters of the protocol, as `k=5`; with several values, as `k=(5, 7)`, each is run.

    Examples
    --------
    >>> words = [f"{colour} {animal} {i}" for i in range(12) for colour in ("red", "blue") for animal in ("cat", "dog")]
    >>> cards = [f"pay the {what} by card {i}" for i in range(24) for what in ("rent", "fee")]
    >>> two = {"source_a": words, "source_b": cards}
    >>> finished = run("ksc", **two, metrics="jsd@words,zipf@words", k=4, n=12, repetitions=2)
    >>> finished.computed, finished.leaderboard().rows[0].metric
    (4, 'jsd@words')
    """
    groups = {**(groups or {}), **drop_none({"group": group})}
    values = locals() | {"rated_only": rated_only or None, "groups": groups or None, "columns": columns or None}
    given = drop_none({name: values[name] for name in list_data_words()})
    for name, value, least in (("seed", seed, 0), ("jobs", jobs, 1), ("limit", limit, 2)):
        if value is not None and value < least:
            raise InputError(f"{name} is at least {least}, not {value}")
    chosen: Any = [metrics] if isinstance(metrics, str) else metrics
    plans = make_suite_or_protocol_plans(what, chosen, drop_none(parameters), seed, given)
    warned = tuple(dict.fromkeys(text for plan in plans for text in plan.protocol.notes(plan.sources)))
    for text in warned:
        warn(text)
    store = Store(tempfile.mkdtemp(prefix="textgauge-") if out is None else out)
    if out is None:  # it goes when nobody holds the store any more
        weakref.finalize(store, shutil.rmtree, store.folder, ignore_errors=True)
    if dry_run:
        return Run(store, 0, 0, (), warned, tuple(plans))
    report = compute(plans, store, jobs=jobs, scheduler=scheduler)
    for text in report.failures:
        warn(text, RuntimeWarning)
    return Run(store, report.found, report.computed, report.failures, warned, tuple(plans))


@dataclass(frozen=True, eq=False, repr=False)
class Run(BoardsResult):
    """A run and what its folder holds: `found` results were there before, `computed` ones are new.

    `failures` lists trials in which a metric raised an error, `notes` what to watch out for in the data; `plans` are
    what was asked for. What other runs left in the folder is read with it, once, when it is first needed.
    """

    command: ClassVar[str] = "run"

    store: Store
    found: int
    computed: int
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    plans: tuple[Plan, ...] = ()

    @property
    def folder(self) -> Path:
        """Where the results are; a temporary folder is deleted with the last object that holds the store."""
        return self.store.folder

    def leaderboard(
        self,
        *,
        weights: Mapping[str, float] | None = None,
        measures: str | Sequence[str] | None = None,
        judgements: Literal["distinct", "paper"] | None = None,
        ties: Literal["half", "right", "wrong"] | None = None,
        linearity: Literal["r2", "r"] | None = None,
        scope: Scope | None = None,
    ) -> Leaderboard:
        """Rank the metrics, best first, with rank ranges and tiers that hold for all metrics together.

        Nothing is computed again: `judgements`, `ties` and `linearity` only change how stored values are judged.

        Parameters
        ----------
        weights
            Weights of measures in the overall score, such as accuracy=2,linearity=0; by default 1 each.
        measures
            Only these measures, such as spearman,order_correlation; by default all.
        judgements
            Which judgements of ksc count: distinct (each once) or paper; by default as in the run.
        ties
            How equal distances count in ksc: half, right or wrong; by default as in the run.
        linearity
            How ksc measures linearity: r2 or r; by default as in the run.
        scope
            What ranks hold for: texts (these), sources (new texts from these sources) or data (new data sets); by
            default sources where the run supports it.
        """
        options = drop_none({"judgements": judgements, "ties": ties, "linearity": linearity})
        return rank_metrics(filter_measures(self._results.groups(options), measures), weights, scope=scope)

    @cached_property
    def leaderboards(self) -> dict[str, Leaderboard]:
        """Leaderboards by title: protocols that rank mostly the same metrics share one; without title where all do."""
        return rank_by_kind(self._results.groups())

    @cached_property
    def _results(self) -> Results:
        return Results(self.store)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to watch out for in the data, and what to know before trusting the verdicts."""
        return (*self.notes, *list_verdict_warnings(self._results, self._results.groups()))

    def verdicts(self, *, measures: str | Sequence[str] | None = None) -> pl.DataFrame:
        """One row per data set, protocol, metric and measure: its value, intervals, the reason where it has none."""
        import polars as pl

        rows = list_verdicts(filter_measures(self._results.groups(), measures))
        return pl.DataFrame(rows, schema_overrides={"reason": pl.String}, infer_schema_length=None)

    def observations(self) -> pl.DataFrame:
        """Return one row per trial and metric: its value as it is judged, its parts, and what is known about the trial.

        Distances (farther is larger), similarities in tasks, seconds of `speed`. Columns that some protocols lack
        are empty there.
        """
        import polars as pl

        frames = []
        for group in self._results.groups():
            about = {"data": group.data, "protocol": group.protocol.key, "seed": group.seed}
            for metric, trials in group.observed.items():
                columns = {"batch": trials.batch, "value": trials.value, **trials.columns}
                values = {name: column.tolist() for name, column in columns.items()}
                constant = [pl.lit(value).alias(name) for name, value in {**about, "metric": metric}.items()]
                frames.append(pl.DataFrame(values, infer_schema_length=None).select([*constant, pl.all()]))
        return pl.concat(frames, how="diagonal_relaxed").cast({"reason": pl.String})

    def figures(
        self,
        kinds: str | Sequence[str] | None = None,
        *,
        metrics: str | Sequence[str] | None = None,
        repetition: int = 1,
    ) -> dict[str, alt.ConcatChart]:
        """Return charts by name: of all kinds that the run has, or of some, as `distance,radar`; of some metrics.

        Trees show one `repetition`.
        """
        from textgauge.report.figures import choose_metrics, draw_figures

        listed = [kind.strip() for kind in kinds.split(",")] if isinstance(kinds, str) else kinds
        found = self._results.groups()
        of = choose_metrics(found, metrics)
        made = draw_figures(found, kinds=listed, metrics=of, repetition=repetition - 1)
        return {one.name: draw_without_network(one.chart) for one in made}

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write the HTML page of the run, which needs no network; gives its path."""
        from textgauge.core.files import write_atomically
        from textgauge.report.page import render_page

        return write_atomically(Path(path), render_page([self.store], title=title))

    def cells(self) -> list[Row]:
        """Return one row per result that was asked for, and whether it is there."""
        return [
            {
                "data": cell.data,
                "protocol": cell.protocol,
                "batch": cell.batch,
                "metric": cell.metric,
                "state": "to compute" if self.store.read(cell) is None else "there",
            }
            for plan in self.plans
            for cell in plan.cells()
        ]

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failures" if self.failures else ""
        return f"Run({self.folder}: {self.found} results were there, {self.computed} computed{failed})"
