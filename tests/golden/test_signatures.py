"""No value of a metric, property or protocol changes unless its version is raised and the changelog says so."""

import importlib.util
import re
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("golden_signatures", Path(__file__).with_name("signatures.py"))
signatures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(signatures)
signatures.FILE = Path(__file__).with_name("signatures.json")


CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"


def told(key, version, changelog):
    """Whether an item of a list under "Numbers" names what has this version; from the third on with its number."""
    sections = re.findall(r"^### Numbers\n(.*?)(?=^##|\Z)", changelog, re.DOTALL | re.MULTILINE)
    items = [item for section in sections for item in section.split("\n- ")]
    name = f"`{key.split()[-1]}`"
    return any(name in item and (version == 2 or f"version {version}" in item) for item in items)


def test_the_changelog_names_every_raised_version():
    raised = {key: entry["version"] for key, entry in signatures.kept().items() if entry["version"] > 1}
    assert raised
    changelog = CHANGELOG.read_text(encoding="utf-8")
    assert [key for key, version in raised.items() if not told(key, version, changelog)] == []
    assert not told("corpus fid", 3, changelog)
    assert not told("corpus fid", 2, changelog.replace("### Numbers", "### Fixed"))


def test_every_value_is_the_recorded_one():
    found, kept = signatures.entries(), signatures.kept()
    complaints = {key: signatures.complaint(kept.get(key), *entry) for key, entry in found.items()}
    assert {key: said for key, said in complaints.items() if said} == {}
    assert set(kept) == set(found)


@pytest.mark.parametrize(
    ("old", "said"),
    [
        (None, "not recorded"),
        ({"version": 1, "values": {"value": 0.5, "low": None}}, "not recorded"),
        ({"version": 2, "values": {"value": 0.51, "low": None}}, "changed in value"),
        ({"version": 2, "values": {"value": 0.5, "low": 0.0}}, "changed in low"),
        ({"version": 2, "values": {"value": 0.5}}, "changed in low"),
        ({"version": 2, "values": {"value": 0.500000001, "low": None}}, None),
    ],
)
def test_a_change_is_named_unless_the_version_is_raised(old, said):
    found = signatures.complaint(old, 2, {"value": 0.5, "low": None})
    assert found is None if said is None else said in found
