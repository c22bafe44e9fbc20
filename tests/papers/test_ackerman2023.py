"""The claims of Ackerman et al. 2023 on verdicts made up for the purpose, by each rule for prototypes."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from textgauge.bench import Distributionality, Group, Observations, Verdict
from textgauge.metrics import get_corpus_metrics
from textgauge_papers import PAPERS
from textgauge_papers.ackerman2023 import ACKERMAN_METRICS
from textgauge_papers.paper import Request
from textgauge_papers.perturbation import Perturbation

SCORES = {"energy": 1.0, "ahd": -1.0, "irpr": -0.5, "fid": 0.4, "mauve": 0.3, "classifier": 0.2, "pr": 0.1, "dc": 0.6}


def made(rule, scores, data="qqp"):
    protocol = Distributionality(samples=5, prototypes=rule)
    for metric in get_corpus_metrics(ACKERMAN_METRICS):
        score = scores[metric.name]
        verdicts = (
            Verdict("a", 1 - score, values=(1 - score, 1.01 - score)),
            Verdict("b", 1 + score, values=(1 + score, 1.02 + score)),
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
            ]
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


def test_a_class_holds_where_its_whole_interval_is_on_its_side(paper):
    _, ledger = paper({"own": made("own", SCORES | {"fid": 0.05, "mauve": -0.3})})
    own = {row["claim"].partition(", by")[0]: row for row in ledger if row["claim"].endswith("=own")}
    assert own["irpr is nearer to ahd"]["outcome"] == "holds"
    assert (own["fid is nearer to energy"]["outcome"], own["fid is nearer to energy"]["why"]) == (
        "does not hold",
        "the interval includes 0",
    )
    assert own["mauve is nearer to energy"]["why"] == "the other way round"
    # The smaller deviation is 0.95 of fid and 0.4 of dc; by SCORES it is 0.6 of fid and 0.9 of pr.
    assert own["dc@cosine is farther from its prototype than fid"]["why"] == "the other way round"
    _, ledger = paper({"code": made("code", SCORES)})
    coded = {row["claim"]: row for row in ledger}
    assert coded["pr@cosine is farther from its prototype than fid, by prototypes=code"]["outcome"] == "holds"


def test_the_illustration_is_decided_by_paired_resamples(paper):
    noise = np.random.default_rng(0).normal(size=200)

    def judged(metric, value):
        draws = tuple(value + 0.01 * noise)
        verdict = Verdict("tenth_rise", value, low=value - 0.02, high=value + 0.02, draws=draws, units=20)
        return Group("gaussian blobs", Perturbation(), 0, judged={metric: [verdict]})

    points = [judged("irpr@given:euclidean", 0.1), judged("fid@given", 0.3), judged("pr(k=2)@given", 0.35)]
    _, ledger = paper({}, points)
    rows = {row["claim"]: row for row in ledger}
    assert rows["irpr rises before fid"]["outcome"] == "holds"
    slow = rows["fid makes a tenth of its rise after a tenth of the way"]
    assert (slow["outcome"], slow["ours"]) == ("holds", "place − 0.1 = +0.2")
    assert rows["dc(k=2) rises before dc(k=15)"]["outcome"] == "not testable here"


def over_steps(value, k=15):
    i, j = np.triu_indices(k + 1, 1)
    step, sample = np.tile(j - i, 3), np.repeat([0, 1, 2], len(i))
    columns = {"i": np.tile(i, 3), "j": np.tile(j, 3), "sample": sample}
    return Observations(value(step, sample), np.zeros(len(step), dtype=np.int64), columns)


def test_values_over_steps_have_a_hump_a_spread_and_a_level(paper):
    def spread(width):
        return over_steps(
            lambda step, sample: 1.0 + (width + 0.001 * sample) * np.where(np.arange(len(step)) % 2, 1, -1)
        )

    hump = over_steps(lambda step, sample: step * (16.0 - step) - 20.0 * (step == 15) + 0.01 * sample)
    keys = ["pr.recall(k=3)@cosine", "pr.recall@cosine", "pr.recall(k=10)@cosine"]
    found = dict(zip(keys, map(spread, (0.05, 0.02, 0.06)), strict=True))
    found |= {"fid": hump, "irpr": hump}
    found["dc.density@cosine"] = over_steps(lambda step, sample: -1.01 - 0.001 * sample)  # farther is larger
    _, ledger = paper({}, groups=[Group("qqp", Distributionality(), 0, observed=found)])
    rows = {row["claim"]: row["outcome"] for row in ledger}
    assert rows["recall varies less at k = 5 than at k = 3"] == "holds"
    assert rows["recall varies less at k = 10 than at k = 3"] == "does not hold"
    assert rows["precision varies less at k = 5 than at k = 3"] == "not testable here"
    assert (rows["fid rises and falls over ℓ"], rows["fid is lowest at ℓ = 15"]) == ("holds", "holds")
    assert rows["irpr is high at ℓ = 15"] == "does not hold"
    assert rows["density at k = 5 is about 1 from ℓ = 6 on"] == "holds"


def test_sensitivity_to_dimensions_is_the_change_of_the_rise(paper):
    def moved(few, many):
        cells = [(q, delta, batch) for q in (2, 6) for batch in range(20) for delta in (0.0, 3.0)]
        value = np.array([{2: few, 6: many}[q] * (delta > 0) * (1 + 0.01 * (batch % 3)) for q, delta, batch in cells])
        q, delta, batch = (np.array(column) for column in zip(*cells, strict=True))
        return Observations(value, batch, {"q": q, "p": np.full(len(q), 0.1), "delta": delta})

    steady, bent = moved(1.0, 0.9), moved(1.0, 0.5)
    names = {"energy": steady, "fid": steady, "mauve": steady, "ahd": bent, "irpr": bent}
    group = Group("gaussian blobs", Perturbation(), 0, observed=names, judged={})
    _, ledger = paper({}, [group])
    row = next(row for row in ledger if row["finding"].endswith("sensitive to dimensions"))
    assert (row["outcome"], row["ours"]) == ("holds", "change of AHD and IRPR − of the others = +0.4")
