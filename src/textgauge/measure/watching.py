"""`watch`: a test of a stream that may be looked at after every text, by bets against "same source".

Each text of the stream meets a text of the reference that was not used before. If both come from one source, which is
which is the toss of a coin, whatever was seen before, so that no way of betting on it gains: wealth of 1/α is reached
with a chance of at most α, over all looks together (Ville's inequality; Shekhar and Ramdas 2023).
"""

from __future__ import annotations

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.result import TableResult
from textgauge.data import GIVEN, Comparison, load_corpus
from textgauge.data.source import Source
from textgauge.encode.embedders import EmbedderLike, name_embedder
from textgauge.measure.check import Outcome
from textgauge.measure.dependence import LabelSource, read_belonging
from textgauge.measure.score_report import Bootstrap
from textgauge.metrics.numerics.moments import scale_to_units
from textgauge.stats.decisions import format_watch

_MEMORIES = (np.inf, 100.0)  # pairs: for a stream that was foreign from the first text on, and one that changed late
_STAKES = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8])  # shares of the wealth; 0 is a reserve for late changes
_ROLES = ("reference", "stream")
_SHOWN = 10  # looks of a report


def compute_wealth(gaps: Floats) -> Floats:
    """Return the wealth after each bet; `gaps` are vectors of the stream minus those of the reference, in order.

    A bet is that the gap lies the way of the sum of all gaps before it, or of late ones, and pays by how far it does:
    by tanh, in units of what was usual. Stakes and memories share the wealth evenly.

    >>> compute_wealth(np.zeros((3, 2))).tolist()
    [1.0, 1.0, 1.0]
    """
    logs = np.zeros((len(gaps), len(_MEMORIES), len(_STAKES)))
    for place, memory in enumerate(_MEMORIES):
        past, squares, payoffs = np.zeros(gaps.shape[1]), 0.0, np.zeros(len(gaps))
        for number, gap in enumerate(gaps):
            length = float(np.sqrt(past @ past))
            score = float(gap @ past) / length if length else 0.0
            payoffs[number] = np.tanh(score * np.sqrt(number / squares)) if squares else 0.0
            squares += score**2
            past = (1.0 - 1.0 / memory) * past + gap
        logs[:, place] = np.cumsum(np.log1p(payoffs[:, None] * _STAKES), axis=0)
    return np.asarray(np.exp(np.minimum(logs, 700.0)).mean(axis=(1, 2)))


def watch(
    reference: Source,
    stream: Source,
    *,
    embedder: EmbedderLike = "minilm",
    group: LabelSource | None = None,
    column: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> TableResult:
    """Say whether a stream of texts has left the source of the reference; look as often as you like.

    Run it again whenever texts were added at the end of the stream: bets on those before stay what they were, and false
    alarms stay below 1 − `level` over all looks together. Every text of the stream uses up one of the reference. Rows
    are the wealth on its way; `details` have the outcome: fail for an alarm, undecided where the reference is used up.

    Parameters
    ----------
    reference
        Texts of the source, as many as are to be watched.
    stream
        The texts to watch, in the order in which they came.
    embedder
        The embedder that compares meanings.
    group
        A column that says which texts belong together: of a document, a user, a conversation. A pair of groups is one
        bet. Rows of a group follow each other, and the last group of the stream waits until the next one begins. In
        Python also the labels of the reference's and of the stream's texts.
    column
        The column that holds the texts, for tables; by default `text`, or the only column of texts.
    level
        The chance of no alarm, however often one looks, if the stream comes from the source of the reference.
    seed
        Random seed: in which order texts of the reference are used.
    """
    alarm_at = round(1.0 / (1.0 - Bootstrap(level=level, seed=seed).level), 9)
    sides = Comparison(load_corpus(reference, role="reference", column=column), load_corpus(stream, column=column))
    fresh, ours = ([np.array([row]) for row in range(len(side))] for side in sides.sides)
    if group is not None:
        corpora, sources = dict(zip(_ROLES, sides.sides, strict=True)), {"reference": reference, "stream": stream}
        # As blocks, since groups would be cut by those that come later.
        labels = read_belonging(corpora, sources, group=None, block=group, paired=False, column=column)[1].blocks or {}
        fresh, ours = (_find_runs(labels[role]) for role in _ROLES)
        ours = [run for run in ours if run[-1] + 1 < len(sides.candidate)]
    if not ours:
        raise InputError("the stream has no text, or no complete group, yet")
    units = scale_to_units(sides.joint.embeddings(GIVEN if sides.joint.pool.has_given else name_embedder(embedder)))
    order = np.random.default_rng([seed, 35]).permutation(len(fresh))[: len(ours)]
    gaps = []  # the mean vector of one group minus that of another, of as many texts as the smaller has
    for own, place in zip(ours, order, strict=False):
        first, second = fresh[place], len(sides.reference) + own
        size = min(len(first), len(second))
        gaps.append(units[second[:size]].mean(axis=0) - units[first[:size]].mean(axis=0))
    wealth, texts = compute_wealth(np.array(gaps)), np.cumsum([len(run) for run in ours])
    last = min(int(np.argmax(np.append(wealth, np.inf) >= alarm_at)), len(wealth) - 1)
    is_alarm, unread = wealth[last] >= alarm_at, int(texts[-1] - texts[last])
    outcome = Outcome.failed if is_alarm else Outcome.undecided if unread else Outcome.passed
    looks = np.unique(np.linspace(0, last, _SHOWN).round().astype(int))
    rows = [{"texts": int(texts[look]), "wealth": float(wealth[look])} for look in looks]
    answer = format_watch(**rows[-1], alarm_at=alarm_at, unread=unread)  # type: ignore[arg-type]
    details = {"outcome": outcome.value, "alarm_at": alarm_at, "unread": unread}
    return TableResult("watch", rows, answer, extra=details)


def _find_runs(labels: Ints) -> list[Ints]:
    """Return the rows of each group down to the first of another; rows of the group that come later are left out."""
    runs: dict[int, Ints] = {}
    for run in np.split(np.arange(len(labels)), np.flatnonzero(np.diff(labels)) + 1):
        runs.setdefault(int(labels[run[0]]), run)
    return list(runs.values())
