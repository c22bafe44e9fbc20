"""The pytest plug-in: a fixture `gauge` with the assertions about texts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def gauge() -> SimpleNamespace:
    """Return assertions about texts: `gauge.same_source`, `gauge.no_near_copies`, `gauge.not_worse`.

    A check that the texts are too few to decide raises `gauge.Undecided`, an AssertionError.
    """
    from textgauge import testing  # what it needs loads when a test asks for it

    return SimpleNamespace(
        same_source=testing.assert_same_source,
        no_near_copies=testing.assert_no_near_copies,
        not_worse=testing.assert_not_worse,
        Undecided=testing.Undecided,
    )
