import numpy as np
import pytest

from textgauge.comparing.rank_candidates import rank_candidates
from textgauge.data import Comparison, Corpus
from textgauge.metrics import get_metric
from textgauge.metrics.base import Undefined


def points(shifts, n=200, seed=0, noise=None):
    """A reference around 0 and candidates around their shifts; with `noise` all rows of candidates share a parent."""
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(n, 4)) + 1]
    parent = rng.normal(size=(n, 4)) + 1
    for shift in shifts:
        own = rng.normal(size=(n, 4)) + 1 if noise is None else parent + noise * rng.normal(size=(n, 4))
        rows.append(own + np.array([0, 0, shift, 0]))
    joint = Corpus.of(np.vstack(rows))
    views = [joint.take(range(n * k, n * (k + 1))) for k in range(len(rows))]
    return [Comparison(views[0], view) for view in views[1:]]


def ranked(comparisons, name="energy@given", **options):
    metric = get_metric(name)
    values = np.array([metric.measure(one).value for one in comparisons])
    return rank_candidates(metric, comparisons, values, level=0.95, seed=0, **options)


def test_clear_distances_are_ranked():
    found = ranked(points([3.0, 0.0, 1.2]))
    assert found.order == [1, 2, 0]
    assert found.tiers() == {1: 1, 2: 2, 0: 3}


def test_one_corpus_given_twice_is_tied_with_itself():
    comparisons = points([0.5])
    found = ranked([comparisons[0], comparisons[0]])
    assert found.low[0, 1] == found.high[0, 1] == 0.0


def test_closeness_is_ranked_from_the_larger_value():
    assert ranked(points([3.0, 0.0], n=400), "pr.recall@given").order == [1, 0]


def test_the_error_is_that_of_fresh_corpora():
    values, widths = [], []
    for seed in range(60):
        comparisons = points([0.3, 0.6], seed=seed)
        found = ranked(comparisons)
        values.append(found.values[1] - found.values[0])
        widths.append((found.high[0, 1] - found.low[0, 1]) / 2)
    true = np.std(values, ddof=1)
    assert 1.7 * true < np.median(widths) < 3.2 * true


def test_pairs_that_share_a_parent_have_narrower_intervals():
    comparisons = points([0.3, 0.6], noise=0.05)
    alone, paired = (ranked(comparisons, paired=paired) for paired in (False, True))
    assert (paired.high - paired.low)[0, 1] < 0.8 * (alone.high - alone.low)[0, 1]


def test_too_few_texts_are_refused_with_the_number_needed():
    with pytest.raises(Undefined, match="from 200 texts on; one has 20"):
        ranked(points([0.3, 0.6], n=20))
