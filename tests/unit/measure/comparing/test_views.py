"""Corpora read in parts have the values of corpora in memory, with uncertainty from groups of texts."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from textgauge import compare
from textgauge.core.errors import InputError
from textgauge.core.progress import listen
from textgauge.core.settings import limit_sizes
from textgauge.data import Corpus
from textgauge.encode import embedders
from textgauge.encode.encoders import Encoder
from textgauge.measure.comparing import choose_metrics

COUNTED = (
    "jsd@words,kl@words,chi@words,chi(padding=source)@words,cbdf@words,zipf@words,vocab_overlap@words,ttr_gap@words"
)
SUMMED = "energy@letters,energy(root=true)@letters,fid@letters,medoid@letters,ttest@letters"
PAIRED = "median@letters,pr@letters,dc@letters,irpr@letters,ahd@letters,hausdorff@letters,mmd@letters,kid@letters"
WORDS = ("the", "a", "red", "blue", "cat", "dog", "sees", "hears", "old", "new", "tree", "house", "runs", "and", "far")


class Letters:
    """Counts of letters, weighted, as vectors."""

    name = identity = "letters-of-streams"
    dimension = 8

    def __init__(self):
        self.asked = []

    def encode(self, texts, *, batch_size=64):
        self.asked += texts
        return np.array(
            [[text.count(sign) / (i + 2) for i, sign in enumerate("aeosdrtu")] for text in texts], np.float32
        )


@pytest.fixture
def letters(monkeypatch, tmp_path):
    model = Letters()
    monkeypatch.setitem(embedders.EMBEDDERS, "letters", Encoder(lambda: model))
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    return model


@pytest.fixture
def small():
    with limit_sizes(64):
        yield


def made(n, seed, weight=1.0):
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, len(WORDS) + 1) ** weight
    drawn = rng.choice(WORDS, (n, 9), p=weights / weights.sum())
    return [" ".join(row[: rng.integers(6, 10)]) for row in drawn]


@pytest.fixture(scope="module")
def texts():
    return [*made(290, 1), "", "xyz"], made(230, 2, 0.7)


def write(folder, texts):
    paths = [folder / "reference.txt", folder / "candidate.txt"]
    for path, side in zip(paths, texts, strict=True):
        path.write_text("\n".join(side))
    return [str(path) for path in paths]


def in_memory(texts, metrics, **options):
    return compare(*(Corpus.of([text for text in side if text]) for side in texts), metrics=metrics, **options)


@pytest.mark.filterwarnings("ignore:.*blank texts")
def test_values_are_those_in_memory(texts, letters, small, tmp_path):
    metrics = f"{COUNTED},{SUMMED},{PAIRED}"
    report = compare(*write(tmp_path, texts), metrics=metrics)
    assert report.warnings[0].startswith("read in parts, no text kept in memory: 291 and 230 texts")
    for streamed, whole in zip(report, in_memory(texts, metrics), strict=True):
        exact = streamed.metric.endswith("@words")
        assert streamed.metric == whole.metric
        assert (streamed.n_reference, streamed.n_candidate) == (291, 230)
        for ours, theirs in (
            (streamed.value, whole.value),
            *((streamed.parts[p], whole.parts[p]) for p in whole.parts),
        ):
            assert ours == theirs if exact else ours == pytest.approx(theirs, rel=1e-9, abs=1e-14)


@pytest.mark.filterwarnings("ignore:.*blank texts")
def test_order_partition_and_block_do_not_matter(texts, letters, small, tmp_path):
    metrics = f"{COUNTED},{SUMMED}"
    options = {"ci": True, "permutations": 19, "test": True}
    first = compare(*write(tmp_path, texts), metrics=metrics, **options)
    turned = [side[::-1] for side in texts]
    with limit_sizes(37):
        second = compare(*write(tmp_path, turned), metrics=metrics, **options)
    for one, other in zip(first, second, strict=True):
        for name in ("value", "low", "high", "null", "null_low", "p_value", "p_adjusted"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9, abs=1e-13, nan_ok=True)


def test_lists_and_arrays_are_streamed_too(texts, letters, small):
    kept = [[text for text in side if text] for side in texts]
    assert compare(*kept, metrics="jsd@words").warnings[0].startswith("read in parts")
    rows = [letters.encode(side) + 1 for side in kept]
    report = compare(*rows, metrics="fid,energy,medoid,ttest,pr")
    whole = compare(*map(Corpus.of, rows), metrics="fid,energy,medoid,ttest,pr")
    assert [score.value for score in report] == pytest.approx([score.value for score in whole], rel=1e-9)
    with pytest.raises(InputError, match="needs texts"):
        compare(*rows, metrics="jsd")
    with pytest.raises(InputError, match="texts with embeddings"):
        compare(kept[0], rows[0], metrics="fid")


def test_uncertainty_of_sums_and_reasons_where_there_is_none(letters, small, tmp_path):
    texts = made(400, 3), made(400, 4)
    report = compare(
        *write(tmp_path, texts), metrics="energy@letters,jsd@words,zipf@words,pr@letters", ci=True, test=True
    )
    whole = in_memory(texts, "energy@letters,jsd@words,zipf@words", ci=True, test=True)
    for streamed, exact in zip(list(report)[:3], whole, strict=True):
        assert streamed.low <= streamed.value <= streamed.high
        assert streamed.interval == "disjoint groups of texts"
        assert streamed.test == "permutation of groups of texts"
        assert streamed.p_value > 0.01  # one source
        assert streamed.null == pytest.approx(exact.null, rel=0.25)
    assert "approx" in report["pr@letters"].no_interval
    assert np.isnan(report["pr@letters"].p_value)
    lopsided = compare(texts[0], texts[1][:20], metrics="jsd@words", ci=True)
    assert "seven times" in lopsided["jsd@words"].no_interval


def test_a_far_corpus_has_the_null_range_of_one_source(letters, small):
    near, far = made(600, 5), made(600, 6, 0.2)
    report = compare(near, far, metrics="energy@letters", ci=True)
    exact = compare(Corpus.of(near), Corpus.of(far), metrics="energy@letters", ci=True)
    assert report["energy@letters"].null == pytest.approx(exact["energy@letters"].null, rel=0.2)
    assert report["energy@letters"].value > 5 * report["energy@letters"].null_high


@pytest.mark.parametrize(("metric", "size"), [("classifier@letters", 50), ("pr@letters", 60), ("self_bleu_gap", 50)])
def test_samples_are_stated(texts, letters, small, metric, size):
    kept = [[text for text in side if text] for side in texts]
    report = compare(*kept, metrics=metric, approx=size)
    (score,) = report
    assert (score.n_reference, score.n_candidate) == (size, size)
    assert f"|sample={size},seed=0" in score.signature
    assert report.warnings[1] == f"{score.metric}: from a sample of {size} and {size} texts, drawn with seed 0"
    turned = compare(*(side[::-1] for side in kept), metrics=metric, approx=size)
    assert turned[score.metric].value == pytest.approx(score.value)


def test_the_report_says_what_comes_from_all_texts_and_what_from_a_sample(letters, small):
    report = compare(made(150, 1), made(120, 2), metrics="jsd@words,vendi_gap@letters,pr@letters", ci=True, seed=7)
    assert "jsd@words and pr@letters: from all texts" in report.warnings
    assert "vendi_gap@letters: from a sample of 150 and 120 texts, drawn with seed 7" in report.warnings


def test_long_phases_say_how_far_they_are(texts, letters, small, monkeypatch):
    monkeypatch.setattr("textgauge.core.progress.SECONDS_BETWEEN", 0)
    kept = [[text for text in side if text] for side in texts]
    steps = []
    metrics = "energy@letters,jsd@words,vendi_gap@letters"
    with listen(steps.append):
        compare(*kept, metrics=metrics, ci=True, test=True, permutations=19)
    assert {"reading the reference: 291 texts", "reading the candidate: 230 texts"} <= set(steps)
    counted = {}
    for step in steps:
        counted.setdefault(step.kind, []).append((step.done, step.total))
    assert counted["texts embedded with letters"][-1][1] == 521
    assert {"texts split by words", "jsd@words: permutations", "vendi_gap@letters: permutations"} <= set(counted)


def broken_parquet(folder):
    import polars

    path = folder / "broken.parquet"
    polars.DataFrame({"text": made(400, 9)}).write_parquet(path, row_group_size=100, statistics=False)
    data = bytearray(path.read_bytes())
    middle = len(data) * 5 // 8
    data[middle - 200 : middle] = b"\xff" * 200
    path.write_bytes(data)
    return path


def long_text(folder):
    path = folder / "long.txt"
    path.write_text("\n".join([*made(200, 9), "x" * 10_000_000, *made(200, 8)]))
    return path


def bad_bytes(folder):
    path = folder / "bytes.txt"
    path.write_bytes("\n".join(made(200, 9)).encode() + b"\nbad \xff byte\n" + "\n".join(made(100, 8)).encode())
    return path


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [(broken_parquet, "bad Parquet"), (long_text, "1,000,000 characters"), (bad_bytes, "line 201 is not UTF-8")],
)
def test_damage_is_one_clear_line_before_anything_is_embedded(run, letters, small, tmp_path, damage, complaint):
    reference = write(tmp_path, (made(150, 1), made(120, 2)))[0]
    code, out, err = run("compare", reference, damage(tmp_path), "-m", "energy@letters")
    assert (code, out) == (2, "")
    assert complaint in err
    assert len(err.strip().splitlines()) == 1
    assert letters.asked == []


def test_what_was_embedded_is_not_embedded_again(letters, small):
    texts, others = made(150, 0), made(120, 9)
    compare(texts, others, metrics="energy@letters")
    letters.asked.clear()
    compare([*texts, "one more text"], others, metrics="energy@letters")
    assert letters.asked == ["one more text"]


def test_a_sample_alone_is_embedded_where_no_metric_needs_all(letters, small):
    compare(made(150, 0), made(120, 9), metrics="classifier@letters,jsd@words", approx=30)
    assert len(letters.asked) <= 60


def test_default_metrics_of_all_pairs_are_left_out(letters, small, monkeypatch):
    monkeypatch.setattr(sys.modules["textgauge.measure.comparing"], "DEFAULT_METRICS", "jsd@words,pr@letters")
    monkeypatch.setattr(choose_metrics, "__kwdefaults__", {"default": "jsd@words,pr@letters"})
    texts = made(150, 1), made(120, 2)
    report = compare(*texts)
    assert [score.metric for score in report] == ["jsd@words"]
    assert (
        "left out, because they take all pairs of texts: pr@letters; name them, or measure them on a sample (approx)"
        in report.warnings
    )
    assert len(compare(*texts, approx=100)) == 2
    assert len(compare(*texts, metrics="pr@letters,jsd@words")) == 2


@pytest.mark.long
def test_threads_of_linear_algebra_change_no_bit(tmp_path):
    rng = np.random.default_rng(0)
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(1_500, 384)).astype(np.float32))
    command = [sys.executable, "-m", "textgauge", "compare", "a.npy", "b.npy", "-m", "fid", "--no-test", "-f", "jsonl"]
    values = set()
    for threads in "12":
        setting = {**os.environ, "TEXTGAUGE_LARGEST_BLOCK": "1000", "OPENBLAS_NUM_THREADS": threads}
        printed = subprocess.run(command, cwd=tmp_path, env=setting, capture_output=True, check=True).stdout
        values.add(json.loads(printed)["value"])
    assert len(values) == 1
