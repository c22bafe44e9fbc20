"""Which of several equally good metrics is named first."""

from textgauge.evaluate.recommend import MetricCost
from textgauge.evaluate.recommend.answer import order_tied
from textgauge.evaluate.recommend.texts_needed import TextsNeeded

NAN = float("nan")


def costs(**seconds):
    return [MetricCost(name, value, 100) for name, value in seconds.items()]


def test_the_quicker_one_comes_first_and_near_times_share_a_place():
    assert order_tied(["a", "b"], {}, costs(a=1.0, b=0.1), []) == (["b", "a"], ("cost",))
    assert order_tied(["a", "b"], {}, costs(a=1.0, b=0.9), [])[0] == ["a", "b"]


def test_places_are_averaged_and_intervals_that_overlap_are_ties():
    needed = [TextsNeeded("a", 100, 80, 130, 128, 50), TextsNeeded("b", 110, 90, 140, 128, 50)]
    order, by = order_tied(["a", "b"], {"a": 0.9, "b": 0.5}, costs(a=1.0, b=0.9), needed)
    assert (order, by) == (["a", "b"], ("robustness to size", "cost", "texts needed"))
    needed[0] = TextsNeeded("a", 400, 300, 500, 128, 50)
    assert order_tied(["a", "b"], {"a": 0.9, "b": 0.9}, costs(a=1.0, b=0.9), needed)[0] == ["b", "a"]


def test_what_is_not_known_comes_last_and_one_metric_needs_no_order():
    assert order_tied(["a", "b"], {"a": NAN, "b": 0.1}, [], [])[0] == ["b", "a"]
    assert order_tied(["a"], {}, costs(a=1.0), []) == (["a"], ())
    assert order_tied(["a", "b"], {}, [], []) == (["a", "b"], ())
    bounded = [TextsNeeded("a", NAN, 900, NAN, 300, 40), TextsNeeded("b", 100, 80, 130, 128, 50)]
    assert order_tied(["a", "b"], {}, [], bounded)[0] == ["b", "a"]
