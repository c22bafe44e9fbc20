"""The claims of Ackerman et al. 2023 on verdicts made up for the purpose, by each rule for prototypes."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from textgauge.bench import Distributionality, Group, Observations, Perturbation, Verdict
from textgauge.metrics import get_corpus_metrics
from textgauge_papers import PAPERS
from textgauge_papers.ackerman2023 import ACKERMAN_METRICS
from textgauge_papers.paper import Request

SCORES = {"energy": 1.0, "ahd": -1.0, "irpr": -0.5, "fid": 0.4, "mauve": 0.3, "classifier": 0.2, "pr": 0.1, "dc": 0.6}


def made(rule, scores, data="qqp"):
    protocol = Distributionality(samples=5, prototypes=rule)
    for metric in get_corpus_metrics(ACKERMAN_METRICS):
        score = scores[metric.name]
        verdicts = (
            Verdict("a", 1 - score),
            Verdict("b", 1 + score),
            Verdict("distributionality", score, low=score - 0.1, high=score + 0.1, values=(score, score - 0.01)),
        )
        yield Group(data, protocol, 0, judged={metric.key: verdicts})


@pytest.fixture
def paper():
    def found(rules, points=(), groups=()):
        everything = {rule: list(items) for rule, items in rules.items()}
        results = SimpleNamespace(
            groups=lambda options=None: [
                *everything.get((options or {}).get("prototypes", "own"), []),
                *points,
                *groups,
            ],
        )
        request = Request(("own", "paper", "code"))
        return PAPERS["ackerman2023"].rows(results, request), PAPERS["ackerman2023"].ledger(results, request)

    return found


def test_classes_are_listed_for_every_rule_with_whether_ours_agrees(paper):
    rows, _ = paper({"own": made("own", SCORES | {"fid": -0.2}), "code": made("code", SCORES)})
    classes = {(row["variant"], row["metric"]): row for row in rows}
    assert len(classes) == 2 * 17
    assert [key for key, row in classes.items() if not row["agrees"]] == [("own", "fid")]
    fid = classes["own", "fid"]
    assert (fid["published"], fid["ours"], fid["samples"], fid["data"]) == ("energy", "ahd", "0 of 2", "qqp")


def test_other_runs_and_undefined_verdicts_do_not_count(paper):
    others = [*made("own", SCORES, data="mrpc"), *made("code", SCORES)]
    assert paper({"own": others})[0] == []
    rows, ledger = paper({"own": made("own", SCORES | {"pr": math.nan})})
    row = next(row for row in rows if row["metric"] == "pr@cosine")
    assert (row["ours"], row["agrees"], row["distributionality"]) == (None, False, None)
    claim = next(row for row in ledger if row["claim"] == "pr@cosine is nearer to energy, by prototypes=own")
    assert claim["outcome"] == "not testable here"


def test_a_class_is_replicated_where_its_whole_interval_is_on_its_side(paper):
    _, ledger = paper({"own": made("own", SCORES | {"fid": 0.05, "mauve": -0.3})})
    own = {row["claim"].partition(", by")[0]: row for row in ledger if row["claim"].endswith("=own")}
    assert own["irpr is nearer to ahd"]["outcome"] == "holds"
    assert (own["fid is nearer to energy"]["outcome"], own["fid is nearer to energy"]["why"]) == (
        "does not hold",
        "the interval includes 0",
    )
    assert own["mauve is nearer to energy"]["why"] == "the other way round"
    assert own["dc@cosine is less distributional than fid"]["outcome"] == "does not hold"


def test_the_illustration_is_decided_by_paired_resamples(paper):
    noise = np.random.default_rng(0).normal(size=200)

    def judged(metric, value):
        draws = tuple(value + 0.01 * noise)
        verdict = Verdict("tenth_rise", value, draws=draws, units=20)
        return Group("gaussian blobs", Perturbation(), 0, judged={metric: [verdict]})

    points = [judged("irpr@given:euclidean", 0.1), judged("fid@given", 0.3), judged("pr(k=2)@given", 0.35)]
    _, ledger = paper({}, points)
    rows = {row["claim"]: row for row in ledger}
    assert rows["irpr rises before fid"]["outcome"] == "holds"
    assert (rows["fid rises last"]["outcome"], rows["fid rises last"]["ours"]) == (
        "does not hold",
        "fid − pr(k=2) = -0.05",
    )
    assert rows["dc(k=2) rises before dc(k=15)"]["outcome"] == "not testable here"


def test_components_are_flatter_where_their_slopes_are_smaller(paper):
    def observed(slope):
        i, j = np.triu_indices(6, 1)
        step, sample = np.tile(j - i, 3), np.repeat([0, 1, 2], len(i))
        values = 1.0 - (slope + 0.001 * sample) * step
        columns = {"i": np.tile(i, 3), "j": np.tile(j, 3), "sample": sample}
        return Observations(values, np.zeros(len(values), dtype=np.int64), columns)

    keys = ["pr.recall(k=3)@cosine", "pr.recall@cosine", "pr.recall(k=10)@cosine"]
    found = dict(zip(keys, map(observed, (0.05, 0.02, 0.06)), strict=True))
    _, ledger = paper({}, groups=[Group("qqp", Distributionality(), 0, observed=found)])
    rows = {row["claim"]: row["outcome"] for row in ledger}
    assert rows["recall is flatter over ℓ at k = 5 than at k = 3"] == "holds"
    assert rows["recall is flatter over ℓ at k = 10 than at k = 3"] == "does not hold"
    assert rows["precision is flatter over ℓ at k = 5 than at k = 3"] == "not testable here"
