"""Checksums inside files: what is read is what was written, or it is refused.

A sealed Parquet file stays one that every reader opens: its seal stands in front of the footer, where no column is.
A sealed JSON object has a member `checksum`. Content without a seal is from a version that wrote none, and passes; two
marks in every seal show that one was there, whatever single damage it suffered.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

_MARK = b"textgauge seal 1"
_SIZE = 16  # bytes of a digest
_TAIL = 8  # of a Parquet file: the length of the footer and PAR1
_CHECKSUM, _SEALED = "checksum", "blake2b:"  # name and begin of the member of a JSON object
_MISMATCH = "its checksum does not match"


class Damaged(ValueError):
    """Content that is not what was written."""


def seal_parquet(content: bytes) -> bytes:
    """Return a Parquet file with a digest of itself, the mark before and after it."""
    footer = len(content) - _TAIL - int.from_bytes(content[-_TAIL:-4], "little")
    return content[:footer] + _MARK + _compute_digest(content) + _MARK + content[footer:]


def unseal_parquet(content: bytes) -> bytes:
    """Return the Parquet file that was sealed.

    Two marks, looked for everywhere, tell a damaged seal from none: no single damage destroys both.
    """
    size = 2 * len(_MARK) + _SIZE
    footer = len(content) - _TAIL - int.from_bytes(content[-_TAIL:-4], "little")
    seal = content[max(footer - size, 0) : max(footer, 0)]
    whole = content[: footer - size] + content[footer:]
    if len(seal) == size and seal == _MARK + _compute_digest(whole) + _MARK:
        return whole
    if _MARK in content:
        raise Damaged(_MISMATCH)
    return content


def seal_json(content: dict[str, Any]) -> dict[str, Any]:
    """Return an object with a checksum of its other members.

    >>> unseal_json(json.dumps(seal_json({"a": 1})))
    {'a': 1}
    """
    return {**content, _CHECKSUM: _SEALED + _compute_digest(_write_canonical(content)).hex()}


def unseal_json(text: str) -> dict[str, Any]:
    """Return the object that a text holds, without its checksum; a `ValueError` where it is none, or damaged."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise Damaged("nested too deeply") from None
    if not isinstance(content, dict):
        raise Damaged("it holds no object")
    checksum = content.pop(_CHECKSUM, None)
    if checksum is None and not any(isinstance(other, str) and _SEALED in other for other in content.values()):
        return content
    if str(checksum).removeprefix(_SEALED) != _compute_digest(_write_canonical(content)).hex():
        raise Damaged(_MISMATCH)
    return content


def find_shape_error(value: Any, shape: Any, name: str = "it") -> str | None:
    """What of JSON content is not of a shape: types, a list of one shape, or an object whose members have shapes.

    >>> find_shape_error({"a": [1, "2"]}, {"a": [int]})
    'an item of a is missing or of another type'
    """
    inner: list[tuple[Any, Any, str]] = []
    if isinstance(shape, dict) and isinstance(value, dict):
        inner = [(value.get(key), one, key) for key, one in shape.items()]
    elif isinstance(shape, list) and isinstance(value, list):
        inner = [(item, shape[0], f"an item of {name}") for item in value]
    elif isinstance(shape, dict | list) or not isinstance(value, shape):
        return f"{name} is missing or of another type"
    return next(filter(None, (find_shape_error(*one) for one in inner)), None)


def _write_canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=True).encode()


def _compute_digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_SIZE).digest()
