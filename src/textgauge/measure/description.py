"""What `describe` gives back: a row per property, and behind it every text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from textgauge.core.charts import draw_without_network
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.progress import begin_step
from textgauge.core.result import Column, Result, show_rows
from textgauge.core.show import BLUE, GREY, VERMILION, FlatRow, Row, format_cell, format_interval, join_words
from textgauge.data import Corpus
from textgauge.measure.cleaning import CLEANED, list_label_conflicts, list_removed
from textgauge.measure.findings import (
    compute_differences,
    correlate_ratings,
    find_recall,
    find_worse,
    format_answer,
    format_answer_alone,
    format_recall,
    summarise_ratings,
)
from textgauge.measure.lists import (
    check_threshold,
    list_matches,
    list_modes,
    list_passages,
    list_templates,
    list_texts,
    pick_texts,
)
from textgauge.metrics.properties.base import MeasuredCorpus, NearestMatches, Parts, PropertyValue, list_properties
from textgauge.metrics.properties.meaning import (
    SAME,
    find_nearest_against,
    find_nearest_other,
    find_outlying,
)
from textgauge.metrics.properties.repeats import find_duplicates_across, find_duplicates_within
from textgauge.metrics.properties.texts import compute_curve, count_forms, count_languages

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_COUNTS = ("texts", "vocab")  # written in full
_VALUE = Column("value", form=format_cell)
_INTERVAL = Column("interval", "low high", lambda low, high: "" if low is None else format_interval(low, high))
_ALONE = (
    Column("corpus"),
    Column("property"),
    Column(
        "value",
        "property value",
        lambda name, value: f"{value:,.0f}" if name in _COUNTS and value is not None else format_cell(value),
    ),
    _INTERVAL,
    Column("what it is", "value about reason", lambda value, about, reason: reason if value is None else about),
)
_COLOURS = {"generated": BLUE, "test": VERMILION, "train": GREY}
NO_TEST = "no test texts were given"


@dataclass(frozen=True, kw_only=True)
class Property(FlatRow):
    """One property of one corpus; `test` and `train` are the same property of the yardsticks.

    `reason` says why the value, or its interval, is missing; `test_reason` and `train_reason` why a yardstick is.
    A value that depends on the number of texts has yardsticks of as many texts: means of random parts of test and
    train. Where these have fewer, `compared` is the mean of parts of the corpus that are as large. `worse_than` names
    the yardstick, test or train, that the property is worse than, for all properties together.
    """

    corpus: str
    property: str
    value: float
    low: float = math.nan
    high: float = math.nan
    test: float = math.nan
    train: float = math.nan
    compared: float = math.nan
    backend: str | None = None
    reason: str | None = None
    test_reason: str | None = None
    train_reason: str | None = None
    worse_than: str | None = None


def measure_properties(
    generated: Sequence[MeasuredCorpus],
    held_out: MeasuredCorpus | None,
    train: MeasuredCorpus | None,
    *,
    draw_parts: Callable[..., tuple[Parts, Parts]],
    signatures: Mapping[str, str],
    level: float,
    ci: bool,
) -> Iterator[Property]:
    """Yield all registered properties of all corpora; `signatures` are those of the backends, by need.

    `draw_parts` gives parts of a corpus and of a yardstick with as many texts, for a property that depends on that.
    """
    declared = list_properties(alone=train is None)
    if train is None and generated[0].against is None:
        declared = [known for known in declared if "against" not in known.needs]
    yardsticks = {} if train is None else {"test": held_out, "train": train}
    fixed = {
        role: {
            known.name: (PropertyValue(), NO_TEST) if one is None else known.of(one, level)
            for known in declared
            if one is None or not known.depends_on_size or known.undefined_reason(one)
        }
        for role, one in yardsticks.items()
    }
    for measured in generated:
        values: dict[str, tuple[PropertyValue, str | None]] = {}
        for number, known in enumerate(declared):
            begin_step(f"{measured.name}: {known.name}", number, len(declared), "properties")
            values[known.name] = known.of(measured, level)
        real, fair = {role: dict(numbers) for role, numbers in fixed.items()}, dict(values)
        paired = {}
        for role, one in yardsticks.items():
            for known in declared:
                if one is not None and known.name not in real[role]:
                    mine, theirs = draw_parts(known, measured, one)
                    real[role][known.name] = known.average(theirs, level)
                    if ci and known.better and fair[known.name] is values[known.name]:
                        fair[known.name] = known.average(mine, level)
                        if gap := known.subtract(mine, theirs, max(len(measured.corpus), len(one.corpus)), level):
                            paired[known.name, role] = gap
        worse = find_worse(fair, real, paired, level, len(generated)) if ci and real else {}
        for known in declared:
            found, reason = values[known.name]
            reason = reason or known.no_interval
            if measured.groups is not None and not known.by_group:
                reason = reason or "no interval: none that counts groups"
            if train is None and reason is None and math.isnan(found.low):
                reason = "no interval: too few texts"
            beside: dict[str, Any] = {role: numbers[known.name][0].value for role, numbers in real.items()}
            beside |= {f"{role}_reason": numbers[known.name][1] for role, numbers in real.items()}
            yield Property(
                corpus=measured.name,
                property=known.name,
                value=found.value,
                low=found.low if ci else math.nan,
                high=found.high if ci else math.nan,
                backend=known.backend_of(signatures),
                reason=reason,
                worse_than=worse.get(known.name),
                compared=math.nan if fair[known.name][0].value == found.value else fair[known.name][0].value,
                **beside,
            )


@dataclass(frozen=True, eq=False, repr=False)
class Description(Result):
    """Properties of one or several corpora, by themselves or next to those of train and held-out texts.

    `description["unique"]` is that of the only corpus, `description["unique", "gpt"]` that of one of several. What
    needs train texts is refused where there were none.
    """

    command: ClassVar[str] = "describe"
    keys: ClassVar[tuple[str, ...]] = ("property", "corpus")

    rows: tuple[Property, ...]
    generated: tuple[MeasuredCorpus, ...]
    held_out: MeasuredCorpus | None = None
    train: MeasuredCorpus | None = None
    warnings: tuple[str, ...] = ()
    ratings: Mapping[str, Mapping[str, NDArray[np.float64]]] = field(default_factory=dict)
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    level: float = 0.95
    seed: int = 0
    explain: bool = False

    @property
    def texts(self) -> pl.DataFrame | None:
        """What `per_text` holds, where `explain` asks to keep it with a saved result."""
        return self.per_text if self.explain else None

    @property
    def answer(self) -> str:
        """How many texts are duplicates, or copied from train, and what is worse than in real texts."""
        if self.train is not None:
            sizes = {one.name: len(one.corpus) for one in self.generated}
            return format_answer(self.to_dicts(), sizes, self.train.passage)
        sentences = []
        for one in self.generated:
            values = {row.property: row.value for row in self.rows if row.corpus == one.name}
            sentences.append((f"{one.name}: " if len(self.generated) > 1 else "") + format_answer_alone(one, values))
        return " ".join(sentences)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why values next to train are missing, one sentence for each reason; and what limits find of copies."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for row in self.to_dicts() if self.train is not None else ():
            gaps = {row["corpus"]: ("value", "reason")} | {name: (name, f"{name}_reason") for name in self._yardsticks}
            for corpus, (value, reason) in gaps.items():
                if row[value] is None and row[reason]:
                    reasons.setdefault((corpus, row[reason]), []).append(row["property"])
        return (
            *(
                f"no value for {corpus}: {join_words(dict.fromkeys(names))} ({reason})"
                for (corpus, reason), names in reasons.items()
            ),
            *(format_recall(found) for found in self.details.values()),
        )

    @property
    def details(self) -> Row:
        """What the limits of near copies and passages found of planted copies (see docs/performance.md)."""
        found = find_recall(self.generated[0])
        return {"planted_copies": found} if found else {}

    @property
    def _yardsticks(self) -> tuple[str, ...]:
        return () if self.train is None else ("train",) if self.held_out is None else ("test", "train")

    def readable(self) -> list[Row]:
        """Return one row per property, formatted for display: next to train with a column for each corpus."""
        about = {known.name: known.about for known in list_properties(alone=self.train is None)}
        rows = [row | {"about": about[row["property"]]} for row in self.to_dicts()]
        if self.train is None:
            return show_rows(rows, _ALONE[0 if len(self.generated) > 1 else 1 :])
        beside = [Column(name, form=format_cell) for name in self._yardsticks]
        names = [one.name for one in self.generated]
        if len(names) == 1:
            return show_rows(rows, [Column("property"), _VALUE, _INTERVAL, *beside, Column("what it is", "about")])
        joined: dict[str, Row] = {}
        for row in rows:
            joined.setdefault(row["property"], row | {"of": {}})["of"][row["corpus"]] = format_cell(row["value"])
            for role in self._yardsticks:  # of as many texts as the corpus has
                shown = joined[row["property"]]["of"].setdefault(role, [])
                shown += [cell] if (cell := format_cell(row[role])) not in shown else []
        values = [Column(name, "of", itemgetter(name)) for name in names]
        beside = [Column(role, "of", lambda of, role=role: " / ".join(of[role])) for role in self._yardsticks]
        return show_rows(list(joined.values()), [Column("property"), *values, *beside, Column("what it is", "about")])

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *(f"note: {text}" for text in self.notes)])

    def plot(self) -> alt.VConcatChart:
        """Draw every property on a scale of its own: the value with its interval, and test and train."""
        return draw_without_network(draw_properties(self.to_dicts()))

    @cached_property
    def per_text(self) -> pl.DataFrame:
        """One row per text: its values, and the texts it is nearest to."""
        return self._join_frames(lambda one: list_texts(one, self._test, self.ratings.get(one.name, {})))

    def lists(self) -> dict[str, pl.DataFrame]:
        """Return the texts and tests behind the properties, by name."""
        if self.train is None:
            has_other = any(one.against is not None for one in self.generated)
            return ({"shared": self.shared()} if has_other else {}) | {
                **({"labels": self.label_conflicts()} if self.labels else {}),
                "passages": self.passages(),
                "near_duplicates": self.near_duplicates(),
                "same_meaning": self.restated(),
                "templates": self.templates(),
                "outliers": self.outliers(),
                "languages": self.languages(),
            }
        tests = {"differences": self.differences, "ratings": self.links, "marks": self.marks}
        return {
            "near_copies": self.near_copies(),
            "passages": self.passages(),
            **({"labels": self.label_conflicts()} if self.labels else {}),
            "uncovered": self.uncovered(),
            "modes": self.modes(),
            "curve": self.curve,
            **{name: frame for name, frame in tests.items() if len(frame)},
        }

    def near_duplicates(self) -> pl.DataFrame:
        """List texts that have most of their words in common with another one, and that one; the most similar first."""
        return self._list_matches(lambda one: (one.corpus, one.derive(find_duplicates_within), one.corpus), _is_matched)

    def shared(self) -> pl.DataFrame:
        """List texts that have most of their words in common with one of the other file, and that one."""
        return self._list_matches(
            lambda one: one.against and (one.corpus, one.derive(find_duplicates_across), one.against), _is_matched
        )

    def passages(self) -> pl.DataFrame:
        """List the copied passages, the longest first: of train, of the other file, or of other texts of the corpus.

        `start` and `match_start` count words from 0 on; `index` and `match_index` are rows of the files.
        """
        return self._join_frames(list_passages).sort("words", descending=True, maintain_order=True)

    def label_conflicts(self) -> pl.DataFrame:
        """List equal texts and near duplicates whose labels differ, the most similar first."""
        frame = self._join_frames(lambda one: list_label_conflicts(one, self.labels.get(one.name)))
        return frame.sort("similarity", descending=True, maintain_order=True)

    def clean(self, drop: Sequence[str] = CLEANED) -> pl.DataFrame:
        """Return the texts to leave out, by row, each with the reason and the row it matches; see `list_removed`."""
        return self._join_frames(lambda one: list_removed(one, drop))

    def restated(self) -> pl.DataFrame:
        """List texts that say the same as another one by their embeddings, and that one; of the other file if given."""

        def of(one: MeasuredCorpus) -> Any:
            nearest = find_nearest_other if one.against is None else find_nearest_against
            return (one.corpus, one.derive(nearest), one.against or one.corpus) if one.embedder else None

        return self._list_matches(of, lambda _, found: found.similarity >= SAME)

    def outliers(self) -> pl.DataFrame:
        """List texts that are unlike all others, the farthest first, and the text nearest to each."""
        return self._list_matches(
            lambda one: one.embedder and (one.corpus, one.derive(find_nearest_other), one.corpus),
            lambda one, _: one.derive(find_outlying),
            descending=False,
        )

    def templates(self) -> pl.DataFrame:
        """List runs of four words that many texts hold, the most frequent first, with an example of each."""
        return self._join_frames(list_templates)

    def languages(self) -> pl.DataFrame:
        """Count the texts in each language, as far as script and common words tell."""
        import polars as pl

        rows = [
            (one.name, language or "not known", count, count / len(one.corpus))
            for one in self.generated
            for language, count in one.derive(count_languages).items()
        ]
        kinds = {"corpus": pl.String, "language": pl.String, "texts": pl.Int64, "share": pl.Float64}
        return pl.DataFrame(rows, schema=kinds, orient="row")

    @property
    def reach(self) -> float:
        """The similarity to a generated text from which a held-out text counts as covered, for the first corpus."""
        return self.generated[0].reach

    @cached_property
    def differences(self) -> pl.DataFrame:
        """Tests between all corpora, and of each against held-out texts, text by text; see `compute_differences`."""
        return compute_differences([*self.generated, *([] if self.held_out is None else [self.held_out])], self.ratings)

    @cached_property
    def links(self) -> pl.DataFrame:
        """Spearman's ρ of each per-text property and the ratings of the same texts, with its bootstrap interval."""
        return correlate_ratings(self.generated, self.ratings, level=self.level, seed=self.seed)

    @property
    def marks(self) -> pl.DataFrame:
        """People's ratings of each corpus, one row a question; see `summarise_ratings`."""
        return summarise_ratings(self.ratings)

    @cached_property
    def curve(self) -> pl.DataFrame:
        """`unique` and `distinct` after 10 %, 20 %, ... of the attempts, on average over their orders."""
        import polars as pl

        return self._join_frames(
            lambda one: pl.DataFrame(compute_curve(one.derive(count_forms))).select(
                pl.lit(one.name).alias("corpus"), pl.all()
            )
        )

    def near_copies(self, threshold: float | None = None) -> pl.DataFrame:
        """List generated texts whose SynSim to a train text is the threshold or more, and that text.

        The default is the threshold of the property `near_copies`.
        """
        train = self._trained
        least = train.near_copy if threshold is None else threshold
        check_threshold(least)

        return self._list_matches(
            lambda one: (one.corpus, one.syntactic, train.corpus),
            lambda _, found: found.similarity >= least,
            ("text", "syntactic", "train"),
        )

    def uncovered(self, reach: float | None = None) -> pl.DataFrame:
        """List held-out texts that no generated text comes near; by default as near as so many train texts to 95 %."""
        return self._list_matches(
            lambda one: (self._test, one.covered, one.corpus),
            lambda one, found: found.similarity < (one.reach if reach is None else reach),
            ("test", "semantic", "nearest"),
            descending=False,
        )

    def modes(self, least: int = 2) -> pl.DataFrame:
        """List groups of equal or nearly equal texts, the largest first, each with an example."""
        frame = self._join_frames(lambda one: list_modes(one, least))
        return frame.sort("texts", descending=True, maintain_order=True)

    def pick(self, n: int, *, plausible: bool = False) -> pl.DataFrame:
        """Pick the n texts of each corpus that are nearest to held-out ones by meaning and farthest from train.

        Pareto front by front, within a front nearest to the ideal point first; `plausible` asks for low perplexity
        too. The rows are those of `per_text`.
        """
        import polars as pl

        if n < 1:
            raise InputError(f"pick at least 1 text, not {n}")
        missing = next((row for row in self if row.property == "semantic_precision" and math.isnan(row.value)), None)
        if missing is not None or self.train is None:
            reason = "there are no train texts" if missing is None else missing.reason
            raise InputError(f"nothing to pick by: nearness to test is not known ({reason})")
        if plausible and self.generated[0].surprise is None:
            raise InputError("nothing to pick by: plausibility was not asked for")
        return self._join_frames(
            lambda one: self.per_text.filter(pl.col("corpus") == one.name)[
                pick_texts(one, n, plausible=plausible).tolist()
            ]
        )

    @property
    def _trained(self) -> MeasuredCorpus:
        if self.train is None:
            raise ArgumentError("texts that are described without `train` have no copies of it")
        return self.train

    @property
    def _test(self) -> Corpus | None:
        return None if self.held_out is None else self.held_out.corpus

    def _list_matches(
        self,
        of: Callable[[MeasuredCorpus], Any],
        is_hit: Callable[[MeasuredCorpus, NearestMatches], NDArray[np.bool_]],
        columns: tuple[str, str, str] = ("text", "similarity", "match"),
        *,
        descending: bool = True,
    ) -> pl.DataFrame:
        """List what `of` gives, queries, their nearest texts and where these are, or nothing; see `list_matches`."""

        def make(one: MeasuredCorpus) -> pl.DataFrame:
            found = of(one)
            is_known = found is not None and all(part is not None for part in found)
            return list_matches(one.name, (*found, is_hit(one, found[1])) if is_known else None, columns)

        return self._join_frames(make).sort(columns[1], descending=descending, maintain_order=True)

    def _join_frames(self, of: Callable[[MeasuredCorpus], pl.DataFrame]) -> pl.DataFrame:
        import polars as pl

        return pl.concat(map(of, self.generated))


def _is_matched(_: MeasuredCorpus, found: NearestMatches) -> NDArray[np.bool_]:
    return found.index >= 0


def draw_properties(rows: Sequence[Row]) -> alt.VConcatChart:
    """Draw one line per property, each on a scale of its own: generated with its interval, and test and train."""
    import altair as alt

    drawn = [row for row in rows if row["value"] is not None]
    several = len({row["corpus"] for row in drawn}) > 1
    panels = [_draw_property(row, several=several, legend=place == 0) for place, row in enumerate(drawn)]
    return alt.vconcat(*panels, spacing=4)


def _draw_property(row: Row, *, several: bool, legend: bool) -> alt.LayerChart:
    import altair as alt

    label = f"{row['property']}: {row['corpus']}" if several else row["property"]
    ends = {"low": row["low"], "high": row["high"]}
    values = {"train": row["train"], "test": row["test"], "generated": row["value"]}  # the last lies on top
    points = [
        {"property": label, "of": of, "value": value, **(ends if of == "generated" else {})}
        for of, value in values.items()
        if value is not None
    ]
    key = alt.Legend(title=None, orient="top") if legend else None
    colour = alt.Color("of:N", scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())), legend=key)
    shape = alt.Shape("of:N", scale=alt.Scale(domain=list(_COLOURS), range=["circle", "diamond", "square"]), legend=key)
    y = alt.Y("property:N", title=None, axis=alt.Axis(labelLimit=220, minExtent=140, ticks=False, domain=False))
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, format=".4~g"))
    numbers = (alt.Tooltip(f"{name}:Q", format=".6g") for name in ("value", "low", "high"))
    base = alt.Chart(alt.InlineData(values=points)).encode(
        y, colour, tooltip=[alt.Tooltip("property:N"), alt.Tooltip("of:N"), *numbers]
    )
    layers = [
        base.mark_rule().encode(x="low:Q", x2="high:Q"),
        base.mark_point(filled=True, size=50, opacity=1).encode(x, shape),
    ]
    return alt.LayerChart(layer=layers).properties(width=360, height=22)
