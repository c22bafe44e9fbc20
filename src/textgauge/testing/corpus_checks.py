"""What every metric keeps (its declaration, its names, its being a value), and what every corpus metric keeps."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import FrozenInstanceError, replace

import numpy as np

from textgauge.data import GIVEN, Comparison, Corpus, Draws
from textgauge.metrics import CorpusMetric, Metric, Undefined, get_metric
from textgauge.metrics.base import VALUE, parameters

Check = Callable[[CorpusMetric], None]

_TOLERANCE = 1e-9
_WORDS = ["the", "a", "my", "our", "red", "blue", "old", "new", "cat", "dog", "bird", "train", "sees", "likes"]
_WORDS += ["near", "far"]
_OTHER_WORDS = ["please", "could", "you", "send", "pay", "money", "card", "bank", "rate", "loan", "fee", "now"]


ODD_TEXTS = [
    "",
    "   ",
    "😀 👍🏽",
    "नमस्ते दुनिया",
    "你好世界",
    "مرحبا بالعالم",
    "e\u0301tude",
    "lone \ud800 surrogate",
    "a" * 5_000,
]


def check_declaration(metric: Metric) -> None:
    """Name, label, source and docstring are there, bounds are in order, the value at identity lies within."""
    assert metric.label, "a metric needs a label"
    assert metric.source, "a metric needs a source"
    assert (type(metric).__doc__ or "").strip(), "a metric needs a docstring"
    assert metric.bounds[0] < metric.bounds[1], f"bounds {metric.bounds} are empty"
    assert metric.part is not None or metric.bounds[0] <= metric.value_at_identity <= metric.bounds[1], (
        "the value at identity is out of bounds"
    )
    assert len({part.name for part in metric.parts}) == len(metric.parts), "two parts have one name"


def check_name(metric: Metric) -> None:
    """The key parses back to an equal metric, and the parts have keys of their own."""
    for variant in [metric, *(replace(metric, part=part.name) for part in metric.parts)]:
        assert get_metric(variant.key) == variant, f"{variant.key} does not parse back"
    assert all(f"{name}=" in metric.signature for name in parameters(type(metric))), "the signature misses parameters"


def check_value_object(metric: Metric) -> None:
    """A metric is frozen, hashable, and pickles to an equal one."""
    assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301, our own bytes
    assert hash(replace(metric)) == hash(metric)
    try:
        metric.on = "other"  # type: ignore[misc]
    except FrozenInstanceError:
        return
    raise AssertionError("a metric must be frozen")


DECLARED_CHECKS: tuple[Callable[[Metric], None], ...] = (check_declaration, check_name, check_value_object)


def global_state() -> str:
    """Numpy's global random state, which no metric may touch."""
    return repr(np.random.get_state())  # noqa: NPY002, this is what is tested


def check_identity(metric: CorpusMetric) -> None:
    """A corpus compared with itself scores the value at identity, or beyond it for unbiased estimates."""
    if metric.part is not None:
        return
    comparison = _same(metric)
    value = metric.measure(comparison).value
    lost = value - metric.value_at_identity if metric.closer == "smaller" else metric.value_at_identity - value
    assert lost <= _TOLERANCE, f"identical corpora score {value}, not {metric.value_at_identity}"


def check_direction(metric: CorpusMetric) -> None:
    """Different domains are farther from each other than halves of one domain."""
    near, far = _near_and_far(metric)
    values = [metric.orient(metric.measure(comparison).value) for comparison in (near, far)]
    assert values[0] < values[1], f"halves of one domain {values[0]} are not closer than two domains {values[1]}"


def check_symmetry(metric: CorpusMetric) -> None:
    """A symmetric metric does not change when roles are exchanged; one declared asymmetric does."""
    if metric.part is not None:
        return
    comparisons = [*_near_and_far(metric), _uneven(metric)]
    gaps = [abs(metric.measure(c).value - metric.measure(c.swapped()).value) for c in comparisons]
    if metric.symmetric:
        assert max(gaps) <= _TOLERANCE, f"declared symmetric, but roles matter by {max(gaps)}"
    else:
        assert max(gaps) > _TOLERANCE, "declared asymmetric, but roles never matter"


def check_bounds(metric: CorpusMetric) -> None:
    """Value and parts lie within their declared bounds."""
    for comparison in [_same(metric), *_near_and_far(metric), _uneven(metric)]:
        score = metric.measure(comparison)
        numbers = [(metric.shown, score.value), *((part, score.parts[part.name]) for part in metric.parts)]
        for part, number in numbers:
            low, high = metric.bounds if part is metric.shown else part.bounds
            assert low - _TOLERANCE <= number <= high + _TOLERANCE, f"{part.name}={number} is outside {low}…{high}"


def check_order(metric: CorpusMetric) -> None:
    """The order of the texts in a corpus does not matter."""
    comparison = _near_and_far(metric)[1]
    rng = np.random.default_rng(5)
    sides = comparison.sides
    shuffled = Comparison(*(side.take(rng.permutation(len(side))) for side in sides))
    _assert_close(metric.measure(comparison).value, metric.measure(shuffled).value, "the order of the texts matters")


def check_view(metric: CorpusMetric) -> None:
    """A view of a pool gives bit by bit what a copy of its texts gives."""
    comparison = _near_and_far(metric)[1]
    rows = np.arange(3, len(comparison.reference))
    views = (comparison.reference.take(rows), comparison.candidate.take(rows))
    copies = [_copy(view) for view in views]
    viewed, copied = metric.measure(Comparison(*views)).value, metric.measure(Comparison(*copies)).value
    assert viewed == copied, f"a view scores {viewed}, a copy of it {copied}"


def check_batch(metric: CorpusMetric) -> None:
    """Many draws at once give what one at a time gives; sides that are too small give NaN."""
    joint = _near_and_far(metric)[1].joint
    draws = _draws(len(joint))
    together = metric.compute_many(joint, draws)
    one_by_one = CorpusMetric.compute_many(metric, joint, draws)
    for name in [VALUE, *(part.name for part in metric.parts)]:
        np.testing.assert_allclose(together[name], one_by_one[name], rtol=1e-7, atol=_TOLERANCE, err_msg=name)


def check_repeatable(metric: CorpusMetric) -> None:
    """Two calls agree bit by bit and leave numpy's global random state alone."""
    before = global_state()
    first, second = (metric.measure(_near_and_far(metric)[1]).value for _ in range(2))
    assert first == second, "two calls give different values"
    assert global_state() == before, "the global random state was used"


def check_too_few(metric: CorpusMetric) -> None:
    """With fewer texts than it needs a metric is NaN, with a reason; with as many as it needs it is not a crash."""
    comparison = _near_and_far(metric)[1]
    for size in range(metric.min_texts + 1):
        score = metric.measure(Comparison(comparison.reference.take(range(size)), comparison.candidate))
        assert not math.isnan(score.value) or score.reason, "NaN without a reason"
        assert size >= metric.min_texts or math.isnan(score.value), f"{size} texts should be too few"


def check_degenerate(metric: CorpusMetric) -> None:
    """Repeated, constant and odd texts give a number within bounds or NaN with a reason, never a crash."""
    for comparison in _degenerate(metric):
        score = metric.measure(comparison)
        assert math.isfinite(score.value) or score.reason, f"{score.value} without a reason"


def check_uncertainty(metric: CorpusMetric) -> None:
    """The interval is in order and has finite ends, or there is a reason for none; the p-value lies in (0, 1]."""
    near, far = _near_and_far(metric)
    enough = max(60, metric.min_texts_interval)
    large = Comparison(*_corpora(metric, 11, (enough, 2, enough))[::2])
    with suppress(Undefined):
        low, high, method = metric.interval(large, metric.measure(large), level=0.9, seed=0)
        assert math.isfinite(low) and math.isfinite(high) and low <= high and method, f"interval {low} … {high}"
    p_far, p_near = (metric.p_value(comparison, permutations=39, seed=0)[0] for comparison in (far, near))
    assert 0 < p_near <= 1 and 0 < p_far <= 1, f"p-values {p_near}, {p_far}"


CORPUS_CHECKS: tuple[Check, ...] = (
    check_identity,
    check_direction,
    check_symmetry,
    check_bounds,
    check_order,
    check_view,
    check_batch,
    check_repeatable,
    check_too_few,
    check_degenerate,
    check_uncertainty,
)


def without_models(metric: CorpusMetric) -> CorpusMetric:
    """Return the metric on something that needs no model: the given vectors, or plain words."""
    if metric.needs == "tokens":
        return metric.with_input("words")
    if metric.reads_texts:
        return metric
    return metric.with_input(f"{GIVEN}:{metric.ground}" if metric.needs == "ground" else GIVEN)


def _corpora(metric: CorpusMetric, seed: int, sizes: tuple[int, int, int]) -> tuple[Corpus, Corpus, Corpus]:
    """Two corpora of one domain and one of another."""
    rng = np.random.default_rng(seed)
    if metric.reads_texts:
        texts = [[_sentence(rng, *domain) for _ in range(n)] for n, domain in zip(sizes, _DOMAINS, strict=True)]
        return tuple(Corpus.of(corpus) for corpus in texts)  # type: ignore[return-value]
    offset = np.repeat([2.0, 0.0], 6)
    near, far = rng.normal(size=(sizes[0] + sizes[1], 12)) + offset, 0.5 * rng.normal(size=(sizes[2], 12)) + 1.5
    vectors = [*np.split(near, [sizes[0]]), far]
    return tuple(Corpus.of(block.astype(np.float32)) for block in vectors)  # type: ignore[return-value]


_DOMAINS = ((_WORDS, 1.0), (_WORDS, 1.0), (_OTHER_WORDS[:7], 0.2))  # words, and how steeply their use falls


def _sentence(rng: np.random.Generator, words: list[str], steepness: float) -> str:
    weights = np.arange(1, len(words) + 1) ** -steepness
    return " ".join(rng.choice(words, size=rng.integers(3, 9), p=weights / weights.sum()))


def _near_and_far(metric: CorpusMetric) -> tuple[Comparison, Comparison]:
    half, other_half, elsewhere = _corpora(metric, 11, (60, 60, 60))
    return Comparison(half, other_half), Comparison(half, elsewhere)


def _same(metric: CorpusMetric) -> Comparison:
    corpus = _corpora(metric, 12, (40, 2, 2))[0]
    return Comparison(corpus, corpus)


def _uneven(metric: CorpusMetric) -> Comparison:
    small, _, large = _corpora(metric, 13, (25, 2, 70))
    return Comparison(small, large)


def _copy(corpus: Corpus) -> Corpus:
    if corpus.pool.has_texts:
        return Corpus.of(list(corpus.texts))
    return Corpus.of(corpus.embeddings(GIVEN).copy())


def _draws(n: int) -> Draws:
    """Splits, leave-outs, overlapping subsets, and sides of no, one and two rows."""
    rng = np.random.default_rng(14)
    split = rng.random((3, n)) < 0.5
    left = [
        *split,
        *(rng.random((3, n)) < 0.3),
        np.arange(n) < n // 2,
        np.zeros(n, bool),
        np.arange(n) == 0,
        np.arange(n) < 2,
    ]
    right = [*~split, *(rng.random((3, n)) < 0.3), np.arange(n) > n // 2 + 4, *([np.ones(n, bool)] * 3)]
    return Draws(np.array(left), np.array(right))


def _degenerate(metric: CorpusMetric) -> list[Comparison]:
    if metric.reads_texts:
        repeated = ["the cat", "the dog"] * 10
        return [
            Comparison(repeated, repeated[::-1]),
            Comparison(["same"] * 20, ["same"] * 20),
            Comparison(["same"] * 20, ["other"] * 20),
            Comparison([""] * 20, repeated),
            Comparison(ODD_TEXTS * 3, repeated),
        ]
    rng = np.random.default_rng(15)
    few = np.repeat(rng.normal(size=(4, 12)), 6, axis=0)
    constant, zero = np.ones((24, 12)), np.zeros((24, 12))
    pairs = [
        (few, few),
        (few, few[::-1] + 1),
        (constant, constant),
        (constant, 2 * constant),
        (zero, few),
        (zero, zero),
    ]
    return [Comparison(X, Y) for X, Y in pairs]


def _assert_close(first: float, second: float, complaint: str) -> None:
    assert math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12), f"{complaint}: {first} and {second}"
