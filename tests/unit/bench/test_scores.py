import json

import numpy as np
import pytest
from scipy import stats

import textgauge
from textgauge.core.errors import InputError, TextgaugeError


def make_long(scores, *, seed=0, **columns):
    """Return a table in long form of a systems × items array, its rows shuffled."""
    system, item = (axis.ravel() for axis in np.indices(scores.shape))
    table = {"system": [f"s{n}" for n in system], "item": item, "score": scores.ravel()}
    table |= {name: np.asarray(cells)[item] for name, cells in columns.items()}
    order = np.random.default_rng(seed).permutation(len(system))
    return {name: np.asarray(cells)[order].tolist() for name, cells in table.items()}


@pytest.fixture
def scores():
    rng = np.random.default_rng(3)
    return np.array([0.9, 0.85, 0.2])[:, None] + rng.normal(scale=0.3, size=(3, 40)) + rng.normal(size=40)


def test_long_wide_and_turned_tables_give_one_board(scores):
    names, items = [f"s{n}" for n in range(3)], [f"q{n:02}" for n in range(40)]
    wide = {"item": items} | dict(zip(names, scores.tolist(), strict=True))
    turned = {"model": names} | {item: scores[:, n].tolist() for n, item in enumerate(items)}
    boards = [textgauge.leaderboard(table) for table in (make_long(scores), wide, turned)]
    assert [row.system for row in boards[0]] == ["s0", "s1", "s2"]
    for board in boards[1:]:
        assert board.answer == boards[0].answer
        for row, other in zip(board, boards[0], strict=True):
            assert (row.score, row.low, row.rank_high) == (
                pytest.approx(other.score),
                pytest.approx(other.low),
                other.rank_high,
            )


def test_two_systems_are_a_paired_test_with_students_interval(scores):
    board = textgauge.leaderboard({"item": range(40), "a": scores[0].tolist(), "b": scores[1].tolist()})
    ranking = board.rankings["score"]
    paired = stats.ttest_rel(scores[0], scores[1]).confidence_interval()
    assert sorted([ranking.low[0, 1], ranking.high[0, 1]]) == pytest.approx([paired.low, paired.high], abs=0.003)
    single = stats.t.interval(0.95, 39, scores[0].mean(), stats.sem(scores[0]))
    assert (board["a"].low, board["a"].high) == pytest.approx(single)


def test_the_answer_names_the_tied_first_and_counts_neighbours(scores):
    board = textgauge.leaderboard(make_long(scores))
    assert board.answer.startswith("First: s0 and s1, tied; 1 of 2 neighbours cannot be separated")
    assert board["s0"].tied_with == ("s1",)
    assert (board["s2"].rank_low, board["s2"].rank_high, board["s2"].tied_with) == (3, 3, ())
    counts = board.counts[0]
    assert (counts["tied"], counts["neighbours"], counts["second"]) == (1, 2, "s1")
    assert counts["items_needed"] > 40


def test_as_many_items_as_it_says_separate_the_first_two():
    rng = np.random.default_rng(5)
    few = {"item": range(60), "a": rng.normal(0.2, 1, 60).tolist(), "b": [0.0] * 60}
    needed = textgauge.leaderboard(few).counts[0]["items_needed"]
    difference = abs(np.mean(few["a"]))
    found = []
    for seed in range(200):
        drawn = np.random.default_rng(seed).normal(difference, np.std(few["a"], ddof=1), needed)
        found.append(stats.ttest_1samp(drawn, 0).pvalue < 0.05)
    assert 0.7 < np.mean(found) < 0.9


def test_less_is_better_where_it_is_said(scores):
    table = make_long(scores)
    table["errors"] = [-score for score in table["score"]]
    board = textgauge.leaderboard(table, score="score,errors", lower="errors")
    firsts = {row.metric: row.system for row in board if row.rank == 1}
    assert firsts == {"score": "s0", "errors": "s0"}
    with pytest.raises(TextgaugeError, match="accuracy"):
        textgauge.leaderboard(table, lower="accuracy")


def test_groups_widen_intervals_and_repetitions_do_not(scores):
    grouped = np.repeat(scores[:, :10], 4, axis=1)
    alone = textgauge.leaderboard(make_long(grouped))
    together = textgauge.leaderboard(make_long(grouped, document=np.repeat(np.arange(10), 4)), group="document")
    once = textgauge.leaderboard(make_long(scores[:, :10]))
    assert together["s0"].low == pytest.approx(once["s0"].low)
    assert together["s0"].low < alone["s0"].low
    twice = {name: cells * 2 for name, cells in make_long(scores).items()}
    again = textgauge.leaderboard(twice | {"epoch": [1] * 120 + [2] * 120})
    assert again["s0"].low == pytest.approx(textgauge.leaderboard(make_long(scores))["s0"].low)
    assert again.warnings == ()
    assert "averaged" in textgauge.leaderboard(twice).warnings[0]


def test_a_column_like_an_identifier_that_repeats_is_said(scores):
    board = textgauge.leaderboard(make_long(scores, document_id=np.repeat(np.arange(10), 4)))
    assert "document_id" in board.answer
    with pytest.raises(InputError, match="5 groups"):
        textgauge.leaderboard(make_long(scores, g=np.repeat(np.arange(5), 8)), group="g")


def test_data_sets_count_alike():
    values = np.array([[1.0, 0, 1, 0, 1, 1, 1, 1], [0.0, 0, 1, 0, 0, 1, 1, 1]])
    table = make_long(values, dataset=[0, 0, 0, 0, 0, 0, 1, 1])
    assert textgauge.leaderboard(table)["s0"].score == pytest.approx((4 / 6 + 1) / 2)
    with pytest.raises(InputError, match="--item"):
        textgauge.leaderboard(make_long(values, dataset=range(8)))


def test_missing_scores_are_said_and_left_out_or_zero(scores):
    holes = scores.copy()
    holes[0, :4] = np.nan
    holes[2, :30] = np.nan
    board = textgauge.leaderboard(make_long(holes))
    assert board["s0"].score == pytest.approx(scores[0, 4:].mean())
    assert (board["s0"].missing, board["s2"].missing, board["s2"].rank) == (4, 30, None)
    assert "34 scores are missing" in board.warnings[0]
    assert "s2" in board.warnings[0]
    zero = textgauge.leaderboard(make_long(holes), missing="zero")
    assert zero["s0"].score == pytest.approx(np.nan_to_num(holes[0]).mean())
    assert zero["s2"].rank == 3


def test_equal_systems_and_a_constant_lead_are_tied(scores):
    wide = {"item": range(40), "a": scores[0].tolist(), "b": scores[0].tolist(), "c": (scores[0] + 0.0).tolist()}
    board = textgauge.leaderboard(wide)
    assert board.rankings["score"].unbeaten() == [0, 1, 2]
    assert board.counts[0]["items_needed"] is None


def test_a_board_is_saved_shown_and_drawn(scores, tmp_path):
    board = textgauge.leaderboard(make_long(scores))
    saved = textgauge.load(board.save(tmp_path / "board.json"))
    assert saved.answer == board.answer
    assert json.loads(board.to_json())["rows"][0]["tied_with"] == "s1"
    assert {"rank", "system", "score", "interval", "tied with"} == set(board.readable()[0])
    assert board.plot().to_dict()


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ({"item": [1, 2, 3], "text": ["a", "b", "c"]}, "--system"),
        ({"item": [1, 2], "a": [1, 2], "b": [1, 3]}, "2 items"),
        ({"system": ["a", "a"], "x": [1, 2], "y": [3, 4]}, "--item"),
        ({"system": ["a", None], "item": [1, 2], "score": [1, 2]}, "no system"),
    ],
)
def test_tables_that_cannot_be_ranked_are_refused(table, named):
    with pytest.raises(InputError, match=named):
        textgauge.leaderboard(table)
