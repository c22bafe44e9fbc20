"""Packages that extend textgauge: each names what it adds under an entry point group such as `textgauge.metrics`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any


def load_plugins(group: str, register: Callable[[str, Any], object]) -> None:
    """Load every entry point of a group and pass its name and its object to `register`.

    A plug-in that fails, while loading or registering, is left out with one warning that names its package;
    the others and textgauge itself keep working.
    """
    from importlib.metadata import entry_points

    for plugin in entry_points(group=group):
        try:
            register(plugin.name, plugin.load())
        except (Exception, SystemExit) as error:
            package = plugin.dist.name if plugin.dist else plugin.value
            warnings.warn(
                f"{group}: {plugin.name!r} of the package {package} is left out: {type(error).__name__}: {error}",
                stacklevel=2,
            )
