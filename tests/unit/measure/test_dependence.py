"""Texts that belong together: groups and blocks by name, and signs of dependence that nobody named."""

import numpy as np
import polars as pl
import pytest

import textgauge
from textgauge.core.errors import InputError
from textgauge.stats.decisions import ALIKE_ROWS, PAIRED_ROWS, TOO_CLOSE

METRICS = "jsd@words"


def make_documents(rng, count, sentences):
    """Return texts whose words come from their document, and the documents' labels."""
    labels = np.repeat(np.arange(count), sentences)
    themes = [rng.integers(400, size=8) for _ in range(count)]
    return [" ".join(f"w{word}" for word in rng.choice(themes[label], 6)) for label in labels], labels.tolist()


def compare_documents(seed, counts=(20, 20), sentences=(5, 5), **how):
    rng = np.random.default_rng(seed)
    sides = [make_documents(rng, count, size) for count, size in zip(counts, sentences, strict=True)]
    texts, labels = zip(*sides, strict=True)
    group = {"group": tuple(labels)} if how.pop("named", True) else {}
    return textgauge.compare(*texts, metrics=METRICS, permutations=99, seed=seed, **group, **how)


@pytest.mark.parametrize(
    ("counts", "sentences"),
    [
        ((20, 20), (5, 5)),
        ((12, 60), (10, 1)),
        pytest.param((30, 10), (5, 5), marks=pytest.mark.slow),
        pytest.param((40, 10), (2, 8), marks=pytest.mark.slow),
    ],
)
def test_documents_of_one_source_are_seldom_different_if_they_are_named(counts, sentences):
    p = [compare_documents(seed, counts, sentences)[0].p_value for seed in range(40)]
    assert np.mean(np.array(p) <= 0.05) <= 0.15
    alone = [compare_documents(seed, counts, sentences, named=False) for seed in range(10)]
    assert np.mean([report[0].p_value <= 0.05 for report in alone]) > 0.5
    assert all(report.sign == ALIKE_ROWS for report in alone)
    assert all("--group" in report.answer for report in alone if report[0].p_value <= 0.05)


def test_independent_texts_give_few_notices():
    signs = [compare_documents(seed, (60, 60), (1, 1), named=False).sign for seed in range(60)]
    assert sum(sign is not None for sign in signs) <= 8


def test_a_file_that_is_sorted_by_label_is_no_sign():
    rng = np.random.default_rng(0)
    sides = [[f"{kind} w{rng.integers(60)} w{rng.integers(60)}" for kind in "ab" for _ in range(150)] for _ in range(2)]
    assert textgauge.compare(*sides, metrics=METRICS, permutations=99).sign is None


@pytest.mark.parametrize("words", [8, 4])  # of a theme, of which a text has six
def test_answers_to_the_same_prompts_are_noticed_where_rows_are_in_the_same_order(words):
    rng = np.random.default_rng(9)
    themes = [rng.integers(400, size=words) for _ in range(60)]
    sides = [[" ".join(f"w{word}" for word in rng.choice(theme, 6)) for theme in themes] for _ in range(2)]
    assert textgauge.compare(*sides, metrics="zipf", permutations=99).sign == PAIRED_ROWS
    report = textgauge.compare(sides[0], {"one": sides[1], "two": sides[1][::-1]}, metrics="zipf", permutations=99)
    assert report.sign == PAIRED_ROWS
    assert "--paired" in report.answer
    assert textgauge.compare(sides[0], sides[1], metrics="zipf", permutations=99, paired=True).sign is None
    assert textgauge.compare(sides[0], sides[1][1:], metrics="zipf", permutations=99).sign is None


def test_rewrites_are_noticed_and_pairs_find_the_difference():
    rng = np.random.default_rng(1)
    texts, _ = make_documents(rng, 60, 1)
    rewritten = [text.replace("w1", "v1") for text in texts]
    report = textgauge.compare(texts, rewritten, metrics=METRICS, permutations=99)
    assert report.sign == TOO_CLOSE
    assert "--paired" in report.answer
    paired = textgauge.compare(texts, rewritten, metrics=METRICS, permutations=99, paired=True)
    assert paired.sign is None
    assert paired[0].p_value == 0.01
    blocked = textgauge.compare(
        texts, rewritten[::-1], metrics=METRICS, permutations=99, block=(list(range(60)), list(range(60))[::-1])
    )
    assert blocked[0].p_value == 0.01


def test_labels_are_columns_of_frames_and_files(tmp_path):
    rng = np.random.default_rng(2)
    frames = []
    for number in range(2):
        texts, labels = make_documents(rng, 10, 3)
        texts[4] = " "
        frames.append(pl.DataFrame({"text": texts, "doc": [f"d{number}-{label}" for label in labels]}))
        frames[-1].write_csv(tmp_path / f"{number}.csv")
    given = {"metrics": METRICS, "permutations": 39, "column": "text", "group": "doc"}
    with pytest.warns(UserWarning, match="blank"):
        found = textgauge.compare(*frames, **given)
    with pytest.warns(UserWarning, match="blank"):
        read = textgauge.compare(tmp_path / "0.csv", tmp_path / "1.csv", **given)
    assert found[0].p_value == read[0].p_value
    assert found[0].test == "permutation of groups of texts"
    assert any("10 and 10 groups" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("how", "named"),
    [
        ({"group": ([0] * 30, list(range(30)))}, "reference: 1;"),
        ({"group": ([0] * 3, [1] * 3)}, "label"),
        ({"group": ([""] * 30, [1] * 30)}, "text 0"),
        ({"block": (list(range(30)), list(range(30, 60)))}, "0 blocks"),
        ({"paired": True, "block": "id"}, "block"),
        ({"group": "doc"}, "doc"),
        ({"paired": True, "limit": 10}, "limit"),
    ],
)
def test_labels_that_allow_no_test_are_refused(how, named):
    texts = make_documents(np.random.default_rng(3), 30, 1)[0]
    with pytest.raises(InputError, match=named):
        textgauge.compare(texts, texts[::-1], metrics=METRICS, **how)


def test_large_groups_are_cut_where_the_other_corpus_has_small_ones():
    report = compare_documents(4, (10, 40), (8, 1))
    assert report[0].n_reference == 10
    assert any("10 of 80 texts" in warning for warning in report.warnings)
    assert report.sign is None


def test_candidates_that_belong_to_documents_are_tested_and_ranked_by_groups():
    rng = np.random.default_rng(5)
    corpora = {name: make_documents(rng, 50, 5) for name in ("reference", "one", "two")}
    texts, labels = ({name: side[of] for name, side in corpora.items()} for of in (0, 1))
    reference = texts.pop("reference")
    alone = textgauge.compare(reference, texts, metrics=METRICS, permutations=99)
    assert alone.sign == ALIKE_ROWS
    assert "--group" in alone.answer
    report = textgauge.compare(reference, texts, metrics=f"{METRICS},irpr@jaccard", permutations=99, group=labels)
    assert report.sign is None
    assert not any("no ranks" in warning for warning in report.warnings)
    assert {row.test for row in report} == {"permutation of groups of texts"}
    assert min(row.p_value for row in report) > min(row.p_value for row in alone)
    assert [row.rank_low for row in report] == [1] * 4
    few = textgauge.compare(
        reference[:200],
        {name: side[:200] for name, side in texts.items()},
        metrics=METRICS,
        permutations=99,
        group={name: [label // 2 for label in of[:200]] for name, of in labels.items()},
    )
    assert any("40 groups" in warning for warning in few.warnings)


def test_paired_candidates_are_exchanged_within_rows():
    rng = np.random.default_rng(6)
    texts = make_documents(rng, 200, 1)[0]
    edited = {"all": [text.replace("w1", "v1") for text in texts], "none": list(texts)}
    report = textgauge.compare(texts, edited, metrics=METRICS, permutations=99, paired=True)
    assert report[METRICS, "all"].p_value == 0.01
    assert report[METRICS, "none"].p_value == 1
    assert report[METRICS, "none"].rank == 1
    assert textgauge.compare(texts, edited, metrics=METRICS, permutations=99).sign == TOO_CLOSE


def test_slices_are_tested_by_groups():
    rng = np.random.default_rng(7)
    frames = []
    for number in range(2):
        sides = [make_documents(rng, count, 5) for count in (20, 20, 5)]
        texts = [text for side, _ in sides for text in side]
        topics = [topic for topic, (side, _) in zip("abc", sides, strict=True) for _ in side]
        documents = [f"{number}{topic}{label}" for topic, (_, of) in zip("abc", sides, strict=True) for label in of]
        frames.append(pl.DataFrame({"text": texts, "topic": topics, "doc": documents}))
    how = {"metrics": METRICS, "permutations": 99, "column": "text", "by": "topic"}
    alone = textgauge.compare(*frames, **how)
    report = textgauge.compare(*frames, **how, group="doc")
    assert sorted({row.slice for row in alone}) == ["a", "b", "c"]
    assert sorted({row.slice for row in report}) == ["a", "b"]
    assert all(alone[name].p_value < report[name].p_value for name in "ab")
    assert any("c" in warning and "8 groups" in warning for warning in report.warnings)


def test_a_column_that_repeats_is_named_in_the_answer(tmp_path):
    rng = np.random.default_rng(8)
    paths = []
    for number, word in enumerate(("", " more")):
        texts = [text + word for text in make_documents(rng, 60, 1)[0]]
        rows = pl.DataFrame({"text": texts, "doc_id": [f"d{row % 20}" for row in range(60)], "year": [2020] * 60})
        paths.append(tmp_path / f"{number}.csv")
        rows.write_csv(paths[-1])
    report = textgauge.compare(*paths, metrics=METRICS, permutations=99, column="text")
    assert "doc_id" in report.answer
    assert report.answer.startswith("Different, if the texts are independent")
    named = textgauge.compare(*paths, metrics=METRICS, permutations=99, column="text", group="doc_id")
    assert named.sign is None


def test_several_rewrites_of_the_reference_are_all_noticed():
    texts, _ = make_documents(np.random.default_rng(6), 60, 1)
    candidates = {f"model {number}": [text.replace("w1", f"v{number}") for text in texts] for number in range(8)}
    candidates["other"] = make_documents(np.random.default_rng(7), 60, 1)[0]
    report = textgauge.compare(texts, candidates, metrics=METRICS, permutations=99)
    assert report.sign == TOO_CLOSE
    noticed = [warning.partition(":")[0] for warning in report.warnings if TOO_CLOSE in warning]
    assert noticed == [f"model {number}" for number in range(8)]


def draw_vectors(rng, groups, size):
    """Return vectors near the centre of their group."""
    centres = rng.standard_normal((groups, 6))
    return np.repeat(centres, size, axis=0) + rng.standard_normal((groups * size, 6)), np.repeat(range(groups), size)


@pytest.mark.parametrize("metric", ["energy", "mmd", "kid"])
def test_intervals_of_groups_cover_and_are_those_of_texts_where_groups_have_one(metric):
    rng, values, ends = np.random.default_rng(8), [], []
    for _ in range(100):
        (X, of), (Y, other) = draw_vectors(rng, 16, 3), draw_vectors(rng, 16, 3)
        report = textgauge.compare(X, Y, metrics=metric, ci=True, test=False, group=(of, 16 + other), permutations=9)
        values.append(report[0].value)
        ends.append((report[0].low, report[0].high))
    low, high = np.array(ends).T
    covered = np.mean((low <= np.mean(values)) & (np.mean(values) <= high))
    assert covered >= 0.88  # of 100 with 95 %: 99.8 % of such counts
    single = textgauge.compare(X, Y, metrics=metric, ci=True, group=(range(48), range(48, 96)), permutations=9)[0]
    plain = textgauge.compare(X, Y, metrics=metric, ci=True, permutations=9)[0]
    assert (single.low, single.high) == pytest.approx((plain.low, plain.high), abs=0.03 * (plain.high - plain.low))
    assert single.high - single.low < report[0].high - report[0].low
