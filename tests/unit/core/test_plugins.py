"""Plug-ins by entry point: all are loaded, and a broken one does no harm."""

from importlib import metadata
from importlib.metadata import EntryPoint

import pytest

from textgauge import plugins


@pytest.fixture
def installed(monkeypatch):
    found = [
        EntryPoint("root", "math:sqrt", "textgauge.things"),
        EntryPoint("gone", "no_such_package:x", "textgauge.things"),
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda group: [one for one in found if one.group == group])


@pytest.mark.usefixtures("installed")
class TestLoadPlugins:
    def test_hands_over_name_and_object(self):
        known = {}
        with pytest.warns(UserWarning, match="left out"):
            plugins.load_plugins("textgauge.things", known.__setitem__)
        assert known["root"](9) == 3

    def test_a_broken_package_is_a_warning_that_names_it(self):
        with pytest.warns(
            UserWarning, match=r"textgauge.things: 'gone' of the package no_such_package:x is left out: Mod"
        ):
            plugins.load_plugins("textgauge.things", lambda name, loaded: None)

    @pytest.mark.parametrize("kind", [ValueError, SystemExit])
    def test_so_is_one_that_cannot_be_registered_or_ends_the_process(self, kind):
        def refuse(name, loaded):
            raise kind("taken")

        with pytest.warns(UserWarning, match="left out") as warned:
            plugins.load_plugins("textgauge.things", refuse)
        assert [str(one.message).endswith(f"{kind.__name__}: taken") for one in warned] == [True, False]

    def test_other_groups_are_left_alone(self):
        plugins.load_plugins("textgauge.metrics", lambda name, loaded: pytest.fail(name))
