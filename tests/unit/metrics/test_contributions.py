"""What texts add: term by term as the definitions read, and their sum is the metric's number."""

from collections import Counter

import numpy as np
import pytest

from textgauge import Corpus, get_metric
from textgauge.core.errors import InputError
from textgauge.core.settings import limit_sizes
from textgauge.data import Comparison
from textgauge.metrics.corpus.kernels import MANY_ROWS
from textgauge.metrics.registry import list_explained_metrics

EXACT = 1e-9
WORDS = ["red", "green", "blue", "cat", "dog", "bird", "pay", "card", "bank", "loan"]


def rows(seed, n, shift=0.0):
    """Rows of which some are repeated and one is shared by all seeds."""
    rng = np.random.default_rng(seed)
    made = rng.normal(size=(n, 6)) + shift
    made[0] = 0.25
    made[-1] = made[1]
    return made


def texts(seed, n, words):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, rng.integers(2, 6))) for _ in range(n)]


@pytest.fixture(scope="module")
def comparison():
    """Texts with ready-made vectors: every kind of metric has something to look at."""
    P = Corpus.of(texts(1, 41, WORDS[:8]), embeddings=rows(1, 41))
    Q = Corpus.of(texts(2, 33, WORDS[3:]), embeddings=rows(2, 33, shift=0.7))
    return Comparison(P, Q)


def distances(X, Y, ground):
    gaps = np.sqrt(((X[:, None] - Y[None]) ** 2).sum(axis=2))
    cos = (X @ Y.T) / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    return {"euclidean": gaps, "cosine": 1 - cos, "angular": np.arccos(np.clip(cos, -1, 1)) / np.pi}[ground]


def sides(comparison):
    return comparison.reference.embeddings("given"), comparison.candidate.embeddings("given")


NAMES = [
    "energy", "energy@angular", "energy@euclidean", "energy(root=true)", "energy.coefficient", "energy@levenshtein",
    "energy.coefficient@jaccard", "mmd", "mmd@cosine", "mmd(estimator=biased)", "mmd(scale=0.5)@levenshtein", "kid",
    "irpr", "irpr.precision", "irpr.recall", "irpr(compat=compcor)", "irpr@levenshtein",
    "ahd", "ahd.forward", "ahd.backward@euclidean", "ahd@jaccard",
    "pr", "pr(k=2,ties=open)", "pr.precision", "pr.recall", "pr@cosine", "pr(k=3)@levenshtein",
    "dc", "dc(k=1)", "dc.density", "dc.coverage", "dc@jaccard",
    "chi.statistic@words", "chi.statistic(top=4)@words", "cbdf@words", "cbdf(df=paper,top=5)@words",
    "cbdf.statistic@characters",
    "classifier", "classifier(repeats=4)", "classifier(score=f1,repeats=3)", "classifier.balanced(repeats=3)", "c2st",
    "c2st.f1(repeats=2)", "c2st.accuracy(seed=3)",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_contributions_add_up_to_the_number(comparison, name):
    metric = get_metric(name).on_given(comparison)
    found = metric.explain(comparison)
    values = metric.compute(comparison)
    assert found.total == pytest.approx(values[found.of], abs=EXACT, rel=EXACT)
    assert values[found.of] == pytest.approx(float(metric.select(values)))
    assert (len(found.reference.adds), len(found.candidate.adds)) == (41, 33)


@pytest.mark.parametrize("ground", ["cosine", "angular", "euclidean"])
def test_energy_is_how_much_farther_the_other_side_is(comparison, ground):
    X, Y = sides(comparison)
    found = get_metric(f"energy@given:{ground}").explain(comparison)
    across, own = distances(X, Y, ground), (distances(X, X, ground), distances(Y, Y, ground))
    np.testing.assert_allclose(found.reference.adds, (across.mean(1) - own[0].mean(1)) / len(X), atol=1e-9)
    np.testing.assert_allclose(found.candidate.adds, (across.mean(0) - own[1].mean(1)) / len(Y), atol=1e-9)


def test_mmd_leaves_out_the_pair_of_a_text_with_itself(comparison):
    X, Y = sides(comparison)
    metric = get_metric("mmd@given")
    found = metric.explain(comparison)
    _, kernel = metric.prepare(comparison.joint)
    own = kernel(X, X)
    np.fill_diagonal(own, 0.0)
    expected = own.sum(1) / (len(X) * (len(X) - 1)) - kernel(X, Y).mean(1) / len(X)
    np.testing.assert_allclose(found.reference.adds, expected, atol=1e-12)


def test_sums_of_many_texts_in_float32_have_one_total():
    many = Comparison(rows(1, MANY_ROWS), rows(2, MANY_ROWS) + 0.5)
    metric = get_metric("energy@given:angular")
    assert metric.explain(many).total == pytest.approx(metric.compute(many)["value"], abs=EXACT)


def test_nearest_distances_over_twice_the_size(comparison):
    X, Y = sides(comparison)
    across = distances(X, Y, "cosine")
    found = get_metric("ahd@given").explain(comparison)
    np.testing.assert_allclose(found.reference.adds, across.min(1) / (2 * len(X)), atol=1e-9)
    np.testing.assert_allclose(found.candidate.adds, across.min(0) / (2 * len(Y)), atol=1e-9)


def test_irpr_shares_are_the_slopes_of_the_harmonic_mean(comparison):
    X, Y = sides(comparison)
    across = distances(X, Y, "cosine")
    nearest = across.min(1)
    precision, recall = across.min(0).mean(), nearest.mean()

    def harmonic(r):
        return 2 * precision * r / (precision + r)

    slope = (harmonic(recall + 1e-6) - harmonic(recall - 1e-6)) / 2e-6
    found = get_metric("irpr@given").explain(comparison)
    np.testing.assert_allclose(found.reference.adds, slope * nearest / len(X), rtol=1e-6, atol=1e-12)


def test_corpora_at_no_distance_add_nothing():
    X = rows(1, 20)
    for name in ("irpr@given", "ahd@given", "pr@given", "energy@given", "energy(root=true)@given:angular"):
        found = get_metric(name).explain(Comparison(X, X[::-1]))
        np.testing.assert_allclose([*found.reference.adds, *found.candidate.adds], 0.0, atol=1e-9)


def inside(X, Y, k):
    """Whether each row of Y is in the ball of each row of X, which reaches to its k-th neighbour."""
    own = distances(X, X, "euclidean")
    np.fill_diagonal(own, np.inf)
    radius = np.sort(own, axis=1)[:, k - 1].astype(np.float32)
    return distances(X, Y, "euclidean").astype(np.float32) <= radius[:, None]


def test_balls_hold_the_texts_they_hold(comparison):
    X, Y = sides(comparison)
    of_x, of_y = inside(X, Y, 4), inside(Y, X, 4)
    found = get_metric("pr(k=4)@given").explain(comparison)
    np.testing.assert_array_equal(found.candidate.detail["balls"], of_x.sum(0))
    np.testing.assert_array_equal(found.reference.detail["inside"], of_y.any(0))
    precision, recall = of_x.any(0).mean(), of_y.any(0).mean()
    weight = recall / (precision + recall) / len(Y)
    np.testing.assert_allclose(found.candidate.adds, np.where(of_x.any(0), 0.0, weight), atol=1e-12)
    dense = get_metric("dc(k=4)@given").explain(comparison)
    np.testing.assert_array_equal(dense.reference.detail["covered"], of_x.any(1))


def test_balls_of_a_pair_metric_do_not_depend_on_blocks(comparison):
    metric = get_metric("pr(k=3)@levenshtein")
    whole = metric.explain(comparison)
    with limit_sizes(7):
        cut = metric.explain(Comparison(comparison.reference, comparison.candidate))
    np.testing.assert_array_equal(whole.reference.adds, cut.reference.adds)
    np.testing.assert_array_equal(whole.candidate.detail["balls"], cut.candidate.detail["balls"])


def test_a_density_that_is_cut_leaves_the_candidate_nothing():
    X = rows(1, 30)
    pair = Comparison(X, np.repeat(X[:2], 6, axis=0) + 1e-6)
    found = get_metric("dc(k=1)@given").explain(pair)
    assert get_metric("dc.density(k=1)@given").compute(pair)["density"] > 1
    assert not found.candidate.adds.any()


def test_chi_is_a_sum_over_tokens_and_over_texts(comparison):
    found = get_metric("chi@words").explain(comparison)
    counts = [Counter(" ".join(side.texts).split()) for side in (comparison.reference, comparison.candidate)]
    sizes = [sum(side.values()) for side in counts]

    def expected(token, side):
        return (counts[0][token] + counts[1][token]) * sizes[side] / sum(sizes)

    def term(token):
        return sum((counts[s][token] - expected(token, s)) ** 2 / expected(token, s) for s in (0, 1))

    tokens = {row["token"]: row["contribution"] for row in found.tokens}
    assert tokens == pytest.approx({token: term(token) for token in counts[0] | counts[1]})
    assert list(tokens.values()) == sorted(tokens.values(), reverse=True)
    assert sum(tokens.values()) == pytest.approx(found.total, abs=EXACT)
    first = comparison.reference.texts[0].split()
    by_hand = sum(counts[0][token] / expected(token, 0) - 1 for token in first)
    assert found.reference.adds[0] == pytest.approx(by_hand)
    assert found.of == "statistic"


def test_held_out_texts_classified_right_add_and_the_others_are_unknown(comparison):
    metric = get_metric("classifier@given")
    found = metric.explain(comparison)
    held = [side.detail["held_out"] for side in (found.reference, found.candidate)]
    assert (held[0].sum(), held[1].sum()) == (8, 7)
    for side, away in ((found.reference, held[0] == 0), (found.candidate, held[1] == 0)):
        assert np.isnan(side.adds[away]).all()
        right = side.detail["classified_right"][~away]
        np.testing.assert_allclose(side.adds[~away], right / 15)
    decided = found.candidate.detail["decision"][held[1] > 0]
    np.testing.assert_array_equal(decided > 0, found.candidate.detail["classified_right"][held[1] > 0] == 1)


def test_copies_share_what_a_split_of_single_copies_gives():
    few = np.repeat(rows(4, 3)[:2], [4, 5], axis=0)
    pair = Comparison(few, few + 3.0)
    metric = get_metric("classifier@given")
    found = metric.explain(pair)
    assert found.total == pytest.approx(metric.compute(pair)["value"], abs=EXACT)
    assert all(len(set(found.reference.adds[group].tolist())) == 1 or np.isnan(found.reference.adds[group]).all()
               for group in (slice(0, 4), slice(4, 9)))  # fmt: skip


@pytest.mark.parametrize("name", ["energy@angular", "irpr", "pr", "dc", "cbdf@words", "classifier(repeats=2)"])
def test_the_order_of_the_texts_does_not_matter(comparison, name):
    P, Q = comparison.reference, comparison.candidate
    order = np.random.default_rng(5).permutation(len(P))
    metric = get_metric(name).on_given(comparison)
    there = metric.explain(comparison)
    back = metric.explain(Comparison(P.take(order), Q))
    np.testing.assert_allclose(back.reference.adds, there.reference.adds[order], atol=1e-12)
    np.testing.assert_allclose(back.candidate.adds, there.candidate.adds, atol=1e-12)


def test_metrics_that_are_no_sums_are_refused_with_those_that_are():
    pair = Comparison(rows(1, 9), rows(2, 9))
    with pytest.raises(InputError, match=r"fid@given has no per-text contributions.*ahd, c2st, .*energy, irpr"):
        get_metric("fid@given").explain(pair)
    assert {get_metric(name).name for name in NAMES} | {"chi"} == set(list_explained_metrics())
