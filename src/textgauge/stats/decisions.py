"""What may be said: the one place where numbers become "different", "better" or "tied"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from textgauge.core.show import format_about, join_words

ALPHA = 0.05
NEW_TEXTS = "new texts from these sources"  # what statements are for where texts, pairs or items were resampled
_ROUNDING = 1e-12
_NAMED = 3  # metrics behind the best that are named; more are counted
_COUNTLESS = 1e7  # texts or items, from which no number is said
ALIKE_ROWS = "rows that follow each other are alike"
PAIRED_ROWS = "rows in the same place of both corpora are alike"
REPEATING_COLUMN = "values of the column {} repeat"
TOO_CLOSE = "closer than two samples of one source can be"
_OUTCOMES = ("Different, if the texts are independent", "Different", "No difference found", "Same", "Cannot be decided")
# How answers begin, and the colours of a terminal that they have there.
_RED, _GREEN, _YELLOW = "31", "32", "33"
VERDICTS = {
    "Different, if the texts are independent": _YELLOW,
    **dict.fromkeys(("Different", "Worse", "Fail", "Alarm", "The judge may not take"), _RED),
    **dict.fromkeys(("Same", "Better", "Best", "Pass", "Nearest", "First", "The judge may take"), _GREEN),
    **dict.fromkeys(("No difference found", "No alarm", "No system", "No candidate", "No metric"), _YELLOW),
    **dict.fromkeys(("Cannot be decided", "Undecided", "Closer than", "Whether the judge", "Not tested"), _YELLOW),
}
TIED_WITH = "tied with"
_MANY_TIMES = 100  # from which digits are not rounded
_LITTLE = 0.1  # share of foreign texts below which a difference is called small
_GROUPED = "name the document, user or conversation they belong to with --group."
_PAIRED = "texts for the same prompts, or made from each other, are compared with --paired or --block."


def is_different(p_adjusted: float, alpha: float = ALPHA) -> bool:
    """Return whether a test, adjusted for all tests made with it, rejects "same source"; an undefined one does not.

    >>> is_different(0.05), is_different(0.051), is_different(float("nan"))
    (True, False, False)
    """
    return p_adjusted <= alpha + _ROUNDING


def format_comparison(
    p_adjusted: Mapping[str, float], sign: str | None = None, *, size: str = "", missed: str = ""
) -> str:
    """Return the answer of one comparison of two corpora, from the adjusted p-values of all metrics that were tested.

    `sign` is a sign that texts depend on each other: `ALIKE_ROWS`, `PAIRED_ROWS`, `REPEATING_COLUMN` or `TOO_CLOSE`.
    `size` is how far the corpora are, `missed` what would have been found.

    >>> format_comparison({"energy": 0.002, "fid": 0.004}, size=format_times("energy", 3.06))
    'Different, 3.1 times the energy of two samples of one source: 2 of 2 metrics reject "same source" (5 % level).'
    >>> format_comparison({"energy": 0.2})
    'No difference found: energy does not reject "same source" (5 % level); that does not prove that there is none.'
    """
    how = f"({100 * ALPHA:g} % level)"
    rejecting = sum(map(is_different, p_adjusted.values()))
    if len(p_adjusted) == 1:
        (name,) = p_adjusted
        tested = f"{name} {'rejects' if rejecting else 'does not reject'}"
    else:
        tested = f"{rejecting or 'none'} of {len(p_adjusted)} metrics {'reject' if rejecting > 1 else 'rejects'}"
    if sign == TOO_CLOSE:
        return (
            "Closer than two samples of one source can be: these texts were made from each other, or for the same "
            "prompts; compare them with --paired or --block."
        )
    if rejecting and sign not in (None, PAIRED_ROWS):
        return f'{_OUTCOMES[0]}: {tested} "same source" {how}. But {sign}: {_GROUPED}'
    more = f" But {sign}: {_PAIRED}" if sign == PAIRED_ROWS else ""  # a test of single texts then finds too little
    if rejecting:
        return f'Different{size and f", {size}"}: {tested} "same source" {how}.{more}'
    rest = f": {missed}" if missed else ""
    return f'No difference found: {tested} "same source" {how}; that does not prove that there is none{rest}.{more}'


def format_times(metric: str, times: float) -> str:
    """Say how far two corpora are by a metric, next to two samples of one source.

    >>> format_times("energy", 12.34)
    '12 times the energy of two samples of one source'
    """
    shown = f"{times:.2g}" if times < _MANY_TIMES else f"{times:,.0f}"
    return f"{shown} times the {metric} of two samples of one source"


def format_share(share: float, low: float, high: float) -> str:
    """Say how far two corpora are in foreign texts; small shares are called small.

    >>> format_share(0.034, 0.01, 0.06)
    'but little, as far as 3 % foreign texts would be (1 to 6 %)'
    """
    little = "but little, " if high < _LITTLE else ""
    return f"{little}as far as {100 * share:.0f} % foreign texts would be ({100 * low:.0f} to {100 * high:.0f} %)"


def format_missed(metric: str, share: float) -> str:
    """Say which share of foreign texts a test at these sizes would have found.

    >>> format_missed("energy", 0.1374)
    'energy alone finds 14 % foreign texts at these sizes in 4 of 5 cases, smaller shares more seldom'
    """
    often = "at these sizes in 4 of 5 cases, smaller shares more seldom"
    return f"{metric} alone finds {100 * share:.0f} % foreign texts {often}"


def format_equivalence(
    margin: float, share: tuple[float, float, float], texts: float, *, is_within: bool, is_rejected: bool
) -> str:
    """Say whether two corpora are the same within a share of foreign texts, by the estimated share and its interval.

    >>> format_equivalence(0.05, (0.0, 0.0, 0.04), 300, is_within=True, is_rejected=False)
    'Same within 5 % foreign texts (95 %): as far as 0 % would be (0 to 4 %).'
    >>> format_equivalence(0.05, (0.03, 0.0, 0.08), 812.3, is_within=False, is_rejected=False)
    'Cannot be decided within 5 %: as far as 3 % foreign texts would be (0 to 8 %); about 810 texts would decide.'
    """
    middle, low, high = (f"{100 * end:.0f}" for end in share)
    asked, far = f"within {100 * margin:g} %", f"as far as {middle} % foreign texts would be ({low} to {high} %)"
    enough = f"{f'about {format_about(texts)}' if texts < _COUNTLESS else 'more'} texts would decide"
    if is_within:
        return f"Same {asked} foreign texts (95 %): as far as {middle} % would be ({low} to {high} %)."
    if share[1] > margin:
        return f"Different, {far}: not the same {asked}."
    if is_rejected:
        return f"Different, {far}: whether the same {asked} cannot be decided; {enough}."
    return f"Cannot be decided {asked}: {far}; {enough}."


def format_sign(sign: str, what: str = "This holds") -> str:
    """Say of a ranking, of slices or of scores what a sign of dependence means.

    >>> format_sign(ALIKE_ROWS)[:45]
    'This holds if the texts are independent, but '
    """
    if sign == TOO_CLOSE:
        return (
            "A candidate is closer to the reference than two samples of one source can be: made from it, or for the "
            "same prompts; use --paired or --block."
        )
    return f"{what} if the texts are independent, but {sign}: {_PAIRED if sign == PAIRED_ROWS else _GROUPED}"


def format_adjustment(method: str | None) -> str | None:
    """Return what stands below a table whose p-values are adjusted.

    >>> format_adjustment("max-T")
    'p-values are adjusted for all metrics, by max-T'
    """
    return f"p-values are adjusted for all metrics, by {method}" if method else None


def split_answer(sentence: str) -> tuple[str, str]:
    """Return the outcome of a comparison's answer in a word or two, and the rest; no outcome for other sentences.

    >>> split_answer('Different: energy rejects "same source" (5 % level).')
    ('Different', 'energy rejects "same source" (5 % level).')
    >>> split_answer("Of 60 texts: 3 are copies.")
    ('', 'Of 60 texts: 3 are copies.')
    """
    for outcome in _OUTCOMES:
        if sentence.startswith((f"{outcome}: ", f"{outcome}, ", f"{outcome} within ")):
            return outcome, sentence.removeprefix(outcome).lstrip(":, ")
    return "", sentence


def format_watch(texts: int, wealth: float, alarm_at: float, unread: int = 0) -> str:
    """Return the answer of a watched stream: its wealth after `texts` texts, and how many had no reference left.

    >>> format_watch(1240, 0.4, 20.0)
    'No alarm after 1,240 texts (wealth 0.4; alarm at 20); that does not prove that there is no difference.'
    """
    if wealth >= alarm_at:
        how = f"(wealth {wealth:.3g}; alarm at {alarm_at:.4g}, {100 / alarm_at:.3g} % level over all looks)"
        return f'Alarm after {texts:,} texts: bets reject "same source" {how}.'
    said = f"No alarm after {texts:,} texts (wealth {wealth:.2g}; alarm at {alarm_at:.4g})"
    if unread:
        return f"{said}, and the reference is used up: the next {unread:,} texts were not watched; give a larger one."
    return f"{said}; that does not prove that there is no difference."


def format_baseline(
    p_adjusted: Mapping[str, float], closer: Mapping[str, bool], sign: str | None = None, *, alpha: float = ALPHA
) -> str:
    """Say by which metrics a system is better or worse than its baseline; `closer` to the references, or not.

    `sign` is a sign that items depend on each other, which matters where a difference is found.

    >>> format_baseline({"bleu": 0.01, "chrf": 0.2}, {"bleu": True, "chrf": True})
    'Better than the baseline by bleu; no difference found from the baseline by chrf (5 % level).'
    >>> format_baseline({"wmd": math.nan}, {"wmd": False})
    'Not tested against the baseline by wmd (5 % level).'
    """
    same, untested = "no difference found from", "not tested against"
    kinds: dict[str, list[str]] = {"better than": [], "worse than": [], same: [], untested: []}
    for metric, p in p_adjusted.items():
        ahead = "better than" if closer[metric] else "worse than"
        kinds[untested if math.isnan(p) else ahead if is_different(p, alpha) else same].append(metric)
    said = "; ".join(
        f"{kind} the baseline by {join_codes(names, len(names))}" for kind, names in kinds.items() if names
    )
    said = f"{said[0].upper()}{said[1:]} ({100 * alpha:g} % level)."
    return f"{said} {format_sign(sign)}" if sign and (kinds["better than"] or kinds["worse than"]) else said


def format_properties(worse: Sequence[str], *, copies_said: bool) -> str:
    """Return which properties of a corpus are worse than in real texts, if copies were spoken of before or not.

    >>> format_properties([], copies_said=True)
    'No other property is found to be worse than in real texts; that does not prove that none is.'
    """
    if worse:
        return f"Worse than in real texts: {join_codes(worse)} (95 % confidence)."
    which = "other property" if copies_said else "property"
    return f"No {which} is found to be worse than in real texts; that does not prove that none is."


def is_ahead(low: Any) -> Any:
    """Return whether an interval of a difference with this low end, or each of many, lies above 0; NaN does not.

    >>> is_ahead(0.1), is_ahead(0.0), is_ahead(float("nan"))
    (True, False, False)
    """
    return low > 0


def is_better(*intervals: tuple[float, float]) -> bool:
    """Return whether every interval of a difference lies above 0; an interval that does not exist (NaN) does not.

    >>> is_better((0.1, 0.4), (0.01, 0.5)), is_better((0.1, 0.4), (-0.01, 0.5))
    (True, False)
    """
    return all(is_ahead(low) for low, _ in intervals)


def judge_intervals(*intervals: tuple[float, float]) -> str:
    """Return what these intervals of a difference allow: better where all lie above 0, worse where all lie below.

    >>> judge_intervals((0.1, 0.4)), judge_intervals((-0.4, -0.1)), judge_intervals((-0.1, 0.4))
    ('better than', 'worse than', 'tied with')
    """
    if is_better(*intervals):
        return "better than"
    return "worse than" if is_better(*((-high, -low) for low, high in intervals)) else TIED_WITH


def format_standing(tied: Sequence[str], others: int) -> str:
    """Return what may be said of the first of a ranking: `tied` are those of the `others` that it is not better than.

    >>> format_standing(["fid", "pr"], 5)
    'fid and pr are statistically tied with it'
    >>> format_standing([], 5)
    'it is better than the other 5 metrics'
    """
    if tied:
        return f"{join_codes(tied)} {'is' if len(tied) == 1 else 'are'} statistically tied with it"
    return f"it is better than the other {'metric' if others == 1 else f'{others} metrics'}"


def format_leader(unbeaten: Sequence[str]) -> str:
    """Return the first of a ranking in a few words, given all that no other is better than.

    >>> format_leader(["energy", "mmd"]), format_leader(["energy", "mmd", "fid"]), format_leader([])
    ('energy, tied with mmd', 'energy and 2 tied', 'not ranked')
    """
    if len(unbeaten) < 2:
        return unbeaten[0] if unbeaten else "not ranked"
    first, *tied = unbeaten
    return f"{first}, tied with {tied[0]}" if len(tied) == 1 else f"{first} and {len(tied)} tied"


def format_ranking(metrics: Sequence[str], tied: Sequence[str], scope: str, smallest: float = math.nan) -> str:
    """Return the answer of a leaderboard: `metrics` best first, `tied` those that the first is not better than.

    `smallest` is the difference from which tied metrics would have been called different.

    >>> format_ranking(["energy", "fid", "pr"], ["fid"], "these texts")
    'Best: energy, statistically tied with fid; better than pr (95 % confidence, these texts).'
    >>> format_ranking(["energy", "fid", "pr"], [], "these texts")
    'Best: energy, better than fid and pr (95 % confidence, these texts).'
    >>> format_ranking(["energy", "fid"], ["fid"], "these texts")
    'No metric is better than all others: energy comes first, statistically tied with the other one (these texts).'
    >>> format_ranking(["energy", "fid", "pr"], ["fid"], "these texts", 0.0612)[-67:]
    'Differences of overall below about 0.061 would not have been found.'
    """
    if not metrics:
        return "Nothing is ranked: these measures have no common scale."
    first, others, held = metrics[0], len(metrics) - 1, f"(95 % confidence, {scope})"
    if not others:
        return f"Only one metric is ranked: {first}."
    if not tied:
        return f"Best: {first}, better than {_name_or_count(metrics[1:], 'all {} other metrics')} {held}."
    below = math.isfinite(smallest)
    missed = f" Differences of overall below about {smallest:.2g} would not have been found." if below else ""
    if len(tied) == others:
        rest = f"statistically tied with {'the other one' if others == 1 else 'all others'} ({scope})"
        return f"No metric is better than all others: {first} comes first, {rest}.{missed}"
    rest = _name_or_count([name for name in metrics[1:] if name not in tied], "the other {} metrics")
    return f"Best: {first}, statistically tied with {join_codes(tied)}; better than {rest} {held}.{missed}"


def _name_or_count(names: Sequence[str], counted: str) -> str:
    return join_codes(names) if len(names) <= _NAMED else counted.format(len(names))


def join_codes(names: Sequence[str], most: int = 4) -> str:
    """Return names with commas and "and"; more than `most` are counted.

    >>> join_codes(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    return join_words([*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])])


_LEADING = {  # what may be said of the first, and where there is none
    "system": ("Best", "No system is better than all others"),
    "candidate": ("Nearest to the reference", "No candidate is nearer than all others"),
}


def format_leaders(what: str, leaders: Mapping[str, Sequence[str]], count: int, level: float = 0.95) -> str:
    """Say who leads by each of several metrics: the systems or candidates that no other is better than.

    >>> format_leaders("system", {"bleu": ["a"], "chrf": ["a"], "ter": ["a", "b"]}, 3)
    'Best: a by bleu and chrf; a and b tied by ter (95 % confidence, new texts from these sources).'
    >>> format_leaders("candidate", {}, 2)
    'No candidate is ranked: no metric has a standard error at these sizes.'
    """
    best, nobody = _LEADING[what]
    if not leaders:
        return f"No {what} is ranked: no metric has a standard error at these sizes."
    metrics_of: dict[tuple[str, ...], list[str]] = {}
    for metric, names in leaders.items():
        metrics_of.setdefault(tuple(names), []).append(metric)
    said = [
        _format_leading(names, metrics, count) for names, metrics in sorted(metrics_of.items(), key=lambda x: len(x[0]))
    ]
    first = best if any(len(names) == 1 for names in metrics_of) else nobody
    return f"{first}: {'; '.join(said)} ({100 * level:g} % confidence, {NEW_TEXTS})."


def _format_leading(names: Sequence[str], metrics: Sequence[str], count: int) -> str:
    if len(names) < 2:
        return f"{join_codes(names)} by {join_codes(metrics)}"
    return f"{f'all {count}' if 2 < len(names) == count else join_codes(names)} tied by {join_codes(metrics)}"


def format_slices(differing: Sequence[str], count: int) -> str:
    """Say which slices differ: `differing` are those that reject "same source", farthest first.

    >>> format_slices([], 3)
    'No difference found in any of 3 slices (false discovery rate 5 %); that does not prove that there is none.'
    """
    rate = f"false discovery rate {100 * ALPHA:g} %"
    if not differing:
        return f"No difference found in any of {count} slices ({rate}); that does not prove that there is none."
    verb = "differs" if len(differing) == 1 else "differ"
    rest = " In the others no difference was found." if len(differing) < count else ""
    return f"{len(differing)} of {count} slices {verb} ({rate}): {join_codes(differing)}.{rest}"


def format_board(counts: Mapping[str, Any], first: Sequence[str], scope: str, level: float = 0.95) -> str:
    """Say of a leaderboard of systems who comes first, and how many neighbours in rank cannot be separated.

    `first` are the systems that no other is better than, `counts` those of a `ScoreBoard`.

    >>> counts = {"metric": "score", "systems": 13, "neighbours": 12, "tied": 7, "items": 500, "items_needed": 2310}
    >>> format_board(counts | {"second": "b"}, ["a", "b"], "new items")[:78]
    'First: a and b, tied; 7 of 12 neighbours cannot be separated (95 % confidence,'
    """
    by = "" if counts["metric"] == "score" else f" by {counts['metric']}"
    others, leader, needed = counts["systems"] - 1, first[0], counts["items_needed"]
    if len(first) == 1:
        who = f"{leader}, better than {counts['second'] if others == 1 else 'all others'}"
    else:
        who = (
            f"{join_words(first)}, tied" if len(first) <= _NAMED + 1 else f"{leader}, tied with {len(first) - 1} others"
        )
    pairs = f"{counts['tied'] or 'none'} of {counts['neighbours']} neighbours cannot be separated"
    held = f"({100 * level:g} % confidence, {scope})"
    said = f"First{by}: {who}{'' if others == 1 else f'; {pairs}'} {held}."
    if needed is None:
        return said
    enough = f"About {format_about(needed)}" if needed < _COUNTLESS else "Many millions of"
    return f"{said} {enough} items, not {counts['items']:,}, would separate {leader} from {counts['second']}."
