"""`textgauge run agreement`, its leaderboard, tests, ceiling and figures, and `reproduce yamshchikov2020`."""

import json

import numpy as np
import pytest

PAIR = ["pearson", "spearman", "kendall", "kendall_c", "pairwise_accuracy"]
WORDS = ["red", "green", "blue", "cat", "dog", "bird", "sun", "moon", "tree", "sea"]


def table(folder, rows=36):
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


def test_a_run_its_leaderboard_tests_ceiling_and_figures(run, tmp_path):
    columns = ["--left", "a", "--right", "b", "--rating", "score", "--rating", "second"]
    columns += ["--set", "part", "--system", "who", "--item", "segment"]
    call = ("run", "agreement", "--pairs", table(tmp_path), *columns, "-m", "jaccard,chrf")
    code, _, err = run(*call, "--out", tmp_path / "run")
    assert code == 0
    assert "2 results: 0 were there, 2 computed" in err
    assert "2 were there" in run(*call, "--out", tmp_path / "run")[2]

    def rows(*options):
        return json.loads(run("leaderboard", tmp_path / "run", *options, "-f", "json")[1])["rows"]

    wanted = {*PAIR, "within_item_accuracy", "system_kendall", "order_correlation", "swaps", "variability"}
    assert wanted <= rows()[0].keys()
    chosen = rows("--measures", "swaps,spearman")[0]
    assert list(chosen)[:3] == ["metric", "spearman", "swaps"]
    assert chosen["overall"] == pytest.approx((chosen["spearman"] + 1) / 2)
    for row in rows("--detail"):
        if row["measure"] in PAIR:
            assert row["low"] <= row["value"] <= row["high"]
            assert (row["n"], 0 < row["chance"] < 0.6) == (36, True)
    tests = rows("--tests", "--on", "spearman")
    assert [(row["metric"], row["other"]) for row in tests] == [("jaccard", "chrf")]
    for row in tests:
        assert row["difference"] == pytest.approx(row["value"] - row["other_value"])
        assert row["low"] <= row["difference"] <= row["high"]
        assert all(0 < row[f"p_{test}"] <= 1 for test in ("bootstrap", "permutation", "williams"))
        assert (row["measure"], row["n"]) == ("spearman", 36)
    ceiling = {row["measure"]: row for row in rows("--ceiling")}
    assert 0.8 < ceiling["krippendorff_alpha_interval"]["value"] < 1
    spearman = ceiling["leave_one_out_spearman"]
    assert spearman["low"] < spearman["value"] < spearman["high"]
    assert (spearman["raters"], spearman["n"]) == (2, 32)

    code, _, err = run("figures", tmp_path / "run", "--folder", tmp_path / "figures", "--type", "svg")
    assert (code, err) == (0, "")
    drawn = {path.name.partition("-")[0]: path.read_text() for path in (tmp_path / "figures").iterdir()}
    assert drawn.keys() == {"order", "scatter"}
    for words in (["people", "jaccard", "chrf"], ["rating", "n 36"]):
        assert any(all(word in text for word in words) for text in drawn.values())


def test_reproduce_without_the_data_feeds_the_published_numbers(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_DATA", str(tmp_path))
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    _, out, _ = run("reproduce", "yamshchikov2020", "--table", "figure1")
    assert out.startswith("yamshchikov2020: 91 rows of tables; ours are 91 from published ranks\n")
    code, out, err = run("reproduce", "--all", "-f", "json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert {row["source"] for row in rows} == {"usmb", "yamshchikov2020"}
    assert "kour2022 is left out" in err
    wanted = {"claim", "paper", "ours", "interval", "criterion", "outcome", "deviation", "data"}
    assert all(wanted <= row.keys() for row in rows)
    code, out, _ = run("reproduce", "yamshchikov2020")
    assert out.startswith("yamshchikov2020: 0 of 10 findings hold, 10 are not testable here")
