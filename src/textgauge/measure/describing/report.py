"""What `describe` gives back: a row per property, and behind it every text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from textgauge.core.charts import without_network
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.result import Result
from textgauge.core.tabular import BLUE, GREY, VERMILION, FlatRow, Row, format_cell, format_interval, listed
from textgauge.data import Corpus
from textgauge.measure.describing import lists
from textgauge.measure.describing.answer import description_sentence, worse_than_real
from textgauge.measure.describing.measure import NO_TEST
from textgauge.measure.describing.significance import Difference, RatingLink, differences
from textgauge.metrics.properties.base import CorpusProperty, MeasuredCorpus, PropertyValue, list_properties
from textgauge.metrics.properties.nearest import reach_of_train
from textgauge.metrics.properties.uniqueness import curve, form_counts

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_COLOURS = {"generated": BLUE, "test": VERMILION, "train": GREY}


@dataclass(frozen=True, kw_only=True)
class Property(FlatRow):
    """One property of one corpus; `test` and `train` are the same property of the yardsticks.

    `reason` says why the value, or its interval, is missing; `test_reason` and `train_reason` why a yardstick is.
    `worse_than` names the yardstick, test or train, that the property is worse than, for all properties together.
    """

    corpus: str
    property: str
    value: float
    low: float = math.nan
    high: float = math.nan
    test: float = math.nan
    train: float = math.nan
    backend: str | None = None
    reason: str | None = None
    test_reason: str | None = None
    train_reason: str | None = None
    worse_than: str | None = None


def property_rows(
    generated: tuple[MeasuredCorpus, ...],
    test: MeasuredCorpus | None,
    train: MeasuredCorpus,
    *,
    signatures: Mapping[str, str],
    level: float,
    ci: bool,
) -> Iterator[Property]:
    """All registered properties of all generated corpora; `signatures` are those of the backends, by need."""
    declared = list_properties(alone=False)
    tested, trained = (
        {known.name: _yardstick(known, measured, level) for known in declared} for measured in (test, train)
    )
    real = {
        name: {key: one for key, (one, _) in values.items()} for name, values in (("test", tested), ("train", trained))
    }
    for measured in generated:
        values = {known.name: known.of(measured, level) for known in declared}
        mine = {name: found for name, (found, _) in values.items()}
        worse = worse_than_real(mine, real, level, len(generated)) if ci else {}
        for known in declared:
            found, reason = values[known.name]
            (on_test, test_reason), (on_train, train_reason) = tested[known.name], trained[known.name]
            yield Property(
                corpus=measured.name,
                property=known.name,
                value=found.value,
                low=found.low if ci else math.nan,
                high=found.high if ci else math.nan,
                test=on_test.value,
                train=on_train.value,
                backend=known.backend_of(signatures),
                reason=reason or known.no_interval,
                test_reason=test_reason,
                train_reason=train_reason,
                worse_than=worse.get(known.name),
            )


def _yardstick(
    known: CorpusProperty, measured: MeasuredCorpus | None, level: float
) -> tuple[PropertyValue, str | None]:
    return (PropertyValue(), NO_TEST) if measured is None else known.of(measured, level)


@dataclass(frozen=True, eq=False, repr=False)
class PropertyTable(Result):
    """Properties of one or several corpora; iterate over them, or ask for one by its name.

    `description["unique"]` is that of the only corpus, `description["unique", "gpt"]` that of one of several.
    """

    command: ClassVar[str] = "describe"

    properties: tuple[Property, ...]
    generated: tuple[MeasuredCorpus, ...]

    def __len__(self) -> int:
        return len(self.properties)

    def __iter__(self) -> Iterator[Property]:
        return iter(self.properties)

    def __contains__(self, name: object) -> bool:
        return any(name in (found.property, (found.property, found.corpus), found) for found in self.properties)

    def __getitem__(self, name: str | tuple[str, str]) -> Property:
        wanted, corpus = (name, None) if isinstance(name, str) else name
        if corpus is None and len(self.generated) > 1:
            raise InputError(f"several corpora were described; ask for one as [{wanted!r}, {self.generated[0].name!r}]")
        for found in self.properties:
            if found.property == wanted and corpus in (None, found.corpus):
                return found
        known = [found.property if corpus is None else f"{found.property}, {found.corpus}" for found in self.properties]
        raise UnknownName.among("property", wanted if corpus is None else f"{wanted}, {corpus}", known)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per property and corpus."""
        return [row.to_dict() for row in self.properties]


@dataclass(frozen=True, eq=False, repr=False)
class Description(PropertyTable):
    """Properties of one or several generated corpora, next to those of test and train."""

    test: MeasuredCorpus | None
    train: MeasuredCorpus
    links: tuple[RatingLink, ...] = ()
    warnings: tuple[str, ...] = ()
    ratings: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def answer(self) -> str:
        """How many texts are copied from train, and what is worse than in real texts."""
        return description_sentence(self.to_dicts(), {one.name: len(one.corpus) for one in self.generated})

    @property
    def reach(self) -> float:
        """The similarity to a generated text from which a test text counts as covered."""
        return self.train.derive(reach_of_train)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Tests between all generated corpora, and of each against test, text by text."""
        return differences([*self.generated, *([] if self.test is None else [self.test])])

    @cached_property
    def per_text(self) -> pl.DataFrame:
        """One row per generated text: values, nearest test text, nearest train text."""
        import polars as pl

        return pl.concat(
            lists.per_text(one, self._test, self.train, self.ratings.get(one.name)) for one in self.generated
        )

    @cached_property
    def curve(self) -> pl.DataFrame:
        """`unique` and `distinct` after 10 %, 20 %, ... of the attempts, on average over their orders."""
        import polars as pl

        return pl.concat(
            pl.DataFrame(curve(one.derive(form_counts))).select(pl.lit(one.name).alias("corpus"), pl.all())
            for one in self.generated
        )

    def near_copies(self, threshold: float | None = None) -> pl.DataFrame:
        """Generated texts whose SynSim to a train text is the threshold or more, and that text.

        The default is the threshold of the property `near_copies`.
        """
        import polars as pl

        least = self.train.near_copy if threshold is None else threshold
        lists.check_threshold(least)
        found = pl.concat(lists.near_copies(one, self.train.corpus, least) for one in self.generated)
        return found.sort("syntactic", descending=True, maintain_order=True)

    def uncovered(self, reach: float | None = None) -> pl.DataFrame:
        """Test texts that no generated text comes near; the default reach is how near train comes to 95 % of them."""
        import polars as pl

        least = self.reach if reach is None else reach
        found = pl.concat(lists.uncovered(one, self._test, least) for one in self.generated)
        return found.sort("semantic", maintain_order=True)

    def modes(self, least: int = 2) -> pl.DataFrame:
        """Groups of equal or nearly equal generated texts, the largest first, each with an example."""
        import polars as pl

        found = pl.concat(lists.modes(one, least) for one in self.generated)
        return found.sort("texts", descending=True, maintain_order=True)

    def pick(self, n: int, *, plausible: bool = False) -> pl.DataFrame:
        """The n texts of each corpus that are nearest to test by meaning and farthest from train by wording.

        Pareto front by front, within a front nearest to the ideal point first; `plausible` asks for low perplexity
        too. The rows are those of `per_text`.
        """
        import polars as pl

        if n < 1:
            raise InputError(f"pick at least 1 text, not {n}")
        missing = next((row for row in self if row.property == "semantic_precision" and math.isnan(row.value)), None)
        if missing is not None:
            raise InputError(f"nothing to pick by: nearness to test is not known ({missing.reason})")
        if plausible and self.generated[0].surprise is None:
            raise InputError("nothing to pick by: plausibility was not asked for")
        chosen = [lists.best(one, n, plausible=plausible).tolist() for one in self.generated]
        parts = [self.per_text.filter(pl.col("corpus") == one.name) for one in self.generated]
        return pl.concat([part.select(pl.all().gather(rows)) for part, rows in zip(parts, chosen, strict=True)])

    def lists(self) -> dict[str, pl.DataFrame]:
        """The texts and tests behind the properties, by name."""
        import polars as pl

        found = {
            "near_copies": self.near_copies(),
            "uncovered": self.uncovered(),
            "modes": self.modes(),
            "curve": self.curve,
        }
        tests = {"differences": self.differences, "ratings": self.links}
        return found | {
            name: pl.from_dicts([row.to_dict() for row in rows], infer_schema_length=None)
            for name, rows in tests.items()
            if rows
        }

    @property
    def _test(self) -> Corpus | None:
        return None if self.test is None else self.test.corpus

    @property
    def notes(self) -> tuple[str, ...]:
        """Why values are missing, one sentence for each reason."""
        return tuple(_missing(self.to_dicts(), self._yardsticks))

    @property
    def _yardsticks(self) -> tuple[str, ...]:
        return ("train",) if self.test is None else ("test", "train")

    def readable(self) -> list[Row]:
        """One row per property: a column for each corpus, those of test and train, and what it is."""
        return _readable(self.to_dicts(), self._yardsticks, several=len(self.generated) > 1)

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *(f"note: {text}" for text in self.notes)])

    def plot(self) -> alt.VConcatChart:
        """Every property on a scale of its own: generated with its interval, and test and train."""
        return without_network(property_chart(self.to_dicts()))


def _readable(rows: Sequence[Row], yardsticks: Sequence[str], *, several: bool) -> list[Row]:
    about = {known.name: known.about for known in list_properties(alone=False)}
    shown: dict[str, Row] = {}
    for row in rows:
        cells = shown.setdefault(row["property"], {"property": row["property"]})
        if several:
            cells[row["corpus"]] = format_cell(row["value"])
        else:
            interval = "" if row["low"] is None else format_interval(row["low"], row["high"])
            cells |= {"value": format_cell(row["value"]), "interval": interval}
    for row in rows:
        shown[row["property"]] |= {name: format_cell(row[name]) for name in yardsticks}
        shown[row["property"]]["what it is"] = about[row["property"]]
    return list(shown.values())


def _missing(rows: Sequence[Row], yardsticks: Sequence[str]) -> Iterator[str]:
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        gaps = {row["corpus"]: ("value", "reason")} | {name: (name, f"{name}_reason") for name in yardsticks}
        for corpus, (value, reason) in gaps.items():
            if row[value] is None and row[reason]:
                found.setdefault((corpus, row[reason]), []).append(row["property"])
    for (corpus, reason), names in found.items():
        yield f"no value for {corpus}: {listed(dict.fromkeys(names))} ({reason})"


def property_chart(rows: Sequence[Row]) -> alt.VConcatChart:
    """One line per property, each on a scale of its own: generated with its interval, and test and train."""
    import altair as alt

    drawn = [row for row in rows if row["value"] is not None]
    several = len({row["corpus"] for row in drawn}) > 1
    panels = [_panel(row, several=several, legend=place == 0) for place, row in enumerate(drawn)]
    return alt.vconcat(*panels, spacing=4)


def _panel(row: Row, *, several: bool, legend: bool) -> alt.LayerChart:
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
