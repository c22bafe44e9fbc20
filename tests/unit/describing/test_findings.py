"""What is called worse is worse by its whole interval, than the texts it is compared with."""

import pytest

from textgauge.describing.findings import findings


def row(name, value, low, high, *, test=None, train=None, corpus="generated"):
    return {"corpus": corpus, "property": name, "value": value, "low": low, "high": high, "test": test, "train": train}


COPIES = row("near_copies", 0.55, 0.4808, 0.6174, test=0.115)


def test_what_is_worse_is_said_the_gravest_first():
    rows = [row("plausibility", 10.08, 9.37, 10.8, test=6.3), row("covered", 0.7, 0.64, 0.76, train=0.95), COPIES]
    found = findings(rows)
    assert [one.property for one in found] == ["near_copies", "covered", "plausibility"]
    assert found[0].shown == "55 %"
    assert [one.sentence for one in found] == [
        "55 % of the texts are near copies of training texts (48 % to 62 %); test texts: 12 %.",
        "70 % of the test texts have a generated text near them (64 % to 76 %); train texts: 95 %.",
        "Perplexity 10.08, where smaller is more plausible (9.37 to 10.8); test texts: 6.3.",
    ]


@pytest.mark.parametrize(
    "harmless",
    [
        row("near_copies", 0.55, 0.1, 0.9, test=0.115),  # the interval has the value of real texts
        row("near_copies", 0.05, 0.01, 0.09, test=0.115),  # better
        row("near_copies", 0.55, None, None, test=0.115),  # nothing is known about the error
        row("near_copies", 0.55, 0.48, 0.62),  # nothing to compare with
        row("vocab", 87.0, 75.0, 101.0, test=10.0),  # no end of it is the better one
    ],
)
def test_what_may_be_no_worse_is_not_said(harmless):
    assert findings([harmless]) == []
