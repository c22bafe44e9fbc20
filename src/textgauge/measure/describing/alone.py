"""What a corpus is like by itself, without train and test: size, duplicates, diversity, outliers, quality."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import MissingExtra, ResourceError
from textgauge.core.progress import Stage, Step
from textgauge.core.tabular import format_cell, format_interval, listed, plain
from textgauge.data import Corpus
from textgauge.measure.describing.lists import perplexities, texts_of
from textgauge.measure.describing.measure import CorpusSets, Measuring
from textgauge.measure.describing.report import Property, PropertyTable
from textgauge.metrics.numerics.set_search import SetMatches
from textgauge.metrics.properties.base import TOKENIZER, MeasuredCorpus, NearestMatches, PropertyValue, list_properties
from textgauge.metrics.properties.diversity import RUN, templates
from textgauge.metrics.properties.duplicates import duplicates_across, duplicates_within
from textgauge.metrics.properties.meaning import SAME, nearest_against, nearest_other, outlying
from textgauge.metrics.properties.texts import language_counts, lengths, script_counts

if TYPE_CHECKING:
    import polars as pl

GENERAL = "trigram-en"  # the language model where there are no texts to make one from
_SAMPLED = ("grammar", "plausibility")
_COUNTS = ("texts", "vocab")  # written in full


def describe_alone(
    sets: CorpusSets,
    *,
    embedder: str | None,
    grammar: str | None,
    plausibility: str | None,
    representative: Sequence[str] | None,
    level: float,
    ci: bool,
    on_step: Step,
    cluster: Executor | None = None,
) -> CorpusDescription:
    """The properties of corpora that have no train and no test; see `describe`."""
    by_default = (plausibility or "").startswith("kneser-ney") and representative is None
    model = GENERAL if by_default else plausibility
    notes: tuple[str, ...] = ()
    measuring = Measuring(sets, embedder, grammar, model, representative, on_step, cluster=cluster)
    try:
        signatures = measuring.signatures()
    except (ResourceError, MissingExtra) as error:
        if not by_default:
            raise
        measuring = replace(measuring, plausibility=None)
        signatures, notes = measuring.signatures(), (f"plausibility is left out: {error}",)
    measuring.embed()
    corpora = measuring.generated()
    rows = []
    listed = [one for one in list_properties(alone=True) if sets.against is not None or "against" not in one.needs]
    for measured in corpora:
        for number, known in enumerate(listed):
            on_step(Stage(f"{measured.name}: {known.name}", number, len(listed), "properties"))
            found, reason = known.of(measured, level)
            rows.append(
                Property(
                    corpus=measured.name,
                    property=known.name,
                    value=found.value,
                    low=found.low if ci else math.nan,
                    high=found.high if ci else math.nan,
                    backend=known.backend_of(signatures),
                    reason=reason or known.no_interval or _why_no_interval(found),
                )
            )
    return CorpusDescription(tuple(rows), corpora, notes)


def _why_no_interval(found: PropertyValue) -> str | None:
    return "no interval: too few texts" if math.isnan(found.low) else None


@dataclass(frozen=True, eq=False, repr=False)
class CorpusDescription(PropertyTable):
    """Properties of one or several corpora by themselves, and the texts behind them."""

    notes: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """How many texts of which length, how many of them are duplicates, and how diverse they are."""
        several = len(self.generated) > 1
        return " ".join((f"{one.name}: " if several else "") + self._sentence(one) for one in self.generated)

    def _sentence(self, measured: MeasuredCorpus) -> str:
        words = lengths(measured)
        low, middle, high = (f"{value:.0f}" for value in np.quantile(words, [0.05, 0.5, 0.95]))
        n = len(measured.corpus)
        equal, near = (self._count(measured, name, n) for name in ("unique", "near_duplicates"))
        said = f"{n:,} texts of {middle} words (median; 90 % have {low} to {high}): "
        said += f"{_part(n - equal, n)} equal another one, {_part(near, n)} are near duplicates."
        vendi = self[("vendi", measured.name)].value
        if not math.isnan(vendi):
            said += f" They are as diverse as {vendi:.3g} texts with nothing in common."
        if measured.against is not None:
            count = self._count(measured, "shared", n)
            said += f" {_part(count, n)} have a near duplicate in the other file."
        return said

    def _count(self, measured: MeasuredCorpus, name: str, n: int) -> int:
        return round(self[(name, measured.name)].value * n)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What was sampled or not searched to the end, and texts that English models do not read."""
        found = [*self.notes]
        for one in self.generated:
            n = len(one.corpus)
            for name, columns in zip(_SAMPLED, (one.grammar, one.surprise), strict=True):
                known = n if columns is None else int(np.isfinite(columns[1]).sum())
                if known < n:
                    found.append(f"{one.name}: {name} is that of {known:,} of the {n:,} texts, drawn at random")
            scripts = script_counts(one)
            foreign = sum(count for script, count in scripts.items() if script != "Latin")
            if foreign > n / 10:
                found.append(
                    f"{one.name}: {foreign:,} of {n:,} texts are not in Latin script ({listed(list(scripts)[:3])}): "
                    "grammar, plausibility and the built-in embedders are for English"
                )
            if not one.derive(duplicates_within).complete:
                found.append(f"{one.name}: too many texts are alike to list all near duplicates")
        return tuple(found)

    def readable(self) -> list[dict[str, Any]]:
        """The rows with what each property is."""
        about = {known.name: known.about for known in list_properties(alone=True)}
        several = len(self.generated) > 1
        return [
            ({"corpus": row.corpus} if several else {})
            | {
                "property": row.property,
                "value": f"{row.value:,.0f}" if row.property in _COUNTS else format_cell(plain(row.value)),
                "interval": "" if math.isnan(row.low) else format_interval(row.low, row.high),
                "what it is": about[row.property] if not math.isnan(row.value) else row.reason,
            }
            for row in self
        ]

    def near_duplicates(self) -> pl.DataFrame:
        """Texts that have most of their words in common with another one, and that one; the most similar first."""
        return self._matched(duplicates_within, lambda one: one.corpus)

    def shared(self) -> pl.DataFrame:
        """Texts that have most of their words in common with one of the other file, and that one."""
        return self._matched(duplicates_across, lambda one: one.against)

    def restated(self) -> pl.DataFrame:
        """Texts that say the same as another one by their embeddings, and that one; of the other file where given."""
        other = any(one.against is not None for one in self.generated)
        if self.generated[0].embedder is None:
            return _matches([])
        return self._matched(nearest_against if other else nearest_other, lambda one: one.against or one.corpus)

    def outliers(self) -> pl.DataFrame:
        """Texts that are unlike all others, the farthest first, and the text nearest to each."""
        parts = []
        for one in self.generated:
            if one.embedder is not None:
                rows = np.flatnonzero(one.derive(outlying))
                found = one.derive(nearest_other)
                parts.append((one, rows, found.index[rows], found.similarity[rows], one.corpus))
        return _matches(parts).sort("similarity", maintain_order=True)

    def templates(self) -> pl.DataFrame:
        """Runs of four words that many texts hold, the most frequent first, with an example of each."""
        import polars as pl

        rows = []
        for one in self.generated:
            counts, first, _ = one.derive(templates)
            tokens = one.corpus.tokens(TOKENIZER)
            for count, place in zip(counts.tolist(), first.tolist(), strict=True):
                row = int(np.searchsorted(tokens.offsets, place, side="right")) - 1
                run = " ".join(tokens.vocabulary[token] for token in tokens.ids[place : place + RUN].tolist())
                share = count / len(one.corpus)
                rows.append((one.name, run, count, share, texts_of(one.corpus, np.array([row]))[0]))
        kinds = {"corpus": pl.String, "template": pl.String, "texts": pl.Int64, "share": pl.Float64}
        return pl.DataFrame(rows, schema=kinds | {"example": pl.String}, orient="row")

    def languages(self) -> pl.DataFrame:
        """How many texts are in each language, as far as script and common words tell."""
        import polars as pl

        rows = [
            (one.name, language or "not known", count, count / len(one.corpus))
            for one in self.generated
            for language, count in one.derive(language_counts).items()
        ]
        kinds = {"corpus": pl.String, "language": pl.String, "texts": pl.Int64, "share": pl.Float64}
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def lists(self) -> dict[str, pl.DataFrame]:
        """The texts behind the properties, by name."""
        has_other = any(one.against is not None for one in self.generated)
        found = {"shared": self.shared()} if has_other else {}
        return found | {
            "near_duplicates": self.near_duplicates(),
            "same_meaning": self.restated(),
            "templates": self.templates(),
            "outliers": self.outliers(),
            "languages": self.languages(),
        }

    @cached_property
    def per_text(self) -> pl.DataFrame:
        """One row per text: its length, its nearest duplicate, how near the nearest text is by meaning, its quality."""
        import polars as pl

        return pl.concat(_per_text(one) for one in self.generated)

    def _matched(
        self,
        statistic: Callable[[MeasuredCorpus], SetMatches | NearestMatches],
        searched: Callable[[MeasuredCorpus], Corpus | None],
    ) -> pl.DataFrame:
        parts = []
        for one in self.generated:
            others = searched(one)
            if others is not None:
                found = one.derive(statistic)
                hits = found.index >= 0 if isinstance(found, SetMatches) else found.similarity >= SAME
                rows = np.flatnonzero(hits)
                parts.append((one, rows, found.index[rows], found.similarity[rows], others))
        return _matches(parts).sort("similarity", descending=True, maintain_order=True)


def _part(count: int, n: int) -> str:
    return f"{count:,} ({100 * count / n:.3g} %)"


_Part = tuple[MeasuredCorpus, Ints, Ints, "NDArray[np.float64]", Corpus]


def _matches(parts: Sequence[_Part]) -> pl.DataFrame:
    """Texts, how similar their match is, and the match."""
    import polars as pl

    schema = {
        "corpus": pl.String, "index": pl.Int64, "text": pl.String, "similarity": pl.Float64,
        "match_index": pl.Int64, "match": pl.String,
    }  # fmt: skip
    frames = [
        pl.DataFrame(
            {
                "corpus": [one.name] * len(rows),
                "index": one.corpus.source_rows[rows],
                "text": texts_of(one.corpus, rows),
                "similarity": similarity,
                "match_index": others.source_rows[index],
                "match": texts_of(others, index),
            },
            schema=schema,
        )
        for one, rows, index, similarity, others in parts
    ]
    return pl.concat(frames) if frames else pl.DataFrame(schema=schema)


def _per_text(one: MeasuredCorpus) -> pl.DataFrame:
    import polars as pl

    n = len(one.corpus)
    duplicate, nothing = one.derive(duplicates_within), np.full(n, np.nan)
    errors = nothing if one.grammar is None else one.grammar[0]
    near = nothing if one.embedder is None else one.derive(nearest_other).similarity
    columns = {
        "corpus": [one.name] * n,
        "index": one.corpus.source_rows,
        "text": list(one.corpus.texts),
        "words": lengths(one).astype(np.int64),
        "duplicate": np.where(duplicate.index < 0, -1, one.corpus.source_rows[duplicate.index]),
        "duplicate_similarity": duplicate.similarity,
        "nearest_cosine": near,
        "outlier": np.zeros(n, dtype=bool) if one.embedder is None else one.derive(outlying),
        "grammar_errors": errors,
        "perplexity": perplexities(one),
    }
    frame = pl.DataFrame(columns, nan_to_null=True)
    return frame.with_columns(pl.when(pl.col("duplicate") >= 0).then(pl.col("duplicate")).alias("duplicate"))
