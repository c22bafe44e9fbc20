"""Kour et al.'s table: which of our numbers stands beside which of theirs."""

import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.ledgers import average_differences

from textgauge.bench import Group, Ksc, Observations, Size, Sources, Speed, Store, summarise_repetitions
from textgauge.data import Corpus, load_texts
from textgauge.metrics import get_corpus_metrics
from textgauge_papers import PAPERS, kour2022_tables
from textgauge_papers.kour2022 import KourEvidence
from textgauge_papers.kour2022_tables import KOUR_METRICS, VARIANT_METRICS
from textgauge_papers.ledger import UNKNOWN
from textgauge_papers.paper import Request

KSC = partial(Ksc, n=100, repetitions=5, draw="disjoint")
PROTOCOLS = (
    *(KSC(k=7), KSC(k=12), Size(), Speed(repetitions=3)),
    *(KSC(k=7, order="paper"), KSC(k=12, order="paper"), Size(asymptote="whole")),
)


def value(metric, protocol, measure):
    """A number of its own for every metric, protocol and measure."""
    return len(metric) + PROTOCOLS.index(protocol) / 10 + len(measure) / 1000


def judged():
    keys = {m.key for names in VARIANT_METRICS.values() for m in get_corpus_metrics(names)}
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


def rows(variant, folder, items=None):
    asked = {"source_a": "clinc150", "metric": "DC", "variant": variant}
    results = SimpleNamespace(groups=lambda _: judged() if items is None else items, store=Store(folder))
    found = PAPERS["kour2022"].rows(results, Request((variant,)))
    return found, {(row["k"], row["measure"]): row for row in found if asked.items() <= row.items()}


def test_numbers_of_mixtures_size_and_time_find_their_rows(tmp_path):
    found, dc = rows("definition", tmp_path)
    assert len(found) == 224
    assert all(row["ours"] is not None for row in found)
    assert dc[7, "accuracy"]["ours"] == value("dc", PROTOCOLS[0], "accuracy")
    assert dc[12, "linearity"]["ours"] == value("dc", PROTOCOLS[1], "linearity")
    assert dc[None, "size_robustness"]["ours"] == value("dc", PROTOCOLS[2], "size_robustness")
    assert dc[12, "time_100ops"]["ours"] == dc[7, "time_100ops"]["ours"] == value("dc", PROTOCOLS[3], "throughput")
    row = dc[7, "accuracy"]
    assert row["difference"] == pytest.approx(row["ours"] - row["published"])


def test_the_paper_lists_mixtures_from_the_other_end_and_has_a_conjecture_of_two(tmp_path):
    found, dc = rows("paper", tmp_path)
    assert dc[7, "accuracy"]["ours"] == value("dc(ties=open)", PROTOCOLS[4], "accuracy")
    assert dc[None, "size_robustness"]["ours"] == value("dc(ties=open)", PROTOCOLS[6], "size_robustness")
    assert {row["metric"] for row in found if row["variant"] == "conjecture"} == {"CHI", "ZIPF"}
    assert not any(row["measure"] == "time_100ops" for row in found)


def test_differences_are_in_standard_errors_of_both_means(tmp_path):
    values = [0.9, 0.92, 0.94, 0.96]
    verdicts = [summarise_repetitions(m.name, values) for m in Ksc.measures]
    group = Group("clinc150,banking77", KSC(k=7), 0, judged={"dc": verdicts})
    _, dc = rows("definition", tmp_path, [group])
    row = dc[7, "accuracy"]
    spread = np.std(values, ddof=1)
    assert (row["error"], row["repetitions"]) == (pytest.approx(spread / np.sqrt(5)), 4)
    assert row["z"] == pytest.approx((0.93 - 0.958) / (spread * np.sqrt(1 / 5 + 1 / 4)))
    found = [row | {"difference": gap} for gap, row in zip((0.1, -0.3), [row, dc[7, "linearity"]], strict=True)]
    assert average_differences(found, "metric")[0]["definition"] == pytest.approx(0.2)
    assert average_differences(found, "metric", skip=["DC"]) == []


def test_classifier_of_mixtures_has_a_split_for_every_pair_and_is_resumed(tmp_path, monkeypatch):
    corpora = {
        role: Corpus.of(load_texts(f"sample:{name}").texts) for role, name in (("a", "banking"), ("b", "travel"))
    }
    monkeypatch.setattr(kour2022_tables, "read_kour_sources", lambda *_: Sources("clinc150,banking77", corpora))
    monkeypatch.setattr(kour2022_tables, "OUR_DATA", {("clinc150", "banking77"): "clinc150,banking77"})
    monkeypatch.setattr(kour2022_tables, "_CLASSIFIER", "classifier(score=f1)@wordllama")
    monkeypatch.setattr(kour2022_tables, "_mixtures", lambda count: [Ksc(k=3, n=20, order="paper", repetitions=count)])
    store = Store(tmp_path)
    kour2022_tables.compute_classifier_pairs(store, Request(("paper",), params={"repetitions": 2}))
    (path,) = (tmp_path / "classifier-pairs").iterdir()
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"values": [[0.1, 0.2, 0.3]]}))
    kour2022_tables.compute_classifier_pairs(store, Request(("paper",), params={"repetitions": 2}))
    again = json.loads(path.read_text())["values"]
    assert again == [[0.1, 0.2, 0.3], kept["values"][1]]
    ((group, _, verdicts),) = kour2022_tables._read_classifier_pairs(SimpleNamespace(store=store), 0)
    assert (group.protocol.k, len(verdicts["accuracy"].values)) == (3, 2)
    assert list(kour2022_tables._read_classifier_pairs(SimpleNamespace(store=store), 1)) == []


def ledger_of(accuracy, samples=None):
    """The ledger of a run whose metrics have these accuracies on mixtures, five repetitions each."""
    noise = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])

    def verdicts(name, protocol):
        for measure in protocol.measures:
            base = accuracy.get(name, 0.5) - (0.1 if measure.name == "weighted_accuracy" else 0.0)
            yield summarise_repetitions(measure.name, (base + noise).tolist())

    items = [
        Group("clinc150,banking77", protocol, 0, judged={metric.key: list(verdicts(metric.name, protocol))})
        for protocol in PROTOCOLS[:3]
        for metric in get_corpus_metrics(KOUR_METRICS)
        if not (samples and isinstance(protocol, Size))
    ]
    items += [Group("clinc150,banking77", Size(), 0, observed=samples)] if samples else []
    results = SimpleNamespace(groups=lambda options=None: items)
    return {row["claim"]: row for row in PAPERS["kour2022"].ledger(results, Request(("definition",)))}


def test_a_metric_that_lacks_repetitions_of_another_is_not_compared_with_it():
    def verdicts(protocol, count):
        return {m.name: summarise_repetitions(m.name, [0.5] * count) for m in protocol.measures}

    places = {("definition", "a,b", k): protocol for k, protocol in ((7, KSC(k=7)), (None, Size()))}
    measures = {at: {"PR": verdicts(of, 3), "FID": verdicts(of, 2)} for at, of in places.items()}
    assert KourEvidence(measures, {}).overall_gap(("definition", "a,b", 7), "PR", "FID") is UNKNOWN


WHERE = "on clinc150, banking77"


def test_the_best_may_be_below_another_by_the_papers_margin():
    name = f"MAUVE has the highest accuracy of the eight {WHERE} at k = 7"
    assert ledger_of({"mauve": 0.9})[name]["outcome"] == "holds"
    near = ledger_of({"mauve": 0.9, "fid": 0.91})[name]
    assert (near["outcome"], near["strict"]) == ("holds", False)
    beaten = ledger_of({"mauve": 0.9, "fid": 0.95})[name]
    assert (beaten["outcome"], beaten["ours"], beaten["paper"]) == ("does not hold", "MAUVE − FID = -0.05", "0.976")
    rows = ledger_of({"mauve": 0.9, "dc": 0.8, "pr": 0.6, "fid": 0.69})
    assert rows[f"DC has the second highest accuracy of the eight {WHERE} at k = 7"]["outcome"] == "holds"
    weighted = rows[f"weighted accuracy is below accuracy {WHERE} at k = 12"]
    assert (weighted["outcome"], weighted["ours"], weighted["interval"]) == ("holds", "8 of 8 metrics", "p = 0.004")
    assert rows[f"MAUVE is above DC in the mean of seven measures {WHERE} at k = 7"]["outcome"] == "holds"
    alike = rows[f"PR and FID differ as published in the mean of seven measures {WHERE} at k = 7"]
    assert (alike["outcome"], alike["ours"]) == ("does not hold", "PR − FID = -0.090, -0.042 off the published")
    assert not any("PR and FID" in claim and "atis" in claim for claim in rows)  # its own table says otherwise
    assert rows[f"most metrics need about 1,000 texts to be within 10% {WHERE}"]["outcome"] == "not testable here"
    assert all(row["criterion"] for row in rows.values())


def test_imbalance_is_judged_at_a_large_reference():
    rng = np.random.default_rng(0)

    def observed(bias, reach=0.0):
        kinds = ["asymptote"] * 10 + ["size"] * 30 + ["imbalance"] * 20
        sizes = np.array([3000] * 10 + [50] * 10 + [450] * 10 + [1050] * 10 + [2850] * 10 + [50] * 10)
        off = np.select([sizes == 50, sizes == 450], [0.5, reach], 0.0) * (np.array(kinds) == "size")
        values = 1.0 + 0.001 * rng.normal(size=60) + off + np.array([0.0] * 40 + [bias] * 10 + [-9.0] * 10)
        return Observations(values, np.tile(np.arange(10), 6), {"kind": np.array(kinds), "size_a": sizes})

    keys = [metric.key for metric in get_corpus_metrics("fid,mauve,pr,dc")]
    samples = [observed(0.2, 0.2), observed(0.2, 0.2), observed(0.3, 0.07), observed(0.0, 0.3)]
    rows = ledger_of({}, dict(zip(keys, samples, strict=True)))
    outcome = {claim.removesuffix(f" {WHERE}"): row["outcome"] for claim, row in rows.items()}
    assert outcome["FID overestimates the distance of a large reference"] == "holds"
    assert outcome["MAUVE underestimates the distance of a large reference"] == "does not hold"
    assert outcome["with a growing reference PR diverges where DC converges"] == "holds"
    assert outcome["most metrics need about 1,000 texts to be within 10%"] == "holds"
    assert rows[f"most metrics need about 1,000 texts to be within 5% {WHERE}"]["ours"].endswith("PR 1050, DC 1050")
