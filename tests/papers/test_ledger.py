"""Verdicts follow from intervals; what fails comes first."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from textgauge.bench import Verdict
from textgauge.report.page import read_result, render_page
from textgauge_papers.ledger import (
    Claim,
    MeasuredDifference,
    Outcome,
    count_findings,
    estimate_mean,
    judge_above_all,
    judge_all,
    judge_claims,
    judge_order,
    judge_side,
    list_claims,
    subtract_paired,
    subtract_unpaired,
    summarise_findings,
)


def claim(name, finding):
    return Claim(name, "1", "data", "criterion", None if finding is None else lambda _: finding, why="no model")


def test_failures_come_first_and_what_has_no_test_is_not_testable():
    rows = judge_claims([claim("a", Outcome(True)), claim("b", None), claim("c", Outcome(False))], None)
    assert [(row["claim"], row["outcome"]) for row in rows] == [
        ("c", "does not hold"),
        ("a", "holds"),
        ("b", "not testable here"),
    ]
    assert rows[-1]["why"] == "no model"
    assert count_findings(rows) == "0 of 1 findings hold, 1 does not hold (3 claims)"


def test_a_claim_holds_only_where_the_whole_interval_does():
    sure, unsure, against = (
        MeasuredDifference(0.3, 0.1, 0.5),
        MeasuredDifference(0.1, -0.1, 0.3),
        MeasuredDifference(-0.3, -0.5, -0.1),
    )
    assert judge_above_all("a", {"b": sure, "c": sure}).holds is True
    assert judge_above_all("a", {"b": sure, "c": unsure}).why == "the interval includes 0"
    found = judge_above_all("a", {"b": sure, "c": against})
    assert (found.holds, found.ours, found.why) == (False, "a − c = -0.3", "the other way round")
    assert judge_above_all("a", {"b": MeasuredDifference(math.nan, math.nan, math.nan)}).holds is None
    near = judge_above_all("a", {"b": MeasuredDifference(0.01, -0.01, 0.03)}, margin=0.015)
    assert (near.holds, near.strict, near.interval) == (True, False, "-0.01 to +0.03")
    assert judge_above_all("a", {"b": unsure}, margin=0.015).why == "the interval includes -0.015"
    assert judge_above_all("a", {"b": against}, margin=0.015).why == "the other way round"


def test_all_of_several():
    good, bad = Outcome(True, interval="x"), Outcome(False, interval="y")
    assert judge_all({"p": good, "q": good}).holds is True
    assert (judge_all({"p": good, "q": bad}).interval, judge_all({"p": good, "q": bad}).why) == ("y", "not for q")
    assert judge_all({"p": good, "q": Outcome(None)}).holds is None
    assert judge_all({}).holds is None


def test_differences_are_paired():
    shared = np.array([0.1, 0.9, 0.4, 0.6])
    first, second = (Verdict("m", float(v.mean()), values=tuple(v)) for v in (shared + 0.1, shared))
    gap = subtract_paired(first, second)
    assert (gap.low, gap.high) == pytest.approx((0.1, 0.1))
    draws = np.random.default_rng(0).normal(size=500)
    one, two = (Verdict("m", v, draws=tuple(draws + v), units=50) for v in (0.5, 0.2))
    assert (subtract_paired(one, two).low, subtract_paired(one, two).high) == pytest.approx((0.3, 0.3))
    assert not estimate_mean([1.0]).known


def test_a_claim_below_0_shows_the_value_as_it_is():
    found = judge_side("score", MeasuredDifference(-0.3, -0.5, -0.1), below=True)
    assert (found.holds, found.ours, found.interval) == (True, "score = -0.3", "-0.5 to -0.1")
    assert judge_side("score", MeasuredDifference(0.3, 0.1, 0.5), below=True).why == "the other way round"


def test_welchs_interval_is_scipys():
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(0)
    one, other = rng.normal(1.0, 0.3, 10), rng.normal(0.0, 1.0, 7)
    ends = ttest_ind(one, other, equal_var=False).confidence_interval()
    assert (subtract_unpaired(one, other).low, subtract_unpaired(one, other).high) == pytest.approx(
        (ends.low, ends.high)
    )


def test_agreement_of_orders_is_exact_and_the_same_every_time():
    said, own = [1.0, 2, 3, 4, 5, 6, 7, 8], [2.0, 1, 4, 3, 6, 5, 8, 7]
    found = {judge_order(said, own).interval for _ in range(3)}
    assert found == {"p = 0.002"}  # 92 of 40,320 orders
    assert judge_order(said, own[::-1]).why == "p above 0.05"
    assert judge_order([1, 1, 2], [1, 2, 3]).interval == "p = 0.333"


def outcome_of(*outcomes, ways=("",)):
    claims = [replace(claim(f"c{i}", one), way=way) for way in ways for i, one in enumerate(outcomes)]
    return summarise_findings(judge_claims(list_claims("f", *claims), None))[0]


def test_a_finding_holds_by_most_of_its_claims_and_none_the_other_way_round():
    held, failed = Outcome(True), Outcome(False, "0.1", "-1 to 1", "the interval includes 0")
    assert outcome_of(held, held, failed, None) == {
        "finding": "f",
        "outcome": "holds",
        "claims": "2 of 3",
        "seen": "c2: 0.1 (-1 to 1)",
    }
    assert outcome_of(held, failed)["outcome"] == "does not hold"
    assert outcome_of(held, held, held, replace(failed, why="the other way round"))["outcome"] == "does not hold"
    assert (outcome_of(None)["outcome"], outcome_of(None)["seen"]) == ("not testable here", "no model")
    assert outcome_of(*[failed] * 4)["seen"] == "c0: 0.1 (-1 to 1); 3 more"
    assert (
        outcome_of(replace(held, strict=False), replace(held, strict=True))["claims"] == "2 of 2 (1 without the margin)"
    )


def test_a_finding_that_holds_in_one_way_says_in_which():
    text, code = (
        replace(claim("c", Outcome(holds)), way=way) for holds, way in ((False, "as text"), (True, "as code"))
    )
    rows = judge_claims([*list_claims("g", claim("d", Outcome(True))), *list_claims("f", text, code)], None)
    assert [(row["finding"], row["outcome"]) for row in summarise_findings(rows)] == [
        ("f", "holds only as code"),
        ("g", "holds"),
    ]
    assert count_findings(rows) == "1 of 2 findings holds, 1 holds only in one way (3 claims)"


def test_a_page_has_a_table_for_each_paper_with_failures_first_and_escaped(tmp_path):
    sure, unsure = claim("a is above b", Outcome(True)), claim("<b>c</b> is below d", Outcome(False, why="includes 0"))
    rows = [{"source": source, **row} for source in ("first", "second") for row in judge_claims([sure, unsure], None)]
    (tmp_path / "rows.json").write_text(json.dumps({"schema": 1, "command": "reproduce", "rows": rows}))
    found = read_result(tmp_path / "rows.json")
    titles = ["What holds of first", "Claims of first", "What holds of second", "Claims of second"]
    assert [table.title for table in found.tables] == titles
    html = render_page(results=[found])
    assert html.index("does not hold</td>") < html.index("1 of 2</td>") < html.index("a is above b")
    assert "&lt;b&gt;c&lt;/b&gt; is below d" in html
    assert "<b>c</b>" not in html
    (tmp_path / "rows.json").write_text('{"schema": 1, "command": "reproduce", "rows": [{"claim": "x", "value": 1}]}')
    assert [table.title for table in read_result(tmp_path / "rows.json").tables] == ["rows"]
