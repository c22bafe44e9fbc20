"""Kour et al.'s table: which of our numbers stands beside which of theirs."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from textgauge.bench import Group, Ksc, Observations, Size, Speed, summarise_repetitions
from textgauge.metrics import get_corpus_metrics
from textgauge_papers import PAPERS
from textgauge_papers.kour2022_tables import KOUR_METRICS, KOUR_PAPER_METRICS
from textgauge_papers.paper import Request

KSC = partial(Ksc, n=100, repetitions=5, draw="disjoint")
PROTOCOLS = (KSC(k=7), KSC(k=12), Size(), Speed(repetitions=3), KSC(k=7, order="paper"), KSC(k=12, order="paper"))


def value(metric, protocol, measure):
    """A number of its own for every metric, protocol and measure."""
    return len(metric) + PROTOCOLS.index(protocol) / 10 + len(measure) / 1000


def judged():
    keys = {m.key for names in (KOUR_METRICS, KOUR_PAPER_METRICS) for m in get_corpus_metrics(names)}
    return [
        Group(
            data,
            protocol,
            0,
            judged={key: [summarise_repetitions(m.name, [value(key, protocol, m.name)]) for m in protocol.measures]},
        )
        for data in ("clinc150,banking77", "atis,nfcats")
        for protocol in PROTOCOLS
        for key in keys
    ]


def rows(variant, items=None):
    asked = {"source_a": "clinc150", "metric": "DC", "variant": variant}
    results = SimpleNamespace(groups=lambda _: judged() if items is None else items)
    found = PAPERS["kour2022"].rows(results, Request((variant,)))
    return found, {(row["k"], row["measure"]): row for row in found if asked.items() <= row.items()}


def test_numbers_of_mixtures_size_and_time_find_their_rows():
    found, dc = rows("definition")
    assert len(found) == 224
    assert all(row["ours"] is not None for row in found)
    assert dc[7, "accuracy"]["ours"] == value("dc", PROTOCOLS[0], "accuracy")
    assert dc[12, "linearity"]["ours"] == value("dc", PROTOCOLS[1], "linearity")
    assert dc[None, "size_robustness"]["ours"] == value("dc", PROTOCOLS[2], "size_robustness")
    assert dc[12, "time_100ops"]["ours"] == dc[7, "time_100ops"]["ours"] == value("dc", PROTOCOLS[3], "throughput")
    row = dc[7, "accuracy"]
    assert row["difference"] == pytest.approx(row["ours"] - row["published"])
    assert -1 <= row["rank_correlation"] <= 1


def test_the_paper_lists_mixtures_from_the_other_end():
    _, dc = rows("paper")
    assert dc[7, "accuracy"]["ours"] == value("dc(ties=open)", PROTOCOLS[4], "accuracy")
    assert dc[None, "size_robustness"]["ours"] == value("dc(ties=open)", PROTOCOLS[2], "size_robustness")


def test_a_number_that_is_missing_is_none():
    found, _ = rows("definition", [])
    assert {row["ours"] for row in found} == {None}
    assert {row["rank_correlation"] for row in found} == {None}
    assert not any(math.isnan(row["published"]) for row in found)


def ledger_of(accuracy, samples=None):
    """The ledger of a run whose metrics have these accuracies on mixtures, five repetitions each."""
    noise = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])

    def verdicts(name, protocol):
        for measure in protocol.measures:
            base = accuracy.get(name, 0.5) - (0.1 if measure.name == "weighted_accuracy" else 0.0)
            yield summarise_repetitions(measure.name, (base + noise).tolist())

    items = [
        Group("clinc150,banking77", protocol, 0, judged={metric.key: list(verdicts(metric.name, protocol))})
        for protocol in PROTOCOLS[:2]
        for metric in get_corpus_metrics(KOUR_METRICS)
    ]
    groups = [Group("clinc150,banking77", Size(), 0, observed=samples)] if samples else []
    results = SimpleNamespace(groups=lambda options=None: groups if options is None else items)
    return {row["claim"]: row for row in PAPERS["kour2022"].ledger(results, Request(("definition",)))}


def test_the_highest_must_be_above_every_other():
    name = "MAUVE has the highest accuracy of the eight on clinc150, banking77 at k = 7"
    assert ledger_of({"mauve": 0.9})[name]["outcome"] == "holds"
    beaten = ledger_of({"mauve": 0.9, "fid": 0.95})[name]
    assert (beaten["outcome"], beaten["ours"], beaten["paper"]) == ("does not hold", "MAUVE − FID = -0.05", "0.976")
    rows = ledger_of({"mauve": 0.9})
    assert (
        rows["weighted accuracy is below accuracy for every metric on clinc150, banking77 at k = 12"]["ours"]
        == "8 of 8"
    )
    assert rows["most metrics need about 1,000 texts on clinc150, banking77"]["outcome"] == "not testable here"
    assert all(row["criterion"] for row in rows.values())


def test_imbalance_is_judged_by_welchs_interval():
    rng = np.random.default_rng(0)

    def observed(bias):
        kinds = ["asymptote"] * 10 + ["size"] * 10 + ["imbalance"] * 10
        sizes = np.array([3000] * 10 + [50] * 20)
        values = 1.0 + 0.01 * rng.normal(size=30) + np.array([0.0] * 20 + [bias] * 10)
        return Observations(values, np.arange(30), {"kind": np.array(kinds), "size_a": sizes})

    keys = [metric.key for metric in get_corpus_metrics("fid,mauve,classifier,pr,dc")]
    rows = ledger_of({}, dict(zip(keys, map(observed, (0.2, 0.2, -0.2, 0.3, 0.0)), strict=True)))
    where = " on clinc150, banking77"
    verdict = {claim.removesuffix(where): row["outcome"] for claim, row in rows.items()}
    assert verdict["FID overestimates the distance of unbalanced samples"] == "holds"
    assert verdict["MAUVE underestimates the distance of unbalanced samples"] == "does not hold"
    assert verdict["CLASSIFIER underestimates the distance of unbalanced samples"] == "holds"
    assert verdict["with imbalance PR diverges where DC converges"] == "holds"


def test_padding_is_told_by_chi_with_and_without_it_on_the_same_corpora():
    def chi(key, separability):
        noise = 0.01 * np.arange(5)
        verdicts = [summarise_repetitions(m.name, (separability + noise).tolist()) for m in Ksc.measures]
        return Group("clinc150,banking77", KSC(k=7, order="paper"), 0, judged={key: verdicts})

    items = [chi("chi(padding=source,df=paper)", 0.6), chi("chi(df=paper)", 0.95)]
    results = SimpleNamespace(groups=lambda options=None: [] if options is None else items)
    found = {row["claim"]: row for row in PAPERS["kour2022"].ledger(results, Request(("paper",)))}
    row = found["padding=source brings CHI's separability nearer to the published on clinc150, banking77 at k = 7"]
    assert (row["outcome"], row["paper"], row["ours"]) == ("holds", "0.684", "0.97 without, 0.62 with padding")
    far = found["padding=source brings CHI's linearity nearer to the published on clinc150, banking77 at k = 7"]
    assert far["outcome"] == "does not hold"
