"""What every metric keeps: its declaration, its values on texts that are alike, unlike and odd, and batches of them."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.data import GIVEN, Comparison, Corpus, Draws, Pairs
from textgauge.metrics import CorpusMetric, Metric, PairMetric, Undefined, get_metric
from textgauge.metrics.base import VALUE, get_parameters

ContractCheck = Callable[[Any], None]

# Vectors of a model may differ in their last bits with the company they are computed in.
_ROUNDING, _MODEL_ROUNDING = 1e-9, 2e-6
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
_WORDS = ["the", "a", "my", "our", "red", "blue", "old", "new", "cat", "dog", "bird", "train", "sees", "likes"]
_WORDS += ["near", "far"]
_OTHER_WORDS = ["please", "could", "you", "send", "pay", "money", "card"]
# Words, and how steeply their use falls.
_DOMAINS = ((_WORDS, 1.0), (_WORDS, 1.0), (_OTHER_WORDS, 0.2))


def list_checks(module: Mapping[str, Any]) -> tuple[ContractCheck, ...]:
    """Return the checks that a module defines, in its order."""
    return tuple(check for name, check in module.items() if name.startswith("check_"))


def get_global_state() -> str:
    """Numpy's global random state, which no metric may touch."""
    return repr(np.random.get_state())  # noqa: NPY002, this is what is tested


def drop_models(metric: CorpusMetric) -> CorpusMetric:
    """Return the metric on something that needs no model: the given vectors, or plain words."""
    if metric.needs == "tokens":
        return metric.with_input("words")
    if metric.reads_texts:
        return metric
    return metric.with_input(f"{GIVEN}:{metric.ground}" if metric.needs == "ground" else GIVEN)


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
    """Check that the key parses back to an equal metric, and the parts have keys of their own."""
    for variant in [metric, *(replace(metric, part=part.name) for part in metric.parts)]:
        assert get_metric(variant.key) == variant, f"{variant.key} does not parse back"
    assert all(f"{name}=" in metric.signature for name in get_parameters(type(metric))), (
        "the signature misses parameters"
    )


def check_value_object(metric: Metric) -> None:
    """Check that a metric is frozen, hashable, and pickles to an equal one."""
    assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301, our own bytes
    assert hash(replace(metric)) == hash(metric)
    try:
        metric.on = "other"  # type: ignore[misc]
    except FrozenInstanceError:
        return
    raise AssertionError("a metric must be frozen")


def check_identity(metric: Any) -> None:
    """Equal texts score the value at identity, in every script; corpora may be beyond it by an unbiased estimate."""
    if metric.part is not None:
        return
    values = _measure(metric, _make_cases(metric).same)
    gaps = values - metric.value_at_identity
    lost = metric.orient(gaps) if isinstance(metric, CorpusMetric) else np.abs(gaps)
    assert lost.max() <= _get_tolerance(metric), f"equal texts score {values}, not {metric.value_at_identity}"


def check_direction(metric: Any) -> None:
    """Texts of one domain, and paraphrases, are closer than others."""
    cases = _make_cases(metric)
    near, far = (metric.orient(np.nanmean(_measure(metric, case))) for case in (cases.near, cases.far))
    assert near < far, f"texts that are alike {near} are not closer than others {far}"


def check_symmetry(metric: Any) -> None:
    """Check that a symmetric metric does not change when roles are exchanged; one declared asymmetric does."""
    if metric.part is not None:
        return
    cases = [(case, _swap(case)) for case in _make_cases(metric).mixed]
    gap = max(float(np.nanmax(np.abs(_measure(metric, one) - _measure(metric, other)))) for one, other in cases)
    if metric.symmetric:
        assert gap <= _get_tolerance(metric), f"declared symmetric, but roles matter by {gap}"
    else:
        assert gap > _ROUNDING, "declared asymmetric, but roles never matter"


def check_bounds(metric: Any) -> None:
    """Value and parts lie within their declared bounds."""
    cases = _make_cases(metric)
    for case in (cases.same, *cases.mixed):
        score = metric.measure(case)
        _check_bounds(metric, _measure(metric, case), score.reason)
        for part in metric.parts:
            bounds = metric if part is metric.shown else part
            factor = getattr(metric, "factor", 1.0)
            _check_bounds(bounds, np.atleast_1d(score.parts[part.name]) / factor, "a reason is that of the value")


def check_odd_texts(metric: Any) -> None:
    """Any texts, also repeated, constant and empty ones, give a number or NaN with a reason, never a crash."""
    for case in _make_cases(metric).odd:
        values, reason = _measure(metric, case), metric.measure(case).reason
        if isinstance(metric, PairMetric):
            _check_bounds(metric, values, reason)
        else:
            assert np.isfinite(values).all() or reason, f"{values} without a reason"


def check_repeatable(metric: Any) -> None:
    """Two calls agree bit by bit and leave numpy's global random state alone."""
    before, case = get_global_state(), _make_cases(metric).mixed[-1]
    np.testing.assert_array_equal(_measure(metric, case), _measure(metric, case), err_msg="two calls differ")
    assert get_global_state() == before, "the global random state was used"


METRIC_CHECKS = list_checks(globals())


def check_order(metric: CorpusMetric) -> None:
    """Check that the order of the texts in a corpus does not matter."""
    comparison, rng = _make_cases(metric).far, np.random.default_rng(5)
    shuffled = Comparison(*(side.take(rng.permutation(len(side))) for side in comparison.sides))
    first, second = metric.measure(comparison).value, metric.measure(shuffled).value
    is_same = math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
    assert is_same, f"the order of the texts matters: {first} and {second}"


def check_view(metric: CorpusMetric) -> None:
    """Check that a view of a pool gives bit by bit what a copy of its texts gives."""
    views = [side.take(np.arange(3, len(side))) for side in _make_cases(metric).far.sides]
    copies = [Corpus.of(list(v.texts) if v.pool.has_texts else v.embeddings(GIVEN).copy()) for v in views]
    viewed, copied = metric.measure(Comparison(*views)).value, metric.measure(Comparison(*copies)).value
    assert viewed == copied, f"a view scores {viewed}, a copy of it {copied}"


def check_draws(metric: CorpusMetric) -> None:
    """Many draws at once give what one at a time gives; sides that are too small give NaN."""
    joint = _make_cases(metric).far.joint
    draws = _make_draws(len(joint))
    together = metric.compute_many(joint, draws)
    one_by_one = CorpusMetric.compute_many(metric, joint, draws)
    for name in [VALUE, *(part.name for part in metric.parts)]:
        np.testing.assert_allclose(together[name], one_by_one[name], rtol=1e-7, atol=_ROUNDING, err_msg=name)


def check_too_few(metric: CorpusMetric) -> None:
    """With fewer texts than it needs a metric is NaN, with a reason; with as many as it needs it is not a crash."""
    comparison = _make_cases(metric).far
    for size in range(metric.min_texts + 1):
        score = metric.measure(Comparison(comparison.reference.take(range(size)), comparison.candidate))
        assert not math.isnan(score.value) or score.reason, "NaN without a reason"
        assert size >= metric.min_texts or math.isnan(score.value), f"{size} texts should be too few"


def check_uncertainty(metric: CorpusMetric) -> None:
    """Check that the interval is in order and finite, or has a reason to be absent, and that p lies in (0, 1]."""
    cases, enough = _make_cases(metric), max(60, metric.min_texts_interval)
    large = Comparison(*_make_corpora(metric, 11, (enough, 2, enough))[::2])
    with suppress(Undefined):
        low, high, method = metric.interval(large, metric.measure(large), level=0.9, seed=0)
        assert math.isfinite(low) and math.isfinite(high) and low <= high and method, f"interval {low} … {high}"
    for case in (cases.near, cases.far):
        p = metric.null_values(case, permutations=39, seed=0).p_value
        assert 0 < p <= 1, f"p-value {p}"


CORPUS_CHECKS = (check_order, check_view, check_draws, check_too_few, check_uncertainty)


def check_blank(metric: PairMetric) -> None:
    """Two texts without content are alike; one alone gives a number within bounds or NaN with a reason."""
    if metric.part is not None:
        return
    alike = _measure(metric, Pairs(["", "  "], ["", "  "]))
    assert np.abs(alike - metric.value_at_identity).max() <= _ROUNDING, f"two blank texts score {alike.tolist()}"
    one_sided = Pairs(["", "a text", " "], ["a text", "", "a text"])
    _check_bounds(metric, _measure(metric, one_sided), metric.measure(one_sided).reason)


def check_batch(metric: PairMetric) -> None:
    """Many pairs at once, some at a time, on threads, in any order, repeated: the same values, each computed once."""
    (pairs,) = _make_cases(metric).mixed
    together, n = metric.measure(pairs).values, len(pairs)
    counted: list[int] = []

    def compute(self: PairMetric, pairs: Pairs) -> dict[str, Floats]:
        counted.append(len(pairs))
        return metric.compute(pairs)

    counting = type("Counting", (type(metric),), {"compute": compute})
    spy = counting(**{field.name: getattr(metric, field.name) for field in fields(metric) if field.init})
    repeated = spy.measure(_take_pairs(pairs, np.tile(np.arange(n), 3))).values
    assert sum(counted) <= n, f"{sum(counted)} pairs computed, {n} are different"
    order, halves = np.random.default_rng(5).permutation(n), np.array_split(np.arange(n), 2)
    with ThreadPoolExecutor(2) as pool:
        threaded = list(pool.map(lambda rows: metric.measure(_take_pairs(pairs, rows)).values, halves))
    alone = [metric.measure(_take_pairs(pairs, np.array([row]))).values for row in range(n)]
    tolerance = 0.0 if metric.needs in ("texts", "tokens") else _MODEL_ROUNDING
    for values, expected, complaint in (
        (np.concatenate(alone), together, "alone and together differ"),
        (np.concatenate(threaded), together, "threads differ"),
        (metric.measure(_take_pairs(pairs, order)).values, together[order], "the order matters"),
        (repeated, np.tile(together, 3), "repeated pairs differ"),
    ):
        np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance, err_msg=complaint)


def check_matrix(metric: PairMetric) -> None:
    """Check that the matrix of two sets of texts holds the values of their pairs."""
    left, right = Corpus.of([*(a for a, _ in NEAR[:4]), "", "yes"]), Corpus.of([*(b for _, b in NEAR[:3]), "", "no"])
    joint = left | right
    rows, columns = joint.take(range(6)), joint.take(range(6, 11))
    matrix = metric.matrix(rows, columns, background=joint)
    a, b = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    values = _measure(metric, Pairs(rows.take(a), columns.take(b), background=joint))
    np.testing.assert_allclose(matrix.reshape(-1), values, rtol=0, atol=_MODEL_ROUNDING, err_msg="matrix")


def check_references(metric: PairMetric) -> None:
    """With several references a candidate scores as with the closest, or better; a repeated one changes nothing."""
    if metric.part is not None:
        return
    left = [a for a, _ in NEAR[:4]]
    near, other = [b for _, b in NEAR[:4]], [b for _, b in NEAR[4:]]
    single = metric(left=left, right=near).values
    twice = metric(left=left, right=[[text, text] for text in near]).values
    if not metric.fitted:
        np.testing.assert_allclose(twice, single, rtol=0, atol=_MODEL_ROUNDING, err_msg="a repeated reference matters")
    several = metric(left=left, right=[list(both) for both in zip(near, other, strict=True)])
    _check_bounds(metric, several.values / metric.factor, several.reason)


def check_whole_set(metric: PairMetric) -> None:
    """Where the set has a score of its own, one item's statistics give a finite one, and equal texts the best."""
    counts = metric.statistics(_make_cases(metric).near) if metric.part is None else None
    if counts is None:
        return
    values = metric.of_statistics(np.vstack([counts, counts.sum(axis=0)]))
    assert values.shape == (len(counts) + 1,), "one score per row of sums"
    assert np.isfinite(values).all(), "a score of the set is not finite"
    same = metric.statistics(Pairs(SCRIPTS[1:2], SCRIPTS[1:2]))
    assert same is not None and abs(metric.of_statistics(same)[0] - metric.value_at_identity) <= _ROUNDING


PAIR_CHECKS = (check_blank, check_batch, check_matrix, check_references, check_whole_set)


@dataclass(frozen=True, eq=False)
class _Cases:
    """Comparisons or pairs: of equal texts, of texts that are alike, of others, of several kinds, and of odd texts."""

    same: Any
    near: Any
    far: Any
    mixed: list[Any]
    odd: list[Any]


def _make_cases(metric: Metric) -> _Cases:
    if isinstance(metric, CorpusMetric):
        half, other_half, elsewhere = _make_corpora(metric, 11, (60, 60, 60))
        near, far = Comparison(half, other_half), Comparison(half, elsewhere)
        equal, (small, _, large) = _make_corpora(metric, 12, (40, 2, 2))[0], _make_corpora(metric, 13, (25, 2, 70))
        mixed = [Comparison(small, large), near, far]
        return _Cases(Comparison(equal, equal), near, far, mixed, _make_degenerate(metric))
    left, right = ([pair[side] for pair in NEAR] for side in (0, 1))
    several = (
        [*left, *left, *SCRIPTS, "", "a word", "word", "a b c\nb d"],
        [*right, *right[::-1], *SCRIPTS[::-1], "word", "", "a word", "b a d\nc"],
    )
    odd, n = Corpus.of(ODD_TEXTS), len(ODD_TEXTS)
    all_odd = Pairs(odd.take(np.repeat(np.arange(n), n)), odd.take(np.tile(np.arange(n), n)))
    others = Pairs(left, [*right[3:], *right[:3]])
    return _Cases(Pairs(SCRIPTS, SCRIPTS), Pairs(left, right), others, [Pairs(*several)], [all_odd])


def _make_corpora(metric: CorpusMetric, seed: int, sizes: tuple[int, int, int]) -> list[Corpus]:
    """Return two corpora of one domain and one of another."""
    rng = np.random.default_rng(seed)
    if metric.reads_texts:
        return [
            Corpus.of([_write_sentence(rng, *domain) for _ in range(n)])
            for n, domain in zip(sizes, _DOMAINS, strict=True)
        ]
    offset = np.repeat([2.0, 0.0], 6)
    near, far = rng.normal(size=(sizes[0] + sizes[1], 12)) + offset, 0.5 * rng.normal(size=(sizes[2], 12)) + 1.5
    return [Corpus.of(block.astype(np.float32)) for block in [*np.split(near, [sizes[0]]), far]]


def _write_sentence(rng: np.random.Generator, words: list[str], steepness: float) -> str:
    weights = np.arange(1, len(words) + 1) ** -steepness
    return " ".join(rng.choice(words, size=rng.integers(3, 9), p=weights / weights.sum()))


def _make_draws(n: int) -> Draws:
    """Return the splits, leave-outs, overlapping subsets, and sides of no, one and two rows."""
    rng = np.random.default_rng(14)
    split, places = rng.random((3, n)) < 0.5, np.arange(n)
    left = [*split, *(rng.random((3, n)) < 0.3), places < n // 2, *(places < size for size in range(3))]
    right = [*~split, *(rng.random((3, n)) < 0.3), places > n // 2 + 4, *([np.ones(n, bool)] * 3)]
    return Draws(np.array(left), np.array(right))


def _make_degenerate(metric: CorpusMetric) -> list[Comparison]:
    rows: list[tuple[Any, Any]]
    if metric.reads_texts:
        repeated = ["the cat", "the dog"] * 10
        same, other = ["same"] * 20, ["other"] * 20
        rows = [(repeated, repeated[::-1]), (same, same), (same, other), ([""] * 20, repeated)]
        rows.append((ODD_TEXTS * 3, repeated))
    else:
        few = np.repeat(np.random.default_rng(15).normal(size=(4, 12)), 6, axis=0)
        one, zero = np.ones((24, 12)), np.zeros((24, 12))
        rows = [(few, few), (few, few[::-1] + 1), (one, one), (one, 2 * one), (zero, few), (zero, zero)]
    return [Comparison(a, b) for a, b in rows]


def _measure(metric: Any, case: Any) -> Floats:
    """Return the value of two corpora, or those of pairs as they are computed, within the bounds of the metric."""
    score = metric.measure(case)
    return np.atleast_1d(score.value if isinstance(metric, CorpusMetric) else score.values / metric.factor)


def _swap(case: Comparison | Pairs) -> Comparison | Pairs:
    return case.swapped() if isinstance(case, Comparison) else Pairs(case.right, case.left, background=case.background)


def _take_pairs(pairs: Pairs, rows: np.ndarray[Any, Any]) -> Pairs:
    """Return some of the pairs; fitted weights stay those of all."""
    return Pairs(pairs.left.take(rows), pairs.right.take(rows), background=pairs.background)


def _get_tolerance(metric: Metric) -> float:
    return _ROUNDING if isinstance(metric, CorpusMetric) else _MODEL_ROUNDING


def _check_bounds(bounded: Any, values: Floats, reason: str | None) -> None:
    """Require numbers within the bounds of a metric or a part, or NaN with a reason."""
    low, high = bounded.bounds
    inside = np.isnan(values) | (np.isfinite(values) & (values >= low - _ROUNDING) & (values <= high + _ROUNDING))
    assert inside.all(), f"{values[~inside][0]} is outside {low}…{high}"
    assert not np.isnan(values).any() or reason, "NaN without a reason"
