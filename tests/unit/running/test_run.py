"""`run` on every kind of data: the cells and numbers of the command, resumed by either."""

import gc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import textgauge
from textgauge.data import Corpus
from textgauge.errors import InputError, UnknownName
from textgauge.evaluate.protocols import PairSources, TaskSources

METRICS = "jsd@words,zipf@words"
SMALL = {"metrics": METRICS, "k": 4, "n": 10, "repetitions": 2}
OPTIONS = ("-m", METRICS, "-k", 4, "-n", 10, "--repetitions", 2)


def counts(run):
    return run.found, run.computed


def test_python_goes_on_with_a_run_of_the_command_and_the_command_with_one_of_python(
    corpora, files, command, board, tmp_path
):
    given = ("run", "ksc", "--source-a", files["a"], "--source-b", files["b"], *OPTIONS)
    command(*given, "--out", tmp_path / "one")
    again = textgauge.run("ksc", **corpora, **SMALL, out=tmp_path / "one")
    first = textgauge.run("ksc", **files, **SMALL, out=tmp_path / "two")
    assert (counts(again), counts(first)) == ((4, 0), (0, 4))
    assert "4 cells: 4 were there, 0 computed" in command(*given, "--out", tmp_path / "two")[1]
    assert again.to_dicts() == first.to_dicts() == board(tmp_path / "one") == board(tmp_path / "two")
    assert str(again).split() == command("leaderboard", tmp_path / "one")[0].split()


def test_corpora_may_be_given_in_many_ways_with_the_same_numbers(corpora, files):
    paths = {role: Path(name) for role, name in files.items()}
    views = {role: Corpus.of(texts) for role, texts in corpora.items()}
    first, *others = [textgauge.run("ksc", **given, **SMALL).to_dicts() for given in (corpora, files, paths, views)]
    assert first[0]["metric"] == "jsd@words"
    assert others == [first] * 3


def test_embeddings_are_what_metrics_look_at_and_a_metric_of_texts_is_refused():
    rng = np.random.default_rng(0)
    given = {"a": rng.normal(size=(40, 3)), "b": rng.normal(size=(40, 3)) + 1.0}
    run = textgauge.run("ksc", **given, **SMALL | {"metrics": "energy,medoid"})
    assert {row.metric for row in run.leaderboard()} == {"energy@given", "medoid@given"}
    with pytest.raises(InputError, match="jsd needs texts"):
        textgauge.run("ksc", **given, **SMALL | {"metrics": "energy,jsd"})


def test_parameters_may_have_several_values_and_are_kept_as_the_command_keeps_them(corpora, tmp_path):
    several = {**SMALL, "out": tmp_path}
    assert counts(textgauge.run("ksc", **corpora, **several | {"k": (4, 5)})) == (0, 8)
    assert counts(textgauge.run("ksc", **corpora, **several | {"k": "4,5", "n": np.int64(10)})) == (8, 0)
    points = {"metrics": "energy", "n": 20, "repetitions": 1, "out": tmp_path / "points"}
    assert counts(textgauge.run("perturbation", **points, steps=3, delta=2)) == (0, 5)
    assert counts(textgauge.run("perturbation", **points, steps="3", delta="2.0")) == (5, 0)


def test_metrics_that_are_added_leave_old_numbers_alone(corpora, tmp_path):
    old = textgauge.run("ksc", **corpora, **SMALL, out=tmp_path).leaderboard().to_dicts()
    more = textgauge.run("ksc", **corpora, **SMALL | {"metrics": ["cbdf@words", "jsd@words"]}, out=tmp_path)
    assert counts(more) == (2, 2)
    rows = {row["metric"]: row for row in more.to_dicts()}
    assert [rows[row["metric"]]["overall"] for row in old] == [row["overall"] for row in old]


def test_rated_pairs_of_a_table_and_as_they_are(rated, command, board, tmp_path):
    path, rows = rated
    asked = {"metrics": "jaccard,levenshtein", "out": tmp_path / "run"}
    run = textgauge.run("agreement", pairs=path, left="x", right="y", rating="first", **asked)
    given = ("run", "agreement", "--pairs", path, "--left", "x", "--right", "y", "--rating", "first")
    assert "2 were there, 0 computed" in command(*given, "-m", "jaccard,levenshtein", "--out", tmp_path / "run")[1]
    texts = {"left": rows["x"], "right": rows["y"], "rating": rows["first"]}
    assert counts(textgauge.run("agreement", **texts, **asked)) == (2, 0)
    sources = PairSources(
        "mine", Corpus.of(rows["x"]), Corpus.of(rows["y"]), {"rating": np.array(rows["first"], float)}
    )
    assert counts(textgauge.run("agreement", pairs=sources, **asked)) == (2, 0)
    assert run.leaderboard(measures="pearson").to_dicts() == board(tmp_path / "run", "--measures", "pearson")


def test_raters_and_groups_of_a_table(rated):
    path, _ = rated
    columns = {"left": "x", "right": "y", "rating": ["first", "second"], "groups": {"set": "part"}}
    run = textgauge.run("agreement", pairs=path, **columns, metrics="jaccard", ratings="single")
    assert {"rating", "rating_1", "rating_2", "set"} <= set(run.observations().columns)


def test_a_task_on_a_table_and_on_its_card(command, tmp_path):
    texts = {f"the {animal} eats {i} apples": "food" for i in range(6) for animal in ("cat", "dog")}
    texts |= {f"pay bill {i} by {how}": "money" for i in range(6) for how in ("card", "cash")}
    lines = ["body,topic", *(f"{text},{label}" for text, label in texts.items())]
    (tmp_path / "texts.csv").write_text("\n".join(lines), encoding="utf-8")
    asked = {"metrics": "jaccard", "n": 12, "folds": 2, "out": tmp_path / "run"}
    run = textgauge.run(
        "clustering", labelled=tmp_path / "texts.csv", columns={"text": "body", "label": "topic"}, **asked
    )
    assert run.computed == 2
    given = ("--labelled", tmp_path / "texts.csv", "--columns", "text=body,label=topic")
    told = command("run", "clustering", *given, "-m", "jaccard", "-n", 12, "-p", "folds=2", "--out", tmp_path / "run")[
        1
    ]
    assert "2 were there, 0 computed" in told
    from textgauge.data.tasks import load_labelled

    card = load_labelled(tmp_path / "texts.csv", text="body", label="topic")
    assert counts(textgauge.run("clustering", labelled=TaskSources("mine", card), **asked)) == (2, 0)


def test_steps_of_a_generator_as_texts(corpora):
    a, b = corpora.values()
    steps = [[*b[:16], *a[:4]], [*b[:8], *a[:12]], a[:20]]
    run = textgauge.run("ifc", steps=steps, reference=a[20:], metrics="jsd@words", repetitions=1)
    assert (run.computed, run.leaderboard().rows[0].metric) == (1, "jsd@words")


def test_paraphrases_as_texts(corpora):
    left = corpora["a"]
    run = textgauge.run(
        "distributionality", left=left, right=[f"{text}!" for text in left], metrics="jsd@words", n=20, k=3,
        repetitions=1, distributional="cbdf@words", neighbours="zipf@words",
    )  # fmt: skip
    assert run.computed == 3


def test_the_folder_of_a_run_without_out_goes_with_the_last_one_that_holds_it(corpora):
    run = textgauge.run("ksc", **corpora, **SMALL)
    folder, store = run.folder, run.store
    del run
    gc.collect()
    assert folder.is_dir()
    del store
    gc.collect()
    assert not folder.exists()


def test_a_metric_that_fails_is_warned_of_and_kept(corpora, fragile, tmp_path):
    for computed in (4, 0):
        with pytest.warns(RuntimeWarning, match=r"fragile@words failed in .* trials .*just so"):
            run = textgauge.run("ksc", **corpora, **SMALL | {"metrics": "fragile@words,jsd@words"}, out=tmp_path)
        assert run.computed == computed
        assert all("ZeroDivisionError: just so" in text for text in run.failures)
        assert run.failures
        assert f"{len(run.failures)} failures" in repr(run)
        assert "warning: fragile@words" in str(run)


def test_texts_of_both_sources_are_warned_of_where_run_is_called(corpora):
    shared = {"a": corpora["a"], "b": [*corpora["b"], *corpora["a"][:5]]}
    with pytest.warns(UserWarning, match="5 different texts are in both sources") as told:
        run = textgauge.run("ksc", **shared, **SMALL)
    assert [warning.filename for warning in told] == [__file__]
    assert run.warnings == ("a,b: 5 different texts are in both sources",)
    assert str(run).endswith(f"warning: {run.warnings[0]}")


def test_progress_jobs_and_scheduler_are_handed_on(corpora, monkeypatch):
    asked, steps = [], []

    @contextmanager
    def executor(**options):
        asked.append(options)
        yield None

    monkeypatch.setattr("textgauge.evaluate.compute.executor", executor)
    textgauge.run("ksc", **corpora, **SMALL, jobs=3, scheduler="tcp://x", on_progress=lambda *told: steps.append(told))
    assert asked == [{"jobs": 3, "scheduler": "tcp://x"}]
    assert (steps[0], steps[-1][:2]) == ((0, 4, ""), (4, 4))


@pytest.mark.parametrize(
    ("what", "given", "error", "complaint"),
    [
        ("kscc", {}, UnknownName, "did you mean ksc"),
        ("ksc", {"a": None}, InputError, "ksc needs two corpora: `a` and `b`"),
        ("ksc", {"a": "none.txt"}, InputError, "none.txt"),
        ("ksc", {"a": ["one"]}, InputError, "source a has 1 text"),
        ("ksc", {"metrics": "jsdd"}, UnknownName, "did you mean jsd"),
        ("ksc", {"metrics": "bleu"}, InputError, "scores pairs of texts"),
        ("ksc", {"metrics": ""}, InputError, "at least one metric with `metrics`"),
        ("ksc", {"metrics": []}, InputError, "at least one metric with `metrics`"),
        ("ksc", {"colour": "red"}, UnknownName, "has no parameter 'colour'; its parameters: k, n"),
        ("ksc", {"k": 2.5}, InputError, "k=2.5 is not a whole number"),
        ("ksc", {"k": "many"}, InputError, "k=many is not a whole number"),
        ("ksc", {"n": 900}, InputError, "need"),
        ("ksc", {"repetitions": 0}, InputError, "at least 1 repetition"),
        ("ksc", {"labelled": "x.csv"}, InputError, "no task"),
        ("ksc", {"reference": "x.txt"}, InputError, "`steps` and `reference` are for ifc"),
        ("ksc", {"only": "label=1"}, InputError, "`only` chooses paraphrases"),
        ("ksc", {"jobs": 0}, InputError, "jobs is at least 1"),
        ("ksc", {"seed": -1}, InputError, "seed is at least 0"),
        ("ksc-quick", {}, InputError, "sets its own"),
        ("zwerdling2021", {}, InputError, "`textgauge run zwerdling2021`"),
    ],
)
def test_what_cannot_be_run_is_said(what, given, error, complaint, corpora, tmp_path):
    with pytest.raises(error, match=complaint):
        textgauge.run(what, **corpora | SMALL | given, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("what", "given", "complaint"),
    [
        ("agreement", {}, "needs rated pairs: `pairs` with `left`, `right`, `rating`"),
        ("agreement", {"pairs": "none.csv"}, "none.csv: no such file"),
        ("agreement", {"pairs": "rated.csv", "left": "x", "right": "y"}, "column of ratings with `rating`"),
        ("agreement", {"pairs": "rated.csv", "left": "z", "right": "y", "rating": "first"}, "z"),
        ("agreement", {"pairs": "rated.csv", "rating": [1.0]}, "`rating` names columns of `pairs`"),
        ("agreement", {"pairs": "rated.csv", "left": ["a", "b"]}, "`left` and `right` are columns of `pairs`"),
        ("agreement", {"left": ["a", "b"], "right": ["a"]}, "not 2 and 1"),
        ("agreement", {"left": ["a", "b"], "right": ["a", "c"]}, "needs ratings"),
        ("agreement", {"left": ["a", "b"], "right": ["a", "c"], "rating": [1.0]}, "need 2 finite ratings"),
        ("agreement", {"left": ["a", "b"], "right": ["a", "c"], "rating": "score"}, "are numbers"),
        ("agreement", {"left": ["a", "b"], "right": ["a", "c"], "rating": [1, 2], "limit": 2}, "limit: for tables"),
        ("agreement", {"pairs": "rated.csv", "groups": {"colour": "part"}}, "the groups are set, system, item"),
        ("agreement", {"pairs": "rated.csv", "limit": 1}, "limit is at least 2"),
        ("distributionality", {"pairs": "rated.csv", "rating": "first"}, "choose rows with `only`"),
        ("distributionality", {"metrics": "jsd"}, "needs paraphrases: `pairs`"),
        ("clustering", {}, "reads its data from `labelled`"),
        ("alignment", {}, "reads its data from `rated` or `comparisons`"),
        ("clustering", {"labelled": "rated.csv", "columns": {"summary": "x"}}, "has no column summary"),
        ("perturbation", {"a": "x.txt", "metrics": "energy"}, "draws its own points"),
        ("ifc", {"steps": "x", "metrics": "jsd"}, "ifc needs `steps`"),
    ],
)
def test_data_that_do_not_fit_are_said(what, given, complaint, rated, monkeypatch):
    monkeypatch.chdir(rated[0].parent)
    with pytest.raises(InputError, match=complaint):
        textgauge.run(what, **{"metrics": "jaccard"} | given)
