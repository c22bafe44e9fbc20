"""A module's tests are found by its name: tests/unit mirrors the package."""

from importlib.util import find_spec
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[1] / "unit"


def module_of(test: Path) -> str | None:
    """The module that a test file is named after: test_name.py, or test_name_aspect.py where there are several."""
    words = test.stem.split("_")[1:]
    room = ".".join(("textgauge", *test.parent.relative_to(UNIT).parts))
    names = (f"{room}.{'_'.join(words[:end])}" for end in range(len(words), 0, -1))
    return next((name for name in names if find_spec(name)), None)


@pytest.mark.parametrize("test", sorted(UNIT.rglob("test_*.py")), ids=lambda path: str(path.relative_to(UNIT)))
def test_a_test_file_is_named_after_a_module(test):
    assert module_of(test)
