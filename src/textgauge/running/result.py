"""What `run` gives back: a folder of finished cells, and what can be read off it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textgauge.evaluate import Store
from textgauge.evaluate.boards import leaderboards
from textgauge.evaluate.leaderboard import Leaderboard, leaderboard
from textgauge.evaluate.results import Results
from textgauge.evaluate.verdicts import judging, observed, only, verdict_frame, warnings_of
from textgauge.running.words import told_in_python
from textgauge.tabular import Tabular

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class Run(Tabular):
    """A run, judged anew whenever it is asked: `found` cells were there before, `computed` ones are new.

    `failures` tells of trials in which a metric raised an error, `warnings` what to beware of in the data. What other
    runs left in the folder is read with it.
    """

    store: Store
    found: int
    computed: int
    failures: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where the cells are; a temporary folder goes with the last one that holds the store."""
        return self.store.folder

    def leaderboard(
        self,
        *,
        weights: Mapping[str, float] | None = None,
        measures: str | Sequence[str] | None = None,
        judgements: str | None = None,
        ties: str | None = None,
        linearity: str | None = None,
    ) -> Leaderboard:
        """The metrics, best first, with rank intervals and clusters.

        `weights` of measures by name, 1 unless named; `measures` those that count; the others change how trials of
        `ksc` are judged: `judgements` distinct or paper, `ties` half, right or wrong, `linearity` r2 or r.
        """
        with told_in_python():
            options = judging(judgements=judgements, ties=ties, linearity=linearity)
            return leaderboard(only(Results(self.store).judged(options), measures), weights)

    def verdicts(self, *, measures: str | Sequence[str] | None = None) -> pl.DataFrame:
        """One row per data set, protocol, metric and measure: its value, intervals, the reason where it has none."""
        return verdict_frame(only(Results(self.store).judged(), measures))

    def observations(self) -> pl.DataFrame:
        """One row per trial and metric: its value as it is judged, its parts, and what is known about the trial.

        Distances (farther is larger), similarities in tasks, seconds of `speed`.
        """
        return observed(Results(self.store).groups())

    def figures(
        self,
        kinds: str | Sequence[str] | None = None,
        *,
        metrics: str | Sequence[str] | None = None,
        repetition: int = 1,
    ) -> dict[str, alt.ConcatChart]:
        """Charts by name: of all kinds that the run has, or of some, as `distance,radar`; of some metrics.

        Trees show one `repetition`.
        """
        from textgauge.report.figures import chosen_metrics, figures

        listed = [kind.strip() for kind in kinds.split(",")] if isinstance(kinds, str) else kinds
        found = Results(self.store).groups()
        of = chosen_metrics(found, metrics)
        return {one.name: one.chart for one in figures(found, kinds=listed, metrics=of, repetition=repetition - 1)}

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write the HTML page of the run, which needs no network; gives its path."""
        from textgauge.files import write_atomically
        from textgauge.report.page import page

        return write_atomically(Path(path), page([self.store], title=title))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows of the leaderboard."""
        return self.leaderboard().to_dicts()

    def plot(self) -> alt.LayerChart:
        """The rank of every metric with the ranks it may have, coloured by cluster."""
        return self.leaderboard().plot()

    def __str__(self) -> str:
        results = Results(self.store)
        judged = results.judged()
        warnings = [*self.warnings, *warnings_of(results, judged)]
        boards = [f"{title}\n{board}" if title else str(board) for title, board in leaderboards(judged).items()]
        return "\n".join(["\n\n".join(boards), *(f"warning: {text}" for text in warnings)])

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failures" if self.failures else ""
        return f"Run({self.folder}: {self.found} cells were there, {self.computed} computed{failed})"
