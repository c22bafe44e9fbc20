import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.core.errors import ArgumentError, InputError, UnknownName
from textgauge.measure import Check, Outcome, read_checks, run_checks
from textgauge.measure.check import Bound, Measured, compute_ratio
from textgauge.metrics import Score
from textgauge.metrics.properties.base import share

RNG = np.random.default_rng(3)
NEAR, FAR = ["cat", "dog", "cow", "hen", "red", "old"], ["ship", "boat", "sail", "mast", "red", "new"]


def texts(words, n=120):
    return [" ".join(RNG.choice(words, 5)) for _ in range(n)]


REFERENCE, SAME, OTHER = texts(NEAR), texts(NEAR), texts(FAR)


def drift(candidate=SAME, name="drift", **options):
    return Check("drift", name=name, reference=REFERENCE, candidate=candidate, metric="jsd@words", **options)


def measured(value, low, high, **more):
    return Measured(what="share", value=value, low=low, high=high, n=100, **more)


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1))
def test_a_bound_and_its_mirror_decide_alike(value, below, above, limit):
    low, high = value - below, value + above
    assert Bound("max", limit).decide(low, high) is Bound("min", -limit).decide(-high, -low)


@pytest.mark.parametrize(
    ("low", "high", "outcome"), [(0.1, 0.5, Outcome.passed), (0.5, 0.6, Outcome.undecided), (0.51, 0.6, Outcome.failed)]
)
def test_the_ends_decide(low, high, outcome):
    assert Bound("max", 0.5).decide(low, high) is outcome


def test_the_number_of_texts_that_is_named_decides():
    found, bound = share(np.arange(200) < 14), Bound("max", 0.05)
    number = Measured(what="copies", value=found.value, low=found.low, high=found.high, n=200)
    needed = round(1.4 * number.count_needed(bound))
    for texts, outcome in ((200, Outcome.undecided), (needed // 2, Outcome.undecided), (needed, Outcome.failed)):
        more = share(np.arange(texts) < round(found.value * texts))
        assert bound.decide(more.low, more.high) is outcome


@pytest.mark.parametrize(
    ("number", "bound", "note", "is_known"),
    [
        (measured(0.5, 0.4, 0.6), Bound("max", 0.5), "a limit of 0.6 passes", False),
        (measured(2.5, 1.5, 3.5, null=0.01), Bound("max_ratio", 3.0), "would decide", True),
        (measured(1.2, 0.8, 3.5, null=0.01), Bound("max_ratio", 3.0), "would not decide", False),  # no distance to grow
        (measured(0.5, float("nan"), float("nan"), reason="too few"), Bound("max", 0.5), "too few", False),
    ],
)
def test_what_is_undecided_says_why_and_how_many_texts_would_do(number, bound, note, is_known):
    said, needed = number.explain_undecided(bound)
    assert note in said
    assert (needed is not None) is is_known


GOOD = """
level = 0.9
[check.weekly]
kind = "drift"
reference = "ref.txt"
candidate = "sample:banking"
metric = "energy"
max_ratio = 3
[check.copies]
kind = "copies"
generated = "new.csv:text"
train = "ref.txt"
max = "5%"
[check.score]
kind = "score"
candidate = "ref.txt"
reference = ["ref.txt", "ref.txt"]
max_drop = 0.005
[check.made]
kind = "describe"
generated = "ref.txt"
train = "ref.txt"
min = { unique = 0.9, semantic_recall = "60%" }
"""


@pytest.fixture
def written(tmp_path):
    (tmp_path / "ref.txt").write_text("a cat\na dog\n")
    (tmp_path / "new.csv").write_text("text\na cow\n")

    def write(content):
        (tmp_path / "gate.toml").write_text(content)
        return read_checks(tmp_path / "gate.toml")

    return write


def test_a_file_of_every_kind(written, tmp_path):
    found = written(GOOD)
    weekly, copies, score, made = found.checks
    assert weekly.kind == "drift"
    assert (weekly.name, weekly.reference, weekly.candidate) == ("weekly", str(tmp_path / "ref.txt"), "sample:banking")
    assert (copies.generated, copies.max) == (str(tmp_path / "new.csv:text"), 0.05)
    assert score.reference == [["a cat", "a cat"], ["a dog", "a dog"]]
    assert made.min == {"unique": 0.9, "semantic_recall": 0.6}
    assert (found.level, found.baselines) == (0.9, tmp_path / "gate.baselines.json")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("", "at least one table"),
        ("check = 3", "at least one table"),
        ("[chek.a]\nkind='drift'", "unknown entry of .*gate.toml 'chek'; did you mean check"),
        ("[check.a]", "has no kind: drift, copies, score and describe"),
        ("[check.a]\nkind='drfit'", "did you mean drift"),
        ("[check.a]\nkind='drift'", "check 'a' needs reference and candidate"),
        ("[check.a]\nkind='drift'\nmax_ration=3", "did you mean max_ratio"),
        ("[check.a]\nkind='drift'\nreference='r'\ncandidate='c'\nmax='few'", "is a number or a share in percent"),
        ("[check.a]\nkind='drift'\nreference=1\ncandidate='c'\nmax=1", "reference is the name of a file"),
        ("[check.a]\nkind='describe'\ngenerated='g'\ntrain='t'\nmin=0.5", "table of limits by property"),
        ("[check.a\n", "no TOML file"),
        ("seed='x'\n[check.a]\nkind='drift'\nreference='r'\ncandidate='c'\nmax=1", "seed is a whole number"),
    ],
)
def test_mistakes_are_one_clear_line(written, content, error):
    with pytest.raises((InputError, UnknownName), match=error) as found:
        written(content)
    assert "\n" not in str(found.value)
    with pytest.raises(InputError, match="cannot be read"):
        read_checks("none.toml")


def test_a_value_inside_the_null_range_never_excludes_the_same_source():
    score = Score(metric="m", value=1.3, low=1.1, high=2.0, null=1.0, p_value=0.03)
    number = Measured(what="m", value=1.3, low=1.1, high=2.0, n=200)
    assert compute_ratio(number, score, tail=0.025).low == 1.0
    assert compute_ratio(number, replace(score, p_value=0.025), tail=0.025).low == 1.1


def test_looks_share_the_level_and_are_said():
    once, often = run_checks([drift(OTHER, max_ratio=6)]), run_checks([drift(OTHER, max_ratio=6)], looks=20)
    assert often[0].low < once[0].low < once[0].high < often[0].high
    assert often.answer == "Fail: 1 check fails (95 % over 20 looks)."
    assert (once.details, often.details) == ({}, {"level": 0.95, "looks": 20})
    with pytest.raises(ArgumentError, match="at least 1"):
        run_checks([drift(max_ratio=6)], looks=0)


def test_sentences_of_documents_count_by_document(tmp_path):
    words = [f"w{number}" for number in range(400)]
    documents = [[" ".join(RNG.choice(own, 6)) for _ in range(5)] for own in RNG.choice(words, (40, 8))]
    sides = [[(label, text) for label in half for text in documents[label]] for half in (range(20), range(20, 40))]
    paths = [tmp_path / "reference.csv", tmp_path / "candidate.csv"]
    for path, side in zip(paths, sides, strict=True):
        path.write_text("doc,text\n" + "\n".join(f"d{label},{text}" for label, text in side))
    both = {"reference": str(paths[0]), "candidate": str(paths[1]), "metric": "jsd@words", "max_ratio": 1}
    alone, grouped = (run_checks([Check("drift", **both, **how)])[0] for how in ({}, {"group": "doc"}))
    assert (alone.outcome, grouped.outcome) == ("fail", "undecided")
    assert "rows that follow each other are alike" in alone.note
    labels = tuple([label for label, _ in side] for side in sides)
    assert run_checks([Check("drift", **both, group=labels)])[0].low == grouped.low


def test_items_of_documents_are_resampled_by_document(tmp_path):
    right = [f"{word} one two three" for word in NEAR * 20]
    left = [text if (item // 10) % 2 else "else" for item, text in enumerate(right)]
    labels = [item // 10 for item in range(120)]
    alone = Check("score", candidate=left, reference=right, metric="jaccard", min=0.5)
    one, grouped = (run_checks([check])[0] for check in (alone, replace(alone, group=labels)))
    assert one.value == grouped.value
    assert grouped.high - grouped.low > 2 * (one.high - one.low)
    path = tmp_path / "out.csv"
    path.write_text("doc,text\n" + "\n".join(f"{label},{text}" for label, text in zip(labels, left, strict=True)))
    assert run_checks([replace(alone, candidate=f"{path}:text", group="doc")])[0].low == grouped.low
    for wrong, error in ((labels[1:], "119 labels"), ([0] * 120, "at least 8 groups, found 1")):
        with pytest.raises(InputError, match=error):
            run_checks([replace(alone, group=wrong)])


def test_an_undecided_run_says_why():
    few = Check("drift", reference=REFERENCE[:20], candidate=SAME[:20], metric="jsd@words", max=0.5)
    alike = Check("drift", reference=["a", "A"] * 60, candidate=["A", "a"] * 60, metric="jsd@words", max_ratio=1)
    for check, note in ((drift(max_ratio=1), "would not decide"), (few, "no interval below"), (alike, "no distance")):
        found = run_checks([check])
        assert found.exit_code == 3
        assert note in found[0].note


def test_several_checks_hold_together():
    alone = run_checks([drift(OTHER, max=0.5)])[0]
    three = run_checks([drift(OTHER, str(n), max=0.5) for n in range(3)])[0]
    assert three.low < alone.low < alone.high < three.high


def test_evidence_is_the_texts_that_drive_the_distance():
    found = run_checks([Check("drift", reference=REFERENCE, candidate=OTHER, metric="cbdf@words", max_ratio=1)])
    assert found[0].outcome == "fail"
    assert set(found[0].evidence) <= set(OTHER)
    assert len(found[0].evidence) == 3


def noisy(kept, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(word if rng.random() < kept else "x" for word in text.split()) for text in REFERENCE]


@pytest.mark.parametrize(
    ("metric", "candidate", "baseline", "code"),
    [("jaccard", 0.9, 0.9, 0), ("jaccard", 0.6, 0.9, 1), ("jaccard", 0.9, 0.6, 0), ("ter", 0.6, 0.9, 1)],
)
def test_a_drop_is_decided_by_the_paired_interval_whichever_way_is_better(metric, candidate, baseline, code):
    sides = {"candidate": noisy(candidate, 1), "baseline": noisy(baseline, 1 if candidate == baseline else 2)}
    found = run_checks([Check("score", **sides, reference=REFERENCE, metric=metric, max_drop=0.05)])
    assert found.exit_code == code
    assert (found[0].value > 0.05) is bool(code)


def test_properties():
    limits = {"min": {"unique": 0.5}, "max": {"near_copies": 0.001}}
    check = Check("describe", name="d", generated=SAME, train=REFERENCE, **limits)
    found = {(result.measured, result.bound): result for result in run_checks([check])}
    assert set(found) == {("unique", "min"), ("near_copies", "max")}
    with pytest.raises(UnknownName, match="uniqe"):
        run_checks([Check("describe", generated=SAME, train=REFERENCE, min={"uniqe": 0.5})])


def test_a_baseline_is_stored_and_compared_with(tmp_path):
    path = tmp_path / "base.json"

    def checks(candidate, kept):
        options = {"candidate": noisy(kept, 1), "reference": REFERENCE, "metric": "jaccard", "max_drop": 0.05}
        unnamed = Check("drift", reference=REFERENCE, candidate=candidate, metric="jsd@words", max_rise=0.2)
        return [unnamed, Check("score", **options)]

    with pytest.raises(InputError, match=r"no baseline .* store one with --update"):
        run_checks(checks(SAME, 0.9), baselines=path)
    assert not path.exists()
    assert [one.check for one in run_checks(checks(SAME, 0.9), baselines=path, update=True)] == ["drift", "score"]
    assert run_checks(checks(SAME, 0.9), baselines=path).exit_code == 0
    assert [result.outcome for result in run_checks(checks(OTHER, 0.5), baselines=path)] == ["fail", "fail"]
    content = json.loads(path.read_text())
    content["baselines"]["drift"]["value"]["value"] = 9.0
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="checksum"):
        run_checks(checks(SAME, 0.9), baselines=path)


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


def test_reports_of_builds_are_valid_whatever_the_texts_hold():
    bad = ["<b>&\x00\x1b[31m ]]> `<script>`** cat", *OTHER[1:]]
    check = Check("drift", name='a "<&>"', reference=REFERENCE, candidate=bad, metric="energy@levenshtein", max_ratio=2)
    found = run_checks([check, drift(max_ratio=6)])
    suite = ElementTree.fromstring(found.to_junit()).find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [case.find("failure") is not None for case in suite.findall("testcase")] == [True, False]
    said = found.to_markdown()
    assert said.startswith("**Fail: 1 check fails and 1 check passes (95 % confidence).**")
    assert '| ✗ | a "&lt;&>" | fail |' in said
    assert all(line.startswith("- `") for line in said.splitlines() if line.startswith("- "))


def test_drift_is_limited_by_the_share_of_foreign_texts():
    rng = np.random.default_rng(0)
    own, foreign = rng.normal(size=(600, 8)), 3 + rng.normal(size=(300, 8))
    mixed = rng.permutation(np.vstack([own[300:480], foreign[:120]]))
    how = {"reference": own[:300], "foreign": foreign[120:], "max_foreign": 0.2}
    same, far = (run_checks([Check("drift", candidate=texts, **how)])[0] for texts in (own[300:], mixed))
    assert (same.outcome, far.outcome) == ("pass", "fail")
    assert far.low <= 0.4 <= far.high


def test_copies_are_counted_by_groups(tmp_path):
    """One group of twelve holds all copies: as many texts, but far less certain."""
    lines = [
        f"d{place // 5},{'a red cat sat on a mat' if place < 5 else f'w{place} x{place} y{place}'}"
        for place in range(60)
    ]
    (tmp_path / "made.csv").write_text("\n".join(["doc,text", *lines]), encoding="utf-8")
    train = [
        "doc,text",
        *(f"t{place % 9},{'a red cat sat on a mat' if not place else f'u{place} v{place}'}" for place in range(60)),
    ]
    (tmp_path / "train.csv").write_text("\n".join(train), encoding="utf-8")
    how = {"generated": tmp_path / "made.csv", "train": tmp_path / "train.csv", "column": "text", "max": 0.5}
    alone, grouped = (run_checks([Check("copies", **how, **more)])[0] for more in ({}, {"group": "doc"}))
    assert alone.value == grouped.value == 5 / 60
    assert grouped.high > alone.high + 0.05
