"""Commands print what is recorded in commands.json."""

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("golden_commands", Path(__file__).with_name("commands.py"))
commands = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(commands)
commands.FILE = Path(__file__).with_name("commands.json")


@pytest.mark.long
def test_every_command_prints_what_is_recorded():
    assert commands.differences(commands.kept(), commands.take()) == []


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ({"a": 1.0}, {"a": 1.0000001}, []),
        ({"a": 1.0}, {"a": 1.1}, ["/a"]),
        ({"a": [1, 2]}, {"a": [1]}, ["/a"]),
        ({"a": "x"}, {"b": "x"}, ["/a", "/b"]),
        ({"a": True}, {"a": 1.5}, ["/a"]),
    ],
)
def test_a_difference_is_named(old, new, places):
    assert [text.split(":")[0] for text in commands.differences(old, new)] == places
