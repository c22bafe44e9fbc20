"""Files of figures and pages."""

from __future__ import annotations

from pathlib import Path

from textgauge.errors import ResourceError


def written(path: Path, content: bytes) -> Path:
    """Write a file, with the folders above it; trouble with the disk is one clear error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise ResourceError(f"cannot write {path}: {error.strerror or error}") from None
    return path
