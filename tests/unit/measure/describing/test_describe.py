"""`describe` next to train: values, backends, the report, warnings."""

import math

import numpy as np
import pytest

from textgauge.core.errors import InputError, UnknownName
from textgauge.data import Corpus
from textgauge.measure.describing import Measuring, load_corpora
from textgauge.measure.describing import describe as run
from textgauge.measure.findings import find_warnings
from textgauge.metrics.properties import list_properties

TRAIN = ["a red cat sat here", "the dog ran off", "we like green tea", "it rains all day long"]
TEST = ["a red cow sat there", "they like black tea", "it rains all night"]
GENERATED = ["A red cat sat here!", "a blue cat sat there", "we like tea", "we like tea.", "snow fell!!"]


def describe(generated=GENERATED, train=TRAIN, held_out=TEST, **options):
    return run(generated=generated, train=train, held_out=held_out, **{"embedder": "letters", **options})


def letters(text):
    return np.array([text.lower().count(chr(97 + place)) for place in range(26)], dtype=float)


def cosine(a, b):
    x, y = letters(a), letters(b)
    return x @ y / np.sqrt((x @ x) * (y @ y))


def best(queries, documents):
    return np.array([max(cosine(query, document) for document in documents) for query in queries])


def test_values_follow_the_definitions():
    found = describe()
    assert found["unique"].value == 2 / 5  # the copy of train and the text that came twice do not count
    assert found["distinct"].value == 3 / 5
    assert found["repetition"].value == pytest.approx(2 / 20)
    assert found["vocab"].value == 4  # blue, there, snow, fell
    assert found["grammar"].value == pytest.approx((1 / 5 + 2 / 2) / 5)
    words = [text.split() for text in GENERATED]
    letters_ = sum(len(word) for text in words for word in text)
    assert found["plausibility"].value == pytest.approx(math.exp(letters_ / sum(map(len, words))))


def test_semantic_compares_with_test_and_syntactic_with_train():
    found = describe()
    precision, recall = best(GENERATED, TEST).mean(), best(TEST, GENERATED).mean()
    assert found["semantic_precision"].value == pytest.approx(precision)
    assert found["semantic_recall"].value == pytest.approx(recall)
    assert found["semantic_f1"].value == pytest.approx(2 * precision * recall / (precision + recall))
    nearest = [1 / (1 + 1 / 6), 1 / (1 + 2 / 5), 1 / (1 + 1 / 4), 1 / (1 + 2 / 4), 1 / 2]  # signs are words
    assert found["syntactic_precision"].value == pytest.approx(np.mean(nearest))


def test_yardsticks_are_the_same_property_of_test_and_train():
    found = describe()
    assert found["semantic_precision"].train == pytest.approx(best(TRAIN, TEST).mean())
    assert found["semantic_recall"].train == pytest.approx(best(TEST, TRAIN).mean())
    halves = [({0, 1, 2, 3} - {a, b}, (a, b)) for a in range(4) for b in range(a)]
    words = [{word for row in rows for word in TRAIN[row].split()} for half in halves for rows in half]
    new = [len(mine - rest) for rest, mine in zip(words[::2], words[1::2], strict=True)]
    assert min(new) <= found["vocab"].train <= max(new)  # of a random half, compared with the other one
    as_generated = describe(generated=TEST)
    for name in ("unique", "vocab", "grammar", "plausibility", "syntactic_f1", "near_copies"):
        assert found[name].test == as_generated[name].value


def test_without_test_what_needs_it_is_empty_and_says_so():
    found = describe(held_out=None)
    for name in ("semantic_precision", "semantic_f1", "covered"):
        assert math.isnan(found[name].value)
        assert found[name].reason == "no test texts were given"
    assert found["unique"].test_reason == "no test texts were given"
    assert found["syntactic_f1"].value > 0.5
    assert len(found.list_texts("uncovered")) == 0


def test_intervals_hold_the_value_and_can_be_left_out():
    for row in describe():
        if row.property not in ("repetition", "longest_passage"):
            assert row.low <= row.value <= row.high
    assert all(math.isnan(row.low) for row in describe(ci=False))
    wide, narrow = describe(level=0.99)["semantic_f1"], describe(level=0.8)["semantic_f1"]
    assert wide.low < narrow.low


def test_one_text():
    found = describe(generated=["a new cat"])
    assert found["unique"].value == 1
    assert math.isnan(found["repetition"].value)
    assert math.isnan(found["semantic_precision"].low)
    assert any("few texts (1)" in text for text in found.warnings)


def test_blank_and_odd_texts_are_described():
    """A corpus object is taken as it is; blank texts of a list are left out."""
    odd = ["!!!", "\ud800 lone", "a" * 20_000, "word " * 5_000, *GENERATED]
    found = describe(generated=Corpus.of(["", *odd]))
    assert 0 < found["unique"].value < 1
    assert math.isfinite(found["grammar"].value)
    assert found.per_text["perplexity"][0] is None
    with pytest.warns(UserWarning, match="blank texts left out: 1 of 10"):
        assert len(describe(generated=["", *odd]).per_text) == len(odd)


def test_backends_are_recorded():
    found = describe(validation=["one more"])
    assert found["grammar"].backend == "marks(1)"
    assert found["plausibility"].backend == "lengths(5)"  # train and validation
    assert found["semantic_f1"].backend == found["covered"].backend == "cosine@letters(1)"
    assert found["syntactic_f1"].backend.startswith("synsim@words(rapidfuzz=")


def test_other_representative_texts_give_train_a_plausibility():
    found = describe(representative=["some", "other", "texts"])
    assert found["plausibility"].backend == "lengths(3)"
    assert not math.isnan(found["plausibility"].train)


N = len(list_properties(alone=False))


def test_empty_cells_say_why():
    found = describe()
    assert found["semantic_f1"].test_reason == "not defined for test itself"
    assert found["syntactic_f1"].train_reason == "not defined for train itself"
    assert found["plausibility"].train_reason == "the language model was made from it"
    assert "no interval" in found["repetition"].reason
    for row in found.to_dicts():
        for cell, reason in (("value", "reason"), ("test", "test_reason"), ("train", "train_reason")):
            assert row[cell] is not None or row[reason]
    assert "no value for train: plausibility (the language model was made from it)" in found.notes
    assert all(f"note: {text}" in str(found) for text in found.notes)


def test_several_corpora_share_a_table():
    found = describe(generated={"one": GENERATED, "two": TEST})
    assert len(found) == 2 * N
    assert list(found.readable()[0]) == ["property", "one", "two", "test", "train", "what it is"]
    assert found["unique", "two"].value == 1
    with pytest.raises(UnknownName, match="2 rows"):
        found["unique"]
    with pytest.raises(UnknownName, match="unique, one"):
        found["uniqe", "one"]


def test_the_plot_has_a_panel_per_defined_property_with_interval_test_and_train():
    made = describe(grammar=None).plot().to_dict()
    assert len(made["vconcat"]) == N - 1
    values = made["datasets"][made["vconcat"][0]["data"]["name"]]
    points = {point["of"]: point for point in values}
    row = describe()["unique"]
    assert points["generated"] == {
        "property": "unique", "of": "generated", "value": row.value, "low": row.low, "high": row.high
    }  # fmt: skip
    assert (points["test"]["value"], points["train"]["value"]) == (row.test, row.train)


def test_one_sentence_over_and_over_is_called_collapsed():
    found = describe(generated=["it rains and rains here"] * 60)
    assert found["unique"].value == 0
    assert found["repetition"].value == 1
    assert any("collapsed" in text and "100%" in text for text in found.warnings)
    assert found.list_texts("modes").row(0) == ("generated", 60, 1.0, 1, "it rains and rains here")


def test_another_language_is_warned_about():
    german = ["die Katze schläft heute lange", "der Hund lief schnell davon", "wir trinken gerne Tee"]
    assert any("another language" in text for text in describe(generated=german).warnings)
    assert any(
        "another language" in text for text in describe(generated=german, held_out=None, train=TRAIN * 5).warnings
    )
    assert not any("another language" in text for text in describe(generated=TRAIN).warnings)


def test_a_large_train_corpus_is_sampled_for_its_yardsticks_and_that_is_said():
    corpora = load_corpora({"generated": GENERATED}, TRAIN, TEST)
    measuring = Measuring(corpora, None, "marks", "lengths", ["x"], train_sample=3)
    warnings = find_warnings(measuring.generated, measuring.test, measuring.train)
    assert [text for text in warnings if text.startswith("train:")] == [
        f"train: {name} is that of 3 of its 4 texts, enough for a yardstick" for name in ("grammar", "plausibility")
    ]
    assert np.isfinite(measuring.train.text_values()["grammar"]).sum() == 3


def draw_texts(rng, n, words):
    return [" ".join(rng.choice(words, 6)) for _ in range(n)]


WORDS = [a + b for a in "bcdfghkl" for b in ("ar", "en", "ist", "op", "und")]


@pytest.mark.parametrize("sizes", [(40, 400, 40), (200, 40, 40), (40, 40, 200)])
def test_what_depends_on_the_number_of_texts_is_compared_with_as_many(sizes):
    """Of one source, values lie near their yardsticks at any sizes; of as many texts of train and test, as they are."""
    rng = np.random.default_rng(0)
    generated, train, test = (draw_texts(rng, n, WORDS) for n in sizes)
    found = describe(generated, train, test, grammar=None, plausibility=None)
    assert not any(row.worse_than for row in found)
    for name, role in (("semantic_recall", "train"), ("syntactic_recall", "test"), ("vocab", "test")):
        row, yardstick = found[name], getattr(found[name], role)
        value = row.value if math.isnan(row.compared) else row.compared
        least = min(sizes[0], sizes[1 if role == "train" else 2])
        assert math.isnan(row.compared) == (least == sizes[0] or name == "vocab")
        assert name == "vocab" or abs(value - yardstick) < 0.02
    turned = describe(generated[::-1], train[::-1], test[::-1], grammar=None, plausibility=None)
    assert [row.train for row in found] == pytest.approx([row.train for row in turned], nan_ok=True)


def test_half_of_the_words_are_found_to_cover_less_next_to_a_large_train():
    rng = np.random.default_rng(1)
    generated, train, test = draw_texts(rng, 100, WORDS[:15]), draw_texts(rng, 800, WORDS), draw_texts(rng, 100, WORDS)
    found = describe(generated, train, test, grammar=None, plausibility=None)
    assert found["covered"].worse_than == "train"
    assert found["covered"].train == pytest.approx(0.95, abs=0.01)
    less = describe(generated, train[:20], test, grammar=None, plausibility=None)
    assert not math.isnan(less["semantic_f1"].compared)
    assert "values that depend on the number of texts" in " ".join(less.warnings)


def test_groups_count_in_place_of_texts():
    """Texts that are repeated in a group say no more than one of them."""
    rng = np.random.default_rng(2)
    sides = [draw_texts(rng, 30, WORDS) for _ in range(3)]
    labels = [[f"document {row}" for row in range(30) for _ in range(4)]] * 3
    thrice = [[text for text in side for _ in range(4)] for side in sides]
    one, many = describe(*sides), describe(*thrice, group=labels)
    for name in ("plausibility", "semantic_precision", "syntactic_precision"):
        assert many[name].value == pytest.approx(one[name].value, rel=1e-3)
        assert many[name].high - many[name].low == pytest.approx(one[name].high - one[name].low, rel=0.1)
    assert describe(*thrice)["semantic_precision"].high < many["semantic_precision"].high
    assert math.isnan(many["unique"].low)
    assert many["unique"].reason == "no interval: none that counts groups"
    with pytest.raises(InputError, match="groups of test: 5; intervals that count groups need at least 8"):
        describe(*thrice, group=[labels[0], labels[0], [number % 5 for number in range(120)]])


def test_a_column_names_the_groups_of_files(tmp_path):
    rng = np.random.default_rng(3)
    paths = {role: tmp_path / f"{role}.csv" for role in ("generated", "train", "held_out")}
    for path in paths.values():
        rows = [f"{text},{number // 3}" for number, text in enumerate(draw_texts(rng, 30, WORDS))]
        path.write_text("\n".join(["text,page", *rows]), encoding="utf-8")
    found = run(**paths, group="page", embedder="letters", grammar=None, plausibility=None, limit=24)
    assert found["near_copies"].low <= found["near_copies"].value <= found["near_copies"].high
    with pytest.raises(InputError, match="line"):
        run(**paths, group="line", embedder="letters", grammar=None, plausibility=None)
