"""`Check`: a number about texts, measured with its interval, and the bounds that it must keep."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from enum import StrEnum
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import ArgumentError, InputError, UnknownName
from textgauge.core.show import drop_nonfinite, format_about, format_cell, join_words, shorten_line
from textgauge.data import Corpus, Pairs, load_corpus
from textgauge.data.source import Source
from textgauge.measure.comparing import PERMUTATIONS, compare, parse_share
from textgauge.measure.describing import describe
from textgauge.measure.description import Description
from textgauge.measure.explaining import explain
from textgauge.measure.foreign_share import SHOWN
from textgauge.measure.lists import check_threshold
from textgauge.measure.score_report import Bootstrap, ItemScores, ItemUnits, Summed, measure_items
from textgauge.measure.scoring import References, load_systems, measure_systems
from textgauge.metrics import CorpusMetric, PairMetric, Score, get_corpus_metrics, get_pair_metrics
from textgauge.metrics.numerics.passages import PASSAGE
from textgauge.metrics.properties.base import NEAR_COPY, list_properties
from textgauge.stats.decisions import format_sign, is_different
from textgauge.stats.rankings import compute_difference_interval
from textgauge.stats.resampling import compute_percentile_interval

_WORST = 3  # texts that are named as evidence
_WIDE, _WIDTH = 100, 80  # characters of one text, and of one beside another
_MOST_PERMUTATIONS = 20_000  # of a gate that is looked at often
_STEP = 1.05  # between numbers of texts that are tried
_MOST = 1_000.0  # times the texts; farther than that no extrapolation is meant to reach
_COMMON = ("name", "column")  # what checks of every kind take


class Outcome(StrEnum):
    """What a check says."""

    passed = "pass"
    failed = "fail"
    undecided = "undecided"


class Bound(NamedTuple):
    """A limit that a number may not exceed, or not fall below if its key is `min`.

    `key` is what the user calls it, `of` the number it is for.
    """

    key: str
    limit: float
    of: str = "value"

    @property
    def change(self) -> str | None:
        """`rise` or `drop`, where it limits the change since a stored baseline."""
        return self.key.removeprefix("max_") if self.key in ("max_rise", "max_drop") and self.of != "drop" else None

    def decide(self, low: float, high: float) -> Outcome:
        """Pass where the whole interval keeps the bound, fail where all of it breaks it.

        >>> [Bound("max", 3.0).decide(low, low + 1.0).value for low in (1.0, 2.5, 3.5)]
        ['pass', 'undecided', 'fail']
        """
        if self.key == "min":
            return Outcome.passed if low >= self.limit else Outcome.failed if high < self.limit else Outcome.undecided
        return Outcome.passed if high <= self.limit else Outcome.failed if low > self.limit else Outcome.undecided


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a check measured: a number with its interval, the number of texts behind it, and where it comes from.

    `reason` says why there is no value or no interval. `worst` gives the texts that speak against it, when asked.
    `null` is what the number is divided by, if it is a ratio to the value of corpora from one source. `caution` is a
    sign that texts depend on each other in a way that the interval does not know. A number that can be paired with
    a stored one item by item keeps its `items` in the baseline; `paired_drop` then gives the drop.
    """

    what: str
    value: float
    low: float
    high: float
    n: int
    signature: str = ""
    reason: str | None = None
    worst: Callable[[], list[str]] = list
    null: float | None = None
    caution: str | None = None
    items: Mapping[str, Any] | None = None
    paired_drop: Callable[[Mapping[str, Any]], Measured] | None = None

    def extrapolate(self, times: float) -> tuple[float, float]:
        """Return the interval to expect with this many times the texts.

        Half-widths shrink with the root of the number of texts. The value of corpora from one source shrinks with the
        number itself: a ratio to it grows where there is a distance beyond it, and stays as it is where there is none.
        """
        below, above = (self.value - self.low) / math.sqrt(times), (self.high - self.value) / math.sqrt(times)
        if self.null is None:
            return self.value - below, self.value + above
        if self.low <= 1.0:
            return self.low, self.high
        return 1.0 + (self.value - 1.0 - below) * times, 1.0 + (self.value - 1.0 + above) * times

    def count_needed(self, bound: Bound) -> int | None:
        """Return how many texts would decide, if they showed what these do; None if a thousand times as many do not.

        >>> Measured(what="share", value=0.04, low=0.01, high=0.07, n=100).count_needed(Bound("max", 0.05))
        944
        """
        times = 1.0
        while times <= _MOST:
            if bound.decide(*self.extrapolate(times)) is not Outcome.undecided:
                return math.ceil(self.n * times)
            times *= _STEP
        return None

    def explain_undecided(self, bound: Bound) -> tuple[str, int | None]:
        """Return why a bound is undecided, and how many texts would decide it.

        >>> number = Measured(what="share", value=0.04, low=0.01, high=0.07, n=100)
        >>> number.explain_undecided(Bound("max", 0.05))
        ('the interval holds the limit; about 940 texts would decide', 944)
        """
        if self.reason is not None:
            return self.reason, None
        needed = self.count_needed(bound)
        if needed is not None:
            return f"the interval holds the limit; about {format_about(needed)} texts would decide", needed
        passing = format_cell(self.low if bound.key == "min" else self.high)
        return (
            f"the interval holds the limit, and more texts like these would not decide; a limit of {passing} passes",
            None,
        )

    def compute_change(self, stored: Mapping[str, Any], *, rise: bool) -> Measured:
        """Return the rise, or drop, since a number was stored: paired where it can be, else of unrelated samples.

        >>> now = Measured(what="share", value=0.5, low=0.4, high=0.6, n=100)
        >>> rise = now.compute_change({"value": 0.3, "low": 0.2, "high": 0.4}, rise=True)
        >>> round(rise.value, 3), round(rise.low, 3), round(rise.high, 3)
        (0.2, 0.059, 0.341)
        """
        if self.paired_drop is not None and not rise:
            return self.paired_drop(stored)
        old = [float(stored[name]) for name in ("value", "low", "high")]
        value = self.value - old[0]
        low, high = compute_difference_interval((self.value, self.low, self.high), old)
        if not rise:
            value, low, high = -value, -high, -low
        what = f"{'rise' if rise else 'drop'} of {self.what}"
        return replace(self, what=what, value=value, low=low, high=high, null=None)


@dataclass(frozen=True)
class Check:
    """Bounds on what textgauge measures.

    `max` and `min` limit the number itself, `max_rise` and `max_drop` its change since the baseline was stored. What is
    measured depends on the kind:

    - `drift`: the distance of a `candidate` corpus to a `reference` by `metric` (`energy`). `max_ratio` limits it over
      the mean distance of two corpora of these sizes from one source. That is another share of foreign texts at every
      size: the more texts, the smaller the share that reaches a ratio. `max_foreign` limits that share itself: the
      share of texts of a third corpus, `foreign`, that would make a reference as far.
    - `copies`: the share of `generated` texts whose similarity by wording (SynSim) to a text of `train` is `threshold`
      or more. `max_passages` limits the share of those that contain a passage of `passage` words or more of one.
    - `score`: the score of the texts of `candidate` against those of `reference` by `metric` (`chrf`), of the whole set
      where the metric has one, else the mean over items. `max_drop` limits how far it lies behind that of `baseline`,
      the texts of another system for the same items, or behind the stored baseline where no such texts are given: by
      paired resampling of the items.
    - `describe`: properties of `generated` texts next to `train` and `test`, as `describe` measures them by `embedder`,
      `grammar` and `plausibility`. Limits are given by the name of a property: `min={"unique": 0.9}`.

    Parameters
    ----------
    kind
        One of those above.
    name
        What results and baselines call it; its kind by default.
    column
        The column that holds the texts, for tables; default: `text`, or the only column of texts.
    reference
        The reference corpus; of `score` the references, line by line, where several files give several for each text.
    candidate
        The new texts, or those of the system.
    baseline
        The texts of another system: test the difference from it.
    generated
        The generated texts.
    train
        The texts that the generator learned from.
    test
        Real texts that the generator has not seen.
    metric
        A metric of corpora for `drift`, of pairs for `score`.
    group
        A column that says which texts belong together: of a document, a user, a conversation. Intervals and tests count
        groups. Of `score` a column of the candidate. In Python also the labels: of the items of `score`, or those of
        the texts of all corpora, in their order, for the other kinds.
    block
        A column that says which texts of both corpora belong to the same prompt or item, for `drift`.
    paired
        Text i of the candidate has the same prompt or parent as text i of the reference: a block for every row.
    threshold
        The similarity of wording from which a text counts as a near copy.
    passage
        The words from which on a run that stands in a train text counts as a copied passage.
    embedder
        The embedder that compares meanings.
    grammar
        The grammar checker.
    plausibility
        The language model that judges plausibility.
    foreign
        A third corpus, whose share is limited by `max_foreign`; built-in texts by default.
    max_foreign
        The largest distance allowed, as a share of foreign texts in the reference, such as 0.05 or 5%, for `energy`.
    max_ratio
        The largest distance allowed, as a multiple of the mean distance of corpora of these sizes from one source.
    max_passages
        The largest share of texts with a passage of a train text that is allowed, such as 0.01 or 1%.
    max
        The largest value allowed, such as 0.05 or 5%.
    min
        The smallest value allowed, such as 0.6 or 60%.
    max_rise
        The largest rise above the stored baseline that is allowed.
    max_drop
        The largest drop below the baseline that is allowed, on the scale of the number itself.
    """

    kind: str
    _: KW_ONLY
    name: str = ""
    column: str | None = None
    reference: Source | References | None = None
    candidate: Source | None = None
    baseline: Source | None = None
    generated: Source | None = None
    train: Source | None = None
    test: Source | None = None
    metric: str | CorpusMetric | PairMetric | None = None
    group: str | Sequence[Any] | tuple[Sequence[Any], Sequence[Any]] | None = None
    block: str | tuple[Sequence[Any], Sequence[Any]] | None = None
    paired: bool | None = None
    threshold: float | None = None
    passage: int | None = None
    embedder: str | None = None
    grammar: str | None = None
    plausibility: str | None = None
    foreign: Source | None = None
    max_foreign: float | None = None
    max_ratio: float | None = None
    max_passages: float | None = None
    max: float | Mapping[str, float] | None = None
    min: float | Mapping[str, float] | None = None
    max_rise: float | Mapping[str, float] | None = None
    max_drop: float | Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        require_known(f"kind of {self.label}", [self.kind], KINDS)
        kind, given = KINDS[self.kind], self.given
        require_known(f"entry of {self.label}", given, kind.takes)
        missing = [name for name in kind.corpora[:2] if name not in given]
        if missing:
            raise InputError(f"{self.label} needs {join_words(missing)}")
        if self.passage is not None and self.passage % 1:
            raise InputError(f"{self.label}: `passage` is a whole number of words, not {self.passage:g}")
        for name in [name for name in kind.bounds if name in given]:
            limit, what = given[name], f"{self.label}: `{name}`"
            if kind.by_property and not isinstance(limit, Mapping):
                raise ArgumentError(f"{what} is a table of limits by property, as {{ unique = 0.9 }}")
            if kind.by_property:
                require_known("property", limit, [known.name for known in list_properties()])
                limit = {of: parse_share(own, f"{what}: {of}") for of, own in limit.items()}
            object.__setattr__(self, name, limit if kind.by_property else parse_share(limit, what))

    @property
    def given(self) -> dict[str, Any]:
        """The entries that were given, without kind and name."""
        known = {field.name: getattr(self, field.name) for field in fields(self)[2:]}
        return {name: value for name, value in known.items() if value is not None}

    @property
    def title(self) -> str:
        """What results and baselines call it: its name, or its kind."""
        return self.name or self.kind

    @property
    def label(self) -> str:
        """What errors call it."""
        return f"check {self.name!r}" if self.name else f"the check {self.kind!r}"

    def get(self, option: str) -> Any:
        """Return an option, the kind's default where it was not given."""
        return self.given.get(option, KINDS[self.kind].options.get(option))

    def bounds(self) -> list[Bound]:
        """Return the bounds that were given; raise `InputError` where there is none."""
        kind, given, made = KINDS[self.kind], self.given, list[Bound]()
        for key in [key for key in kind.bounds if key in given]:
            has_own = key in ("max_ratio", "max_foreign", "max_passages") or (key == "max_drop" and "baseline" in given)
            limits = given[key] if kind.by_property else {key.removeprefix("max_") if has_own else "value": given[key]}
            made += [Bound(key, limit, of) for of, limit in limits.items()]
        if not made:
            raise ArgumentError(f"{self.label} has no bound: give {' or '.join(f'`{name}`' for name in kind.bounds)}")
        return made

    def measure(self, how: Bootstrap) -> Mapping[str, Measured]:
        """Measure the numbers that bounds are for, by name; `how` has the level of each interval, and the seed."""
        return KINDS[self.kind].measure(self, how)


def _measure_drift(check: Check, how: Bootstrap) -> dict[str, Measured]:
    """`value`, the distance; `ratio`, the distance over its mean between corpora from one source."""
    (metric,) = _require_one(check, get_corpus_metrics([check.get("metric")]))
    if check.max_ratio is not None and not metric.has_ratio_to_null:
        raise InputError(f"{check.label}: {metric.key} is not 0 between equal corpora; give max")
    if check.max_foreign is not None and metric.name not in SHOWN:
        raise InputError(f"{check.label}: max_foreign needs one of these metrics: {join_words(list(SHOWN))}")
    reference = load_corpus(check.get("reference"), role="reference", column=check.column)
    candidate = load_corpus(check.get("candidate"), role="candidate", column=check.column)
    named = {name: check.get(name) for name in ("group", "block", "paired")}
    sources: list[Any] = [reference, candidate]
    if any(value not in (None, False) for value in named.values()):  # labels stand in the sources
        sources = [check.reference, check.candidate]
    tail = max((1.0 - how.level) / 2.0, 1.0 / _MOST_PERMUTATIONS)
    report = compare(
        *sources,
        metrics=[metric],
        ci=True,
        column=check.column,
        level=how.level,
        permutations=max(PERMUTATIONS, math.ceil(1.0 / tail) - 1),
        seed=how.seed,
        foreign=check.foreign,
        within=check.max_foreign,
        **named,
    )
    score = report[0]

    def worst() -> list[str]:
        if not (metric.explains and reference.pool.has_texts) or score.reason:
            return []
        rows = explain(reference, candidate, metric=metric, seed=how.seed).top(_WORST, "candidate")
        return [shorten_line(row["text"], _WIDE) for row in rows]

    value = Measured(
        what=metric.key,
        value=score.value,
        low=score.low,
        high=score.high,
        n=min(score.n_reference, score.n_candidate),
        signature=f"{score.signature}|reference={compute_fingerprint(reference)}",
        reason=score.reason or score.no_interval,
        worst=worst,
        caution=report.sign and format_sign(report.sign),
    )
    found = {"value": value} | ({"ratio": compute_ratio(value, score, tail)} if metric.has_ratio_to_null else {})
    if (share := report.foreign) is not None:
        what = f"share of foreign texts by {metric.key}"
        found["foreign"] = replace(value, what=what, value=share.share, low=share.low, high=share.high)
    return found


def compute_ratio(value: Measured, score: Score, tail: float) -> Measured:
    """Return the distance in units of what corpora from one source have at these sizes.

    Values of corpora from one source are skewed, so that the low end of an interval can lie above their mean by luck. A
    value that exchanged texts reach with a chance above `tail` therefore never excludes 1.
    """
    what = f"{value.what} over its mean if same source"
    if score.null == 0:
        nothing: Any = dict.fromkeys(("value", "low", "high"), math.nan)
        return replace(value, what=what, reason="corpora from one source have no distance here", **nothing)
    low = score.low / score.null
    return replace(
        value,
        what=what,
        value=score.value / score.null,
        low=low if is_different(score.p_value, tail) else min(low, 1.0),
        high=score.high / score.null,
        null=score.null,
    )


def _measure_properties(check: Check, how: Bootstrap) -> dict[str, Measured]:
    """Return the properties that have a bound, by name; what no bound needs is not computed.

    Of copies `value`, the share of near copies, and `passages`, that of texts with a copied passage.
    """
    options: dict[str, Any] = {"embedder": None, "grammar": None, "plausibility": None}
    if check.kind == "copies":
        check_threshold(check.get("threshold"))
        names, captions = _COPIES, _COPY_SHARES
        options |= {"near_copy": check.get("threshold"), "passage": int(check.get("passage"))}
    else:
        names, captions = {bound.of: bound.of for bound in check.bounds()}, {}
        needs = {need for known in list_properties() if known.name in names for need in known.needs}
        backends = {"embedder": "embeddings", "grammar": "grammar", "plausibility": "plausibility"}
        options |= {option: check.get(option) for option, need in backends.items() if need in needs}
    shared: Any = {"column": check.column, "group": check.group, "level": how.level, "seed": how.seed}
    found = describe(check.get("generated"), train=check.get("train"), held_out=check.test, **shared, **options)
    fixed = [
        f"{one.name}={compute_fingerprint(one.corpus)}" for one in (found.train, found.held_out) if one is not None
    ]
    measured = {}
    for number, name in names.items():
        row = found[name]
        signature = [row.backend or name, *fixed]
        signature += [f"threshold={options['near_copy']:g}"] if name == "near_copies" and captions else []
        measured[number] = Measured(
            what=captions.get(name, name),
            value=row.value,
            low=row.low,
            high=row.high,
            n=len(found.generated[0].corpus),
            signature="|".join(signature),
            reason=row.reason if math.isnan(row.value) or math.isnan(row.low) else None,
            worst=partial(_list_worst, found, name),
        )
    return measured


_COPIES = {"value": "near_copies", "passages": "copied_passages"}
_COPY_SHARES = {"near_copies": "share of near copies", "copied_passages": "share of texts with a copied passage"}
_EVIDENCE = {  # by property: the list of texts behind it, and what of a row is shown
    "near_copies": ("near_copies", "{text} ← {train}"),
    "copied_passages": ("passages", "{passage} ← row {match_index} of train"),
    **dict.fromkeys(("semantic_recall", "covered"), ("uncovered", "{test}")),
    **dict.fromkeys(("unique", "distinct"), ("modes", "{texts} × {example}")),
}


def _list_worst(description: Description, name: str) -> list[str]:
    if name not in _EVIDENCE:
        return []
    listed, form = _EVIDENCE[name]
    rows = description.list_texts(listed).head(_WORST).to_dicts()
    return [form.format(**{of: shorten_line(str(cell), _WIDTH) for of, cell in row.items()}) for row in rows]


def _measure_score(check: Check, how: Bootstrap) -> dict[str, Measured]:
    """`value`, the score; `drop`, how far it lies behind that of the baseline texts."""
    (metric,) = _require_one(check, get_pair_metrics([check.get("metric")]))
    texts = {"candidate": check.candidate, "baseline": check.baseline}
    given: Any = {f"{check.label}: the {role}": side for role, side in texts.items() if side is not None}
    loaded, labels = load_systems(given, check.get("reference"), check.column, group=check.group)
    (name, pairs), *others = loaded.items()
    scored = measure_systems({name: pairs}, [metric], None, labels, (*given.values(), check.reference), None)
    (system,), units = next(iter(scored.items.values())), scored.units
    summed = _get_summed(system)
    low, high = summed.sum_units(units).interval(how)
    value = Measured(
        what=system.metric.key,
        value=summed.value,
        low=low,
        high=high,
        n=pairs.n_items,
        signature=f"{system.metric.signature}|reference={compute_fingerprint(pairs.background)}",
        worst=lambda: _list_worst_items(pairs, system.metric.orient(system.scores.values)),
        caution=scored.sign and format_sign(scored.sign),
        items=_list_items(system),
        paired_drop=lambda stored: _measure_drop(value, pairs, system, stored, units, how),
    )
    if not others:
        return {"value": value}
    theirs = _list_items(measure_items(system.metric, others[0][1]))
    return {"value": value, "drop": _measure_drop(value, pairs, system, theirs, units, how)}


def _require_one(check: Check, metrics: list[Any]) -> list[Any]:
    if len(metrics) != 1:
        raise InputError(f"{check.label} takes one metric, not {len(metrics)}: {check.metric}")
    return metrics


def _get_summed(system: ItemScores) -> Summed:
    return system.whole or system.mean


def _list_items(system: ItemScores) -> dict[str, Any]:
    """Return what a baseline keeps: statistics and value of every item."""
    values = system.scores.values.tolist()
    return {"rows": _get_summed(system).rows.tolist(), "values": list(map(drop_nonfinite, values))}


def _list_worst_items(pairs: Pairs, loss: Floats) -> list[str]:
    order = np.argsort(-np.where(np.isfinite(loss), loss, -np.inf), kind="stable")[:_WORST]
    texts = pairs.left.take(pairs.first_rows[order]).texts if pairs.left.pool.has_texts else [""] * len(order)
    return [f"item {item + 1}: {shorten_line(text, _WIDTH)}" for item, text in zip(order, texts, strict=True)]


def _measure_drop(
    measured: Measured,
    pairs: Pairs,
    system: ItemScores,
    stored: Mapping[str, Any],
    units: ItemUnits,
    how: Bootstrap,
) -> Measured:
    """Return how much worse the score is than the stored one, with the interval of paired resamples."""
    mine, metric = _get_summed(system), system.metric
    lacking = InputError("the baseline lacks the numbers of its items; store a new one with --update")
    try:
        rows, values = (np.array(stored[name], dtype=np.float64) for name in ("rows", "values"))
    except (KeyError, TypeError, ValueError):
        raise lacking from None
    if rows.ndim != mine.rows.ndim or rows.shape[1:] != mine.rows.shape[1:] or values.shape != rows.shape[:1]:
        raise lacking
    if len(rows) != len(mine.rows):
        raise InputError(f"the baseline has {len(rows)} items, the candidate {len(mine.rows)}")
    yours = replace(mine, rows=rows)
    grouped = mine.sum_units(units), yours.sum_units(units)
    draws = metric.orient(grouped[0].resample(how) - grouped[1].resample(how))  # farther from the references is larger
    low, high = compute_percentile_interval(draws, len(grouped[0].rows), how.level)
    lost = metric.orient(system.scores.values - values)
    return replace(
        measured,
        what=f"drop of {measured.what}",
        value=float(metric.orient(mine.value - yours.value)),
        low=low,
        high=high,
        worst=lambda: _list_worst_items(pairs, lost),
    )


def require_known(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that do not exist."""
    for name in given:
        if name not in known:
            raise UnknownName.among(kind, str(name), known)


def compute_fingerprint(corpus: Corpus) -> str:
    """Return a short hash of the texts of a corpus, whatever their order."""
    return blake2b(np.sort(corpus.keys).tobytes(), digest_size=8).hexdigest()


class Kind(NamedTuple):
    """What checks of one kind take, in the order in which it is named, and how they are measured."""

    measure: Callable[[Check, Bootstrap], Mapping[str, Measured]]
    corpora: tuple[str, ...]  # the first two are needed
    options: Mapping[str, Any]  # with their defaults
    bounds: tuple[str, ...]
    by_property: bool = False

    @property
    def takes(self) -> tuple[str, ...]:
        """All entries."""
        return (*_COMMON, *dict.fromkeys((*self.corpora, *self.options, *self.bounds)))


KINDS = {
    "drift": Kind(
        _measure_drift,
        corpora=("reference", "candidate"),
        options={"metric": "energy", "foreign": None, "group": None, "block": None, "paired": False},
        bounds=("max_foreign", "max_ratio", "max", "min", "max_rise"),
    ),
    "copies": Kind(
        _measure_properties,
        corpora=("generated", "train"),
        options={"threshold": NEAR_COPY, "passage": PASSAGE, "group": None},
        bounds=("max", "max_passages", "max_rise"),
    ),
    "score": Kind(
        _measure_score,
        corpora=("candidate", "reference", "baseline"),
        options={"metric": "chrf", "group": None},
        bounds=("max_drop", "min", "max"),
    ),
    "describe": Kind(
        _measure_properties,
        corpora=("generated", "train", "test"),
        options={"embedder": "minilm", "grammar": "harper", "plausibility": "kneser-ney", "group": None},
        bounds=("min", "max", "max_drop", "max_rise"),
        by_property=True,
    ),
}
