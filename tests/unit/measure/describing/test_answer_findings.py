"""What is said of properties that are worse than in real texts."""

from textgauge.measure.findings import find_worse_rows


def row(name, value, low, high, *, worse_than=None, **real):
    return {"corpus": "generated", "property": name, "value": value, "low": low, "high": high, **real} | {
        "worse_than": worse_than
    }


COPIES = row("near_copies", 0.55, 0.4808, 0.6174, test=0.115, worse_than="test")


def test_what_is_worse_is_said_the_gravest_first():
    rows = [
        row("plausibility", 10.08, 9.37, 10.8, test=6.3, worse_than="test"),
        row("covered", 0.7, 0.64, 0.76, train=0.95, worse_than="train"),
        COPIES,
    ]
    found = find_worse_rows(rows)
    assert [one.property for one in found] == ["near_copies", "covered", "plausibility"]
    assert found[0].shown == "55 %"
    assert [one.sentence for one in found] == [
        "55 % of the texts are near copies of training texts (48 % to 62 %); test texts: 12 %.",
        "70 % of the test texts have a generated text near them (64 % to 76 %); train texts: 95 %.",
        "Perplexity 10.08, where smaller is more plausible (9.37 to 10.8); test texts: 6.3.",
    ]


def test_what_is_not_worse_and_what_is_said_in_other_numbers_is_left_out():
    other = row("semantic_f1", 0.1, 0.0, 0.2, test=0.9, worse_than="test")
    assert find_worse_rows([row("near_copies", 0.55, 0.1, 0.9, test=0.115), other]) == []
