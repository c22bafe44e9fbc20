"""The pytest plug-in: a fixture `gauge` with the assertions about texts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def gauge() -> SimpleNamespace:
    """Assertions about texts: `gauge.same_source`, `gauge.no_near_copies`, `gauge.not_worse`.

    A check that the texts are too few to decide raises `gauge.Undecided`, an AssertionError.
    """
    from textgauge.testing import asserts  # what it needs loads when a test asks for it

    return SimpleNamespace(
        same_source=asserts.assert_same_source,
        no_near_copies=asserts.assert_no_near_copies,
        not_worse=asserts.assert_not_worse,
        Undecided=asserts.Undecided,
    )
