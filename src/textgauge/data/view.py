"""Views: a corpus is a pool and an index; a comparison is two corpora of one pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textgauge.core.arrays import Embeddings, Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.progress import advance
from textgauge.core.settings import split_into_blocks
from textgauge.data.pool import GIVEN, Pool, stack_rows
from textgauge.data.tables import get_cells
from textgauge.data.units import Labels, Units, find_units

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from textgauge.encode.tokenizers import Tokens

TextsLike: TypeAlias = "Corpus | Sequence[str] | Embeddings"
T = TypeVar("T")


class _View:
    """What remembers the statistics that are computed of it."""

    _remembered: dict[tuple[Any, ...], Any]

    def derive(self, statistic: Callable[..., T], *args: Any) -> T:
        """`statistic(self, *args)`, computed once and remembered by this view."""
        if (statistic, *args) not in self._remembered:
            self._remembered[statistic, *args] = statistic(self, *args)
        return self._remembered[statistic, *args]  # type: ignore[no-any-return]


class Corpus(_View):
    """A read-only view of a pool's rows.

    >>> corpus = Corpus.of(["a cat", "a dog", "a cow"])
    >>> corpus.take([2, 0]).texts
    ('a cow', 'a cat')
    """

    def __init__(self, pool: Pool, index: ArrayLike) -> None:
        rows = np.array(index, dtype=np.int64).reshape(-1)
        if rows.size and (rows.min() < 0 or rows.max() >= pool.size):
            wrong = rows[(rows < 0) | (rows >= pool.size)]
            raise InputError(f"row {wrong[0]} is outside a pool of {pool.size}")
        rows.flags.writeable = False
        first, size = int(rows[0]) if rows.size else 0, rows.size
        # The rows of the pool: a slice, which copies nothing, where they follow each other.
        self._rows = slice(first, first + size) if np.array_equal(rows, np.arange(first, first + size)) else rows
        self.pool, self.index, self._remembered = pool, rows, {}

    @classmethod
    def of(
        cls,
        texts: TextsLike | None = None,
        *,
        embeddings: Embeddings | None = None,
        source_rows: Sequence[int] | Ints | None = None,
    ) -> Corpus:
        """Return a corpus of texts, of ready-made embeddings, or of both; a corpus is returned as it is.

        `source_rows` are the places of the texts in what they were read from, where some were left out.
        """
        if isinstance(texts, Corpus):
            return texts
        if isinstance(texts, np.ndarray) and texts.dtype.kind in "fiub":
            texts, embeddings = None, texts
        if isinstance(texts, str):
            raise InputError("expected a list of texts, not one text")
        pool = Pool(None if texts is None else get_cells(texts), embeddings=embeddings, source_rows=source_rows)
        return cls(pool, np.arange(pool.size))

    def take(self, rows: ArrayLike) -> Corpus:
        """Return the sub-corpus of these positions; a view of a view points straight at the pool."""
        return Corpus(self.pool, self.index[np.asarray(rows, dtype=np.int64)])

    def canonical(self) -> Corpus:
        """Return the same texts in an order that depends on their content alone."""
        return Corpus(self.pool, self.index[np.argsort(self.keys, kind="stable")])

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __or__(self, other: Corpus) -> Corpus:
        """Return both corpora, one after the other, as a view of one pool."""
        mine, yours = join_pools(self, other)
        return Corpus(mine.pool, np.concatenate([mine.index, yours.index]))

    def __repr__(self) -> str:
        return f"Corpus({len(self)} texts of a pool of {self.pool.size}, {self.pool.fingerprint})"

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts, in order."""
        texts = self.pool.texts
        return tuple(texts[row] for row in self.index.tolist())

    @property
    def source_rows(self) -> Ints:
        """Where each text stood in the file or list it was read from, from 0."""
        return self.pool.source_rows[self.index]

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Content keys of the rows."""
        return self.pool.keys[self.index]

    def embeddings(self, embedder: str) -> Embeddings:
        """Embedding rows of this corpus; not to be written to."""
        return self.pool.embeddings(embedder)[self._rows]

    def tokens(self, tokenizer: str) -> Tokens:
        """Token ids of this corpus."""
        return self.pool.tokens(tokenizer).take(self._rows)

    def counts(self, tokenizer: str) -> csr_matrix:
        """Token counts of this corpus, texts by the pool's vocabulary."""
        return self.pool.counts(tokenizer)[self.index]


class Comparison(_View):
    """A reference and a candidate corpus of one pool; remembers what several metrics need.

    `sides` are both of them, and `smaller` is the number of texts of the smaller one.

    `groups` are labels of what texts of reference and candidate belong to (a document, a user): exchanges and disjoint
    parts move whole groups. `blocks` are labels of what texts of both sides share (a prompt, an item): exchanges stay
    within them. Groups that were `dealt` at random are numbered from 0 on each side.
    """

    def __init__(
        self,
        reference: TextsLike,
        candidate: TextsLike,
        *,
        groups: Labels | None = None,
        blocks: Labels | None = None,
        dealt: bool = False,
    ) -> None:
        self.reference, self.candidate = self.sides = join_pools(Corpus.of(reference), Corpus.of(candidate))
        self.smaller = min(map(len, self.sides))
        self.groups, self.blocks, self.dealt, self._remembered = groups, blocks, dealt, {}

    @cached_property
    def units(self) -> Units:
        """What changes sides as a whole in a test, and what is cut into parts for an interval."""
        return find_units((self.reference.keys, self.candidate.keys), self.groups, self.blocks, dealt=self.dealt)

    @cached_property
    def joint(self) -> Corpus:
        """Reference rows, then candidate rows."""
        return Corpus(self.reference.pool, np.concatenate([side.index for side in self.sides]))

    def swapped(self) -> Comparison:
        """Return the same two corpora with their roles exchanged."""
        groups, blocks = (None if of is None else (of[1], of[0]) for of in (self.groups, self.blocks))
        return Comparison(self.candidate, self.reference, groups=groups, blocks=blocks, dealt=self.dealt)


@dataclass(frozen=True, eq=False)
class Draws:
    """Many pairs of sub-corpora of one corpus: row r of each mask marks the texts of that side.

    A text may be on one side, on both or on none, once per side. With `groups`, the number of the group of each text of
    the corpus, masks mark groups.
    """

    left: NDArray[np.bool_]
    right: NDArray[np.bool_]
    groups: Ints | None = None

    def __len__(self) -> int:
        return len(self.left)

    @property
    def sizes(self) -> tuple[Ints, Ints]:
        """The number of texts of the sides of each draw."""
        if self.groups is None:
            return self.left.sum(axis=1), self.right.sum(axis=1)
        sizes = np.bincount(self.groups, minlength=self.left.shape[1])  # texts of each group
        return self.left @ sizes, self.right @ sizes

    @property
    def smaller(self) -> Ints:
        """The number of texts of the smaller side of each draw."""
        return np.asarray(np.minimum(*self.sizes))

    def of_texts(self) -> Draws:
        """Return the same draws with masks of texts."""
        return self if self.groups is None else Draws(self.left[:, self.groups], self.right[:, self.groups])

    def chunks(self, size: int, width: int = 1) -> Iterator[Draws]:
        """Yield the draws in pieces of at most `size` numbers where a draw has `width`; one piece at least."""
        for some in split_into_blocks(len(self), size, width) or [slice(0, 0)]:
            advance(some.start, len(self))
            yield Draws(self.left[some], self.right[some], self.groups)

    def comparisons(self, joint: Corpus) -> Iterator[Comparison]:
        """Yield each draw as a comparison of views."""
        for number, (left, right) in enumerate(zip(self.left, self.right, strict=True)):
            advance(number, len(self))
            if self.groups is not None:
                left, right = left[self.groups], right[self.groups]  # noqa: PLW2901
            yield Comparison(joint.take(np.flatnonzero(left)), joint.take(np.flatnonzero(right)))


class Pairs:
    """Aligned left and right texts of one pool.

    With several references per candidate, `items` is the candidate that each pair belongs to, in rising order.
    `background` is the corpus that fitted weights come from: all texts of the pairs unless another one is given.
    `columns` are numbers that came with the pairs, by name, one for each.

    >>> pairs = Pairs(["a", "b", "a"], ["c", "d", "c"])
    >>> len(pairs), len(pairs.distinct()[0])
    (3, 2)
    """

    def __init__(
        self,
        left: TextsLike,
        right: TextsLike,
        *,
        items: Ints | None = None,
        background: Corpus | None = None,
        columns: Mapping[str, Floats] | None = None,
    ) -> None:
        self.columns = dict(columns or {})
        self.left, self.right = join_pools(Corpus.of(left), Corpus.of(right))
        if len(self.left) != len(self.right):
            raise InputError(f"pairs need as many left as right texts: {len(self.left)} and {len(self.right)}")
        self.items = np.arange(len(self.left)) if items is None else items
        self._background = background
        if background is not None:
            self.left, self._background = join_pools(self.left, background)
            self.right = Corpus(self.left.pool, self.right.index)

    @classmethod
    def of(
        cls,
        left: TextsLike,
        right: TextsLike | Sequence[Sequence[str]],
        *,
        background: Corpus | None = None,
        columns: Mapping[str, Floats] | None = None,
    ) -> Pairs:
        """Pairs of texts, or of each text with each of its references; `columns` have a number for each left text.

        >>> Pairs.of(["a", "b"], [["c", "d"], ["e"]]).items.tolist()
        [0, 0, 1]
        """
        if not isinstance(right, Corpus | np.ndarray):
            right = get_cells(right)
        if isinstance(right, Corpus | np.ndarray) or all(isinstance(text, str) for text in right):
            return cls(left, right, background=background, columns=columns)
        candidates = Corpus.of(left)
        if len(candidates) != len(right):
            turned = len(right[0]) == len(candidates) if isinstance(right[0], list | tuple) else False
            hint = ": give a list of references for each text, not a list of texts for each reference" if turned else ""
            raise InputError(f"{len(candidates)} texts but references for {len(right)}{hint}")
        missing = next((i for i, texts in enumerate(right) if texts is None), None)
        if missing is not None:
            raise InputError(f"right text {missing} is missing: a pair needs two texts")
        bare = next((i for i, texts in enumerate(right) if isinstance(texts, str) or not len(texts)), None)
        if bare is not None:
            raise InputError(f"references {bare}: expected a list of at least one text, got {right[bare]!r}")
        items = np.repeat(np.arange(len(right)), [len(texts) for texts in right])
        references = [text for texts in right for text in texts]
        repeated = {name: column[items] for name, column in (columns or {}).items()}
        return cls(candidates.take(items), references, items=items, background=background, columns=repeated)

    def __len__(self) -> int:
        return len(self.left)

    @property
    def several(self) -> bool:
        """Whether any candidate has more than one reference."""
        return len(self.items) > 0 and len(self.items) > self.items[-1] + 1

    @property
    def fitted_elsewhere(self) -> bool:
        """Whether a background was given that is not the texts of these very pairs."""
        return self._background is not None

    @cached_property
    def background(self) -> Corpus:
        """The corpus that fitted weights come from, in the pairs' own pool."""
        return self.left | self.right if self._background is None else self._background

    @property
    def first_rows(self) -> Ints:
        """The first pair of each candidate."""
        return np.flatnonzero(np.diff(self.items, prepend=-1))

    @property
    def n_items(self) -> int:
        """The number of candidates, whatever the number of references of each."""
        return int(self.items[-1]) + 1 if len(self.items) else 0

    def take(self, items: ArrayLike) -> Pairs:
        """Return some candidates with all their references; fitted weights stay those of all pairs.

        >>> Pairs.of(["a", "b"], [["c", "d"], ["e"]]).take([0]).right.texts
        ('c', 'd')
        """
        chosen = np.asarray(items, dtype=np.int64)
        starts = np.searchsorted(self.items, np.arange(self.n_items + 1))
        rows = np.concatenate([np.arange(starts[item], starts[item + 1]) for item in chosen] or [chosen])
        places = np.repeat(np.arange(len(chosen)), np.diff(starts)[chosen])
        return self.rows(rows, items=places)

    def rows(self, rows: ArrayLike, *, items: Ints | None = None) -> Pairs:
        """Return some of the pairs, each a candidate of its own unless `items` says which belong together."""
        chosen = np.asarray(rows, dtype=np.int64)
        left, right = self.left.take(chosen), self.right.take(chosen)
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return Pairs(left, right, items=items, background=self.background, columns=columns)

    def distinct(self) -> tuple[Pairs, Ints]:
        """Return the different pairs, and for each given pair the place of its equal among them.

        Equal texts with other numbers in a column are different pairs.
        """
        return self._distinct

    @cached_property
    def _distinct(self) -> tuple[Pairs, Ints]:
        numbers = (np.asarray(column, dtype=np.float64).view(np.uint64) for column in self.columns.values())
        keys = np.stack([self.left.keys, self.right.keys, *numbers], axis=1)
        _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return self.rows(first), inverse.reshape(-1)


def join_pools(first: Corpus, second: Corpus) -> tuple[Corpus, Corpus]:
    """Return both corpora as views of one pool, joined if need be."""
    if first.pool is second.pool:
        return first, second
    pools = first.pool, second.pool
    with_texts, with_given = all(pool.has_texts for pool in pools), all(pool.has_given for pool in pools)
    if not with_texts and not with_given:
        raise InputError("cannot join texts with embeddings: give both corpora as texts, or both as embeddings")
    pool = Pool(
        [text for pool in pools for text in pool.texts] if with_texts else None,
        embeddings=stack_rows([pool.embeddings(GIVEN) for pool in pools]) if with_given else None,
        source_rows=np.concatenate([pool.source_rows for pool in pools]),
        source_sizes=[size for pool in pools for size in pool.source_sizes],
        parents=pools,
    )
    return Corpus(pool, first.index), Corpus(pool, second.index + first.pool.size)
