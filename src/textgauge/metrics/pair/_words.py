"""The words of texts that have vectors: counts per text, in an order that depends on the vectors' table alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Corpus, Pool
from textgauge.metrics.pair_metric import PairMetric

if TYPE_CHECKING:
    from textgauge.represent.wordvectors import WordVectors

StopWords = Literal["keep", "drop"]

NO_WORD = "a text has no word with a vector"


@dataclass(frozen=True)
class WordCounts:
    """Texts by words: how often each word with a vector stands in each text.

    Columns follow the order of the vectors' table, so that sums over a text's words round alike in every pool.
    `blank` texts have no tokens at all.
    """

    counts: Any
    vectors: NDArray[np.float32]
    blank: NDArray[np.bool_]

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """The number of tokens with a vector in each text."""
        sums = np.append(0, np.cumsum(self.counts.data))
        return np.asarray(sums[self.counts.indptr[1:]] - sums[self.counts.indptr[:-1]], dtype=np.int64)

    @cached_property
    def squares(self) -> NDArray[np.float64]:
        """The squared length of each word's vector."""
        return np.asarray(np.einsum("wd,wd->w", self.vectors, self.vectors, dtype=np.float64))

    @cached_property
    def unit(self) -> WordCounts:
        """The same with vectors of length 1; zero vectors stay zero."""
        lengths = np.sqrt(np.where(self.squares > 0, self.squares, 1.0))
        return replace(self, vectors=(self.vectors / lengths[:, None]).astype(np.float32))


def word_counts(pool: Pool, tokenizer: str, vectors: WordVectors, *, stopwords: StopWords = "keep") -> WordCounts:
    """Count the words of every text of a pool; remembered as long as the pool lives."""
    name = f"{tokenizer}|{vectors.identity}|{stopwords}"
    return pool.remember("words", name, lambda _: _count(pool, tokenizer, vectors, stopwords))  # type: ignore[no-any-return]


def gathered(counts: Any, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the words and counts of rows that have equally many words, shape (rows, words)."""
    starts = counts.indptr[rows]
    places = starts[:, None] + np.arange(counts.indptr[rows[0] + 1] - starts[0])
    return counts.indices[places], np.asarray(counts.data[places], dtype=np.float64)


def _count(pool: Pool, tokenizer: str, vectors: WordVectors, stopwords: StopWords) -> WordCounts:
    from scipy.sparse import csr_matrix

    tokens = pool.tokens(tokenizer)
    used = np.flatnonzero(np.bincount(tokens.ids))
    words = [tokens.vocabulary[token] for token in used.tolist()]
    rows = np.where(_dropped(words), -1, vectors.rows(words)) if stopwords == "drop" else vectors.rows(words)
    columns, column_of = np.unique(rows, return_inverse=True)
    strangers = int(len(columns) > 0 and columns[0] < 0)
    column_of_token = np.empty(int(tokens.ids.max(initial=-1)) + 1, dtype=np.int32)
    column_of_token[used] = column_of - strangers
    found = column_of_token[tokens.ids]
    ends = np.append(0, np.cumsum(found >= 0))[tokens.offsets]
    present = found[found >= 0]
    shape = (len(tokens), len(columns) - strangers)
    counts = csr_matrix((np.ones(len(present), np.int64), present, ends), shape=shape)
    counts.sum_duplicates()
    return WordCounts(counts, vectors.table.matrix[columns[strangers:]], tokens.lengths == 0)


def _dropped(words: Sequence[str]) -> NDArray[np.bool_]:
    """Tell English stop words and what holds no letter or digit."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    plain = (word in ENGLISH_STOP_WORDS or not any(sign.isalnum() for sign in word) for word in words)
    return np.fromiter(plain, dtype=bool, count=len(words))


def alike(left: Corpus, right: Corpus, words: WordCounts) -> NDArray[np.bool_]:
    """Tell where both texts are equal or both have no tokens: these are at distance 0 whatever they hold."""
    same: NDArray[np.bool_] = left.keys == right.keys
    return same | (words.blank[left.index] & words.blank[right.index])


@dataclass(frozen=True, kw_only=True)
class WordVectorMetric(PairMetric):
    """Base of the distances between the word vectors of two texts: `on` names the vectors, `tokens` the tokenizer."""

    needs = "word vectors"
    default_on = "wordvec"
    best = 0.0
    undefined = NO_WORD
    tokens: str = "words"

    def looked_at(self) -> list[str]:
        """The word vectors, by content."""
        from textgauge.represent.wordvectors import word_vectors

        return [f"{self.on}={word_vectors(self.on).identity}"]

    def words(self, pool: Pool, *, stopwords: StopWords = "keep") -> WordCounts:
        """The words of a pool's texts that have vectors."""
        from textgauge.represent.wordvectors import word_vectors

        return word_counts(pool, self.tokens, word_vectors(self.on), stopwords=stopwords)
