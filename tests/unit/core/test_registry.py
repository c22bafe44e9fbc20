"""The one registry: declared, loaded and plugged-in entries; a broken plug-in does no harm."""

import sys
from importlib import metadata
from importlib.metadata import EntryPoint

import pytest

from textgauge.core.errors import InputError, UnknownName
from textgauge.core.registry import Registry, load_plugins


@pytest.fixture
def installed(monkeypatch):
    points = [
        EntryPoint("root", "math:sqrt", "textgauge.things"),
        EntryPoint("gone", "no_such_package:x", "textgauge.things"),
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda group: [one for one in points if one.group == group])


def test_declared_and_registered_entries():
    things = Registry("thing", {"one": 1, "clock": 2})
    assert "clock" in things
    assert list(things) == ["one", "clock"]
    assert things.get("two") is None
    with pytest.raises(InputError, match="one"):
        things.register(3, "one")
    del things["one"]
    with pytest.raises(UnknownName, match="one"):
        things["one"]
    with pytest.raises(KeyError, match="did you mean clock"):
        things["clok"]


def test_a_class_is_registered_by_its_own_name_and_again_when_its_module_is_loaded_again():
    things = Registry("thing")

    def declare(name):
        return things.register(type(name, (), {"name": "mine"}))

    declare("Mine")
    again = declare("Mine")
    assert things["mine"] is again
    with pytest.raises(InputError, match="mine"):
        declare("Other")


def test_modules_of_a_package_are_imported_until_a_name_is_known_or_all_are_asked_for(tmp_path, monkeypatch):
    package = tmp_path / "shelf"
    package.mkdir()
    (package / "__init__.py").write_text("from textgauge.core.registry import Registry\nTHINGS = Registry('thing')\n")
    for name in ("a", "c"):
        (package / f"{name}.py").write_text(f"from shelf import THINGS\nTHINGS.register(1, {name!r})\n")
    (package / "_b.py").write_text("raise RuntimeError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from shelf import THINGS

    THINGS.modules = ("shelf",)
    THINGS.register(2, "known")
    assert THINGS["known"] == 2
    assert "shelf.a" not in sys.modules
    assert THINGS["a"] == 1
    assert "shelf.c" not in sys.modules
    assert sorted(THINGS) == ["a", "c", "known"]


@pytest.mark.usefixtures("installed")
def test_plug_ins_are_loaded_and_a_broken_one_is_a_warning_that_names_it():
    things = Registry("thing", group="textgauge.things")
    with pytest.warns(UserWarning, match=r"'gone' of the package no_such_package:x"):
        assert things["root"](9) == 3
    assert list(things) == ["root"]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("kind", [ValueError, SystemExit])
def test_so_is_one_that_cannot_be_registered_or_ends_the_process(kind):
    def refuse(name, loaded):
        raise kind("taken")

    with pytest.warns(UserWarning, match="left out") as warned:
        load_plugins("textgauge.things", refuse)
    assert [str(one.message).endswith(f"{kind.__name__}: taken") for one in warned] == [True, False]
