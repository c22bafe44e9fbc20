"""What `compare` gives back: scores in order, with warnings, as rows, frames, text and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from textgauge.core.charts import without_network
from textgauge.core.errors import UnknownName
from textgauge.core.result import Result
from textgauge.core.tabular import (
    ARROWS,
    BLUE,
    GREY,
    VERMILION,
    Row,
    format_cell,
    format_interval,
    format_short,
    one_line,
)
from textgauge.measure.comparing.terms import Terms
from textgauge.metrics import Score
from textgauge.stats.decisions import comparison_sentence, different

if TYPE_CHECKING:
    import altair as alt

    from textgauge.measure.comparing.explain import Explanation, Side


_COLOURS = {"reference": BLUE, "candidate": VERMILION}
_NUMBERS = ("value", "low", "high", "null", "null_low", "null_high", "times", "effect", "p_value", "p_adjusted")
_WIDTH = 260
# Words that the answer names for each corpus, and the z from which they are: the prior draws z to 0, so that of 60
# comparisons of equal corpora (200 banking questions each) one had any word beyond 3.
_WORDS, _LOOKED_AT, _TYPICAL = 3, 30, 3.0
IN_PARTS = "read in parts, no text kept in memory"
_LABEL = 48  # characters of a text that stand next to its bar


@dataclass(frozen=True, repr=False)
class CompareReport(Result):
    """The scores of one comparison; iterate over them, or ask for one by its key.

    `explanations`, with `compare(explain=True)`, are by the key of their metric; a metric whose value is not a sum over
    texts has none. `terms` are the words that separate the corpora.
    """

    command: ClassVar[str] = "compare"

    scores: tuple[Score, ...]
    warnings: tuple[str, ...] = ()
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms.none)

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __contains__(self, key: object) -> bool:
        return any(score.metric == key or score is key for score in self.scores)

    def __getitem__(self, key: str) -> Score:
        for score in self.scores:
            if score.metric == key:
                return score
        raise UnknownName.among("metric in this report", key, [score.metric for score in self.scores])

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per metric."""
        return [score.to_dict() for score in self.scores]

    def explained_dicts(self) -> list[dict[str, Any]]:
        """All that the explanations hold, as flat dictionaries of a `kind`: `text` and `token` by metric, `term`."""
        rows: list[dict[str, Any]] = []
        for metric, found in self.explanations.items():
            head = {"metric": metric, "of": found.of}
            rows += [{"kind": "text", **head, **row} for row in found.to_dicts()]
            rows += [{"kind": "token", **head, **row} for row in found.tokens]
        return rows + [{"kind": "term", **row} for row in self.terms.to_dicts()]

    @property
    def answer(self) -> str:
        """Whether the corpora differ, by the adjusted tests of all metrics, and the words that separate them."""
        tested = {score.metric: score.p_adjusted for score in self.scores if not math.isnan(score.p_adjusted)}
        if not tested:
            return "Not tested: the values alone do not say whether the corpora differ."
        method = next((score.adjustment for score in self.scores if score.adjustment), None)
        said = comparison_sentence(tested, method)
        return f"{said} {self._typical_words()}".rstrip() if any(map(different, tested.values())) else said

    def _typical_words(self) -> str:
        """The words that are typical of one corpus, where both have such words; punctuation marks are none."""
        sides = []
        for side in ("reference", "candidate"):
            found = [row["term"] for row in self.terms.top(_LOOKED_AT, side) if abs(row["z"]) >= _TYPICAL]
            sides.append([term for term in found if any(map(str.isalnum, term))][:_WORDS])
        reference, candidate = map(", ".join, sides)
        return f"Typical words of the reference: {reference}; of the candidate: {candidate}." if all(sides) else ""

    def plot(self) -> alt.VConcatChart:
        """Every value with its interval and null range, each metric on a scale of its own."""
        return without_network(interval_chart(self.to_dicts()))

    def readable(self, *, parts: bool = False) -> list[Row]:
        """One row per metric: its value with an arrow to the closer side, what to compare it with, and what it is.

        `parts` adds precision, recall and other parts.
        """
        return [readable_row(row, parts=parts) for row in self.to_dicts()]


def readable_row(row: Row, *, parts: bool = False) -> Row:
    """A row as tables for people have it; p is missing until it is adjusted."""
    value = "undefined" if row["value"] is None else format_cell(row["value"])
    cells = {"metric": row["metric"], "value": value, "closer": ARROWS[row["closer"]]}
    cells |= _parts(row) if parts else {}
    if row["interval"] or row["no_interval"]:
        cells["interval"] = format_interval(row["low"], row["high"])
    if row["p_adjusted"] is not None:
        cells["adjusted p" if row["adjustment"] else "p"] = format_short(row["p_adjusted"])
    if row["null"] is not None:
        ends = f"{format_short(row['null_low'])} … {format_short(row['null_high'])}"
        cells["if same source"] = f"{format_short(row['null'])} ({ends})"
        cells["times"] = format_short(row["times"])
    if row["foreign_share"] is not None:
        cells["foreign texts"] = _percent(row)
    return cells | {"what it is": row["label"]}


def _parts(row: Row) -> Row:
    parts = [f"{name[5:]} {format_cell(value)}" for name, value in row.items() if name.startswith("part.")]
    return {"parts": ", ".join(parts)}


def _percent(row: Row) -> str:
    share, low, high = (f"{100 * row[f'foreign_{name}']:.0f}" for name in ("share", "low", "high"))
    return f"{share} % ({low}–{high} %)"


def interval_chart(rows: Sequence[Row]) -> alt.VConcatChart:
    """One line per metric, each on a scale of its own: value, interval and null range where they are known."""
    import altair as alt

    return alt.vconcat(*(_interval(row) for row in rows), spacing=4)


def text_panels(explanation: Explanation, n: int) -> list[alt.LayerChart]:
    """The texts of each side that add most."""
    return [_text_bars(explanation, "reference", n), _text_bars(explanation, "candidate", n)]


def token_panels(explanation: Explanation, n: int) -> list[alt.LayerChart]:
    """The tokens that add most; none where the metric does not count them."""
    title = f"{explanation.metric}: tokens that contribute most"
    return [_token_bars(explanation.tokens[:n], title)] if explanation.tokens else []


def term_panels(terms: Terms, n: int) -> list[alt.LayerChart]:
    """The words that speak most for each corpus; none where there are no words."""
    return [_term_bars([*terms.top(n, "reference"), *terms.top(n, "candidate")[::-1]])] if len(terms) else []


def _interval(row: Row) -> alt.LayerChart:
    import altair as alt

    kept = {name: value for name, value in row.items() if name in ("metric", *_NUMBERS)}
    named = f"{row.get('label') or row['metric']} {ARROWS[row['closer']]}"
    data = alt.InlineData(values=[{**kept, "named": named, "reason": row["reason"] or ""}])
    y = alt.Y("named:N", title=None, axis=alt.Axis(labelLimit=220, minExtent=140, ticks=False, domain=False))
    tip = [
        alt.Tooltip("metric:N"),
        *(alt.Tooltip(f"{name}:Q", format=".6g") for name in _NUMBERS),
        alt.Tooltip("reason:N"),
    ]
    base = alt.Chart(data).encode(y, tooltip=tip)
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, format=".4~g"))
    layers = [
        base.mark_rule(color=_COLOURS["reference"]).encode(x="low:Q", x2="high:Q"),
        base.mark_bar(color=GREY, opacity=0.4, size=8).encode(x="null_low:Q", x2="null_high:Q"),
        base.mark_tick(color=GREY, thickness=2, size=14).encode(x="null:Q"),
        base.mark_point(color=_COLOURS["reference"], filled=True, size=50, opacity=1).encode(x),
        base.mark_text(align="left", color=GREY, fontSize=9).encode(x=alt.value(4), text="reason:N"),
    ]
    return alt.LayerChart(layer=layers).properties(width=360, height=22)


def _text_bars(explanation: Explanation, side: Side, n: int) -> alt.LayerChart:
    rows = [
        {
            "place": place,
            "label": one_line(row["text"] or f"text {row['index']}", _LABEL),
            "contribution": row["contribution"],
            "nearest": one_line(row["nearest"] or f"text {row['nearest_index']}", 160),
            "distance": row["distance"],
            "full": one_line(row["text"] or "", 400),
        }
        for place, row in enumerate(explanation.top(n, side))
    ]
    tips = ["full:N", "contribution:Q", "nearest:N", "distance:Q"]
    title = f"{explanation.metric}: texts of the {side} that contribute most"
    return _bars(rows, "contribution", title, tips, _COLOURS[side])


def _token_bars(tokens: Sequence[Row], title: str) -> alt.LayerChart:
    rows = [{**row, "place": place, "label": one_line(row["token"], _LABEL)} for place, row in enumerate(tokens)]
    tips = ["token:N", "contribution:Q", "count_reference:Q", "count_candidate:Q"]
    return _bars(rows, "contribution", title, tips, GREY)


def _term_bars(terms: Sequence[Row]) -> alt.LayerChart:
    rows = [{**row, "place": place, "label": one_line(row["term"], _LABEL)} for place, row in enumerate(terms)]
    tips = ["term:N", "z:Q", "log_odds:Q", "count_reference:Q", "count_candidate:Q"]
    return _bars(rows, "z", "words: z of the log-odds", tips, None)


def _bars(rows: Sequence[Row], by: str, title: str, tips: Sequence[str], colour: str | None) -> alt.LayerChart:
    import altair as alt

    # Labels are marks, not an axis: two texts cut to the same words keep their own bars, and no text becomes code.
    y = alt.Y("place:O", axis=None)
    x = alt.X(f"{by}:Q", title=None, axis=alt.Axis(tickCount=4, format=".4~g"))
    sides = alt.condition(f"datum.{by} < 0", alt.value(_COLOURS["reference"]), alt.value(_COLOURS["candidate"]))
    tip = [alt.Tooltip(name, format=".6g") if name.endswith(":Q") else alt.Tooltip(name) for name in tips]
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(y, tooltip=tip)
    drawn = base.mark_bar(size=10).encode(x, color=sides if colour is None else alt.value(colour))
    named = base.mark_text(align="right", fontSize=9, limit=_WIDTH).encode(x=alt.value(-6), text="label:N")
    height = 14 * max(len(rows), 1)
    return alt.LayerChart(layer=[drawn, named]).properties(
        width=_WIDTH, height=height, title=alt.TitleParams(title, anchor="start", fontSize=11)
    )
