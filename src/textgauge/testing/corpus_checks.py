"""What every corpus metric keeps."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from textgauge.data import GIVEN, Comparison, Corpus, Draws
from textgauge.metrics import CorpusMetric, Undefined
from textgauge.metrics.base import VALUE
from textgauge.testing.metric_checks import ODD_TEXTS, get_global_state, list_checks

_TOLERANCE = 1e-9
_WORDS = ["the", "a", "my", "our", "red", "blue", "old", "new", "cat", "dog", "bird", "train", "sees", "likes"]
_WORDS += ["near", "far"]
_OTHER_WORDS = ["please", "could", "you", "send", "pay", "money", "card"]
# Words, and how steeply their use falls.
_DOMAINS = ((_WORDS, 1.0), (_WORDS, 1.0), (_OTHER_WORDS, 0.2))


def check_identity(metric: CorpusMetric) -> None:
    """Check that a corpus compared with itself scores the value at identity, or beyond it for unbiased estimates."""
    if metric.part is not None:
        return
    comparison = _make_same(metric)
    value = metric.measure(comparison).value
    lost = value - metric.value_at_identity if metric.closer == "smaller" else metric.value_at_identity - value
    assert lost <= _TOLERANCE, f"identical corpora score {value}, not {metric.value_at_identity}"


def check_direction(metric: CorpusMetric) -> None:
    """Different domains are farther from each other than halves of one domain."""
    near, far = _make_near_and_far(metric)
    values = [metric.orient(metric.measure(comparison).value) for comparison in (near, far)]
    assert values[0] < values[1], f"halves of one domain {values[0]} are not closer than two domains {values[1]}"


def check_symmetry(metric: CorpusMetric) -> None:
    """Check that a symmetric metric does not change when roles are exchanged; one declared asymmetric does."""
    if metric.part is not None:
        return
    comparisons = [*_make_near_and_far(metric), _make_uneven(metric)]
    gaps = [abs(metric.measure(c).value - metric.measure(c.swapped()).value) for c in comparisons]
    if metric.symmetric:
        assert max(gaps) <= _TOLERANCE, f"declared symmetric, but roles matter by {max(gaps)}"
    else:
        assert max(gaps) > _TOLERANCE, "declared asymmetric, but roles never matter"


def check_bounds(metric: CorpusMetric) -> None:
    """Value and parts lie within their declared bounds."""
    for comparison in [_make_same(metric), *_make_near_and_far(metric), _make_uneven(metric)]:
        score = metric.measure(comparison)
        numbers = [(metric.shown, score.value), *((part, score.parts[part.name]) for part in metric.parts)]
        for part, number in numbers:
            low, high = metric.bounds if part is metric.shown else part.bounds
            assert low - _TOLERANCE <= number <= high + _TOLERANCE, f"{part.name}={number} is outside {low}…{high}"


def check_order(metric: CorpusMetric) -> None:
    """Check that the order of the texts in a corpus does not matter."""
    comparison = _make_near_and_far(metric)[1]
    rng = np.random.default_rng(5)
    sides = comparison.sides
    shuffled = Comparison(*(side.take(rng.permutation(len(side))) for side in sides))
    first, second = metric.measure(comparison).value, metric.measure(shuffled).value
    is_same = math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
    assert is_same, f"the order of the texts matters: {first} and {second}"


def check_view(metric: CorpusMetric) -> None:
    """Check that a view of a pool gives bit by bit what a copy of its texts gives."""
    comparison = _make_near_and_far(metric)[1]
    rows = np.arange(3, len(comparison.reference))
    views = (comparison.reference.take(rows), comparison.candidate.take(rows))
    copies = [Corpus.of(list(v.texts) if v.pool.has_texts else v.embeddings(GIVEN).copy()) for v in views]
    viewed, copied = metric.measure(Comparison(*views)).value, metric.measure(Comparison(*copies)).value
    assert viewed == copied, f"a view scores {viewed}, a copy of it {copied}"


def check_batch(metric: CorpusMetric) -> None:
    """Many draws at once give what one at a time gives; sides that are too small give NaN."""
    joint = _make_near_and_far(metric)[1].joint
    draws = _make_draws(len(joint))
    together = metric.compute_many(joint, draws)
    one_by_one = CorpusMetric.compute_many(metric, joint, draws)
    for name in [VALUE, *(part.name for part in metric.parts)]:
        np.testing.assert_allclose(together[name], one_by_one[name], rtol=1e-7, atol=_TOLERANCE, err_msg=name)


def check_repeatable(metric: CorpusMetric) -> None:
    """Two calls agree bit by bit and leave numpy's global random state alone."""
    before = get_global_state()
    first, second = (metric.measure(_make_near_and_far(metric)[1]).value for _ in range(2))
    assert first == second, "two calls give different values"
    assert get_global_state() == before, "the global random state was used"


def check_too_few(metric: CorpusMetric) -> None:
    """With fewer texts than it needs a metric is NaN, with a reason; with as many as it needs it is not a crash."""
    comparison = _make_near_and_far(metric)[1]
    for size in range(metric.min_texts + 1):
        score = metric.measure(Comparison(comparison.reference.take(range(size)), comparison.candidate))
        assert not math.isnan(score.value) or score.reason, "NaN without a reason"
        assert size >= metric.min_texts or math.isnan(score.value), f"{size} texts should be too few"


def check_degenerate(metric: CorpusMetric) -> None:
    """Repeated, constant and odd texts give a number within bounds or NaN with a reason, never a crash."""
    for comparison in _make_degenerate(metric):
        score = metric.measure(comparison)
        assert math.isfinite(score.value) or score.reason, f"{score.value} without a reason"


def check_uncertainty(metric: CorpusMetric) -> None:
    """Check that the interval is in order and finite, or has a reason to be absent, and that p lies in (0, 1]."""
    near, far = _make_near_and_far(metric)
    enough = max(60, metric.min_texts_interval)
    large = Comparison(*_make_corpora(metric, 11, (enough, 2, enough))[::2])
    with suppress(Undefined):
        low, high, method = metric.interval(large, metric.measure(large), level=0.9, seed=0)
        assert math.isfinite(low) and math.isfinite(high) and low <= high and method, f"interval {low} … {high}"
    p_far, p_near = (metric.p_value(comparison, permutations=39, seed=0)[0] for comparison in (far, near))
    assert 0 < p_near <= 1 and 0 < p_far <= 1, f"p-values {p_near}, {p_far}"


CORPUS_CHECKS = list_checks(globals())


def drop_models(metric: CorpusMetric) -> CorpusMetric:
    """Return the metric on something that needs no model: the given vectors, or plain words."""
    if metric.needs == "tokens":
        return metric.with_input("words")
    if metric.reads_texts:
        return metric
    return metric.with_input(f"{GIVEN}:{metric.ground}" if metric.needs == "ground" else GIVEN)


def _make_corpora(metric: CorpusMetric, seed: int, sizes: tuple[int, int, int]) -> tuple[Corpus, Corpus, Corpus]:
    """Return two corpora of one domain and one of another."""
    rng = np.random.default_rng(seed)
    if metric.reads_texts:
        texts = [[_write_sentence(rng, *domain) for _ in range(n)] for n, domain in zip(sizes, _DOMAINS, strict=True)]
        return tuple(Corpus.of(corpus) for corpus in texts)  # type: ignore[return-value]
    offset = np.repeat([2.0, 0.0], 6)
    near, far = rng.normal(size=(sizes[0] + sizes[1], 12)) + offset, 0.5 * rng.normal(size=(sizes[2], 12)) + 1.5
    vectors = [*np.split(near, [sizes[0]]), far]
    return tuple(Corpus.of(block.astype(np.float32)) for block in vectors)  # type: ignore[return-value]


def _write_sentence(rng: np.random.Generator, words: list[str], steepness: float) -> str:
    weights = np.arange(1, len(words) + 1) ** -steepness
    return " ".join(rng.choice(words, size=rng.integers(3, 9), p=weights / weights.sum()))


def _make_near_and_far(metric: CorpusMetric) -> tuple[Comparison, Comparison]:
    half, other_half, elsewhere = _make_corpora(metric, 11, (60, 60, 60))
    return Comparison(half, other_half), Comparison(half, elsewhere)


def _make_same(metric: CorpusMetric) -> Comparison:
    corpus = _make_corpora(metric, 12, (40, 2, 2))[0]
    return Comparison(corpus, corpus)


def _make_uneven(metric: CorpusMetric) -> Comparison:
    small, _, large = _make_corpora(metric, 13, (25, 2, 70))
    return Comparison(small, large)


def _make_draws(n: int) -> Draws:
    """Return the splits, leave-outs, overlapping subsets, and sides of no, one and two rows."""
    rng = np.random.default_rng(14)
    split, places = rng.random((3, n)) < 0.5, np.arange(n)
    left = [*split, *(rng.random((3, n)) < 0.3), places < n // 2, *(places < size for size in range(3))]
    right = [*~split, *(rng.random((3, n)) < 0.3), places > n // 2 + 4, *([np.ones(n, bool)] * 3)]
    return Draws(np.array(left), np.array(right))


def _make_degenerate(metric: CorpusMetric) -> list[Comparison]:
    if metric.reads_texts:
        repeated = ["the cat", "the dog"] * 10
        same, other = ["same"] * 20, ["other"] * 20
        texts = [(repeated, repeated[::-1]), (same, same), (same, other), ([""] * 20, repeated)]
        return [Comparison(a, b) for a, b in [*texts, (ODD_TEXTS * 3, repeated)]]
    few = np.repeat(np.random.default_rng(15).normal(size=(4, 12)), 6, axis=0)
    one, zero = np.ones((24, 12)), np.zeros((24, 12))
    rows = [(few, few), (few, few[::-1] + 1), (one, one), (one, 2 * one), (zero, few), (zero, zero)]
    return [Comparison(a, b) for a, b in rows]
