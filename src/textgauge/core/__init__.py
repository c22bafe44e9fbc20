"""What every room builds on: results, names, errors, progress, files, limits."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.core.arrays import Floats, Floats32, Ints
    from textgauge.core.errors import InputError, MissingExtra, ResourceError, TextgaugeError, UnknownName, warn
    from textgauge.core.files import check_table_path, replace_file, write_atomically, write_table
    from textgauge.core.parallel import use_one_blas_thread
    from textgauge.core.progress import Stage, begin_step, listen, tell_note
    from textgauge.core.result import TableResult
    from textgauge.core.settings import read_stored_bytes
    from textgauge.core.show import STATIC_PAGE_POLICY, Row, drop_nonfinite_values, format_cell

__all__ = [
    "STATIC_PAGE_POLICY", "Floats", "Floats32", "InputError", "Ints", "MissingExtra", "ResourceError", "Row", "Stage",
    "TableResult", "TextgaugeError", "UnknownName", "begin_step", "check_table_path", "drop_nonfinite_values",
    "format_cell", "listen", "read_stored_bytes", "replace_file", "tell_note", "use_one_blas_thread", "warn",
    "write_atomically", "write_table",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = export_lazily(__name__)
