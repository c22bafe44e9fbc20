"""What may be said about two corpora."""

import pytest

from textgauge.stats.decisions import comparison_sentence, different


def test_a_test_rejects_up_to_its_level():
    assert different(10 / 200)
    assert different(0.1 + 0.2, alpha=0.3)
    assert not different(0.0501)
    assert different(0.0501, alpha=0.1)
    assert not different(float("nan"))


@pytest.mark.parametrize(
    ("p", "adjustment", "sentence"),
    [
        ((0.01, 0.02), "max-T", 'Different: 2 of 2 metrics reject "same source" (max-T, 5 %).'),
        ((0.01, 0.2, 0.3), "Holm", 'Different: 1 of 3 metrics rejects "same source" (Holm, 5 %).'),
        ((0.01,), None, 'Different: m0 rejects "same source" (5 %).'),
        (
            (0.5, float("nan")),
            "max-T",
            'No difference found: none of 2 metrics rejects "same source" (max-T, 5 %); '
            "that does not show that there is none.",
        ),
    ],
)
def test_the_sentence_counts_rejections(p, adjustment, sentence):
    assert comparison_sentence({f"m{row}": value for row, value in enumerate(p)}, adjustment) == sentence
