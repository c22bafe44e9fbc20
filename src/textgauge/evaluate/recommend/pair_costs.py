"""What pair metrics cost: beforehand from some of the trials, afterwards from the cells of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from textgauge.data import Pairs
from textgauge.errors import InputError, TextgaugeError
from textgauge.evaluate import Plan, Store
from textgauge.evaluate.leaderboard import Leaderboard
from textgauge.evaluate.protocols import MatrixBatch, Observations, PairBatch, Protocol
from textgauge.evaluate.protocols.batch import Batch
from textgauge.evaluate.recommend.answer import Cost, LeftOut
from textgauge.evaluate.recommend.budget import GRACE, Clock
from textgauge.evaluate.recommend.runs import Step
from textgauge.evaluate.run import plan_cells
from textgauge.metrics import PairMetric, get_pair_metrics
from textgauge.parallel import one_blas_thread

PAIRS = 1_000  # that a cost is given for
PARTS = (8, 30, 200)  # trials: the first time loads what a metric needs, the others are its own
_LONG = 0.05  # share of the time left that the last part may take
_TRIED = 0.8  # share of the budget by which metrics are to be tried


def chosen(metrics: str | Sequence[str | PairMetric]) -> list[PairMetric]:
    """The metrics named, at least one."""
    found = get_pair_metrics(metrics)
    if not found:
        raise InputError("name at least one metric with -m")
    return found


def timed(
    batch: Batch, metrics: Sequence[PairMetric], clock: Clock, on_step: Step
) -> tuple[dict[str, float], list[LeftOut]]:
    """Seconds of one trial with each metric, rows prepared; and those there was no time to try."""
    seconds, late = dict[str, float](), list[LeftOut]()
    for metric in metrics:
        if len(seconds) > 1 and clock.patient.until(_TRIED) + GRACE <= 0:
            late.append(LeftOut(metric.key))
            continue
        on_step(f"timing {metric.key}")
        seconds[metric.key] = seconds_each(batch, metric, clock)
    return seconds, late


def seconds_each(batch: Batch, metric: PairMetric, clock: Clock) -> float:
    """The seconds of one trial, from a small part of a batch whose rows are prepared."""
    took = 0.0
    for place, count in enumerate(PARTS):
        if place > 1 and took * count > _LONG * clock.patient.left:
            break
        part = part_of(batch, count, [metric])
        took = used(lambda part=part: part.compute(metric), clock) / max(len(part), 1)  # type: ignore[misc]
    return took


def used(work: Callable[[], object], clock: Clock) -> float:
    """The seconds that some work takes; a metric that fails is named by the run itself."""
    before = clock.spent
    try:
        with one_blas_thread():
            work()
    except TextgaugeError:
        raise
    except Exception:  # noqa: S110
        pass
    return clock.spent - before


def judging_seconds(protocol: Protocol, batches: Sequence[Batch], clock: Clock) -> float:
    """The seconds that judging one metric on all these trials takes, after a first time that loads what it needs."""
    columns = {name: np.concatenate([batch.columns[name] for batch in batches]) for name in batches[0].columns}
    numbers = np.concatenate([np.full(len(batch), batch.number) for batch in batches])
    values = Observations(np.random.default_rng(0).random(len(numbers)), numbers, columns)
    used(lambda: protocol.judge(values), clock)
    return used(lambda: protocol.judge(values), clock)


def part_of(batch: Batch, count: int, metrics: Sequence[PairMetric]) -> Batch:
    """About so many trials of a batch, chosen at random, in a pool of their own with the rows the metrics need.

    Fitted weights are those of the part.
    """
    rng = np.random.default_rng(count)
    if isinstance(batch, PairBatch):
        some = batch.pairs.take(np.sort(rng.permutation(len(batch))[:count]))
        return PairBatch(batch.number, Pairs(some.left, some.right, items=some.items), {}).compact(metrics)
    if isinstance(batch, MatrixBatch):
        side = 1 + int(np.ceil(np.sqrt(count if batch.others is not None else 2 * count)))
        rows = batch.rows.take(rng.permutation(len(batch.rows))[:side])
        others = None if batch.others is None else batch.others.take(rng.permutation(len(batch.others))[:side])
        background = rows if others is None else rows | others
        return MatrixBatch(batch.number, rows, others, {}, background).compact(metrics)
    return batch


def stored_costs(store: Store, plan: Plan) -> tuple[Cost, ...]:
    """CPU seconds of a thousand trials, metric by metric, from the cells of a plan."""
    seconds: dict[str, list[float]] = {}
    for cell in plan_cells(plan):
        frame = store.read(cell)
        if frame is not None:
            seconds.setdefault(cell.metric, []).extend(frame["seconds"].to_list())
    return tuple(Cost(metric, PAIRS * float(np.mean(each)), PAIRS) for metric, each in seconds.items())


def quickest_first(board: Leaderboard, costs: Sequence[Cost]) -> tuple[str, ...]:
    """The metrics that cannot be told from the best one, the quickest first."""
    seconds: Mapping[str, float] = {cost.metric: cost.seconds for cost in costs}
    top = [row.metric for row in board if row.cluster == 1 and not np.isnan(row.overall)]
    return tuple(sorted(top, key=lambda metric: seconds.get(metric, np.inf)))
