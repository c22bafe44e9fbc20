"""What metrics of token sequences share: n-grams as numbers, and one comparison as a batch of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Comparison, Corpus, Draws
from textgauge.metrics.corpus._counts import require_tokens
from textgauge.metrics.corpus_metric import CorpusMetric, Values

if TYPE_CHECKING:
    from textgauge.represent.tokenizers import Tokens

Ids = NDArray[np.int64]


def numbered(first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> Ids:
    """A number for each different pair, in the order of the pairs.

    >>> numbered(np.array([1, 0, 1]), np.array([5, 7, 5]))
    array([1, 0, 1])
    """
    pairs = first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second
    return np.unique(pairs, return_inverse=True)[1].reshape(-1)


def alphabetical(tokens: Tokens) -> Ids:
    """Token ids by the alphabetical order of the tokens in use, so that sums round alike in every pool."""
    used, place = np.unique(tokens.ids, return_inverse=True)
    strings = [tokens.vocabulary[token] for token in used.tolist()]
    rank = np.empty(len(used), dtype=np.int64)
    rank[sorted(range(len(used)), key=strings.__getitem__)] = np.arange(len(used))
    return rank[place.reshape(-1)]


def compute_as_draw(metric: CorpusMetric, comparison: Comparison) -> Values:
    """One comparison by the metric's path for many; the two corpora must have tokens."""
    reference, candidate = comparison.reference, comparison.candidate
    sides = {"reference": reference, "candidate": candidate}
    require_tokens({role: token_total(corpus, metric.on) for role, corpus in sides.items()})
    is_reference = np.arange(len(reference) + len(candidate)) < len(reference)
    values = metric.compute_many(comparison.joint, Draws(is_reference[None], ~is_reference[None]))
    return {name: float(column[0]) for name, column in values.items()}


def token_total(corpus: Corpus, tokenizer: str) -> float:
    """Number of tokens of a corpus."""
    return float(len(corpus.tokens(tokenizer).ids))
