"""Errors that name values: by arguments in Python, by options on the command line."""

import pytest

from textgauge.cli.output import get_option_name
from textgauge.core.errors import ArgumentError, UnknownName


@pytest.fixture
def error():
    return ArgumentError("{odd}.txt: needs `source_a`, or `metrics`")


def test_values_are_named_as_each_caller_names_them(error):
    assert str(error) == "{odd}.txt: needs `source_a`, or `metrics`"
    assert error.format_message(get_option_name) == "{odd}.txt: needs --source-a, or -m"


def test_at_most_three_names_are_guessed_whatever_their_case():
    known = ["energy", "energy_a", "energy_b", "energy_c", "mauve"]
    assert str(UnknownName.among("metric", "ENERGI", known)).count("energy") == 3


def test_where_no_name_is_near_known_ones_are_listed():
    assert str(UnknownName.among("metric", "zzz", ["fid", "mauve"])) == "unknown metric 'zzz'; known: fid, mauve"
    assert str(UnknownName.among("number", "zzz", map(str, range(20)))).endswith(" and 8 more")
