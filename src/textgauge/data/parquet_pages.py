"""How much the pages of a Parquet file unpack to, by what its footer and the heads of its pages say.

A page of some kilobytes may unpack to gigabytes, or say that it has more values than any memory holds, and the library
that reads it takes that memory at once: where it cannot, it ends the process. Footer and heads are structs of Thrift's
compact protocol.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator
from typing import Any

from textgauge.core.errors import InputError
from textgauge.core.limits import FILE_BYTES, TABLE_CELLS
from textgauge.data.packing import check_expansion

_TAIL = 8  # bytes at the end: the length of the footer and PAR1
_DEEPEST = 16  # structs within structs; a footer has six
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
# Fields by number: of the footer, of a page, and within its kind of page.
_ROW_GROUPS, _COLUMNS, _CHUNK, _VALUES, _PACKED_SIZE, _FIRST_DATA, _FIRST_DICTIONARY = 4, 1, 3, 5, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _DATA, _DICTIONARY, _DATA_2 = 2, 3, 5, 7, 8
_COUNTS = {_DATA: (1,), _DICTIONARY: (1,), _DATA_2: (1, 2, 3)}  # values; of the last also nulls and rows

_LOST = (IndexError, KeyError, TypeError, AttributeError, RecursionError)
Data = memoryview | mmap.mmap


def check_pages(data: Data, *, together: bool) -> None:
    """Refuse impossible numbers of values, and pages that unpack to more than a file may, each or all `together`.

    What cannot be followed is passed over: the library cannot read it either, and says where it stands.
    """
    total = 0
    for place, end, most in _chunks(data):
        with contextlib.suppress(*_LOST):
            for page in _pages(data, place, end):
                size = max(page[_PAGE_UNPACKED], 0)
                _check_counts(page, size, most)
                total = total + size if together else size
                FILE_BYTES.check(total, "unpacked, a table" if together else "unpacked, a page")
                check_expansion(total, len(data))


def _chunks(data: Data) -> Iterator[tuple[int, int, int]]:
    """Where the pages of each column in each group of rows begin and end, and their values, by the footer."""
    footer = len(data) - _TAIL - int.from_bytes(data[len(data) - _TAIL : len(data) - 4], "little")
    with contextlib.suppress(*_LOST):
        for group in _Compact(data, footer).struct()[_ROW_GROUPS]:
            for column in group[_COLUMNS]:
                chunk = column[_CHUNK]
                place = chunk.get(_FIRST_DICTIONARY) or chunk[_FIRST_DATA]
                yield place, place + chunk[_PACKED_SIZE], min(chunk[_VALUES], TABLE_CELLS.most)


def _pages(data: Data, place: int, end: int) -> Iterator[dict[int, Any]]:
    while place < end:
        reader = _Compact(data, place)
        page = reader.struct()
        yield page
        place = reader.place + max(page[_PAGE_PACKED], 0)


def _check_counts(page: dict[int, Any], size: int, most: int) -> None:
    """Refuse a page with fewer than no values, or more than its column; a dictionary has a byte a value at least."""
    for kind, counts in _COUNTS.items():
        for count in (page[kind][field] for field in counts if kind in page):
            if not 0 <= count <= (size if kind == _DICTIONARY else most):
                raise InputError(f"bad Parquet (a page of {count:,} values)")


class _Compact:
    """Values of the compact protocol from a place on; a struct is a dict by the numbers of its fields."""

    def __init__(self, data: Data, place: int) -> None:
        if place < 0:
            raise IndexError
        self.data, self.place = data, place

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise RecursionError
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            found[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind < _DOUBLE:
            return self._whole()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            return [(self._value(kinds >> 4, depth), self._value(kinds & 15, depth)) for _ in range(count)]
        if kind not in (_DOUBLE, _BINARY):
            raise KeyError(kind)
        length = 8 if kind == _DOUBLE else self._varint()
        self.place += length
        if self.place > len(self.data):  # else a list of 2⁶² numbers would not end
            raise IndexError
        return None

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise IndexError

    def _whole(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
