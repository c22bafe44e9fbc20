"""Shared by all tests."""

import pytest
from hypothesis import settings

# Machines differ and may be busy: an example is judged by what it gives, not by how long it took.
settings.register_profile("textgauge", deadline=None)
settings.load_profile("textgauge")


@pytest.fixture(autouse=True)
def _no_progress(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
