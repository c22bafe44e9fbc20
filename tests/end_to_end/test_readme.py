"""The README's Python runs and says the truth."""

import doctest
from pathlib import Path

import pytest

from textgauge.metrics import registry
from textgauge.represent.resources import available


@pytest.mark.skipif(not available("minilm"), reason="the encoder is not here: textgauge resources fetch minilm")
def test_readme_examples_run():
    readme = Path(__file__).parents[2] / "README.md"
    try:
        failures, tried = doctest.testfile(str(readme), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    finally:
        registry.known_metrics().pop("mean_gap", None)
    assert tried > 5
    assert failures == 0
