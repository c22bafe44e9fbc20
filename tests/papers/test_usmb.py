"""`reproduce usmb`: which of our numbers stand beside which published one."""

import math
from types import SimpleNamespace

import pytest

from textgauge.bench import (
    Clustering,
    ComparedAlignment,
    Contribution,
    Group,
    RatedAlignment,
    Retrieval,
    Robustness,
    Verdict,
    group_by_embedders,
)
from textgauge.bench.ensembles import NAMES
from textgauge.metrics import get_pair_metrics
from textgauge_papers import PAPERS
from textgauge_papers.paper import Request
from textgauge_papers.usmb import TASK_METRICS, WHOLE

KEYS = {metric.name: metric.key for metric in get_pair_metrics(TASK_METRICS)}
COSINES = [metric.key for metric in get_pair_metrics("cosine@minilm|wordllama")]
(MEAN,) = group_by_embedders(COSINES)


def judged(task, data, metric, **values):
    said = (Verdict(measure, value) for measure, value in values.items())
    return Group(data, task, 0, judged={metric: list(said)})


JUDGED = [
    judged(RatedAlignment(), "summeval", KEYS["jaccard"], axis=0.6, axis_accuracy=0.7),
    judged(RatedAlignment(), "cnndm_chaganty", KEYS["jaccard"], axis=0.8, axis_accuracy=math.nan),
    judged(ComparedAlignment(), "openai_summary_comparisons", KEYS["jaccard"], comparisons=0.5, comparisons_f1=0.4),
    Group("summeval", RatedAlignment(), 0, judged={COSINES[0]: [Verdict("axis", 0.1)], MEAN: [Verdict("axis", 0.9)]}),
    judged(Robustness(), "scitldr", NAMES["task"], robustness=0.97, summary_gt_semantic=0.95),
    judged(Robustness(), "scitldr", NAMES["universal"], robustness=0.2),
    judged(RatedAlignment(), "mine.csv", KEYS["rouge"], axis=0.3),
    judged(Clustering(folds=2), "ag_news", KEYS["rouge"], clustering=0.3),
    judged(Retrieval(), "cranfield", KEYS["rouge"], retrieval=0.5),
    judged(WHOLE, "cranfield", KEYS["rouge"], retrieval=0.2),
    judged(WHOLE, "mine", KEYS["rouge"], retrieval=0.9),
]
CONTRIBUTIONS = [
    *(Contribution(NAMES["task"], "comparisons", f"d{i}", COSINES[0], (0.3, 0.9)[i], 0.0) for i in range(2)),
    Contribution(NAMES["task"], "comparisons", "d", KEYS["rouge"], 0.25, 0.0),
    Contribution(NAMES["universal"], "comparisons", "d", KEYS["rouge"], 0.75, 0.0),
]


@pytest.fixture
def made():
    ensembles = SimpleNamespace(contributions=CONTRIBUTIONS)
    results = SimpleNamespace(manifests=[{}], groups=lambda: JUDGED, ensembles=ensembles)
    return PAPERS["usmb"].rows(results, Request())


@pytest.fixture
def rows(made):
    return [row for row in made if row["source"] == "our data"]


def test_every_published_number_has_its_row(rows):
    counts = {table: sum(row["table"] == table for row in rows) for table in PAPERS["usmb"].tables}
    assert counts == {"1": 24, "2": 24, "3": 24, "4": 36, "6-7": 20}
    assert len({(row["table"], row["metric"], row["measure"], row.get("task")) for row in rows}) == len(rows)
    for row in rows:
        assert (row["difference"] is None) == (row["ours"] is None)


@pytest.mark.parametrize(
    ("table", "metric", "measure", "task", "expected"),
    [
        # Means over the data sets that give a measure.
        ("1", "jaccard", "overall", None, 0.7),
        ("1", "jaccard", "accuracy", None, 0.7),
        ("2", "jaccard", "f1", None, 0.4),
        ("4", "jaccard", "alignment", None, 0.6),
        ("4", "jaccard", "overall", None, None),
        # Cosine is that of the encoders, the ensemble that of each task.
        ("1", "cosine", "overall", None, 0.9),
        ("3", "ensemble", "overall", None, 0.97),
        ("3", "ensemble", "summary_gt_semantic", None, 0.95),
        ("4", "ensemble", "robustness", None, 0.97),
        # Other data and parameters do not count; retrieval from whole corpora has rows of its own.
        ("1", "rouge", "overall", None, None),
        ("4", "rouge", "clustering", None, None),
        ("4", "rouge", "retrieval", None, 0.5),
        # Weights are those of the task ensembles.
        ("6-7", "cosine", "share", "alignment_comparisons", 0.6),
        ("6-7", "rouge", "share", "alignment_comparisons", 0.25),
        ("6-7", "rouge", "share", "robustness", None),
    ],
)
def test_numbers_find_their_rows(rows, table, metric, measure, task, expected):
    keys = (table, metric, measure, task)
    (row,) = (row for row in rows if (row["table"], row["metric"], row["measure"], row.get("task")) == keys)
    assert row["ours"] == (None if expected is None else pytest.approx(expected))
    assert row["ours"] is None or row["data"]
    if keys == ("1", "jaccard", "overall", None):
        assert row["data"] == "cnndm_chaganty, summeval"


def test_misprints_and_whole_corpora_are_named(made, rows):
    assert {row["task"] for row in rows if "misprint" in (row["note"] or "")} == {"alignment_comparisons"}
    (whole,) = (row for row in made if "whole" in row["source"])
    assert (whole["table"], whole["metric"], whole["measure"], whole["ours"]) == ("4", "rouge", "retrieval", 0.2)
    assert whole["data"] == "whole scifact_beir, cranfield, vaswani_npl"


def test_published_tables_agree_with_each_other_as_far_as_rounding_and_misprints_go():
    fed = PAPERS["usmb"].rows(SimpleNamespace(manifests=[]), Request())
    assert {row["source"] for row in fed} == {"published means"}
    assert len(fed) == 6 + 18
    assert max(abs(row["difference"]) for row in fed) == pytest.approx(0.015)
