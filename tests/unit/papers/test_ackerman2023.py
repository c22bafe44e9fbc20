"""The findings of Ackerman et al. 2023 beside verdicts made up for the purpose."""

import math
from types import SimpleNamespace

import pytest

from textgauge.evaluate.protocols import Distributionality, Verdict
from textgauge.evaluate.results import Judged
from textgauge.metrics import get_corpus_metrics
from textgauge.papers import PAPERS, Request
from textgauge.papers.ackerman2023 import ACKERMAN_METRICS

PROTOTYPES = {"definition": ("energy", "ahd"), "paper": ("energy(root=true)@angular", "ahd@angular")}
SCORES = {"energy": 1.0, "ahd": -1.0, "irpr": -0.5, "fid": 0.4, "mauve": 0.3, "pr": 0.1, "dc": 0.6}


def made(variant, scores, seed=0, data="qqp"):
    first, second = PROTOTYPES[variant]
    protocol = Distributionality(samples=5, distributional=first, neighbours=second)
    for metric in get_corpus_metrics(ACKERMAN_METRICS[variant]):
        score = scores[metric.name]
        verdicts = (
            Verdict("a", 1 - score),
            Verdict("b", 1 + score),
            Verdict("distributionality", score, low=score - 0.1, high=score + 0.1, values=(score, -0.01)),
        )
        yield Judged(data, protocol, seed, metric.key, verdicts)


@pytest.fixture
def rows():
    def found(*judged, variants=("definition", "paper"), seed=0):
        everything = [item for part in judged for item in part]
        results = SimpleNamespace(judged=lambda: everything)
        return PAPERS["ackerman2023"].rows(results, Request(variants, seed))

    return found


def test_every_finding_is_listed_with_whether_ours_agrees(rows):
    found = rows(made("definition", SCORES | {"fid": -0.2}), made("paper", SCORES))
    classes = {(row["variant"], row["metric"]): row for row in found if row["table"] == "class"}
    assert len(classes) == 2 * 15
    assert [key for key, row in classes.items() if not row["agrees"]] == [("definition", "fid")]
    fid = classes["definition", "fid"]
    assert (fid["published"], fid["ours"], fid["samples"]) == ("energy", "ahd", "0 of 2")
    assert (fid["deviation_energy"], fid["deviation_ahd"]) == (1.2, 0.8)
    assert classes["paper", "irpr@angular"]["ours"] == "ahd"
    strengths = {(row["variant"], row["metric"]): row["agrees"] for row in found if row["table"] == "strength"}
    assert len(strengths) == 2 * 10
    assert {
        key[1].partition("(")[0].partition("@")[0]: value for key, value in strengths.items() if "paper" in key
    } == {
        "pr": True,
        "dc": False,
    }


def test_other_runs_in_the_store_and_undefined_verdicts(rows):
    others = (made("paper", SCORES, seed=1), made("paper", SCORES, data="mrpc"), made("definition", SCORES))
    assert rows(*others, variants=("paper",)) == []
    found = rows(made("paper", SCORES | {"pr": math.nan}), variants=("paper",))
    row = next(row for row in found if row["metric"] == "pr@cosine")
    assert (row["ours"], row["agrees"], row["distributionality"]) == (None, False, None)
