"""Numbers as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """The value, or None for a number that does not exist or is not finite.

    >>> plain(0.5), plain(float("nan")), plain("text")
    (0.5, None, 'text')
    """
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with all its values plain."""
    return {name: plain(value) for name, value in row.items()}
