"""What `describe` gives back: the table, and behind it every text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus
from textgauge.describing import lists
from textgauge.describing.measured import Measured
from textgauge.describing.properties import NEAR_COPY, Property
from textgauge.describing.significance import Difference, RatingLink, differences
from textgauge.errors import InputError, UnknownName
from textgauge.metrics.properties.uniqueness import curve

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, eq=False)
class Description:
    """Properties of one or several generated corpora; iterate over them, or ask for one by its name.

    `description["unique"]` is that of the only corpus, `description["unique", "gpt"]` that of one of several.
    `reach` is the similarity from which a test text counts as covered.
    """

    properties: tuple[Property, ...]
    generated: tuple[Measured, ...]
    test: Measured | None
    train: Measured
    reach: float
    links: tuple[RatingLink, ...] = ()
    warnings: tuple[str, ...] = ()
    ratings: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.properties)

    def __iter__(self) -> Iterator[Property]:
        return iter(self.properties)

    def __getitem__(self, name: str | tuple[str, str]) -> Property:
        wanted, corpus = (name, None) if isinstance(name, str) else name
        if corpus is None and len(self.generated) > 1:
            raise InputError(f"several corpora were described; ask for one as [{wanted!r}, {self.generated[0].name!r}]")
        for found in self.properties:
            if found.property == wanted and corpus in (None, found.corpus):
                return found
        known = [found.property if corpus is None else f"{found.property}, {found.corpus}" for found in self.properties]
        raise UnknownName.among("property", wanted if corpus is None else f"{wanted}, {corpus}", known)

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

        found = [(one.name, curve(one.counts)) for one in self.generated]
        return pl.concat(
            pl.DataFrame({"attempts": line.attempts, "unique": line.unique, "distinct": line.distinct}).select(
                pl.lit(name).alias("corpus"), pl.all()
            )
            for name, line in found
        )

    def near_copies(self, threshold: float = NEAR_COPY) -> pl.DataFrame:
        """Generated texts whose SynSim to a train text is the threshold or more, beside that text."""
        import polars as pl

        lists.check_threshold(threshold)
        found = pl.concat(lists.near_copies(one, self.train.corpus, threshold) for one in self.generated)
        return found.sort("syntactic", descending=True, maintain_order=True)

    def uncovered(self, reach: float | None = None) -> pl.DataFrame:
        """Test texts that no generated text comes near: less near than train comes to 95 % of them, unless given."""
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

    @property
    def _test(self) -> Corpus | None:
        return None if self.test is None else self.test.corpus

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per property and corpus."""
        return [row.to_dict() for row in self.properties]

    def to_json(self) -> str:
        """An array of flat objects."""
        return json.dumps(self.to_dicts(), indent=1, ensure_ascii=False)

    def to_polars(self) -> pl.DataFrame:
        """A frame with one row per property and corpus."""
        import polars as pl

        return pl.from_dicts(self.to_dicts(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas frame with one row per property and corpus; needs pandas."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts())

    def __str__(self) -> str:
        wide = len(self.generated) > 1
        names = [f"{row.corpus}: {row.property}" if wide else row.property for row in self]
        width = max(map(len, names))
        lines = [f"{name:<{width}}  {_spoken(row)}" for name, row in zip(names, self, strict=True)]
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


def _spoken(row: Property) -> str:
    if math.isnan(row.value):
        return f"undefined: {row.reason}"
    said = f"{row.value:10.4g}"
    if not math.isnan(row.low):
        said += f"  [{row.low:.4g}, {row.high:.4g}]"
    yardsticks = [(name, value) for name, value in (("test", row.test), ("train", row.train)) if not math.isnan(value)]
    return said + "".join(f"  {name} {value:.4g}" for name, value in yardsticks)
