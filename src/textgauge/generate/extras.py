"""Optional packages, with the line that installs them where they are missing."""

from __future__ import annotations

from typing import Any

from textgauge.errors import MissingExtra


def need_torch(what: str) -> Any:
    """Give torch."""
    try:
        import torch
    except ImportError:
        raise MissingExtra.named(what, "generate") from None
    return torch


def need_transformers(what: str) -> Any:
    """Give transformers, which can do nothing here without torch."""
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise MissingExtra.named(what, "hf") from None
    return transformers
