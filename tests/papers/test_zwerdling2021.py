"""The suite of generated corpora on a handful of sentences, and its findings on numbers made up for the purpose."""

import json
import math
from functools import partial

import numpy as np
import polars as pl
import pytest

from textgauge.bench import Results, Store
from textgauge.core import InputError, MissingExtra, ResourceError, UnknownName, listen
from textgauge_papers import PAPERS, zwerdling_corpora
from textgauge_papers import zwerdling2021 as paper
from textgauge_papers.ledger import judge_claims
from textgauge_papers.paper import Request
from textgauge_papers.zwerdling_corpora import Making, Source, captions, make_corpora, split
from textgauge_papers.zwerdling_suite import Described, Zwerdling2021

WORDS = "red green blue small large old new fast slow kind"
NOUNS = "cat dog bird phone screen card"


def written():
    rng = np.random.default_rng(3)
    return [f"the {rng.choice(WORDS.split())} {rng.choice(NOUNS.split())} has {i} names" for i in range(60)]


TINY = Source("tiny", written)
QUICK = {"embedder": "none", "grammar": "none", "plausibility": "kneser-ney", "draws": 2}


@pytest.fixture
def torchless(monkeypatch):
    def refuse(*_, **__):
        raise MissingExtra.named("a model", "generate")

    monkeypatch.setattr(zwerdling_corpora, "train_vae", refuse)
    monkeypatch.setattr(zwerdling_corpora, "train_language_model", refuse)
    monkeypatch.setattr(
        zwerdling_corpora, "eda", lambda texts, *, n, seed, compat: [f"{text} today" for text in texts][:n]
    )


@pytest.fixture
def run(tmp_path):
    said = []

    def go(folder="kept", studies=None, **options):
        said.clear()
        studies = studies or {"tiny": partial(make_corpora, TINY)}
        chosen = Zwerdling2021(**QUICK | options)
        with listen(lambda stage: said.append(stage) if stage.kind == "note" else None):
            return chosen.run(tmp_path / folder, seed=0, studies=studies)

    go.said, go.folder = said, tmp_path / "kept"
    return go


def test_corpora_and_descriptions_are_kept(run, torchless):
    (found,) = run()
    assert found.sizes == {"train": 54, "test": 6, "eda": 54}
    assert sorted(path.name for path in (run.folder / "corpora" / "tiny").iterdir()) == [
        "eda.txt",
        "test.txt",
        "train.txt",
    ]
    (rows,) = run.folder.glob("descriptions/tiny-*.json")
    (texts,) = run.folder.glob("descriptions/tiny-*.parquet")
    assert json.loads(rows.read_text())["rows"] == found.rows
    assert len(pl.read_parquet(texts)) == 54
    assert {row["texts"] for row in found.drawn} == {6}
    values = {row["property"]: row["value"] for row in found.rows}
    assert (values["unique"], values["vocab"]) == (1.0, 1.0)
    assert values["syntactic_precision"] == pytest.approx(1 / (1 + 1 / 7))


def test_unique_texts_and_new_terms_are_counted_in_larger_corpora_too(run, torchless, monkeypatch):
    def repeat(texts, *, n, seed, compat):
        return [f"{texts[row % 54]} again" for row in range(n)]

    monkeypatch.setattr(zwerdling_corpora, "eda", repeat)
    assert run(many=81)[0].many == []  # nothing was trained
    (run.folder / "checkpoints" / "tiny").mkdir(parents=True)
    (found,) = run(many=81)
    counted = [(row["corpus"], row["property"], row["texts"], row["value"]) for row in found.many]
    assert counted == [("eda", "unique", 81, 27 / 81), ("eda", "vocab", 81, 1.0)]
    assert found.sizes["eda"] == 54
    assert paper.get_our_values(found)["eda", "unique"] == paper.intervals(found)["eda", "unique"].value == 27 / 81
    monkeypatch.setattr("textgauge.measure.describing.describe", None)
    assert run(many=81) == [found]


def test_without_a_model_that_has_not_seen_train_there_is_no_plausibility(run, torchless, monkeypatch, tmp_path):
    monkeypatch.setattr("textgauge_papers.zwerdling_suite.get_cached_folder", lambda _: tmp_path / "none")
    (found,) = run(plausibility="smollm2")
    assert run.said[0].startswith("plausibility is left out")
    (row,) = (row for row in found.rows if row["property"] == "plausibility")
    assert row["value"] is None


def test_plausibility_by_a_large_model_is_of_a_draw_of_each_corpus(run, torchless, monkeypatch, tmp_path):
    judged = []

    class Counting:
        name = signature = "counting"

        def surprise(self, texts):
            judged.extend(texts)
            return np.array([len(text) for text in texts]), np.ones(len(texts))

    monkeypatch.setattr("textgauge_papers.zwerdling_suite.get_cached_folder", lambda _: tmp_path)
    monkeypatch.setattr("textgauge.encode.language_models.get_language_model", lambda *_, **__: Counting())
    (found,) = run(plausibility="smollm2", judged=5)
    assert len(judged) == 15  # of train, test and eda
    (row,) = (row for row in found.rows if row["property"] == "plausibility")
    assert row["low"] < row["value"] < row["high"]
    (texts,) = (row for row in found.rows if row["property"] == "syntactic_precision")
    assert found.sizes["train"] == 54
    assert texts["value"] == pytest.approx(1 / (1 + 1 / 7))  # of whole corpora


def test_what_is_there_is_not_done_again(run, torchless, monkeypatch):
    first = run()
    monkeypatch.setattr("textgauge.measure.describing.describe", None)
    assert run() == first
    assert "train and test are those of" in run.said[0]
    assert run.said[-1].startswith("tiny: was there")


@pytest.mark.parametrize("change", [{"draws": 3}, {"plausibility": "none"}, {"n": 20}])
def test_other_settings_are_described_anew_beside_the_old(run, torchless, change):
    run()
    run(**change)
    assert run.said[-1].startswith("tiny: described")
    assert len(list(run.folder.glob("descriptions/*.json"))) == 2


def test_ready_made_corpora_are_used_and_cut_to_size(run, torchless):
    run()
    ready = run.folder / "corpora" / "tiny" / "lm.txt"
    ready.write_text("".join(f"a text of number {i}\n" for i in range(70)))
    (run.folder / "corpora" / "tiny" / "vae.txt").write_text("one text\n")
    (found,) = run()
    assert found.sizes == {"train": 54, "test": 6, "eda": 54, "vae": 1, "lm": 54}
    assert "tiny: vae has 1 texts, not 54" in run.said
    assert {row["texts"] for row in found.drawn} == {1}  # all at the size of the smallest


def test_sources_that_are_not_here_are_left_out_and_at_least_one_is_needed(run, torchless, monkeypatch):
    monkeypatch.delenv("TEXTGAUGE_DATA", raising=False)
    studies = {"captions": captions, "tiny": partial(make_corpora, TINY)}
    assert [one.name for one in run(studies=studies)] == ["tiny"]
    assert "captions is left out" in run.said[0]
    assert "TEXTGAUGE_DATA" in run.said[0]
    with pytest.raises(ResourceError, match="texygen_coco"):
        run(studies={"captions": captions})
    with pytest.raises(UnknownName, match="tiny"):
        run(sources="tine")


def test_the_split_depends_on_content_and_seed_alone():
    texts = written()
    assert split(texts, Making()) == split([*texts[::-1], texts[0]], Making())
    assert split(texts, Making(seed=1)) != split(texts, Making())
    train, test = split([*texts, "too short", "word " * 41], Making())
    assert (len(train), len(test)) == (54, 6)
    assert sorted(train + test) == sorted(texts)
    assert [len(part) for part in split(texts, Making(limit=30))] == [27, 3]
    with pytest.raises(InputError, match="too few"):
        split(texts[:9], Making())


def test_captions_are_sampled_but_train_is_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_DATA", str(tmp_path))
    (tmp_path / "texygen_coco").mkdir()
    rows = [f"{name},caption {i} of {name}" for name in ("human_train", "human_test", "GAN") for i in range(9)]
    table = tmp_path / "texygen_coco" / "texygen_coco.csv"
    table.write_text("\n".join(["source,text", *rows]))
    found = captions(tmp_path, Making(captions=4))
    assert (len(found.train), len(found.test), {name: len(part) for name, part in found.generated.items()}) == (
        9,
        4,
        {"GAN": 4},
    )
    table.write_text("source,text\nhuman_train,a\nGAN,b")
    with pytest.raises(InputError, match="human_test"):
        captions(tmp_path, Making())


@pytest.mark.parametrize("corpus", ["amazon", "news", "yahoo"])
def test_claims_have_the_order_of_the_published_numbers(corpus):
    """Published values as if they were sure: the claims are the paper's, but for those it makes of some corpora."""
    exact = {key: paper.Ends(value, value, value) for key, value in paper.load_published_values(corpus).items()}
    rows = judge_claims(paper.claims(corpus), {paper._OUR_CORPUS[corpus]: exact})
    refuted = [row["claim"] for row in rows if row["outcome"] == "does not hold"]
    of_yahoo = ["the VAE's semantic precision is above train's (yahoo)", "plausibility follows grammar (yahoo)"]
    assert refuted == (of_yahoo if corpus == "yahoo" else [])
    assert sum(row["outcome"] == "holds" for row in rows) == 11 - len(refuted)


def test_claims_follow_from_intervals_and_what_was_not_computed_is_not_testable(monkeypatch, tmp_path):
    def drawn(corpus, name, value, reach):
        values = [value - reach, value, value + reach]
        return {"corpus": corpus, "property": name, "value": value, "values": values, "test": None}

    recall = [drawn(*row) for row in (("lm", "semantic_recall", 0.6, 0.01), ("vae", "semantic_recall", 0.5, 0.01))]
    recall += [drawn("eda", "semantic_recall", 0.7, 0.02), drawn("vae", "semantic_precision", 0.51, -0.01)]
    monkeypatch.setattr(Zwerdling2021, "read_kept", lambda *_, **__: [Described("phone", {}, [], recall, [])])
    rows = {row["claim"]: row for row in PAPERS["zwerdling2021"].ledger(Results(Store(tmp_path)), Request())}
    highest = rows["GPT-2 has the highest semantic recall of the three (amazon)"]
    assert (highest["outcome"], highest["why"]) == ("does not hold", "the other way round")
    assert highest["ours"].startswith("gpt-2 semantic recall − eda")
    unsure = rows["the VAE's semantic precision is above its recall (amazon)"]
    assert (unsure["outcome"], unsure["why"]) == ("does not hold", "the interval includes 0")
    unknown = rows["EDA has the highest perplexity of the three (amazon)"]
    assert unknown["outcome"] == "not testable here"
    assert "smollm2" in unknown["why"]
    people = rows["people's marks for grammar agree with grammar"]
    assert people["interval"].startswith("p = ")


def test_rows_stand_beside_the_published_ones(monkeypatch, tmp_path):
    rows, drawn = made_up()
    found = judged(monkeypatch, tmp_path, Described("phone", {"train": 9, "test": 3}, rows, drawn, []))
    assert {row["corpus"] for row in found["1"]} == {"amazon"}
    unique = next(row for row in found["1"] if (row["model"], row["property"]) == ("eda", "unique"))
    assert (unique["published"], unique["ours"], round(unique["difference"], 3)) == (0.932, 0.9, -0.032)
    texts = next(row for row in found["1"] if (row["model"], row["property"]) == ("train", "texts"))
    assert (texts["published"], texts["ours"]) == (31650.0, 9.0)
    people = {row["people"]: row for row in found["2"]}
    assert people["grammar"]["published"] == pytest.approx(7.25 / 9.5)  # ranks by hand, ties shared
    assert people["domain_relevance"]["ours"] is None


def made_up():
    def row(corpus, name, value, test=None):
        return {"corpus": corpus, "property": name, "value": value, "test": test, "train": None}

    rows = [row("eda", "unique", 0.9), row("eda", "grammar", 0.01, 0.02), row("vae", "vocab", 0.0)]
    return rows, [row("vae", "semantic_recall", 0.5), row("vae", "semantic_precision", 0.6)]


def judged(monkeypatch, tmp_path, description):
    monkeypatch.setattr(Zwerdling2021, "read_kept", lambda *_, **__: [description])
    found = PAPERS["zwerdling2021"].rows(Results(Store(tmp_path)), Request())
    assert not any(isinstance(cell, float) and math.isnan(cell) for row in found for cell in row.values())
    return {name: [row for row in found if row["table"] == name] for name in PAPERS["zwerdling2021"].tables}


def test_claims_on_a_vae_that_is_too_weak_are_not_testable():
    exact = {key: paper.Ends(value, value, value) for key, value in paper.load_published_values("news").items()}
    train = exact["train", "drawn.semantic_f1"].value
    exact["vae", "drawn.semantic_f1"] = paper.Ends(*[0.8 * train] * 3)
    rows = {row["claim"]: row for row in judge_claims(paper.claims("news"), {"news": exact})}
    weak = {claim for claim, row in rows.items() if "too weak" in (row["why"] or "")}
    assert all(rows[claim]["outcome"] == "not testable here" for claim in weak)
    assert "GPT-2 has the highest semantic recall of the three (news)" in weak
    assert rows["GPT-2's semantic recall is above its precision (news)"]["outcome"] == "holds"


def test_differences_have_intervals_of_their_own():
    gap = paper.Ends(0.5, 0.4, 0.6).less(paper.Ends(0.2, 0.1, 0.5))
    assert (gap.value, gap.low, gap.high) == pytest.approx(
        (0.3, 0.3 - math.hypot(0.1, 0.3), 0.3 + math.hypot(0.1, 0.1))
    )
    first, second = np.array([0.5, 0.6, 0.4, 0.55]), np.array([0.1, 0.2, 0.1, 0.2])
    paired = paper.Ends.of_draws(first.tolist()).less(paper.Ends.of_draws(second.tolist()))
    reach = 3.182446305 * np.std(first - second, ddof=1)  # Student's quantile of three degrees of freedom
    assert (paired.low, paired.high) == pytest.approx((0.3625 - reach, 0.3625 + reach))


def test_a_request_changes_sources_and_sizes():
    given = PAPERS["zwerdling2021"].read_params({"limit": "100", "sources": "phone"})
    program = PAPERS["zwerdling2021"].program(Request(params=given))
    assert (program.limit, program.sources, program.many) == (100, "phone", 100_000)


def test_what_is_finished_is_read_and_nothing_is_made(run, torchless, monkeypatch):
    program = Zwerdling2021(**QUICK)
    monkeypatch.setattr("textgauge_papers.zwerdling_suite.STUDIES", {"tiny": partial(make_corpora, TINY)})
    assert program.read_kept(run.folder, seed=0) == []
    run()
    assert program.read_kept(run.folder, seed=0) == []  # the corpora of the models are missing
    for name in ("vae", "lm"):
        (run.folder / "corpora" / "tiny" / f"{name}.txt").write_text("a text\n" * 54)
    assert program.read_kept(run.folder, seed=0) == []
    assert program.read_kept(run.folder, seed=0) == [] != run()
    assert program.read_kept(run.folder, seed=0) == run()
