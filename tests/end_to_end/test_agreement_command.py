"""`textgauge run agreement`, its leaderboard, tests, ceiling and figures, and `reproduce yamshchikov2020`."""

import json

import numpy as np
import pytest

RANKS = ["overall", "overall_low", "overall_high", "rank", "rank_low", "rank_high", "tier"]
PAIR = ["pearson", "spearman", "kendall", "kendall_c", "pairwise_accuracy"]
WORDS = ["red", "green", "blue", "cat", "dog", "bird", "sun", "moon", "tree", "sea"]


def table(folder, rows=60):
    """Pairs that share words as their rating says, rated by two people, in four sets, by three systems."""
    rng = np.random.default_rng(0)
    lines = ["a,b,score,second,part,who,segment"]
    for i in range(rows):
        shared = int(rng.integers(0, 6))
        left = rng.choice(WORDS, 5, replace=False)
        right = [*left[:shared], *rng.choice(WORDS, 5 - shared)]
        second = "" if i % 9 == 0 else str(max(0, min(5, shared + int(rng.integers(-1, 2)))))
        part = ("x", "y", "x_random", "y_random")[i % 4]
        lines.append(f"{' '.join(left)},{' '.join(right)},{shared},{second},{part},s{i % 3},{i // 3}")
    path = folder / "rated.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def agreement(run, tmp_path):
    def call(*args, metrics="jaccard,chrf"):
        columns = ["--pairs", table(tmp_path), "--left", "a", "--right", "b", "--rating", "score"]
        return run("run", "agreement", *columns, "-m", metrics, "--out", tmp_path / "run", *args)

    return call


def one_line(result):
    code, out, err = result
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("textgauge: ")
    return line


def test_a_run_its_leaderboard_and_its_details(agreement, run, tmp_path):
    code, out, err = agreement()
    assert code == 0
    assert out.startswith("Best: chrf, better than jaccard")
    assert "2 results: 0 were there, 2 computed" in err
    assert "2 were there" in agreement()[2]
    rows = json.loads(run("leaderboard", tmp_path / "run", "-f", "json")[1])["rows"]
    assert [list(row) for row in rows] == [
        ["metric", *PAIR, "overall", "overall_low", "overall_high", "rank", "rank_low", "rank_high", "tier"]
    ] * 2
    assert {row["metric"] for row in rows} == {"jaccard", "chrf"}
    assert rows[0]["spearman"] > 0.8
    detail = json.loads(run("leaderboard", tmp_path / "run", "--detail", "-f", "json")[1])["rows"]
    assert [row["measure"] for row in detail] == PAIR * 2
    for row in detail:
        assert row["low"] <= row["value"] <= row["high"]
        assert row["n"] == 60
        assert 0 < row["chance"] < 0.6
        assert row["about"].startswith("pairs: ")


def test_sets_systems_and_items_bring_their_measures(agreement, run, tmp_path):
    assert agreement("--set", "part", "--system", "who", "--item", "segment", "--rating", "second")[0] == 0
    code, out, _ = run("leaderboard", tmp_path / "run", "-f", "json")
    row = json.loads(out)["rows"][0]
    assert code == 0
    for name in ("within_item_accuracy", "system_kendall", "order_correlation", "swaps", "variability"):
        assert name in row
    chosen = json.loads(run("leaderboard", tmp_path / "run", "--measures", "swaps,spearman", "-f", "json")[1])["rows"]
    assert list(chosen[0])[:3] == ["metric", "spearman", "swaps"]
    assert chosen[0]["overall"] == pytest.approx((chosen[0]["spearman"] + 1) / 2)
    assert "no measure 'beauty'" in one_line(run("leaderboard", tmp_path / "run", "--measures", "beauty"))


def test_tests_of_every_two_metrics(agreement, run, tmp_path):
    agreement(metrics="jaccard,chrf,levenshtein")
    for on in ("spearman", "pearson", "kendall"):
        rows = json.loads(run("leaderboard", tmp_path / "run", "--tests", "--on", on, "-f", "json")[1])["rows"]
        assert [(row["metric"], row["other"]) for row in rows] == [
            ("jaccard", "chrf"),
            ("jaccard", "levenshtein"),
            ("chrf", "levenshtein"),
        ]
        for row in rows:
            assert row["difference"] == pytest.approx(row["value"] - row["other_value"])
            assert row["low"] <= row["difference"] <= row["high"]
            assert all(0 < row[f"p_{test}"] <= 1 for test in ("bootstrap", "permutation", "williams"))
            assert (row["measure"], row["n"]) == (on, 60)
    assert "one of pearson" in one_line(run("leaderboard", tmp_path / "run", "--tests", "--on", "taste"))


def test_the_ceiling_needs_several_raters(agreement, run, tmp_path):
    agreement()
    assert "several ratings of each pair" in one_line(run("leaderboard", tmp_path / "run", "--ceiling"))
    agreement("--rating", "second", "--out", tmp_path / "two")
    rows = {
        row["measure"]: row
        for row in json.loads(run("leaderboard", tmp_path / "two", "--ceiling", "-f", "json")[1])["rows"]
    }
    assert 0.8 < rows["krippendorff_alpha_interval"]["value"] < 1
    spearman = rows["leave_one_out_spearman"]
    assert spearman["low"] < spearman["value"] < spearman["high"]
    assert (spearman["raters"], spearman["n"]) == (2, 53)


def test_tests_need_two_metrics_on_rated_pairs(agreement, run, tmp_path):
    agreement(metrics="jaccard")
    assert "two metrics" in one_line(run("leaderboard", tmp_path / "run", "--tests"))
    given = ["--source-a", "sample:cooking", "--source-b", "sample:travel", "-k", 3, "-n", 5, "-m", "jsd@words"]
    run("run", "ksc", *given, "--out", tmp_path / "ksc")
    assert "on rated pairs" in one_line(run("leaderboard", tmp_path / "ksc", "--tests"))


def test_figures_of_rated_pairs(agreement, run, tmp_path):
    agreement("--set", "part")
    code, out, err = run("figures", tmp_path / "run", "--folder", tmp_path / "figures", "--type", "svg")
    assert (code, err) == (0, "")
    names = [path.name for path in (tmp_path / "figures").iterdir()]
    assert {name.partition("-")[0] for name in names} == {"order", "bump", "scatter"}
    assert len(out.split()) == 3
    texts = {path.name.partition("-")[0]: path.read_text() for path in (tmp_path / "figures").iterdir()}
    for words in (["people", "jaccard", "chrf"], ["x_random"], ["rating", "n 60"]):
        assert any(all(word in text for word in words) for text in texts.values())


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ([], "--pairs"),
        (["--pairs", "none.csv", "--rating", "r"], "none.csv"),
        (["--pairs", "{table}", "--left", "a", "--right", "b"], "--rating"),
        (["--pairs", "{table}", "--left", "a", "--right", "b", "--rating", "points"], "no column 'points'"),
        (["--pairs", "{table}", "--left", "a", "--right", "b", "--rating", "who"], "line 2: column 'who' holds 's0'"),
        (["--pairs", "{table}", "--left", "a", "--right", "b", "--rating", "second"], "line 2: column 'second'"),
        (["--pairs", "{table}", "--left", "a", "--right", "b", "--rating", "score", "--set", "q"], "no column 'q'"),
        (["--pairs", "{one}", "--left", "a", "--right", "b", "--rating", "score"], "at least two rated pairs, not 1"),
        (["--pairs", "sample:graded", "--rating", "r"], "brings its own ratings"),
        (["--pairs", "sample:graded", "-m", "fid"], "compares corpora"),
        (["--pairs", "sample:graded", "-p", "ratings=single"], "several ratings"),
        (["--pairs", "sample:graded", "-k", "3"], "has no parameter 'k'"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(run, tmp_path, args, complaint):
    one = tmp_path / "one"
    one.mkdir()
    paths = {"table": table(tmp_path), "one": table(one, rows=1)}
    given = [arg.format(**paths) for arg in args]
    usual = [] if "-m" in given else ["-m", "jaccard"]
    assert complaint in one_line(run("run", "agreement", *given, *usual, "--out", tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_suite_takes_no_pairs_of_its_own(run, tmp_path):
    asked = ("run", "yamshchikov2020", "--pairs", "sample:graded", "--out", tmp_path / "run")
    assert "sets its own data" in one_line(run(*asked))


def test_reproduce_without_the_data_feeds_the_published_numbers(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_DATA", str(tmp_path))
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    code, out, err = run("reproduce", "yamshchikov2020", "--table", "figure1", "-f", "json")
    rows = json.loads(out)["rows"]
    assert (code, len(rows)) == (0, 91)
    assert "only published numbers are fed" in err
    assert {row["source"] for row in rows} == {"published ranks"}
    assert all(abs(row["difference"]) <= 0.0051 for row in rows)
    _, out, _ = run("reproduce", "yamshchikov2020", "--table", "figure1")
    assert out.startswith("yamshchikov2020: 91 rows of tables; ours are 91 from published ranks\n")
    code, out, err = run("reproduce", "--all", "-f", "json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert {row["source"] for row in rows} == {"usmb", "yamshchikov2020"}
    assert "kour2022 is left out" in err
    wanted = {"claim", "paper", "ours", "interval", "criterion", "verdict", "deviation", "data"}
    assert all(wanted <= row.keys() for row in rows)
    code, out, _ = run("reproduce", "yamshchikov2020")
    assert out.startswith("yamshchikov2020: 0 not replicated, 3 replicated")
    assert "name one paper" in one_line(run("reproduce"))
    assert "no table '9'" in one_line(run("reproduce", "yamshchikov2020", "--table", "9"))
    assert "--variant is definition or both" in one_line(run("reproduce", "yamshchikov2020", "--variant", "paper"))
    assert one_line(run("reproduce", "kour2022"))
