"""The first line of a command is its answer, and follows from the numbers of the same result."""

import json
import math

import numpy as np
import pytest

WORDS = ("red", "blue", "old", "new", "pay", "card")


def texts(seed, n, words=WORDS):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, 5)) for _ in range(n)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"a": texts(0, 60), "same": texts(1, 60), "other": texts(2, 60, ("tea", "milk", "card"))}
    for name, lines in files.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), "utf-8")
    return tmp_path


def both(run, *call):
    """The first line that people read, and the whole result as machines read it."""
    first = run(*call)[1].splitlines()[0]
    return first, json.loads(run(*call, "-f", "json")[1])


@pytest.mark.parametrize("candidate", ["same.txt", "other.txt"])
@pytest.mark.parametrize("seed", [0, 1])
def test_compare_says_different_only_if_adjusted_tests_reject(run, folder, candidate, seed):
    call = ("compare", "a.txt", candidate, "-m", "jsd@words,cbdf@words,zipf@words", "--seed", seed)
    first, found = both(run, *call)
    rejecting = sum(row["p_adjusted"] <= 0.05 for row in found["rows"])
    assert first == found["answer"]
    assert first.startswith("Different, " if rejecting else "No difference found: none of 3")
    assert not rejecting or f": {rejecting} of 3 metrics" in first
    assert ("Typical words" in first) == bool(rejecting)


def test_score_gives_whole_sets_first_and_means_of_the_rows(run, folder):
    first, found = both(run, "score", "a.txt", "same.txt", "-m", "jaccard,bleu")
    mean = math.fsum(row["jaccard"] for row in found["rows"]) / len(found["rows"])
    (whole,) = (row["whole"] for row in found["details"]["summary"] if row["metric"] == "bleu")
    assert first == f"The whole set of 60 pairs has bleu {whole:.3g}; on average over pairs jaccard {mean:.3g}."


def test_describe_counts_near_copies_at_the_threshold_of_its_list(run, folder):
    (folder / "copied.txt").write_text("\n".join([*texts(0, 60)[:12], *texts(9, 28, ("tea", "cup", "milk"))]), "utf-8")
    models = ("--embedder", "none", "--grammar", "none", "--plausibility", "none")
    for threshold in (0.9, 0.55):
        call = ("describe", "copied.txt", "--train", "a.txt", *models, "--near-copies", threshold)
        first, found = both(run, *call)
        (row,) = (row for row in found["rows"] if row["property"] == "near_copies")
        count = round(40 * row["value"])
        assert first.startswith(f"{count} of 40 texts are near copies of train texts ({100 * row['value']:.3g} %)")
        assert f"Near copies ({count}" in run(*call)[1]


def test_run_and_leaderboard_name_the_first_of_their_rows(run, folder):
    call = ("run", "ksc", "--source-a", "a.txt", "--source-b", "other.txt", "-m", "jsd@words,zipf@words")
    first, found = both(run, *call, "-k", 3, "-n", 10, "--repetitions", 3, "--out", "kept")
    assert first == found["answer"] == json.loads(run("leaderboard", "kept", "-f", "json")[1])["answer"]
    best = found["rows"][0]
    assert best["rank"] == 1
    assert best["metric"] in first
    assert ("better than" in first) == (best["rank_high"] == 1)
