"""What every pair metric keeps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus, Pairs
from textgauge.metrics import PairMetric
from textgauge.metrics.base import Part
from textgauge.testing.metric_checks import ODD_TEXTS, get_global_state, list_checks

# Vectors of a model may differ in their last bits with the company they are computed in.
_TOLERANCE = {"texts": 0.0, "tokens": 0.0}
_MODEL_TOLERANCE = 2e-6
_ROUNDING = 1e-9

NEAR = [
    ("the bridge was closed for repairs last winter", "last winter the bridge was closed for repair"),
    ("a man plays the guitar on a stage", "a man is playing a guitar on stage"),
    ("please send the money to my bank today", "send money to my bank account today please"),
    ("the children run through the garden", "children are running through a garden"),
    ("what is the fastest way to the airport", "which way to the airport is the fastest"),
    ("two dogs chase a ball in the park", "in the park two dogs run after a ball"),
    ("the soup needs more salt and pepper", "add more salt and pepper to the soup"),
    ("our train leaves the station at noon", "at noon our train leaves"),
]
SCRIPTS = [
    "yes",
    "The quick brown fox jumps over the lazy dog.",
    "मैं कल बाज़ार गया था",
    "今天天气很好，我们去公园。",
    "ذهبت إلى السوق أمس",
    "cafe\u0301 créme",
    "👍🏽😀",
    "?!",
    "one\ttab and\u00a0a hard space",
    "lone \ud800 surrogate",
]


def check_identity(metric: PairMetric) -> None:
    """Equal texts score the value at identity in every script."""
    if metric.part is not None:
        return
    values = metric.measure(Pairs(SCRIPTS, SCRIPTS)).values
    for text, value in zip(SCRIPTS, values, strict=True):
        best = metric.value_at_identity
        assert abs(value - best) <= 2e-6, f"{text!r} with itself scores {value}, not {best}"


def check_blank(metric: PairMetric) -> None:
    """Two texts without content are alike; one alone gives a number within bounds or NaN with a reason."""
    if metric.part is not None:
        return
    alike = metric.measure(Pairs(["", "  "], ["", "  "])).values
    assert np.abs(alike - metric.value_at_identity).max() <= _ROUNDING, f"two blank texts score {alike.tolist()}"
    one_sided = metric.measure(Pairs(["", "a text", " "], ["a text", "", "a text"]))
    _check_bounds(metric, one_sided.values, one_sided.reason)


def check_direction(metric: PairMetric) -> None:
    """Paraphrases are closer than mismatched texts, on the whole."""
    near, far = (metric.orient(metric.measure(pairs).defined.mean()) for pairs in (_make_near(), _make_far()))
    assert near < far, f"paraphrases {near} are not closer than mismatches {far}"


def check_symmetry(metric: PairMetric) -> None:
    """Check that a symmetric metric does not change when sides are exchanged; one declared asymmetric does."""
    if metric.part is not None:
        return
    pairs = _make_mixed()
    swapped = Pairs(pairs.right, pairs.left, background=pairs.background)
    gap = np.nanmax(np.abs(metric.measure(pairs).values - metric.measure(swapped).values))
    if metric.symmetric:
        assert gap <= _MODEL_TOLERANCE, f"declared symmetric, but sides matter by {gap}"
    else:
        assert gap > _ROUNDING, "declared asymmetric, but sides never matter"


def check_bounds(metric: PairMetric) -> None:
    """Value and parts lie within their declared bounds."""
    scores = metric.measure(_make_mixed())
    _check_bounds(metric, scores.values, scores.reason)
    for part in metric.parts:
        _check_bounds(part, scores.parts[part.name], "a reason is that of the value")


def check_batch(metric: PairMetric) -> None:
    """Many pairs at once, some at a time, on threads, in any order: the same values."""
    pairs = _make_mixed()
    together = metric.measure(pairs).values
    alone = [metric.measure(_take_pairs(pairs, [row])).values[0] for row in range(len(pairs))]
    _check_same(metric, together, np.array(alone), "alone and together differ")
    halves = np.array_split(np.arange(len(pairs)), 2)
    with ThreadPoolExecutor(2) as pool:
        threaded = np.concatenate(list(pool.map(lambda rows: metric.measure(_take_pairs(pairs, rows)).values, halves)))
    _check_same(metric, together, threaded, "threads differ")
    order = np.random.default_rng(5).permutation(len(pairs))
    _check_same(metric, together[order], metric.measure(_take_pairs(pairs, order)).values, "the order matters")


def check_repeats(metric: PairMetric) -> None:
    """Repeated pairs are computed once and score the same."""
    counted: list[int] = []

    def compute(self: PairMetric, pairs: Pairs) -> dict[str, NDArray[np.float64]]:
        counted.append(len(pairs))
        return metric.compute(pairs)

    counting = type("Counting", (type(metric),), {"compute": compute})
    spy = counting(**{field.name: getattr(metric, field.name) for field in fields(metric)})
    pairs = _make_near()
    thrice = _take_pairs(pairs, np.tile(np.arange(len(pairs)), 3))
    values = spy.measure(thrice).values
    assert sum(counted) <= len(pairs), f"{sum(counted)} pairs computed, {len(pairs)} are different"
    _check_same(metric, np.tile(metric.measure(pairs).values, 3), values, "repeated pairs differ")


def check_matrix(metric: PairMetric) -> None:
    """Check that the matrix of two sets of texts holds the values of their pairs."""
    left, right = Corpus.of([*(a for a, _ in NEAR[:4]), "", "yes"]), Corpus.of([*(b for _, b in NEAR[:3]), "", "no"])
    joint = left | right
    rows, columns = joint.take(range(6)), joint.take(range(6, 11))
    matrix = metric.matrix(rows, columns, background=joint)
    a, b = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    values = metric.measure(Pairs(rows.take(a), columns.take(b), background=joint)).values
    np.testing.assert_allclose(matrix.reshape(-1), values, rtol=0, atol=_MODEL_TOLERANCE, err_msg="matrix")


def check_references(metric: PairMetric) -> None:
    """With several references a candidate scores as with the closest, or better; a repeated one changes nothing."""
    if metric.part is not None:
        return
    left = [a for a, _ in NEAR[:4]]
    near, other = [b for _, b in NEAR[:4]], [b for _, b in NEAR[4:]]
    single = metric(left=left, right=near).values
    twice = metric(left=left, right=[[text, text] for text in near]).values
    if not metric.fitted:
        np.testing.assert_allclose(twice, single, rtol=0, atol=_MODEL_TOLERANCE, err_msg="a repeated reference matters")
    several = metric(left=left, right=[list(both) for both in zip(near, other, strict=True)])
    _check_bounds(metric, several.values, several.reason)


def check_repeatable(metric: PairMetric) -> None:
    """Two calls agree bit by bit and leave numpy's global random state alone."""
    before = get_global_state()
    first, second = (metric.measure(_make_mixed()).values for _ in range(2))
    np.testing.assert_array_equal(first, second, err_msg="two calls give different values")
    assert get_global_state() == before, "the global random state was used"


def check_odd_texts(metric: PairMetric) -> None:
    """Any two texts give a number within bounds or NaN with a reason, never a crash."""
    n = len(ODD_TEXTS)
    corpus = Corpus.of(ODD_TEXTS)
    pairs = Pairs(corpus.take(np.repeat(np.arange(n), n)), corpus.take(np.tile(np.arange(n), n)))
    scores = metric.measure(pairs)
    _check_bounds(metric, scores.values, scores.reason)


def check_whole_set(metric: PairMetric) -> None:
    """Where the set has a score of its own, one item's statistics give a finite one, and equal texts the best."""
    counts = metric.statistics(_make_near()) if metric.part is None else None
    if counts is None:
        return
    values = metric.of_statistics(np.vstack([counts, counts.sum(axis=0)]))
    assert values.shape == (len(counts) + 1,), "one score per row of sums"
    assert np.isfinite(values).all(), "a score of the set is not finite"
    same = metric.statistics(Pairs(SCRIPTS[1:2], SCRIPTS[1:2]))
    assert same is not None and abs(metric.of_statistics(same)[0] - metric.value_at_identity) <= _ROUNDING


PAIR_CHECKS = list_checks(globals())


def _make_near() -> Pairs:
    return Pairs([a for a, _ in NEAR], [b for _, b in NEAR])


def _make_far() -> Pairs:
    return Pairs([a for a, _ in NEAR], [b for _, b in [*NEAR[3:], *NEAR[:3]]])


def _make_mixed() -> Pairs:
    left = [*(a for a, _ in NEAR), *(a for a, _ in NEAR), *SCRIPTS, "", "a word", "word", "a b c\nb d"]
    right = [*(b for _, b in NEAR), *(b for _, b in reversed(NEAR)), *SCRIPTS[::-1], "word", "", "a word", "b a d\nc"]
    return Pairs(left, right)


def _take_pairs(pairs: Pairs, rows: NDArray[np.int64] | list[int]) -> Pairs:
    """Return some of the pairs; fitted weights stay those of all."""
    return Pairs(pairs.left.take(rows), pairs.right.take(rows), background=pairs.background)


def _check_bounds(metric: PairMetric | Part, values: NDArray[np.float64], reason: str | None) -> None:
    low, high = metric.bounds
    inside = np.isnan(values) | (np.isfinite(values) & (values >= low - _ROUNDING) & (values <= high + _ROUNDING))
    assert inside.all(), f"{values[~inside][0]} is outside {low}…{high}"
    assert not np.isnan(values).any() or reason, "NaN without a reason"


def _check_same(metric: PairMetric, a: NDArray[np.float64], b: NDArray[np.float64], complaint: str) -> None:
    tolerance = _TOLERANCE.get(metric.needs, _MODEL_TOLERANCE)
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance, err_msg=complaint)
