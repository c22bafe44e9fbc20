"""Files of bytes, and rows as the hub gives them, for the tests of this folder."""

import pytest


class Rows(dict):
    """What the package `datasets` gives: columns by name, and the number of rows."""

    @property
    def column_names(self):
        return list(self)

    def __len__(self):
        return len(self["text"])


@pytest.fixture
def file(tmp_path):
    """Write a file and give its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
