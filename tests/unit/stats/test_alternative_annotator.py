"""The alternative-annotator test against its authors' code, whose numbers on a made-up example are kept here.

The authors' `alt_test` (github.com/nitaytech/AltTest, alt_test_example.ipynb) was run on `example()` as it is.
"""

import numpy as np
import pytest

from textgauge.stats.alternative_annotator import alternative_annotator_test

AUTHORS = {  # closeness and margin: winning rate, advantage
    ("accuracy", 0.0): (0.0, 0.8796296296296295),
    ("accuracy", 0.1): (0.75, 0.8796296296296295),
    ("accuracy", 0.2): (1.0, 0.8796296296296295),
    ("rmse", 0.0): (0.0, 0.8518518518518519),
    ("rmse", 0.1): (0.0, 0.8518518518518519),
    ("rmse", 0.2): (0.75, 0.8518518518518519),
}


def example():
    """Four people with gaps and a judge, made by arithmetic."""
    person, item = np.mgrid[:4, :60]
    truth = (item * item + 3 * item) % 5 + 1
    people = np.clip(
        truth + ((7 * person + 3 * item + person * item) % 5 == 0) - ((5 * person + 2 * item) % 7 == 0), 1, 5
    )
    people = np.where((person + item) % 11 == 4, np.nan, people)
    places = np.arange(60)
    return people, np.clip(truth[0] + (places % 6 == 1) - (places % 9 == 2) * 2.0, 1, 5)


@pytest.mark.parametrize(("closeness", "margin"), AUTHORS)
def test_it_is_the_authors_test(closeness, margin):
    found = alternative_annotator_test(*example(), margin=margin, closeness=closeness)
    assert (found.winning_rate, found.advantage) == pytest.approx(AUTHORS[closeness, margin], abs=1e-12)
    assert found.passed == (found.winning_rate >= 0.5)


def test_a_judge_that_copies_people_passes_and_one_that_contradicts_them_does_not():
    people = np.random.default_rng(0).integers(1, 6, (3, 50)).astype(float)
    people[1:] = people[0]
    assert alternative_annotator_test(people, people[0]).passed
    against = alternative_annotator_test(people, 6 - people[0] + (people[0] == 3))
    assert (against.winning_rate, against.passed) == (0.0, False)


def test_people_with_few_items_are_left_out():
    people, judge = example()
    people[3, 20:] = np.nan
    found = alternative_annotator_test(people, judge)
    assert np.isnan(found.p_values).tolist() == [False, False, False, True]
    none = alternative_annotator_test(people[:, :10], judge[:10])
    assert np.isnan(none.winning_rate)
    assert not none.passed
