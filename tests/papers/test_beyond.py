"""Claims beyond the papers: their data, and verdicts that follow the second data set alone."""

import json
import math

import numpy as np
import pytest

from textgauge.bench import summarise_repetitions
from textgauge_papers import beyond
from textgauge_papers.beyond import GROWTH, OTHER, SAME, BeyondEvidence, claims
from textgauge_papers.ledger import judge_claims

SEEN, NEW = 0, 1


def verdict(centre, spread=0.01, n=10):
    return summarise_repetitions("accuracy", (centre + spread * np.linspace(-1, 1, n)).tolist())


def evidence(low, high, **growth):
    """Accuracy of what is claimed to be below and above in both places; the exponents of time."""
    below = {"fid": low, "irpr": low, "energy": high, "mauve": low}
    encoders = {"fid": high, "dc": high, "energy": high, "mauve": high}
    encoders |= {"fid@wordllama": low, "dc@wordllama": low, "energy@wordllama": high, "mauve@wordllama": high}
    eight = dict.fromkeys(beyond.KOUR_METRICS.split(","), high)
    values = {"authors": below, SAME.name: below, OTHER.name: dict.fromkeys(below, high), "encoders": encoders}
    values |= {"many corpora": eight, "sampled": eight, GROWTH.name: growth}
    return BeyondEvidence(
        {(name, place): {k: verdict(v) for k, v in of.items()} for name, of in values.items() for place in (SEEN, NEW)}
    )


EXPONENTS = {"pr": 1.4, "dc": 1.4, "chi": 0.3, "zipf": 0.3, "jsd": 0.3}


def verdicts(found):
    return {row["claim"]: row["outcome"] for row in judge_claims(claims(), found)}


def test_claims_hold_where_the_second_data_set_shows_them():
    assert set(verdicts(evidence(0.3, 0.9, **EXPONENTS)).values()) == {"holds"}


def test_claims_fail_where_nothing_differs_or_time_grows_otherwise():
    found = verdicts(evidence(0.5, 0.5, pr=0.3, dc=0.3, chi=2.4, zipf=1.4, jsd=1.4))
    alike = [claim for claim in found if "does not depend" in claim or "judgements" in claim]
    assert {claim for claim, said in found.items() if said == "holds"} == set(alike)
    assert len(alike) == 3


def test_the_first_data_set_decides_nothing():
    good, bad = evidence(0.3, 0.9, **EXPONENTS), evidence(0.5, 0.5, **dict.fromkeys(EXPONENTS, 1.0))
    mixed = BeyondEvidence({(n, place): (bad if place == SEEN else good).found[n, place] for n, place in good.found})
    assert verdicts(mixed) == verdicts(good)
    (row, *_) = judge_claims(claims(), mixed)
    assert "seen first: " in row["ours"]


def test_a_run_without_results_decides_nothing():
    assert set(verdicts(BeyondEvidence({})).values()) == {"not testable here"}


def test_prompts_of_people_and_machine_are_the_same_or_all_others(tmp_path, monkeypatch):
    rows = [
        {"domain": domain, "source": author, "doc_id": str(i), "text": f"{domain} {author} {i}"}
        for domain in ("essay", "reuter")
        for author in ("human", "gpt", "claude")
        for i in range(6)
    ]
    folder = tmp_path / "ghostbuster"
    folder.mkdir()
    (folder / "human_vs_machine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setenv("TEXTGAUGE_DATA", str(tmp_path))

    def prompts(apart):
        found = beyond._authors("essay", "gpt", apart=apart).corpora
        assert all(text.startswith("essay human") for text in found["a"].texts)
        assert all(text.startswith("essay gpt") for text in found["b"].texts)
        return [{text.split()[-1] for text in found[role].texts} for role in "ab"]

    same = prompts(apart=False)
    assert same[0] == same[1] == set("012345")
    people, machine = prompts(apart=True)
    assert not people & machine
    assert people | machine == set("012345")


def test_differences_of_two_studies_are_not_paired():
    found = BeyondEvidence({(SAME.name, NEW): {"fid": verdict(0.4)}, (OTHER.name, NEW): {"fid": verdict(0.6, n=20)}})
    gap = found.gap((OTHER.name, "fid"), (SAME.name, "fid"), NEW)
    assert gap.value == pytest.approx(0.2)
    assert gap.low < gap.value < gap.high
    assert math.isnan(found.gap((OTHER.name, "irpr"), 0.5, NEW).value)
