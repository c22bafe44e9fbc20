"""Shared by all tests."""

import pytest


@pytest.fixture(autouse=True)
def _no_progress(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
