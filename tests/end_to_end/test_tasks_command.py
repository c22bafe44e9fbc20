"""`textgauge run` of the five tasks on own files, their leaderboard and figures, and what is wrong in files."""

import csv
import json

import numpy as np
import pytest

from textgauge.bench import ensembles

METRICS = ("-m", "levenshtein,jaccard")
COLUMNS = ["alignment", "robustness", "sensitivity", "clustering", "retrieval"]
TOPICS = {
    "sea": ["ship", "wave", "port", "sail", "crew", "storm", "tide", "net", "fish", "coast", "gull", "deck"],
    "farm": ["cow", "field", "wheat", "barn", "plough", "seed", "horse", "milk", "hay", "fence", "goat", "rain"],
    "town": ["street", "tram", "shop", "mayor", "square", "bridge", "clock", "market", "lamp", "bank", "park", "hall"],
}


def sentence(rng, topic, words=8):
    return f"The {' '.join(rng.choice(TOPICS[topic], words))} is here."


def document(rng, topic, sentences=6):
    return " ".join(sentence(rng, topic) for _ in range(sentences))


def table(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def topic_of(number):
    return list(TOPICS)[number % len(TOPICS)]


def rated(folder, extra=()):
    """Summaries that keep as much of the text as they are rated for."""
    rng, rows = np.random.default_rng(1), []
    for number in range(24):
        text = document(rng, topic_of(number))
        for grade in (1, 2, 3):
            kept = " ".join(text.split()[: 8 * grade])
            rows.append((f"d{number}", text, f"{kept} {sentence(rng, topic_of(number + 1))}", grade, 4 - grade))
    return table(folder / "rated.csv", ["id", "article", "digest", "quality", "cover"], [*rows, *extra])


def compared(folder, extra=()):
    rng, rows = np.random.default_rng(2), []
    for number in range(15):
        text = document(rng, topic_of(number))
        good, bad = text[:120], document(rng, topic_of(number + 1), 2)
        first, second = (good, bad) if number % 2 else (bad, good)
        rows.append((text, first, second, "a" if number % 2 else "b"))
    return table(folder / "compared.csv", ["article", "one", "two", "better"], [*rows, *extra])


def documents(folder, extra=(), n=12):
    rng = np.random.default_rng(3)
    rows = [(text := document(rng, topic_of(number)), text[:60]) for number in range(n)]
    return table(folder / "documents.csv", ["body", "abstract"], [*rows, *extra])


def labelled(folder, extra=()):
    rng = np.random.default_rng(4)
    rows = [(sentence(rng, topic_of(number)), topic_of(number)) for number in range(36)]
    return table(folder / "labelled.csv", ["utterance", "topic"], [*rows, *extra])


def beir(folder, judgements=(), documents_too=()):
    rng, made = np.random.default_rng(5), folder / "beir"
    (made / "qrels").mkdir(parents=True, exist_ok=True)
    texts = [document(rng, topic_of(number), 2) for number in range(20)]
    corpus = [{"_id": f"d{n}", "title": "", "text": text} for n, text in enumerate(texts)] + list(documents_too)
    queries = [{"_id": f"q{n}", "text": " ".join(texts[n].split()[:6])} for n in range(10)]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        lines = "\n".join(json.dumps(row) for row in rows)
        (made / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    rows = [f"q{n}\td{n}\t1" for n in range(10)]
    lines = ["query-id\tcorpus-id\tscore", *rows, *judgements]
    (made / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


RATED = ("--columns", "document=id,text=article,summary=digest,ratings=quality,ratings.coverage=cover")
COMPARED = ("--columns", "text=article,first=one,second=two,chosen=better")
DOCUMENTS = ("--columns", "text=body,summary=abstract")
LABELLED = ("--columns", "text=utterance,label=topic")


@pytest.fixture(autouse=True)
def few_splits(monkeypatch):
    """Ensembles on few splits, to be quick."""
    monkeypatch.setattr(ensembles, "_FOREST_SEEDS", 2)
    monkeypatch.setattr(ensembles, "_UNIVERSAL_SEEDS", 2)


def one_line(result):
    code, out, err = result
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("textgauge: ")
    return line


@pytest.fixture
def whole(run, tmp_path, monkeypatch):
    """All tasks on files, in one folder; the last run trains the ensembles of all."""

    def call(what, *args):
        code, _, err = run("run", what, *args, *METRICS, "--out", tmp_path / "run")
        assert code == 0, err
        return err

    with monkeypatch.context() as patch:
        patch.setattr("textgauge.bench.ensembles.train_ensembles", lambda *_, **__: None)
        call("axis", "--rated", rated(tmp_path), *RATED)
        call("comparisons", "--comparisons", compared(tmp_path), *COMPARED)
        call("robustness", "--documents", documents(tmp_path), *DOCUMENTS)
        call("sensitivity", "--documents", documents(tmp_path), "--columns", "text=body")
        call("clustering", "--labelled", labelled(tmp_path), *LABELLED, "-n", 12, "-p", "folds=3")
    code, _, err = run("leaderboard", tmp_path / "run", "--format", "json")
    assert code == 0
    assert "warning: ensembles are not trained; run the same command again" in err
    call("retrieval", "--beir", beir(tmp_path), "-p", "folds=2")
    return tmp_path / "run"


def test_every_task_on_own_files_and_their_leaderboard_and_figures(whole, run, tmp_path):
    code, out, _ = run("leaderboard", whole, "--format", "json")
    rows = json.loads(out)["rows"]
    assert code == 0
    ranks = ["overall_low", "overall_high", "rank", "rank_low", "rank_high", "tier"]
    assert [list(row) for row in rows] == [["metric", *COLUMNS, "overall", *ranks]] * len(rows)
    made = {"task ensemble", "universal ensemble"}
    assert {row["metric"] for row in rows} == {"levenshtein", "jaccard", *made}
    for row in rows:
        assert all(0 <= row[name] <= 1 for name in [*COLUMNS, "overall"])
        assert row["overall"] == pytest.approx(np.mean([row[name] for name in COLUMNS]))

    detail = json.loads(run("leaderboard", whole, "--detail", "--format", "json")[1])["rows"]
    jaccard = {row["measure"]: row for row in detail if row["metric"] == "jaccard"}
    half = (jaccard["axis"]["value"] + jaccard["comparisons"]["value"]) / 2
    assert next(row for row in rows if row["metric"] == "jaccard")["alignment"] == pytest.approx(half)
    # What was rated higher covers more; the second aspect is its opposite.
    assert jaccard["axis"]["value"] > 0.8
    assert jaccard["axis_coverage"]["value"] == pytest.approx(1 - jaccard["axis"]["value"])
    assert "axis_accuracy" not in jaccard
    assert all(row["low"] <= row["value"] <= row["high"] for row in detail if row["value"] is not None)

    code, out, _ = run("figures", whole, "--folder", tmp_path / "figures", "--type", "svg")
    assert code == 0
    assert {line.rpartition("/")[2].partition("-")[0].removesuffix(".svg") for line in out.split()} == {
        "tasks",
        "sensitivity",
        "contributions",
    }


def test_a_finished_task_goes_on_where_it_was(run, tmp_path):
    command = ("run", "alignment", "--comparisons", compared(tmp_path), *COMPARED, *METRICS, "--out", tmp_path / "run")
    assert "2 results: 0 were there, 2 computed" in run(*command)[2]
    assert "2 results: 2 were there, 0 computed" in run(*command)[2]
    cells = json.loads(run(*command, "--dry-run", "--format", "json")[1])["rows"]
    assert [cell["state"] for cell in cells] == ["there", "there"]


def test_alignment_reads_both_of_its_tables(run, tmp_path):
    columns = ("--columns", "text=article,summary=digest,ratings=quality,first=one,second=two,chosen=better")
    data = ("--rated", rated(tmp_path), "--comparisons", compared(tmp_path))
    assert run("run", "alignment", *data, *columns, *METRICS, "--out", tmp_path / "run")[0] == 0
    (*_, row) = json.loads(run("leaderboard", tmp_path / "run", "--format", "json")[1])["rows"]
    assert "alignment" in row


def test_documents_shorter_than_one_needle_are_counted_and_left_out(run, tmp_path):
    path = documents(tmp_path, [("too short for it", "s"), ("and this one too", "s")])
    code, _, err = run(
        "run", "sensitivity", "--documents", path, "--columns", "text=body", *METRICS, "--out", tmp_path / "run"
    )
    assert code == 0
    assert f"warning: {path}: 2 of 14 documents are shorter than one needle: left out" in err
    detail = json.loads(run("leaderboard", tmp_path / "run", "--detail", "--format", "json")[1])["rows"]
    # Of 12 long enough, 2 are set aside for needles.
    assert {row["n"] for row in detail} == {10}


def test_only_short_documents_are_refused(run, tmp_path):
    path = documents(tmp_path, [("too short for it", "s"), ("and this one too", "s")], n=1)
    line = one_line(
        run("run", "sensitivity", "--documents", path, "--columns", "text=body", *METRICS, "--out", tmp_path / "run")
    )
    assert "at least two different documents of 20 tokens or more" in line


def test_empty_summaries_are_counted_named_and_left_out(run, tmp_path):
    rng = np.random.default_rng(6)
    text = document(rng, "sea")
    path = documents(tmp_path, [(text, ""), (text + " again", "  ")])
    code, _, err = run("run", "robustness", "--documents", path, *DOCUMENTS, *METRICS, "--out", tmp_path / "run")
    assert code == 0
    assert "2 of 14 lines have an empty summary: skipped (lines 14, 15)" in err
    extra = [("d99", text, " ", 2, 2), ("d99", text, "", 3, 1)]
    path = rated(tmp_path, extra)
    code, _, err = run("run", "axis", "--rated", path, *RATED, *METRICS, "--out", tmp_path / "other")
    assert code == 0
    assert "2 of 74 lines have an empty summary: skipped (lines 74, 75)" in err
    path = compared(tmp_path, [(text, "", "one", "a")])
    code, _, err = run("run", "comparisons", "--comparisons", path, *COMPARED, *METRICS, "--out", tmp_path / "third")
    assert code == 0
    assert "1 of 16 lines has an empty summary: skipped (line 17)" in err


def test_nothing_but_empty_summaries_is_refused(run, tmp_path):
    path = table(tmp_path / "d.csv", ["body", "abstract"], [("some text", ""), ("other text", "")])
    line = one_line(run("run", "robustness", "--documents", path, *DOCUMENTS, *METRICS, "--out", tmp_path / "run"))
    assert "nothing is left to score; 2 of 2 lines have an empty summary" in line


def test_a_label_that_occurs_once_is_counted_named_and_left_out(run, tmp_path):
    path = labelled(tmp_path, [("the only one of its kind", "odd")])
    code, _, err = run(
        "run", "clustering", "--labelled", path, *LABELLED, "-p", "folds=2", *METRICS, "--out", tmp_path / "run"
    )
    assert code == 0
    assert "1 of 37 lines has a label that occurs once: skipped (line 38)" in err


def test_labels_that_all_occur_once_are_refused(run, tmp_path):
    path = table(tmp_path / "l.csv", ["utterance", "topic"], [("a b", "x"), ("c d", "y"), ("e f", "z")])
    line = one_line(run("run", "clustering", "--labelled", path, *LABELLED, *METRICS, "--out", tmp_path / "run"))
    assert "3 of 3 lines have a label that occurs once" in line
    path = table(tmp_path / "l.csv", ["utterance", "topic"], [("a b", "x"), ("c d", "x"), ("e f", "z")])
    line = one_line(run("run", "clustering", "--labelled", path, *LABELLED, *METRICS, "--out", tmp_path / "run"))
    assert "needs two labels that occur twice, there is only 'x'" in line


def test_judgements_of_missing_documents_are_counted_named_and_left_out(run, tmp_path):
    folder = beir(tmp_path, ["q1\tnowhere\t1", "q2\tgone\t1", "nobody\td3\t1"])
    code, _, err = run("run", "retrieval", "--beir", folder, "-p", "folds=2", *METRICS, "--out", tmp_path / "run")
    assert code == 0
    missing = "have a document that is missing or empty: skipped (judgements q1/nowhere, q2/gone)"
    assert f"2 of 13 judgements {missing}" in err
    assert "1 of 13 judgements has a query that is missing or empty: skipped (judgement nobody/d3)" in err


def test_a_query_whose_documents_are_all_missing_is_left_out_by_name(run, tmp_path):
    folder = beir(tmp_path, ["q1\tnowhere\t1"])
    path = folder / "qrels" / "test.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("q1\td1\t1\n", ""), encoding="utf-8")
    code, _, err = run("run", "retrieval", "--beir", folder, "-p", "folds=2", *METRICS, "--out", tmp_path / "run")
    assert code == 0
    assert "1 of 10 queries" in err
    assert "(query q1)" in err


def test_judgements_of_nothing_but_missing_documents_are_refused(run, tmp_path):
    folder = beir(tmp_path)
    lines = ["query-id\tcorpus-id\tscore", "q1\tnowhere\t1"]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    line = one_line(run("run", "retrieval", "--beir", folder, *METRICS, "--out", tmp_path / "run"))
    assert "1 of 1 judgements has a document that is missing or empty" in line


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("clustering",), "clustering needs --labelled"),
        (("alignment",), "alignment needs --rated or --comparisons"),
        (("clustering", "--labelled", "{labelled}", "--columns", "label=nothing,text=utterance"), "nothing"),
        (("clustering", "--labelled", "{labelled}", "--columns", "summary=topic"), "clustering has no column summary"),
        (("clustering", "--labelled", "{labelled}", *LABELLED, "-p", "folds=30"), "too few for 30 folds"),
        (("clustering", "--labelled", "{labelled}", *LABELLED, "-p", "linkage=ward"), "linkage=ward is not one of"),
        (("clustering", "--labelled", "{labelled}", *LABELLED, "-p", "depth=2"), "has no parameter 'depth'"),
        (("retrieval", "--beir", "{labelled}"), "a retrieval set is a folder"),
        (("sensitivity", "--documents", "{labelled}", "--columns", "text"), "written name=value"),
        (("ksc", "--labelled", "{labelled}"), "ksc does not read --labelled"),
    ],
)
def test_wrong_use_is_one_line(run, tmp_path, args, complaint):
    path = labelled(tmp_path)
    given = [str(arg).format(labelled=path) for arg in args]
    assert complaint in one_line(run("run", *given, *METRICS, "--out", tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_reproduce_feeds_the_papers_numbers_where_its_data_are_not_here(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_DATA", str(tmp_path))
    code, out, err = run("reproduce", "usmb", "--tables", "--out", tmp_path / "run", "--format", "json")
    assert code == 0
    assert "only published numbers are fed through our formulas" in err
    rows = json.loads(out)["rows"]
    assert {row["source"] for row in rows} == {"published means"}
    assert max(abs(row["difference"]) for row in rows) < 0.02
    overall = {row["metric"]: row["published"] for row in rows if (row["table"], row["measure"]) == ("4", "overall")}
    assert overall["ensemble"] == 0.73
    assert "no table '5' here" in one_line(run("reproduce", "usmb", "--table", "5", "--out", tmp_path / "run"))
