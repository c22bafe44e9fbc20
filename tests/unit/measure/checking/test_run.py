import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from textgauge.core.errors import InputError, UnknownName
from textgauge.measure.check import Check, compute_ratio
from textgauge.measure.check_report import Measured
from textgauge.measure.checking import run_checks
from textgauge.metrics import Score

RNG = np.random.default_rng(3)
NEAR, FAR = ["cat", "dog", "cow", "hen", "red", "old"], ["ship", "boat", "sail", "mast", "red", "new"]


def texts(words, n=120):
    return [" ".join(RNG.choice(words, 5)) for _ in range(n)]


REFERENCE, SAME, OTHER = texts(NEAR), texts(NEAR), texts(FAR)


def drift(candidate=SAME, name="drift", **options):
    return Check("drift", name=name, reference=REFERENCE, candidate=candidate, metric="jsd@words", **options)


def test_same_source_passes_another_fails_and_a_tight_limit_is_undecided():
    found = run_checks(
        [drift(name="same", max_ratio=6), drift(OTHER, "other", max_ratio=6), drift(name="tight", max_ratio=1)]
    )
    assert [result.outcome for result in found] == ["pass", "fail", "undecided"]
    assert (found.exit_code, run_checks([drift(max_ratio=6)]).exit_code) == (1, 0)
    assert found.answer == (
        "Fail: 1 check fails, 1 check cannot be decided and 1 check passes (95 % joint confidence)."
    )


def test_a_value_inside_the_null_range_never_excludes_the_same_source():
    score = Score(metric="m", value=1.3, low=1.1, high=2.0, null=1.0, null_low=0.7, null_high=1.4)
    number = Measured(what="m", value=1.3, low=1.1, high=2.0, n=200)
    assert compute_ratio(number, score).low == 1.0
    assert compute_ratio(number, replace(score, null_high=1.2)).low == 1.1


def test_an_undecided_run_has_exit_code_3_and_says_why():
    found = run_checks([drift(max_ratio=1)])
    assert found.exit_code == 3
    (result,) = found
    assert "would not decide" in result.note
    few = run_checks([Check("drift", reference=REFERENCE[:20], candidate=SAME[:20], metric="jsd@words", max=0.5)])
    assert "no interval below" in few[0].note


def test_several_checks_hold_together():
    alone = run_checks([drift(OTHER, max=0.5)])[0]
    three = run_checks([drift(OTHER, str(n), max=0.5) for n in range(3)])[0]
    assert three.low < alone.low < alone.high < three.high


def test_evidence_is_the_texts_that_drive_the_distance():
    found = run_checks([Check("drift", reference=REFERENCE, candidate=OTHER, metric="cbdf@words", max_ratio=1)])
    assert found[0].outcome == "fail"
    assert set(found[0].evidence) <= set(OTHER)
    assert len(found[0].evidence) == 3


def test_copies():
    generated = [*SAME, *REFERENCE[:40]]
    found = run_checks([Check("copies", generated=generated, train=REFERENCE, max=0.01)])[0]
    assert found.outcome == "fail"
    assert found.value >= 40 / len(generated)
    assert all(" ← " in text for text in found.evidence)


def noisy(kept, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(word if rng.random() < kept else "x" for word in text.split()) for text in REFERENCE]


def test_a_drop_is_decided_by_the_paired_interval():
    good, worse = noisy(0.9, 1), noisy(0.6, 2)
    options = {"reference": REFERENCE, "metric": "jaccard", "max_drop": 0.05}
    assert run_checks([Check("score", candidate=good, baseline=good, **options)]).exit_code == 0
    found = run_checks([Check("score", candidate=worse, baseline=good, **options)])[0]
    assert found.outcome == "fail"
    assert found.value > 0.05
    assert run_checks([Check("score", candidate=good, baseline=worse, **options)]).exit_code == 0


def test_the_drop_of_a_distance_is_its_rise():
    options = {"reference": REFERENCE, "metric": "ter", "max_drop": 0.05}
    assert run_checks([Check("score", candidate=noisy(0.6, 2), baseline=noisy(0.9, 1), **options)]).exit_code == 1


def test_properties():
    limits = {"min": {"unique": 0.5}, "max": {"near_copies": 0.001}}
    check = Check("describe", name="d", generated=SAME, train=REFERENCE, **limits)
    found = {(result.measured, result.bound): result for result in run_checks([check])}
    assert set(found) == {("unique", "min"), ("near_copies", "max")}
    with pytest.raises(UnknownName, match="uniqe"):
        run_checks([Check("describe", generated=SAME, train=REFERENCE, min={"uniqe": 0.5})])


def test_a_baseline_is_stored_and_compared_with(tmp_path):
    path = tmp_path / "base.json"
    checks = [
        drift(max_rise=0.2),
        Check("score", name="score", candidate=noisy(0.9, 1), reference=REFERENCE, metric="jaccard", max_drop=0.05),
    ]
    with pytest.raises(InputError, match=r"no baseline .* store one with --update"):
        run_checks(checks, baselines=path)
    assert not path.exists()
    assert run_checks(checks, baselines=path, update=True).exit_code == 0
    assert run_checks(checks, baselines=path).exit_code == 0
    worse = [
        drift(OTHER, max_rise=0.2),
        Check("score", name="score", candidate=noisy(0.5, 1), reference=REFERENCE, metric="jaccard", max_drop=0.05),
    ]
    assert [result.outcome for result in run_checks(worse, baselines=path)] == ["fail", "fail"]


def test_a_stored_drop_is_paired_as_one_from_texts(tmp_path):
    old, new = noisy(0.9, 1), noisy(0.85, 4)
    options = {"name": "s", "reference": REFERENCE, "metric": "chrf", "max_drop": 0.01}
    run_checks([Check("score", candidate=old, **options)], baselines=tmp_path / "b.json", update=True)
    stored = run_checks([Check("score", candidate=new, **options)], baselines=tmp_path / "b.json")[0]
    direct = run_checks([Check("score", candidate=new, baseline=old, **options)])[0]
    assert (stored.value, stored.low, stored.high) == pytest.approx((direct.value, direct.low, direct.high))


@pytest.mark.parametrize("other", [{"metric": "chrf"}, {"reference": [*REFERENCE[1:], "another text"]}])
def test_a_baseline_of_another_signature_is_refused(tmp_path, other):
    path = tmp_path / "base.json"
    made = {"name": "s", "candidate": noisy(0.9, 1), "reference": REFERENCE, "metric": "jaccard", "max_drop": 0.05}
    run_checks([Check("score", **made)], baselines=path, update=True)
    before = path.read_bytes()
    with pytest.raises(InputError, match="cannot be compared, because it was made with"):
        run_checks([Check("score", **made | other)], baselines=path)
    assert path.read_bytes() == before


def test_a_changed_baseline_is_refused(tmp_path):
    path = tmp_path / "base.json"
    run_checks([drift(max_rise=0.2)], baselines=path, update=True)
    content = json.loads(path.read_text())
    content["baselines"]["drift"]["value"]["value"] = 9.0
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="checksum"):
        run_checks([drift(max_rise=0.2)], baselines=path)


def test_bad_checks_are_one_clear_line():
    with pytest.raises(InputError, match="nothing to check"):
        run_checks([])
    with pytest.raises(InputError, match="has no bound: give max_ratio or max"):
        run_checks([drift()])
    for endless in (float("nan"), float("inf")):
        with pytest.raises(InputError, match=f"max must be a finite number, not {endless}"):
            run_checks([drift(max=endless)])
    with pytest.raises(InputError, match="the random seed is 0 or more, not -5"):
        run_checks([drift(max=1)], seed=-5)
    with pytest.raises(InputError, match="two checks are called 'drift'"):
        run_checks([drift(max=1), drift(max=2)])
    with pytest.raises(InputError, match="need a file of baselines"):
        run_checks([drift(max_rise=1)])
    with pytest.raises(InputError, match="is not 0 between equal corpora"):
        run_checks([Check("drift", reference=REFERENCE, candidate=SAME, metric="vocab_overlap", max_ratio=2)])
    with pytest.raises(InputError, match="119 texts, but 120 references"):
        run_checks([Check("score", candidate=SAME[1:], reference=REFERENCE, metric="jaccard", min=0.1)])


def test_checks_without_a_name_are_called_by_their_kind(tmp_path):
    score = Check("score", candidate=SAME, reference=REFERENCE, metric="jaccard", max_drop=1.0)
    unnamed = Check("drift", reference=REFERENCE, candidate=SAME, metric="jsd@words", max_rise=1.0)
    path = tmp_path / "base.json"
    assert [one.check for one in run_checks([score, unnamed], baselines=path, update=True)] == ["score", "drift"]
    assert run_checks([score, unnamed], baselines=path).exit_code == 0


def test_junit_is_xml_whatever_the_texts_hold():
    bad = ["<b>&\x00\x1b[31m ]]> cat", *OTHER[1:]]
    check = Check("drift", name='a "<&>"', reference=REFERENCE, candidate=bad, metric="energy@levenshtein", max_ratio=2)
    root = ElementTree.fromstring(run_checks([check, drift(max_ratio=6)]).to_junit())
    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [case.find("failure") is not None for case in suite.findall("testcase")] == [True, False]


def test_markdown_shows_texts_as_code():
    bad = ["`<script>`** cat", *OTHER[1:]]
    check = Check("drift", name="m", reference=REFERENCE, candidate=bad, metric="energy@levenshtein", max_ratio=2)
    said = run_checks([check]).to_markdown()
    assert said.startswith("**Fail: 1 check fails (95 %).**")
    assert "| ✗ | m | fail |" in said
