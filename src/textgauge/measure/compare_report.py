"""What `compare` gives back: scores of one or several candidates, or slice by slice, words, warnings and charts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from textgauge.core.charts import draw_without_network
from textgauge.core.errors import InputError
from textgauge.core.result import Column, Result
from textgauge.core.show import (
    ARROWS,
    BLUE,
    GREY,
    Row,
    Tabular,
    drop_nonfinite,
    format_cell,
    format_interval,
    format_p,
    format_percent,
    format_ranks,
    format_value,
    shorten_line,
)
from textgauge.data import Comparison
from textgauge.metrics import Score
from textgauge.stats.decisions import (
    format_adjustment,
    format_comparison,
    format_equivalence,
    format_missed,
    format_share,
    format_sign,
    format_slices,
    format_times,
    is_different,
)
from textgauge.stats.rankings import (
    RANKS_IN_CELLS,
    Ranking,
    format_ranking_answer,
    list_differences,
    spread_metrics,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from textgauge.measure.explaining import Explanation
    from textgauge.measure.foreign_share import ForeignShare

# Words that the answer names for each corpus, and the z from which they are: the prior draws z to 0, so that of 60
# comparisons of equal corpora (200 banking questions each) one had any word beyond 3.
_WORDS, _LOOKED_AT, _TYPICAL = 3, 30, 3.0
_TOKENIZER = "words"
_TERM = ("term", "z", "log_odds", "count_reference", "count_candidate")
_PRIOR = 0.2  # the prior's words per word of the smaller corpus: z-scores of like corpora then have a variance of 0.8
IN_PARTS = "read in parts, no text kept in memory"
_NUMBERS = ("value", "low", "high", "null", "null_low", "null_high", "times", "effect", "p_value", "p_adjusted")
_RANKS = ("rank", "rank_low", "rank_high", "tier")
_SLICED = ("slice", "share_reference", "share_candidate")


def _format_foreign(share: float, low: float, high: float) -> str:
    return f"{100 * share:.0f} % ({100 * low:.0f}–{100 * high:.0f} %)"


def _format_parts(row: Row) -> str:
    return ", ".join(f"{name[5:]} {format_cell(value)}" for name, value in row.items() if name.startswith("part."))


def name_metric(key: str) -> str:
    """Return the name of a metric in a table: what others call MAUVE is 1 less the value of `mauve`."""
    return f"{key} (1 − MAUVE)" if key.startswith("mauve") and "." not in key else key


COLUMNS = (
    Column("slice", form=lambda label: shorten_line(label, 40), when="slice"),
    Column("candidate", when="candidate"),
    Column("metric", form=name_metric),
    Column("value", "value closer", lambda value, way: "undefined" if value is None else format_value(value, way)),
    Column("interval", "low high", format_interval, when=lambda row: row["interval"] or row["no_interval"]),
    Column("adjusted p", "p_adjusted", format_p, when=lambda row: row["p_adjusted"] is not None and row["adjustment"]),
    Column("p", "p_adjusted", format_p, when=lambda row: row["p_adjusted"] is not None and not row["adjustment"]),
    Column("differs", form=lambda differs: "yes" if differs else "", when="slice"),
    Column(
        "if same source", "null null_low null_high", lambda *n: "{} ({} … {})".format(*map(format_cell, n)), when="null"
    ),
    Column("times", form=format_cell, when="null"),
    Column("rank", "rank_low rank_high", format_ranks, when="rank_low"),
    Column("share of reference", "share_reference", format_percent, when="slice"),
    Column("of candidate", "share_candidate", format_percent, when="slice"),
    Column("foreign texts", "foreign_share foreign_low foreign_high", _format_foreign, when="foreign_share"),
    Column("what it is", "label", when=lambda row: "candidate" not in row),
)
WITH_PARTS = (*COLUMNS[:5], Column("parts", "*", _format_parts), *COLUMNS[5:])


@dataclass(frozen=True, eq=False, repr=False)
class Terms(Tabular):
    """Words with their log-odds ratio between two corpora, those of the candidate first.

    `log_odds` and `z` are above 0 for words the candidate uses more than the reference.
    """

    rows: tuple[Row, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def to_dicts(self) -> list[Row]:
        """Return one flat dictionary per word."""
        return list(self.rows)

    def top(self, n: int, side: str) -> list[Row]:
        """Return the words that speak most for one corpus: `reference` or `candidate`."""
        sign = 1 if side == "candidate" else -1
        return [row for row in self.rows[::sign][:n] if sign * (row["z"] or 0.0) > 0]


def find_separating_terms(comparison: Comparison, *, prior: float | None = None) -> Terms:
    """Return the words of two corpora by how surely one uses them more than the other.

    Per word w with counts y, y′ of n, n′ words (candidate, reference), δ = ln[(y + α)/(n + α₀ − y − α)] −
    ln[(y′ + α)/(n′ + α₀ − y′ − α)] and z = δ/√(1/(y + α) + 1/(y′ + α)), where the prior α = α₀·(y + y′)/(n + n′) draws
    rare words to the rate of both corpora together. α₀ is `prior`, in words; if not given, a fifth of the words of the
    smaller corpus. None where there are no texts, or fewer than two words. Source: Monroe, Colaresi and Quinn 2008.
    """
    if prior is not None and not 0 < prior < float("inf"):
        raise InputError(f"the prior is a number of words above 0, not {prior}")
    if not comparison.joint.pool.has_texts:
        return Terms()
    vocabulary = comparison.joint.pool.tokens(_TOKENIZER).vocabulary
    sides = (side.tokens(_TOKENIZER).ids for side in (comparison.candidate, comparison.reference))
    counts = [np.bincount(ids, minlength=len(vocabulary)).astype(np.float64) for ids in sides]
    used = np.flatnonzero(counts[0] + counts[1])
    if len(used) < 2:
        return Terms()
    mine, yours = counts[0][used], counts[1][used]
    weight = max(_PRIOR * float(min(mine.sum(), yours.sum())), 1.0) if prior is None else prior
    alpha = weight * (mine + yours) / (mine.sum() + yours.sum())
    odds = [np.log((y + alpha) / (y.sum() + weight - y - alpha)) for y in (mine, yours)]
    delta = odds[0] - odds[1]
    z = delta / np.sqrt(1.0 / (mine + alpha) + 1.0 / (yours + alpha))
    words = [vocabulary[i] for i in used.tolist()]
    columns = [words, map(drop_nonfinite, z.tolist()), delta.tolist(), map(int, yours), map(int, mine)]
    rows = [dict(zip(_TERM, row, strict=True)) for row in zip(*columns, strict=True)]
    return Terms(tuple(rows[i] for i in sorted(range(len(rows)), key=lambda i: (-z[i], words[i]))))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CandidateScore(Score):
    """The score of one of several candidates, with the ranks it may have; or of one slice of a candidate.

    The shares say how common the slice is in both corpora.
    """

    candidate: str
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    tier: int | None = None
    slice: str | None = None
    share_reference: float = math.nan
    share_candidate: float = math.nan

    @property
    def differs(self) -> bool:
        """Whether "same source" is rejected, with all that was tested in mind."""
        return is_different(self.p_adjusted)

    def to_dict(self) -> Row:
        """Return a flat dictionary; NaN becomes None, parts become `part.NAME`."""
        names = _RANKS if self.slice is None else (*_SLICED, "differs")
        named = {"metric": self.metric, "candidate": self.candidate, **{name: getattr(self, name) for name in names}}
        return named | {name: value for name, value in super().to_dict().items() if name not in (*_RANKS, *_SLICED)}


@dataclass(frozen=True, repr=False)
class CompareReport(Result):
    """The scores of one comparison, of several candidates or of slices; iterate over them, or ask for one by its name.

    `report["energy"]` is the score of a metric, `report["energy", "gpt"]` that of one of several candidates,
    `report["ships"]` that of a slice. `explanations`, with `compare(explain=True)`, have the names of their rows; a
    metric whose value is not a sum over texts has none. `terms` are the words that separate the corpora. `rankings` of
    several candidates are by metric; their statements about all pairs and metrics hold together at `level`.
    `is_sliced` says that the texts of each label were compared alone, `sign` that texts seem to depend on each other in
    a way that the test does not know. `foreign` is how far the corpora are as a share of foreign texts, next to the
    margin `within`, `missed` the smallest share that a metric would have found, and `foreign_name` whose texts those
    are. `texts`, where it `is_explained`, is a frame of both corpora, those that add most to the first metric first.
    """

    command: ClassVar[str] = "compare"

    rows: tuple[Score, ...]
    warnings: tuple[str, ...] = ()
    explanations: Mapping[Any, Explanation] = field(default_factory=dict)
    terms: Terms = Terms()
    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    candidates: tuple[str, ...] = ()
    level: float = 0.95
    is_sliced: bool = False
    with_parts: bool = False
    sign: str | None = None
    foreign: ForeignShare | None = None
    within: float | None = None
    missed: tuple[str, float] | None = None
    foreign_name: str = ""
    texts: pl.DataFrame | None = None
    is_explained: bool = False

    @property
    def columns(self) -> Sequence[Column]:  # type: ignore[override]
        """How rows are shown: with the parts of their values where these were asked for."""
        return WITH_PARTS if self.with_parts else COLUMNS

    @property
    def scores(self) -> tuple[Score, ...]:
        """The scores: the rows."""
        return self.rows

    @property
    def metrics(self) -> list[str]:
        """The keys of the metrics, in order."""
        return list(dict.fromkeys(score.metric for score in self.rows))

    @property
    def keys(self) -> tuple[str, ...]:  # type: ignore[override]
        """The fields that are the name of a row."""
        if self.is_sliced:
            return ("slice", "metric", "candidate")
        return ("metric", "candidate") if self.candidates else ("metric",)

    @property
    def answer(self) -> str:
        """Whether the corpora differ and by which words; which candidate is nearest; or which slices differ."""
        if self.is_sliced:
            rows = [row for row in self.rows if isinstance(row, CandidateScore)]
            of = [f"{row.slice} of {row.candidate}" if len(self.candidates) > 1 else str(row.slice) for row in rows]
            differing = dict.fromkeys(name for row, name in zip(rows, of, strict=True) if row.differs)
            return format_slices(list(differing), len({(row.slice, row.candidate) for row in rows}))
        if self.candidates:
            said = format_ranking_answer("candidate", self.candidates, self.rankings, self.level)
            return said if self.sign is None else f"{said} {format_sign(self.sign)}"
        tested = {score.metric: score.p_adjusted for score in self.rows if not math.isnan(score.p_adjusted)}
        if not tested:
            return "Not tested: the values alone do not say whether the corpora differ."
        is_rejected = any(map(is_different, tested.values()))
        if self.within is not None and self.foreign is not None and self.sign is None:
            share = self.foreign.share, self.foreign.low, self.foreign.high
            decided = {"is_within": self.foreign.is_within, "is_rejected": is_rejected}
            sentence = format_equivalence(self.within, share, self.foreign.texts, **decided)
        else:
            missed = "" if self.missed is None else format_missed(*self.missed)
            farther = [score for score in self.rows if score.times > 0 and is_different(score.p_adjusted)]
            farther.sort(key=lambda score: not score.metric.startswith("energy"))
            size = format_times(farther[0].metric, farther[0].times) if farther else ""
            if self.foreign is not None and not math.isnan(self.foreign.share):
                size = format_share(self.foreign.share, self.foreign.low, self.foreign.high)
            sentence = format_comparison(tested, self.sign, size=size, missed=missed)
        return f"{sentence} {self._list_typical_words()}".rstrip() if is_rejected else sentence

    def readable(self) -> list[Row]:
        """Return the rows formatted for display; of several candidates one row each, with a column for each metric."""
        if self.candidates and not self.is_sliced and not self.with_parts:
            named = [row | {"metric": name_metric(row["metric"])} for row in self.to_dicts()]
            return spread_metrics(named, "candidate")
        is_named = len(self.candidates) > 1
        return [{name: row[name] for name in row if is_named or name != "candidate"} for row in super().readable()]

    @property
    def footnote(self) -> str | None:
        """How p-values were adjusted, or what stands in the cells of a ranking."""
        if self.rankings and not self.is_sliced:
            return f"{RANKS_IN_CELLS} ({100 * self.level:g} %)"
        return format_adjustment(next((score.adjustment for score in self.rows if score.adjustment), None))

    @property
    def details(self) -> Row:
        """`differences` of several candidates: one row per metric and pair; `foreign`, `tokens` and `terms` of one."""
        if self.candidates and not self.is_sliced:
            return {"differences": self.differences()}
        found: Row = {}
        if self.foreign is not None:
            known = {"within": self.within, "foreign": self.foreign_name, **asdict(self.foreign)}
            found["foreign"] = {name: drop_nonfinite(value) for name, value in known.items()}
        elif self.missed is not None:
            found["foreign"] = {"foreign": self.foreign_name, "found": self.missed[1]}
        if self.is_explained:
            tokens = {name: one.tokens for name, one in self.explanations.items() if one.tokens}
            found |= {"terms": self.terms.to_dicts(), **({"tokens": tokens} if tokens else {})}
        return found

    def differences(self) -> list[Row]:
        """Return one flat dictionary per metric and pair of candidates: how far `first` is ahead of `second`."""
        return list_differences(self.candidates, self.rankings)

    def _list_typical_words(self) -> str:
        """Return the words that are typical of one corpus, where both have such words; punctuation marks are none."""
        sides = []
        for side in ("reference", "candidate"):
            terms = [row["term"] for row in self.terms.top(_LOOKED_AT, side) if abs(row["z"]) >= _TYPICAL]
            sides.append([term for term in terms if any(map(str.isalnum, term))][:_WORDS])
        reference, candidate = map(", ".join, sides)
        return f"Typical words of the reference: {reference}; of the candidate: {candidate}." if all(sides) else ""

    def plot(self) -> alt.VConcatChart:
        """Draw every value with its interval and null range, each metric on a scale of its own; candidates by tier."""
        return draw_without_network(draw_scores(self.to_dicts()))


def draw_scores(rows: Sequence[Row]) -> alt.VConcatChart:
    """Draw the rows of `compare`: a line per metric, or a panel per metric for candidates that are ranked."""
    import altair as alt

    if not rows or "rank" not in rows[0]:
        return alt.vconcat(*(_draw_interval(row) for row in rows), spacing=4)
    metrics = dict.fromkeys(row["metric"] for row in rows)
    panels = [_draw_panel(metric, [row for row in rows if row["metric"] == metric]) for metric in metrics]
    return alt.vconcat(*panels, spacing=8)


def _draw_interval(row: Row) -> alt.LayerChart:
    import altair as alt

    kept = {name: value for name, value in row.items() if name in ("metric", *_NUMBERS)}
    named = f"{row.get('label') or row['metric']} {ARROWS[row['closer']]}"
    data = alt.InlineData(values=[{**kept, "named": named, "reason": row["reason"] or ""}])
    y = alt.Y("named:N", title=None, axis=alt.Axis(labelLimit=220, minExtent=140, ticks=False, domain=False))
    tip = [alt.Tooltip("metric:N"), *_list_tooltips(_NUMBERS), alt.Tooltip("reason:N")]
    base = alt.Chart(data).encode(y, tooltip=tip)
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, format=".4~g"))
    layers = [
        base.mark_rule(color=BLUE).encode(x="low:Q", x2="high:Q"),
        base.mark_bar(color=GREY, opacity=0.4, size=8).encode(x="null_low:Q", x2="null_high:Q"),
        base.mark_tick(color=GREY, thickness=2, size=14).encode(x="null:Q"),
        base.mark_point(color=BLUE, filled=True, size=50, opacity=1).encode(x),
        base.mark_text(align="left", color=GREY, fontSize=9).encode(x=alt.value(4), text="reason:N"),
    ]
    return alt.LayerChart(layer=layers).properties(width=360, height=22)


def _draw_panel(metric: str, rows: Sequence[Row]) -> alt.LayerChart:
    import altair as alt

    kept = ("candidate", "value", "low", "high", "rank_low", "rank_high", "tier")
    data = alt.InlineData(values=[{name: row[name] for name in kept} for row in rows])
    y = alt.Y("candidate:N", sort=None, title=None, axis=alt.Axis(labelLimit=220, minExtent=140, ticks=False))
    x = alt.X("value:Q", title=None, axis=alt.Axis(tickCount=4, format=".4~g"))
    colour = alt.Color("tier:O", title="tier", scale=alt.Scale(scheme="viridis"))
    base = alt.Chart(data).encode(y, tooltip=[alt.Tooltip("candidate:N"), *_list_tooltips(kept[1:])])
    layers = [
        base.mark_rule(color=GREY).encode(x="low:Q", x2="high:Q"),
        base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x, color=colour),
    ]
    title = alt.TitleParams(metric, anchor="start", fontSize=11)
    return alt.LayerChart(layer=layers).properties(width=360, height=18 * len(rows), title=title)


def _list_tooltips(names: Sequence[str]) -> list[Any]:
    import altair as alt

    return [alt.Tooltip(f"{name}:Q", format=".6g") for name in names]
