"""`explain`: which texts and which words make two corpora differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from textgauge.core.charts import draw_without_network
from textgauge.core.errors import InputError
from textgauge.core.parallel import use_one_blas_thread
from textgauge.core.show import (
    BLUE,
    GREY,
    VERMILION,
    Row,
    Tabular,
    render_html,
    shorten_line,
)
from textgauge.data import Comparison
from textgauge.data.large import load_comparison
from textgauge.data.source import Source
from textgauge.encode.tokenizers import replace_surrogates
from textgauge.measure.compare_report import Terms, find_separating_terms
from textgauge.measure.comparing import Views, choose_metrics, prepare_rows
from textgauge.metrics import CorpusMetric, Score, get_corpus_metrics
from textgauge.metrics.grounds import find_nearest_texts

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

Side = Literal["reference", "candidate"]
SIDES: tuple[Side, Side] = ("reference", "candidate")
_SHOWN = 10
_COLOURS = {"reference": BLUE, "candidate": VERMILION}
_LABEL, _NEAREST, _FULL = 48, 160, 400  # characters of a text next to its bar, and in its tooltip
_WIDTH = 260
_PULL, _STRENGTH = "_pull", "_strength"  # columns by which texts are ordered: of equal pull the strongest first


def explain(
    reference: Source,
    candidate: Source,
    *,
    metric: str | CorpusMetric = "energy",
    column: str | None = None,
    prior: float | None = None,
    seed: int = 0,
) -> Explanation:
    """Say what each text adds to the distance of two corpora, exactly, and which words separate them.

    Parameters
    ----------
    reference, candidate
        Corpora as in `compare`.
    metric
        A metric of which `explains` is true, on any ground, embedder or tokenizer, or a part of one; others have no
        contributions of texts and are refused.
    column
        The column that holds the texts, for tables.
    prior
        The weight of the prior of the words' log-odds, in words; by default a fifth of the words of the smaller corpus.
    seed
        Random seed.

    >>> found = explain(reference=["a cat", "a dog"], candidate=["a dog", "one cow"], metric="cbdf@words")
    >>> [row["text"] for row in found.top(1, "candidate")], found.terms.top(1, "reference")[0]["term"]
    (['one cow'], 'cat')
    """
    named = get_corpus_metrics([metric])
    if len(named) != 1:
        raise InputError(f"one metric is explained at a time, not {len(named)}: {metric}")
    if not named[0].explains:
        raise named[0].not_explained()
    comparison = load_comparison(reference, candidate, column=column, in_memory=True)
    (chosen,) = choose_metrics(named, comparison, seed)
    prepare_rows(Views(comparison), [chosen])
    with use_one_blas_thread():
        score = chosen.measure(comparison)
        if score.reason is not None:
            raise InputError(f"{chosen.key} is undefined for these corpora: {score.reason}")
        return explain_score(chosen, comparison, score, find_separating_terms(comparison, prior=prior))


def explain_score(metric: CorpusMetric, comparison: Comparison, score: Score, terms: Terms) -> Explanation:
    """Return the explanation of a score that exists."""
    import polars as pl

    nearest, distance = find_nearest_texts(metric, comparison)
    added = metric.explain(comparison)
    rows = [side.source_rows for side in comparison.sides]
    texts: list[Any] = [[None] * len(side) for side in comparison.sides]
    if comparison.joint.pool.has_texts:
        texts = [list(map(replace_surrogates, side.texts)) for side in comparison.sides]
    frames = []
    for own, (side, near) in enumerate(zip((added.reference, added.candidate), nearest, strict=True)):
        # Of a part whose larger values mean closer, texts that add less than the mean pull the corpora apart.
        pull = side.adds if metric.closer == "smaller" else float(np.mean(side.adds)) - side.adds
        columns = {
            "side": [SIDES[own]] * len(rows[own]),
            "index": rows[own],
            "text": pl.Series(texts[own], dtype=pl.String),
            "contribution": side.adds,
            **side.detail,
            "nearest": pl.Series([texts[1 - own][place] for place in near.at.tolist()], dtype=pl.String),
            "nearest_index": rows[1 - own][near.at],
            "distance": near.distances,
            _PULL: pull,
            _STRENGTH: near.distances if side.strength is None else side.strength,
        }
        frames.append(pl.DataFrame(columns, nan_to_null=True))
    whole, order = pl.concat(frames, how="diagonal"), [_PULL, _STRENGTH]
    return Explanation(
        metric=metric.key,
        value=score.value,
        of=added.of,
        total=added.total,
        formula=added.formula,
        tokens=[{**row, "token": replace_surrogates(row["token"])} for row in added.tokens],
        distance=distance,
        terms=terms,
        texts=whole.drop(order),
        order=whole.select(order),
    )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Explanation(Tabular):
    """One metric on one comparison, text by text: `to_dicts` has a row for each, and `contribution` sums to `total`.

    `of` names the number that the contributions add up to: the metric's value, or a part where the value is not a sum;
    `formula` says what a text adds. `distance` names what nearest texts are found by; `terms` are the words that
    separate the corpora, `tokens` what each token adds, most first, where the metric counts tokens. `texts` is the
    frame of all texts, reference first; `order` holds what `top` orders them by.
    """

    metric: str
    value: float
    of: str
    total: float
    formula: str
    tokens: list[Row]
    distance: str
    terms: Terms
    texts: pl.DataFrame
    order: pl.DataFrame

    def to_dicts(self) -> list[Row]:
        """Return one flat dictionary per text, reference first, in the order of the texts.

        `side`, `index`, `text`, `contribution`, columns of the metric's family, and the nearest text of the other side:
        `nearest`, `nearest_index`, `distance`. None where nothing is known. Indices are rows of the source, from 0.
        """
        return self.texts.to_dicts()

    def top(self, n: int, side: Side) -> list[Row]:
        """Return the texts of one side that drive the distance most, a repeated text once, with its number of `copies`.

        Texts that add nothing, or draw the corpora together, are not among them; of a part whose larger values mean
        closer, those that add less than the mean are.
        """
        return self._list_different(n, side, _PULL, _STRENGTH, above=0.0)

    def uncovered(self, n: int) -> list[Row]:
        """Return the reference texts farthest from every candidate text, farthest first."""
        return self._list_different(n, "reference", "distance")

    def outliers(self, n: int) -> list[Row]:
        """Return the candidate texts farthest from every reference text, farthest first."""
        return self._list_different(n, "candidate", "distance")

    def _list_different(self, n: int, side: Side, *by: str, above: float = -np.inf) -> list[Row]:
        import polars as pl

        content = pl.coalesce("text", pl.col("index").cast(pl.String))
        rows = self.texts.hstack(self.order).filter(pl.col("side") == side).with_columns(copies=pl.len().over(content))
        rows = rows.sort(*by, descending=True, nulls_last=True, maintain_order=True).filter(pl.col(by[0]) > above)
        return rows.filter(content.is_first_distinct()).head(n).drop(_PULL, _STRENGTH).to_dicts()

    def plot(self, n: int = _SHOWN) -> alt.ConcatChart:
        """Return the texts of both sides that add most, and the words that separate the corpora."""
        import altair as alt

        tips, panels = ["full:N", "contribution:Q", "nearest:N", "distance:Q"], []
        for side in SIDES:
            rows = [
                {
                    "label": row["text"] or f"text {row['index']}",
                    "contribution": row["contribution"],
                    "nearest": shorten_line(row["nearest"] or f"text {row['nearest_index']}", _NEAREST),
                    "distance": row["distance"],
                    "full": shorten_line(row["text"] or "", _FULL),
                }
                for row in self.top(n, side)
            ]
            title = f"{self.metric}: texts of the {side} that contribute most"
            panels.append(_draw_bars(rows, "contribution", title, tips, _COLOURS[side]))
        counts = ["count_reference:Q", "count_candidate:Q"]
        if self.tokens:
            rows = [{**row, "label": row["token"]} for row in self.tokens[:n]]
            title = f"{self.metric}: tokens that contribute most"
            panels.append(_draw_bars(rows, "contribution", title, ["token:N", "contribution:Q", *counts], GREY))
        if len(self.terms):
            terms = [*self.terms.top(n, "reference"), *self.terms.top(n, "candidate")[::-1]]
            rows = [{**row, "label": row["term"]} for row in terms]
            panels.append(
                _draw_bars(rows, "z", "words: z of the log-odds", ["term:N", "z:Q", "log_odds:Q", *counts], None)
            )
        return draw_without_network(alt.concat(*panels, columns=2))

    def _repr_html_(self) -> str:
        tables = [("texts of the " + side, self.top(_SHOWN, side)) for side in SIDES]
        tables += [(f"words of the {side}", self.terms.top(_SHOWN, side)) for side in SIDES]
        head = render_html([{"metric": self.metric, self.of: self.total, "a text adds": self.formula}])
        return head + "".join(f"<h4>{title}</h4>{render_html(rows)}" for title, rows in tables if rows)


def _draw_bars(rows: Sequence[Row], by: str, title: str, tips: Sequence[str], colour: str | None) -> alt.LayerChart:
    import altair as alt

    # Labels are marks, not an axis: two texts cut to the same words keep their own bars, and no text becomes code.
    y = alt.Y("place:O", axis=None)
    x = alt.X(f"{by}:Q", title=None, axis=alt.Axis(tickCount=4, format=".4~g"))
    sides = alt.condition(f"datum.{by} < 0", alt.value(_COLOURS["reference"]), alt.value(_COLOURS["candidate"]))
    tip = [alt.Tooltip(name, format=".6g") if name.endswith(":Q") else alt.Tooltip(name) for name in tips]
    data = [{**row, "place": place, "label": shorten_line(row["label"], _LABEL)} for place, row in enumerate(rows)]
    base = alt.Chart(alt.InlineData(values=data)).encode(y, tooltip=tip)
    bars = base.mark_bar(size=10).encode(x, color=sides if colour is None else alt.value(colour))
    labels = base.mark_text(align="right", fontSize=9, limit=_WIDTH).encode(x=alt.value(-6), text="label:N")
    height = 14 * max(len(rows), 1)
    return alt.LayerChart(layer=[bars, labels]).properties(
        width=_WIDTH, height=height, title=alt.TitleParams(title, anchor="start", fontSize=11)
    )
