"""Where things are: a module's tests are found by its name, and pages for contributors name files that exist."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[1] / "unit"
ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md")
MADE = {"textgauge.toml", "derived/", "site/"}  # by users, runs and make


def module_of(test: Path) -> str | None:
    """The module that a test file is named after: test_name.py, or test_name_aspect.py where there are several."""
    words = test.stem.split("_")[1:]
    room = ".".join(("textgauge", *test.parent.relative_to(UNIT).parts))
    names = (f"{room}.{'_'.join(words[:end])}" for end in range(len(words), 0, -1))
    return next((name for name in names if find_spec(name)), None)


@pytest.mark.parametrize("test", sorted(UNIT.rglob("test_*.py")), ids=lambda path: str(path.relative_to(UNIT)))
def test_a_test_file_is_named_after_a_module(test):
    assert module_of(test)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_files_that_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|md|toml|json|yml|c)|/))`", text)) - MADE
    folders = [ROOT, ROOT / "src" / "textgauge", ROOT / ".github" / "workflows"]
    assert [name for name in sorted(named) if not any((folder / name).exists() for folder in folders)] == []
