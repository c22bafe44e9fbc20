"""What `describe` gives back: a row per property, and behind it every text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar

from textgauge.core.charts import draw_without_network
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.result import Column, Result, show_rows
from textgauge.core.show import BLUE, GREY, VERMILION, FlatRow, Row, format_cell, format_interval, join_words
from textgauge.measure.findings import (
    compute_differences,
    correlate_ratings,
    find_recall,
    find_warnings,
    format_answer,
    format_answer_alone,
    format_recall,
    summarise_ratings,
)
from textgauge.measure.lists import CLEANED, TextList, list_kinds, list_removed, list_texts, pick_texts
from textgauge.metrics.properties.base import MeasuredCorpus, list_properties

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_OF_TRAIN = re.compile(", (without those of|and not in) train")  # what a property leaves out where train is given
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
    Column("what it is", "value about reason", lambda v, about, why: why if v is None else _OF_TRAIN.sub("", about)),
)
_COLOURS = {"generated": BLUE, "test": VERMILION, "train": GREY}


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
    level: float = 0.95
    seed: int = 0
    explain: bool = False

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What to beware of, each one sentence."""
        return tuple(find_warnings(self.generated, self.held_out, self.train))

    @property
    def texts(self) -> pl.DataFrame | None:
        """What `per_text` holds, where `explain` asks to keep it with a saved result."""
        return self.per_text if self.explain else None

    @property
    def answer(self) -> str:
        """How many texts are duplicates, or copied from train, and what is worse than in real texts."""
        said = []
        for one in self.generated:
            rows = [row for row in self.to_dicts() if row["corpus"] == one.name]
            if self.train is None:
                text = format_answer_alone(one, {row["property"]: row["value"] for row in rows})
            else:
                text = format_answer(rows, len(one.corpus), one.passage)
            said.append(f"{one.name}: {text}" if len(self.generated) > 1 else text)
        return " ".join(said)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why values next to train are missing, one sentence for each reason; and what limits find of copies."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for row in self.rows if self.train is not None else ():
            cells = {row.corpus: (row.value, row.reason), "test": (row.test, row.test_reason)}
            for corpus, (value, reason) in (cells | {"train": (row.train, row.train_reason)}).items():
                is_there = corpus != "test" or self.held_out is not None
                if math.isnan(value) and reason and reason != "not asked for" and is_there:
                    reasons.setdefault((corpus, reason), []).append(row.property)
        missing = [
            f"no value for {corpus}: {join_words(dict.fromkeys(names))} ({reason})"
            for (corpus, reason), names in reasons.items()
        ]
        return (*missing, *map(format_recall, self.details.values()))

    @property
    def details(self) -> Row:
        """What the limits of near copies and passages found of planted copies (see docs/performance.md)."""
        found = find_recall(self.generated[0])
        return {"planted_copies": found} if found else {}

    def readable(self) -> list[Row]:
        """Return one row per property, formatted for display: next to train with a column for each corpus."""
        about = {known.name: known.about for known in list_properties(alone=self.train is None)}
        rows = [row | {"about": about[row["property"]]} for row in self.to_dicts()]
        if self.train is None:
            return show_rows(rows, _ALONE[0 if len(self.generated) > 1 else 1 :])
        yardsticks = ("train",) if self.held_out is None else ("test", "train")
        beside = [Column(name, form=format_cell) for name in yardsticks]
        names = [one.name for one in self.generated]
        if len(names) == 1:
            return show_rows(rows, [Column("property"), _VALUE, _INTERVAL, *beside, Column("what it is", "about")])
        joined: dict[str, Row] = {}
        for row in rows:
            joined.setdefault(row["property"], row | {"of": {}})["of"][row["corpus"]] = format_cell(row["value"])
            for role in yardsticks:  # of as many texts as the corpus has
                shown = joined[row["property"]]["of"].setdefault(role, [])
                shown += [cell] if (cell := format_cell(row[role])) not in shown else []
        values = [Column(name, "of", itemgetter(name)) for name in names]
        beside = [Column(role, "of", lambda of, role=role: " / ".join(of[role])) for role in yardsticks]
        return show_rows(list(joined.values()), [Column("property"), *values, *beside, Column("what it is", "about")])

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *(f"note: {text}" for text in self.notes)])

    def plot(self) -> alt.VConcatChart:
        """Draw every property on a scale of its own: the value with its interval, and test and train."""
        return draw_without_network(draw_properties(self.to_dicts()))

    @cached_property
    def per_text(self) -> pl.DataFrame:
        """One row per text: its values, and the texts it is nearest to."""
        return TextList(list_texts).join(self.generated)

    def list_texts(self, name: str, least: float | None = None) -> pl.DataFrame:
        """Return one of the lists of texts behind the properties.

        By themselves: `near_duplicates` and `same_meaning` (of another text), `shared` (near duplicates in the other
        file), `passages`, `templates`, `outliers`, `languages`, and `labels` where these were given. Next to train:
        `near_copies`, `passages`, `labels`, `uncovered` test texts, `modes` (groups of equal and nearly equal texts)
        and the `curve` of `unique` and `distinct`. `least` is the similarity of near copies, the reach that counts as
        covered, or the number of texts of a mode. `index` and `match_index` are rows of the files; `start` and
        `match_start` of passages count words from 0 on.
        """
        known = list_kinds(self.generated)
        if name not in known:
            raise UnknownName.among("list of texts", name, known)
        return known[name].join(self.generated, *([] if least is None else [least]))

    def lists(self) -> dict[str, pl.DataFrame]:
        """Return the texts and tests behind the properties, by name."""
        found = {name: kind.join(self.generated) for name, kind in list_kinds(self.generated).items()}
        if self.train is not None:
            tests = {"differences": self.differences, "ratings": self.links, "marks": self.marks}
            found |= {name: frame for name, frame in tests.items() if len(frame)}
        return found

    def clean(self, drop: Sequence[str] = CLEANED) -> pl.DataFrame:
        """Return the texts to leave out, by row, each with the reason and the row it matches; see `list_removed`."""
        return TextList(list_removed).join(self.generated, drop)

    def pick(self, n: int, *, plausible: bool = False) -> pl.DataFrame:
        """Pick the n texts of each corpus that are nearest to held-out ones by meaning and farthest from train.

        Pareto front by front, within a front nearest to the ideal point first; `plausible` asks for low perplexity
        too. The rows are those of `per_text`.
        """
        if n < 1:
            raise InputError(f"pick at least 1 text, not {n}")
        missing = self.generated[0].missing
        for need in ("train", "test", "embeddings", *(["plausibility"] if plausible else [])):
            if need in missing:
                raise InputError(f"nothing to pick by, {need}: {missing[need]}")
        return TextList(pick_texts).join(self.generated, n, plausible)

    @cached_property
    def differences(self) -> pl.DataFrame:
        """Tests between all corpora, and of each against held-out texts, text by text; see `compute_differences`."""
        return compute_differences([*self.generated, *([] if self.held_out is None else [self.held_out])])

    @cached_property
    def links(self) -> pl.DataFrame:
        """Spearman's ρ of each per-text property and the ratings of the same texts, with its bootstrap interval."""
        return correlate_ratings(self.generated, level=self.level, seed=self.seed)

    @property
    def marks(self) -> pl.DataFrame:
        """People's ratings of each corpus, one row a question; see `summarise_ratings`."""
        return summarise_ratings(self.generated)


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
