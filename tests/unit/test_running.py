"""`textgauge.run` on every kind of data: the results of the command, resumed by either; and what is read off a run."""

import gc
import json
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import textgauge
from textgauge.bench import PairSources, Store, TaskSources
from textgauge.core.errors import InputError, UnknownName
from textgauge.data import Corpus

COLOURS, ANIMALS = ("red", "green", "blue"), ("cat", "dog", "bird", "cow")
A = [f"the {colour} {animal} sat down {i}" for i in range(4) for colour in COLOURS for animal in ANIMALS]
B = [f"pay the {what} number {i} by card" for i in range(12) for what in ("rent", "fee", "bill", "loan")]


@pytest.fixture
def corpora():
    return {"source_a": A, "source_b": B}


@pytest.fixture
def files(tmp_path):
    """The same texts as files."""
    for name, texts in (("a", A), ("b", B)):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts), encoding="utf-8")
    return {f"source_{name}": str(tmp_path / f"{name}.txt") for name in "ab"}


@pytest.fixture
def rated(tmp_path):
    """A table of rated pairs, two raters, two sets; its columns by name."""
    rows = {
        "x": [f"{text} today" for text in A[:12]],
        "y": [f"{text} today" for text in (*A[:4], *A[5:9], *B[:4])],
        "first": [3, 3, 3, 3, 2, 2, 1, 2, 0, 0, 1, 0],
        "second": [3, 3, 2, 3, 1, 2, 2, 2, 0, 1, 0, 0],
        "part": ["p", "q"] * 6,
    }
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (tmp_path / "rated.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "rated.csv", rows


@pytest.fixture
def command(run):
    """Run `textgauge ...` in this process, which must go well; gives standard output and standard error."""

    def call(*args):
        code, out, err = run(*args)
        assert not code, err
        return out, err

    return call


@pytest.fixture
def board(command):
    """The rows of `textgauge leaderboard`."""
    return lambda folder, *args: json.loads(command("leaderboard", folder, "-f", "json", *args)[0])["rows"]


METRICS = "jsd@words,zipf@words"
SMALL = {"metrics": METRICS, "k": 4, "n": 10, "repetitions": 2}
OPTIONS = ("-m", METRICS, "-k", 4, "-n", 10, "--repetitions", 2)


def counts(run):
    return run.found, run.computed


def test_python_goes_on_with_a_run_of_the_command_and_the_command_with_one_of_python(
    corpora, files, command, board, tmp_path
):
    given = ("run", "ksc", "--source-a", files["source_a"], "--source-b", files["source_b"], *OPTIONS)
    command(*given, "--out", tmp_path / "one")
    again = textgauge.run("ksc", **corpora, **SMALL, out=tmp_path / "one")
    first = textgauge.run("ksc", **files, **SMALL, out=tmp_path / "two")
    assert (counts(again), counts(first)) == ((4, 0), (0, 4))
    assert "4 results: 4 were there, 0 computed" in command(*given, "--out", tmp_path / "two")[1]
    assert again.to_dicts() == first.to_dicts() == board(tmp_path / "one") == board(tmp_path / "two")
    assert str(again).split() == command("leaderboard", tmp_path / "one")[0].split()


def test_a_run_of_two_kinds_of_metrics_answers_for_each(corpora, command, board, tmp_path, monkeypatch):
    textgauge.run("ksc", **corpora, **SMALL, out=tmp_path)
    left, right = corpora["source_a"][:20], corpora["source_b"][:20]
    found = textgauge.run(
        "agreement", left=left, right=right, rating=[len(text) for text in left], metrics="jaccard,chrf", out=tmp_path
    )
    titles = ["Agreement with people", "Known mixtures"]
    assert list(found.leaderboards) == titles
    assert all(f"{title}: " in found.answer for title in titles)
    assert found.to_dicts() == board(tmp_path)
    assert {row["rank"] for row in found.to_dicts()} == {1, 2}
    assert len(found.plot().to_dict()["vconcat"]) == 2
    saved = textgauge.load(found.save(tmp_path / "found.json"))
    assert saved.plot().to_dict() == found.plot().to_dict()
    monkeypatch.setattr(Store, "read", lambda *_: pytest.fail("the store is read once"))
    assert found._repr_html_()


def test_corpora_may_be_given_in_many_ways_with_the_same_numbers(corpora, files):
    paths = {role: Path(name) for role, name in files.items()}
    views = {role: Corpus.of(texts) for role, texts in corpora.items()}
    first, *others = [textgauge.run("ksc", **given, **SMALL).to_dicts() for given in (corpora, files, paths, views)]
    assert first[0]["metric"] == "jsd@words"
    assert others == [first] * 3


def test_embeddings_are_what_metrics_look_at_and_a_metric_of_texts_is_refused():
    rng = np.random.default_rng(0)
    given = {"source_a": rng.normal(size=(40, 3)), "source_b": rng.normal(size=(40, 3)) + 1.0}
    run = textgauge.run("ksc", **given, **SMALL | {"metrics": "energy,medoid"})
    assert {row.metric for row in run.leaderboard()} == {"energy@given", "medoid@given"}
    with pytest.raises(InputError, match="jsd needs texts, but the corpora were given as embeddings"):
        textgauge.run("ksc", **given, **SMALL | {"metrics": "energy,jsd"})


def test_parameters_may_have_several_values_and_are_kept_as_the_command_keeps_them(corpora, tmp_path):
    several = {**SMALL, "out": tmp_path}
    assert counts(textgauge.run("ksc", **corpora, **several | {"k": (4, 5)})) == (0, 8)
    assert counts(textgauge.run("ksc", **corpora, **several | {"k": "4,5", "n": np.int64(10)})) == (8, 0)
    points = {"metrics": "energy", "n": 20, "repetitions": 1, "out": tmp_path / "points"}
    assert counts(textgauge.run("perturbation", **points, steps=3, delta=2)) == (0, 5)
    assert counts(textgauge.run("perturbation", **points, steps="3", delta="2.0")) == (5, 0)


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
    run = textgauge.run("agreement", pairs=path, **columns, metrics="jaccard", ratings="single", group="x")
    assert {"rating", "rating_1", "rating_2", "set", "group"} <= set(run.observations().columns)


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
    from textgauge.data import load_labelled

    card = load_labelled(tmp_path / "texts.csv", text="body", label="topic")
    assert counts(textgauge.run("clustering", labelled=TaskSources("mine", card), **asked)) == (2, 0)


@pytest.mark.parametrize(
    ("what", "given", "computed"),
    [
        ("ifc", {"steps": [[*B[:16], *A[:4]], [*B[:8], *A[:12]], A[:20]], "reference": A[20:]}, 1),
        (
            "distributionality",
            {"left": A, "right": [f"{text}!" for text in A], "n": 20, "k": 3}
            | {"distributional": "cbdf@words", "neighbours": "zipf@words"},
            3,
        ),
    ],
)
def test_steps_of_a_generator_and_paraphrases_as_texts(what, given, computed):
    assert textgauge.run(what, **given, metrics="jsd@words", repetitions=1).computed == computed


def test_the_folder_of_a_run_without_out_goes_with_the_last_one_that_holds_it(corpora):
    run = textgauge.run("ksc", **corpora, **SMALL)
    folder, store = run.folder, run.store
    del run
    gc.collect()
    assert folder.is_dir()
    del store
    gc.collect()
    assert not folder.exists()


def test_texts_of_both_sources_are_warned_of_where_run_is_called(corpora):
    shared = {"source_a": A, "source_b": [*B, *A[:5]]}
    with pytest.warns(UserWarning, match="5 different texts are in both sources") as told:
        run = textgauge.run("ksc", **shared, **SMALL)
    assert [warning.filename for warning in told] == [__file__]
    assert run.warnings == ("a,b: 5 different texts are in both sources",)
    assert str(run).endswith(f"warning: {run.warnings[0]}")


def test_jobs_and_scheduler_are_handed_on(corpora, monkeypatch):
    asked = []

    @contextmanager
    def executor(**options):
        asked.append(options)
        yield None

    monkeypatch.setattr(import_module("textgauge.bench.run"), "open_executor", executor)
    textgauge.run("ksc", **corpora, **SMALL, jobs=3, scheduler="tcp://x")
    assert asked == [{"jobs": 3, "scheduler": "tcp://x"}]


@pytest.mark.parametrize(
    ("what", "given", "error", "complaint"),
    [
        ("kscc", {}, UnknownName, "did you mean ksc"),
        ("ksc", {"source_a": None}, InputError, "ksc needs two corpora: `source_a` and `source_b`"),
        ("ksc", {"source_a": ["one"]}, InputError, "source a has 1 text"),
        ("ksc", {"metrics": ""}, InputError, "at least one metric with `metrics`"),
        ("ksc", {"k": 2.5}, InputError, "k=2.5 is not a whole number"),
        ("ksc", {"labelled": "x.csv"}, InputError, "ksc does not read `labelled`; it needs two corpora"),
        ("ksc", {"jobs": 0}, InputError, "jobs is at least 1"),
        ("ksc", {"seed": -1}, InputError, "seed is at least 0"),
        ("zwerdling2021", {}, InputError, "`textgauge run zwerdling2021`"),
    ],
)
def test_what_cannot_be_run_is_said(what, given, error, complaint, corpora, tmp_path):
    with pytest.raises(error, match=complaint):
        textgauge.run(what, **corpora | SMALL | given, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


MEASURES = ["accuracy", "weighted_accuracy", "monotonicity", "separability", "linearity"]


@pytest.fixture
def found(corpora, tmp_path):
    return textgauge.run(
        "ksc", **corpora, metrics="jsd@words,zipf@words", k=4, n=10, repetitions=2, out=tmp_path / "run"
    )


def test_the_leaderboard_is_that_of_the_command(found, board):
    assert found.leaderboard().to_dicts() == found.to_dicts() == board(found.folder)
    assert str(found) == str(found.leaderboard())
    options = {"ties": "wrong", "linearity": "r", "judgements": "paper", "measures": MEASURES[:2]}
    said = [part for name, value in options.items() for part in (f"--{name}", value)]
    said[-1] = ",".join(MEASURES[:2])
    weighed = found.leaderboard(weights={"accuracy": 2.0}, **options)
    assert weighed.to_dicts() == board(found.folder, *said, "--weights", "accuracy=2")


def test_verdicts_are_the_details_of_the_command(found, board):
    frame = found.verdicts()
    assert frame.to_dicts() == board(found.folder, "--detail")
    assert found.verdicts(measures="linearity")["measure"].unique().to_list() == ["linearity"]


def test_observations_hold_every_trial_of_every_metric(found):
    frame = found.observations()
    assert frame.columns[:6] == ["data", "protocol", "seed", "metric", "batch", "value"]
    pairs_of_corpora = 4 * 3 // 2
    assert frame["metric"].value_counts()["count"].to_list() == [2 * pairs_of_corpora] * 2
    assert frame["batch"].unique().sort().to_list() == [0, 1]
    assert frame["value"].is_not_nan().all()


def test_figures_by_name(found):
    assert list(found.figures("distance")) == ["distance-a-b-k4"]
    both = found.figures(["distance", "tree"], metrics="jsd@words", repetition=2)
    assert list(both) == ["distance-a-b-k4", "tree-a-b-k4-jsd-words"]
    assert found.figures("tree", repetition=3) == {}
    assert both["distance-a-b-k4"].to_dict()


def test_the_page_is_written_and_a_folder_that_is_missing_is_one_error(found, tmp_path):
    path = found.report(tmp_path / "page.html", title="Which <metric>?")
    assert "Which &lt;metric&gt;?" in path.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="cannot write"):
        found.report(path / "page.html")


def test_a_run_shows_itself(found):
    assert repr(found) == f"Run({found.folder}: 0 results were there, 4 computed)"
    assert found._repr_html_().count("<tr>") == 2 * 3
    assert found.to_polars().height == 2
    assert found.plot().to_dict()
    assert found.failures == found.warnings == ()
