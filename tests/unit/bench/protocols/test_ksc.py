"""Known-similarity corpora: how many texts of which source, none twice; judgements against plain twins."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.bench import Ksc, Sources
from textgauge.bench.protocols.base import Observations, merge_rounding_ties
from textgauge.bench.protocols.ksc import (
    compute_accuracy,
    compute_shares,
    estimate_sampling_error,
    list_corpus_pairs,
    list_judgements,
    sample_judgements,
)
from textgauge.core.errors import InputError
from textgauge.data import Corpus


def sources(a, b, *, copies=1, order=None):
    def corpus(role, size):
        texts = [f"{role} {i}" for i in range(size)] * copies
        if order is not None:
            texts = [texts[row] for row in np.random.default_rng(order).permutation(len(texts))]
        return Corpus.of(texts)

    return Sources("a,b", {"a": corpus("a", a), "b": corpus("b", b)})


def corpora_of(batch, k):
    """The texts of each corpus, put together from the pairs."""
    found = {}
    for trial, (i, j) in enumerate(zip(batch.columns["i"], batch.columns["j"], strict=True)):
        for corpus, mask in ((int(i), batch.draws.left[trial]), (int(j), batch.draws.right[trial])):
            texts = frozenset(batch.joint.take(np.flatnonzero(mask)).texts)
            assert len(texts) == mask.sum()
            assert found.setdefault(corpus, texts) == texts
    assert sorted(found) == list(range(k))
    return [found[place] for place in range(k)]


@given(st.integers(3, 30), st.integers(0, 500))
def test_shares_fall_from_all_to_none_by_rounded_steps(k, more):
    n = k - 1 + more
    first = compute_shares(k, n)
    exact = [n * (k - i) / (k - 1) for i in range(1, k + 1)]
    assert len(first) == k
    assert (first[0], first[-1]) == (n, 0)
    assert (np.diff(first) < 0).all()
    assert np.abs(first - exact).max() <= 0.5 + 1e-9


def test_the_order_of_the_paper_runs_over_the_same_corpora_from_the_other_end():
    data = sources(60, 60)
    first, second = (next(iter(Ksc(k=5, n=10, order=order).trials(data, 3))) for order in ("definition", "paper"))
    assert corpora_of(first, 5) == corpora_of(second, 5)[::-1]
    assert {text[0] for text in corpora_of(second, 5)[0]} == {"b"}


def test_spread_draws_use_no_text_again_before_too_few_are_left():
    batches = list(Ksc(k=3, n=4, repetitions=5).trials(sources(14, 12), seed=0))
    drawn = [frozenset().union(*corpora_of(batch, 3)) for batch in batches]
    assert [len(texts) for texts in drawn] == [12] * 5
    assert not drawn[0] & drawn[1]
    assert not drawn[2] & drawn[3]
    assert len({drawn[0] | drawn[1], drawn[2] | drawn[3]}) == 2  # of 14 texts others are left over


@pytest.mark.parametrize("draw", ["spread", "disjoint"])
@pytest.mark.parametrize(("k", "n"), [(3, 2), (5, 10), (7, 100), (12, 25)])
def test_disjoint_draws_use_no_text_twice_and_all_they_need(k, n, draw):
    first = compute_shares(k, n)
    data = sources(int(first.sum()), int((n - first).sum()))
    batches = list(Ksc(k=k, n=n, repetitions=2, draw=draw).trials(data, seed=0))
    assert [batch.number for batch in batches] == [0, 1]
    drawn = [corpora_of(batch, k) for batch in batches]
    for corpora in drawn:
        assert [len(corpus) for corpus in corpora] == [n] * k
        assert [sum(text[0] == "a" for text in corpus) for corpus in corpora] == first.tolist()
        assert len(frozenset().union(*corpora)) == k * n
    assert drawn[0] != drawn[1]


def test_repeated_texts_are_drawn_as_often_as_they_stand_there_where_wanted():
    some = sources(6, 6, copies=3)
    with pytest.raises(InputError, match="6 different texts"):
        Ksc(k=3, n=6).check(some)
    protocol = Ksc(k=3, n=6, repetitions=2, draw="disjoint", distinct=False)
    protocol.check(some)
    texts = Counter(text for batch in protocol.trials(some, 0) for text in batch.joint.texts)
    assert max(texts.values()) > 2  # more often than once a repetition
    again = list(protocol.trials(sources(6, 6, copies=3, order=1), 0))
    assert [sorted(batch.joint.texts) for batch in again] == [sorted(b.joint.texts) for b in protocol.trials(some, 0)]
    assert Ksc().key == Ksc(distinct=True).key != Ksc(distinct=False).key


def test_lottery_draws_may_share_texts_but_hold_none_twice():
    k, n = 7, 20
    (batch,) = Ksc(k=k, n=n, repetitions=1, draw="lottery").trials(sources(n, n), seed=0)
    corpora = corpora_of(batch, k)
    assert [len(corpus) for corpus in corpora] == [n] * k
    assert [sum(text[0] == "a" for text in corpus) for corpus in corpora] == compute_shares(k, n).tolist()
    assert len(frozenset().union(*corpora)) <= 2 * n
    assert corpora[0] & corpora[1]


@pytest.mark.parametrize(
    ("given", "size", "complaint"),
    [
        ({"k": 7, "n": 5}, 500, "at least 6 texts each, not 5"),
        ({"k": 7, "n": 100}, 349, "349 different texts, but k=7 corpora of n=100 need 350"),
        ({"k": 7, "n": 100, "draw": "lottery"}, 99, "need 100"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_is_needed(given, size, complaint):
    with pytest.raises(InputError, match=complaint):
        Ksc(**given).check(sources(size, size))


def test_the_share_of_the_pool_is_the_larger_one_of_both_sources():
    assert Ksc(k=3, n=4, draw="disjoint").pool_share(sources(60, 12)) == 6 / 12  # 4 + 2 + 0 texts of each
    spread = Ksc(k=3, n=4, repetitions=5)  # of two rounds of two and one of one: 2 of 10 pairs are of one round
    assert spread.pool_share(sources(60, 12)) == pytest.approx(6 / 12 * 8 / 10)
    assert spread.pool_share(sources(60, 30)) == 0.0
    lottery = Ksc(k=3, n=4, draw="lottery")
    drawn = 1 - (1 - 4 / 5) * (1 - 2 / 5)  # by the corpus of 4 of them, or by that of 2
    assert lottery.pool_share(sources(60, 5)) == lottery.pool_share(sources(5, 60)) == pytest.approx(drawn)


def observed(*values, reasons=None):
    i, j = np.triu_indices(3, 1)
    count = len(values)
    return Observations(
        np.concatenate(values).astype(float),
        np.repeat(np.arange(count), 3),
        {"i": np.tile(i, count), "j": np.tile(j, count), "reason": np.array(reasons or [None] * 3 * count)},
    )


def test_an_undefined_trial_leaves_its_repetition_out_and_says_so():
    reasons = [None, "too few texts", None] + [None] * 6
    found = Ksc(k=3, n=2).judge(observed([1, np.nan, 1], [1, 2, 1], [2, 1, 2], reasons=reasons))
    for verdict in found:
        assert np.isnan(verdict.values[0])
        assert verdict.value == np.mean(verdict.values[1:])
        assert verdict.reason == "1 of 3 repetitions left out: undefined in 1 of 3 trials: too few texts"


def test_infinite_distances_are_ordered_but_not_on_a_line():
    accuracy, _, monotonicity, separability, linearity = Ksc(k=3, n=2).judge(observed([1, np.inf, 1]))
    assert (accuracy.value, monotonicity.value) == (1.0, 1.0)
    assert separability.reason == linearity.reason == "a distance is infinite"


def test_one_repetition_has_no_interval():
    for verdict in Ksc(k=3, n=2).judge(observed([1, 2, 1])):
        assert verdict.value == 1.0
        assert np.isnan([verdict.std, verdict.low, verdict.high, verdict.boot_low]).all()


def test_ties_lines_and_samples_are_judged_as_the_options_say():
    tied = observed([1, 1, 1], [1, 2, 1])
    for ties, expected in (("half", 0.75), ("right", 1.0), ("wrong", 0.5)):
        accuracy, weighted, *_ = Ksc(k=3, n=2, ties=ties).judge(tied)
        assert (accuracy.value, weighted.value) == (expected, expected)
    slanted = observed([1, 2, 2])
    of_r2, of_r = (Ksc(k=3, n=2, linearity=kind).judge(slanted)[-1].value for kind in ("r2", "r"))
    assert of_r2 == pytest.approx(of_r**2)
    assert of_r == pytest.approx(0.5)
    whole, drawn = (Ksc(k=3, n=2, sample=size).judge(observed([1, 2, 3], [1, 2, 3]))[0] for size in (0, 400))
    assert (whole.value, whole.error) == (0.5, 0.0)
    assert drawn.error == pytest.approx((drawn.value * (1 - drawn.value) / 400) ** 0.5)  # both share one sample


def as_counter(of, k):
    i, j = list_corpus_pairs(k)
    rows = zip(of.inner, of.outer, of.count, strict=True)
    return Counter({((i[a], j[a]), (i[b], j[b])): int(count) for a, b, count in rows})


def contained(k):
    """Every pair inside another pair, once."""
    pairs = list(combinations(range(k), 2))
    return Counter((q, o) for q in pairs for o in pairs if q != o and o[0] <= q[0] and q[1] <= o[1])


def by_recursion(k):
    """The pairs inside a pair, then the same for the pair without its first and without its last corpus."""
    found = Counter()

    def visit(first, last):
        inside = combinations(range(first, last + 1), 2)
        found.update((pair, (first, last)) for pair in inside if pair != (first, last))
        if last - first > 1:
            visit(first + 1, last)
            visit(first, last - 1)

    visit(0, k - 1)
    return found


@pytest.mark.parametrize("k", [3, 4, 5, 7, 9])
def test_judgements_are_those_of_the_twins(k):
    assert as_counter(list_judgements(k), k) == contained(k)
    recursion = by_recursion(k)
    assert as_counter(list_judgements(k, "paper"), k) == recursion
    assert len(list_judgements(k, "paper")) == recursion.total()


@pytest.mark.parametrize("which", ["distinct", "paper"])
@pytest.mark.parametrize("k", [3, 6, 12])
def test_samples_come_from_the_judgements_by_their_counts(k, which):
    size = 60_000
    every, drawn = as_counter(list_judgements(k, which), k), sample_judgements(k, which, size, seed=1)
    found = as_counter_of_rows(drawn, k)
    assert found.keys() <= every.keys()
    expected = np.array([every[pair] for pair in every]) * size / every.total()
    gaps = np.array([found[pair] for pair in every]) - expected
    squares = float((gaps**2 / expected).sum())
    freedom = len(every) - 1
    assert abs(squares - freedom) < 4 * np.sqrt(2 * freedom)
    assert (drawn.gap > 0).all()
    assert (
        drawn.gap == np.subtract(*(np.subtract(*list_corpus_pairs(k))[row] for row in (drawn.inner, drawn.outer)))
    ).all()


def as_counter_of_rows(of, k):
    i, j = list_corpus_pairs(k)
    return Counter(((i[a], j[a]), (i[b], j[b])) for a, b in zip(of.inner, of.outer, strict=True))


def test_a_sample_of_many_corpora_does_not_list_all_judgements():
    drawn = sample_judgements(400, "distinct", 500, seed=0)  # 1,071,913,500 judgements
    i, j = list_corpus_pairs(400)
    assert ((i[drawn.inner] >= i[drawn.outer]) & (j[drawn.inner] <= j[drawn.outer])).all()
    assert (drawn.inner != drawn.outer).all()


def plain_accuracy(distances, counts, k, weighted, ties):
    place = {pair: row for row, pair in enumerate(combinations(range(k), 2))}
    right = total = 0.0
    for (inner, outer), count in counts.items():
        weight = count / ((outer[1] - outer[0]) - (inner[1] - inner[0])) if weighted else count
        small, large = distances[place[inner]], distances[place[outer]]
        tie = {"half": 0.5, "right": 1.0, "wrong": 0.0}[ties]
        right += weight * (1.0 if small < large else tie if small == large else 0.0)
        total += weight
    return right / total


@given(
    st.sampled_from([3, 4, 6]),
    st.data(),
    st.booleans(),
    st.sampled_from(["half", "right", "wrong"]),
    st.sampled_from(["distinct", "paper"]),
)
def test_accuracy_is_that_of_the_twin(k, data, weighted, ties, which):
    pairs = k * (k - 1) // 2
    distances = np.array(data.draw(st.lists(st.integers(0, 5), min_size=pairs, max_size=pairs)), dtype=float)
    counts = contained(k) if which == "distinct" else by_recursion(k)
    found = compute_accuracy(distances, list_judgements(k, which), weighted=weighted, ties=ties)
    assert found == pytest.approx(plain_accuracy(distances, counts, k, weighted, ties))


def test_the_standard_error_is_that_of_repeated_samples():
    distances = np.random.default_rng(3).random(66) + np.subtract(*list_corpus_pairs(12)[::-1]) / 11
    for weighted in (False, True):
        drawn = [sample_judgements(12, "distinct", 300, seed) for seed in range(300)]
        values = [compute_accuracy(distances, sample, weighted=weighted) for sample in drawn]
        errors = [estimate_sampling_error(distances, sample, weighted=weighted) for sample in drawn]
        assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)
        assert np.mean(values) == pytest.approx(
            compute_accuracy(distances, list_judgements(12), weighted=weighted), abs=0.01
        )


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=20), st.integers(0, 2**32))
def test_settled_values_forget_rounding_and_nothing_else(numbers, seed):
    exact = np.array(numbers, dtype=float) / 7
    rng = np.random.default_rng(seed)
    blurred = exact * (1 + rng.uniform(-1e-14, 1e-14, len(exact)))
    made = merge_rounding_ties(blurred)
    assert made == pytest.approx(exact, rel=1e-13)
    assert (np.sign(made[:, None] - made) == np.sign(exact[:, None] - exact)).all()
