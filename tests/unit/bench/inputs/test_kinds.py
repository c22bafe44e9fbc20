"""Data that protocols declare: which values each kind needs, takes and refuses."""

import pytest

from textgauge.bench.inputs import Paraphrases, RatedPairs, StepsAndReference, TwoCorpora, drop_none, load_data
from textgauge.bench.protocols import find_protocols, list_protocols
from textgauge.core.errors import ArgumentError, InputError

TEXTS = {"left": ["a cat", "a dog"], "right": ["one cat", "a cow"]}


def test_values_that_are_none_are_dropped():
    assert drop_none({"a": None, "b": 0, "c": ""}) == {"b": 0, "c": ""}


@pytest.mark.parametrize(
    ("kind", "given", "complaint"),
    [
        (TwoCorpora(), {"source_a": ["x"]}, "x needs two corpora: `source_a` and `source_b`"),
        (StepsAndReference(), {"steps": "folder"}, "x needs `steps`, a folder of corpora in order, and `reference`"),
        (RatedPairs(), {}, "x needs rated pairs: `pairs`"),
        (Paraphrases(), {**TEXTS, "rating": [1, 2]}, "x does not read `rating`; it needs paraphrases"),
        (RatedPairs(), {**TEXTS, "rating": [1, 2], "limit": 2}, "`limit`: for tables"),
    ],
)
def test_missing_and_unread_values_are_errors_that_name_them(kind, given, complaint):
    with pytest.raises(ArgumentError, match=complaint):
        load_data("x", [kind], given, 0)


def test_of_a_family_those_whose_data_are_there_are_loaded():
    kinds = [kind.data for kind in find_protocols("alignment")]
    rated, compared = load_data("alignment", kinds, {"rated": "sample:articles"}, 0)
    assert (rated.name, compared) == ("sample:articles", None)
    with pytest.raises(InputError, match="alignment has no column label; it has document, text, summary"):
        load_data("alignment", kinds, {"rated": "sample:articles", "columns": {"label": "x"}}, 0)


def test_pairs_may_be_texts():
    (pairs,) = load_data("x", [RatedPairs()], {**TEXTS, "rating": [3, 1]}, 0)
    assert pairs.columns["rating"].tolist() == [3.0, 1.0]


def test_every_value_that_a_protocol_reads_is_an_argument_of_run():
    import inspect

    import textgauge

    arguments = inspect.signature(textgauge.run).parameters
    for kind in list_protocols().values():
        assert {*kind.data.needs, *kind.data.takes} - {"scores"} <= set(arguments)  # columns that metrics name
