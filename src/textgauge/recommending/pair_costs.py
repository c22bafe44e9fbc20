"""What pair metrics cost: beforehand from some of the trials, afterwards from the cells of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from textgauge.bench import Plan, Store
from textgauge.bench.run import plan_cells
from textgauge.corpus import Corpus, Pairs, Pool
from textgauge.corpus.view import in_one_pool
from textgauge.errors import InputError
from textgauge.metrics import PairMetric, get_pair_metrics
from textgauge.protocols import MatrixBatch, PairBatch
from textgauge.protocols.batch import Batch
from textgauge.recommending.answer import Cost
from textgauge.recommending.budget import Clock
from textgauge.report import Leaderboard
from textgauge.stats.parallel import one_blas_thread

PAIRS = 1_000  # that a cost is given for
_PARTS = (30, 200)  # trials: the first time loads what a metric needs, the second is its own


def chosen(metrics: str | Sequence[str | PairMetric]) -> list[PairMetric]:
    """The metrics named, at least one."""
    found = get_pair_metrics(metrics)
    if not found:
        raise InputError("name at least one metric with -m")
    return found


def expected_seconds(batch: Batch, metric: PairMetric, trials: int, clock: Clock) -> float:
    """The seconds that so many trials over the texts of a batch's pool will take, from a small part of it."""
    seconds = float("nan")
    for count in _PARTS:
        part = part_of(batch, count)
        before = clock.spent
        part.prepare(metric)
        prepared = clock.spent
        with one_blas_thread():
            part.compute(metric)
        texts = _pool(batch).size / max(_pool(part).size, 1)
        seconds = (prepared - before) * texts + (clock.spent - prepared) * trials / max(len(part), 1)
    return seconds


def part_of(batch: Batch, count: int) -> Batch:
    """About so many trials of a batch, chosen at random, with fitted weights of their own."""
    rng = np.random.default_rng(count)
    if isinstance(batch, PairBatch):
        some = batch.pairs.take(np.sort(rng.permutation(len(batch))[:count]))
        return PairBatch(batch.number, Pairs(_own(some.left), _own(some.right), items=some.items), {})
    if isinstance(batch, MatrixBatch):
        side = int(np.ceil(np.sqrt(count)))
        sides = [batch.rows, batch.rows if batch.others is None else batch.others]
        rows, others = in_one_pool(*(_own(corpus.take(rng.permutation(len(corpus))[:side])) for corpus in sides))
        return MatrixBatch(batch.number, rows, others, {}, rows | others)
    return batch


def _own(corpus: Corpus) -> Corpus:
    return Corpus.of(list(corpus.texts))


def _pool(batch: Batch) -> Pool:
    corpus = batch.pairs.left if isinstance(batch, PairBatch) else batch.rows  # type: ignore[attr-defined]
    return corpus.pool


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
