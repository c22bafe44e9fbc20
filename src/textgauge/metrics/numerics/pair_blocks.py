"""All pairs of two clouds of rows in bounded memory: each block of products is made once and serves all requests.

Products are float32. Neighbours are exact: the products leave few pairs, and float64 decides among them. Sums of
kernels and of distances are for means over many pairs, which float32 moves by less than 1e-7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from textgauge.core.arrays import Floats, Floats32
from textgauge.core.progress import PairCount
from textgauge.core.sizes import capped
from textgauge.metrics.numerics.kernel_sums import to_angles
from textgauge.metrics.numerics.neighbour_blocks import BallsBoth, NearestBoth, NearestDirections, Reach
from textgauge.metrics.numerics.neighbour_rows import Filter, filters

_TALL, _WIDE = 512, 1_024  # rows and columns of a block of products: 2 MB

_ALIKE = 4.0  # the longest row by the shortest, up to which directions are compared by products of the rows themselves


@dataclass(frozen=True)
class NearestRows:
    """Asks for the nearest row of the other cloud, both ways: squared distances and rows."""

    directions: bool = False


@dataclass(frozen=True)
class BallsHeld:
    """Asks what the balls that reach to the k-th neighbour hold of the other cloud, both ways."""

    k: int
    closed: bool
    directions: bool = False


@dataclass(frozen=True)
class GaussianSums:
    """Asks for sums of exp(−‖x − y‖²/(2 width²)): within the clouds, a text itself left out, and across, both ways."""

    width: float
    directions: ClassVar[bool] = False


@dataclass(frozen=True)
class DistanceSums:
    """Asks for the sum of distances to all texts of the other cloud, both ways."""

    ground: str

    @property
    def directions(self) -> bool:
        """Whether rows are compared at length one."""
        return self.ground != "euclidean"


Request: TypeAlias = NearestRows | BallsHeld | GaussianSums | DistanceSums


class Reduction(Protocol):
    """Takes from each block what it needs, and leaves the block as it is."""

    def add(self, block: Floats32, rows: slice, columns: slice) -> None:
        """Take one block, which stands at these rows and columns."""

    def found(self) -> tuple[Any, ...]:
        """What was found."""


class PairPasses:
    """Two corpora and requests about their pairs; the first answer that is needed serves all requests made so far.

    `reaches_of` gives the clouds of rows, or of rows at length one, with their distances to neighbours, which may serve
    several comparisons.
    """

    def __init__(self, reaches_of: Callable[[bool], tuple[Reach, Reach]]) -> None:
        self._reaches_of = reaches_of
        self._asked: dict[Request, None] = {}
        self._answers: dict[Request, tuple[Any, ...]] = {}

    def ask(self, request: Request) -> None:
        """Say what will be needed."""
        if request not in self._answers:
            self._asked[request] = None

    def answer(self, request: Request) -> tuple[Any, ...]:
        """What was found, in the same passes as all other requests."""
        self.ask(request)
        if request not in self._answers:
            self._run(list(self._asked))
            self._asked.clear()
        return self._answers[request]

    def _run(self, asked: Sequence[Request]) -> None:
        """One pass for rows and one for directions, or one for both."""
        plain, turned = ([request for request in asked if request.directions is kind] for kind in (False, True))
        if plain and self._shareable(turned):
            plain, turned = [*plain, *turned], []
        passes = [_Pass(self._reaches_of(some is turned), some) for some in (plain, turned) if some]
        count = PairCount(sum(one.pairs() for one in passes))
        for one in passes:
            self._answers |= one.run(count)

    def _shareable(self, turned: Sequence[Request]) -> bool:
        """Whether the nearest directions, and no other ones, are asked for, of rows that are about equally long."""
        if not turned or not all(isinstance(request, NearestRows) for request in turned):
            return False
        shrink = np.concatenate([reach.cloud.shrink for reach in self._reaches_of(True)])
        return bool(0 < shrink.max() <= _ALIKE * shrink.min())


@dataclass(frozen=True)
class _Pass:
    """Requests that one pass within each cloud and one across them answer."""

    reaches: tuple[Reach, Reach]
    asked: Sequence[Request]

    @property
    def _widths(self) -> list[float]:
        return [request.width for request in self.asked if isinstance(request, GaussianSums)]

    @property
    def _k(self) -> int:
        return max((request.k for request in self.asked if isinstance(request, BallsHeld)), default=0)

    def pairs(self) -> int:
        """How many pairs are visited; of one side with itself each once, and each row with itself."""
        n, m = sizes = [len(reach.cloud) for reach in self.reaches]
        own = [bool(self._widths) or not reach.knows(self._k) for reach in self.reaches]
        return n * m + sum(size * (size + 1) // 2 for size, visited in zip(sizes, own, strict=True) if visited)

    def run(self, count: PairCount) -> dict[Request, tuple[Any, ...]]:
        """Visit all blocks, and give the answers."""
        sides = a, b = filters(*(reach.cloud for reach in self.reaches))
        sums: list[dict[float, _Gaussian]] = []
        for reach, side in zip(self.reaches, sides, strict=True):
            sums.append({width: _Gaussian(side, side, width) for width in self._widths})
            search = reach.search(side, self._k)
            reductions: list[Reduction] = [*sums[-1].values(), *search]
            if reductions:
                visit(side, side, reductions, count)
            reach.keep(*search)
        across = {request: self._reduction(request, a, b) for request in self.asked}
        visit(a, b, list(across.values()), count)
        answers: dict[Request, tuple[Any, ...]] = {}
        for request, reduction in across.items():
            own = [some[request.width].within() for some in sums] if isinstance(request, GaussianSums) else []
            answers[request] = (*own, *reduction.found())
        return answers

    def _reduction(self, request: Request, a: Filter, b: Filter) -> Reduction:
        if isinstance(request, BallsHeld):
            first, second = (reach.radii(request.k) for reach in self.reaches)
            return BallsBoth(a, b, (first, second), closed=request.closed)
        if isinstance(request, GaussianSums):
            return _Gaussian(a, b, request.width)
        if isinstance(request, DistanceSums):
            return _Distances(a, b, request.ground)
        if request.directions and not a.cloud.directions:
            return NearestDirections(a, b)
        return NearestBoth((a.cloud, b.cloud), (a.slack, b.slack))


def visit(a: Filter, b: Filter, reductions: Sequence[Reduction], count: PairCount) -> None:
    """Make every block of products and show it to all; of one side with itself each pair once, others are −∞."""
    tall, wide, half = capped(_TALL), capped(_WIDE), a is b
    space = np.empty(min(tall, len(a.rows)) * min(wide, len(b.rows)), dtype=np.float32)
    for left in range(0, len(b.rows), wide):
        right = b.against(slice(left, left + wide))
        stop = min(len(a.rows), left + wide) if half else len(a.rows)
        for top in range(0, stop, tall):
            skip = max(top - left, 0) if half else 0
            rows, columns = a.rows[top : min(top + tall, stop)], right[:, skip:]
            block = space[: len(rows) * columns.shape[1]].reshape(len(rows), columns.shape[1])
            np.matmul(rows, columns, out=block)
            if half and top >= left:
                block[:, : len(rows)][np.tri(len(rows), dtype=bool)] = -np.inf
            place = slice(top, top + len(rows)), slice(left + skip, left + right.shape[1])
            for reduction in reductions:
                reduction.add(block, *place)
        done = right.shape[1] * (2 * left + right.shape[1] + 1) // 2
        count.add(done if half else len(a.rows) * right.shape[1])


class _Gaussian:
    """Row sums of a Gaussian kernel.

    A product is above −‖x − y‖²/2 by a known amount for each row, half its slack: a factor of the kernel, which goes
    into the weights.
    """

    def __init__(self, a: Filter, b: Filter, width: float) -> None:
        self._factor = np.float32((a.scale / width) ** 2)
        self._shifts = [np.exp(-0.5 * float(self._factor) * side.slack) for side in (a, b)]
        counts = a.cloud.weight, b.cloud.weight
        self._weights = [(count * shift).astype(np.float32) for count, shift in zip(counts, self._shifts, strict=True)]
        self._copies = a.cloud.weight - 1
        self._sums = np.zeros(len(a.rows)), np.zeros(len(b.rows))
        self._space = np.empty(0, dtype=np.float32)

    def add(self, block: Floats32, rows: slice, columns: slice) -> None:
        """Add up one block by row and by column."""
        if len(self._space) < block.size:
            self._space = np.empty(block.size, dtype=np.float32)
        kernel = self._space[: block.size].reshape(block.shape)
        with np.errstate(over="ignore", under="ignore"):
            np.exp(np.multiply(block, self._factor, out=kernel), out=kernel)
        self._sums[0][rows] += kernel @ self._weights[1][columns]
        self._sums[1][columns] += self._weights[0][rows] @ kernel

    def found(self) -> tuple[Floats, Floats]:
        """The sums over the other cloud, both ways."""
        return self._sums[0] * self._shifts[0], self._sums[1] * self._shifts[1]

    def within(self) -> Floats:
        """The sums over the own cloud, copies of a text counted, the text itself not."""
        return (self._sums[0] + self._sums[1]) * self._shifts[0] + self._copies


class _Distances:
    """Row sums of distances, with the filter's known shift taken off."""

    def __init__(self, a: Filter, b: Filter, ground: str) -> None:
        self._sides, self._ground = (a, b), ground
        self._weights = [side.cloud.weight.astype(np.float32) for side in (a, b)]
        self._sums = np.zeros(len(a.rows)), np.zeros(len(b.rows))

    def add(self, block: Floats32, rows: slice, columns: slice) -> None:
        """Add up one block by row and by column."""
        a, b = self._sides
        of_a, of_b = a.slack[rows] / 2.0, (b.slack[columns] / 2.0).astype(np.float32)
        if self._ground == "angular":  # the products are of cosines less 1
            distances = block + (1.0 - of_a).astype(np.float32)[:, None]
            distances -= of_b
            unit = 1.0 / np.pi
            to_angles(distances)
        else:
            distances = block - of_a.astype(np.float32)[:, None]
            distances -= of_b
            distances *= -2.0
            np.sqrt(np.maximum(distances, 0.0, out=distances), out=distances)
            unit = a.scale
        self._sums[0][rows] += unit * (distances @ self._weights[1][columns])
        self._sums[1][columns] += unit * (self._weights[0][rows] @ distances)

    def found(self) -> tuple[Floats, Floats]:
        """The sums, both ways."""
        return self._sums
