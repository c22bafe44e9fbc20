"""Resources: models and data files found by name, checked by digest, kept in the cache, used offline from then on.

    locate(name)     the folder with the checked files; fetched first if need be
    available(name)  whether it is in the cache or elsewhere on this machine; never uses the network
    fetch(name)      the same as locate, after throwing a damaged copy away
    verify(name)     read every byte again

Settings: `TEXTGAUGE_CACHE` (folder of the cache), `TEXTGAUGE_RESOURCES` (a folder with `NAME/file`, tried first),
`TEXTGAUGE_OFFLINE=1` (never use the network), `HF_HOME`, `HF_HUB_OFFLINE`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from stat import S_IWOTH
from typing import Any

from textgauge.core.errors import ResourceError, UnknownName, warn
from textgauge.core.files import install_folder, scratch_folder
from textgauge.encode.resource_sources import (
    LOCAL,
    REMOTE,
    Hub,
    Package,
    Resource,
    SourceError,
    copy_folder,
    offline,
    wrong_files,
)

__all__ = [
    "Resource",
    "available",
    "cache_root",
    "cached_folder",
    "fetch",
    "keeps_cache",
    "locate",
    "make_cache_folder",
    "resource",
    "resources",
    "verify",
]

_checked: dict[Path, list[tuple[int, int]]] = {}  # folders whose bytes are right: size and time of each file


def declared(source: str) -> tuple[Resource, ...]:
    """The resources that a TOML text declares; a part of a larger one comes from the same packages and hub."""
    entries: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in tomllib.loads(source)["resource"]}
    return tuple(_resource(entry, entries.get(entry.get("part_of", ""), entry)) for entry in entries.values())


def _resource(entry: dict[str, Any], origin: dict[str, Any]) -> Resource:
    packages = (Package(**{**given, "tags": tuple(given.get("tags", ()))}) for given in origin.get("packages", ()))
    hub = Hub(**origin["hub"]) if "hub" in origin else None
    return Resource(**{**entry, "packages": tuple(packages), "hub": hub})


RESOURCES = declared((files("textgauge.encode") / "resources.toml").read_text("utf-8"))


def cache_root() -> Path:
    """Give the folder textgauge keeps its files in: `TEXTGAUGE_CACHE`, or the system's cache folder for textgauge."""
    from platformdirs import user_cache_dir

    chosen = os.environ.get("TEXTGAUGE_CACHE") or user_cache_dir("textgauge")
    root = Path(os.path.expanduser(chosen))  # of a user who does not exist, the name as it stands
    _notice_shared(root)
    return root


@cache
def _notice_shared(root: Path) -> None:
    """Warn once where other users can change what is kept."""
    with contextlib.suppress(OSError):
        status = root.stat()
        if os.name == "posix" and (status.st_mode & S_IWOTH or status.st_uid not in (os.geteuid(), 0)):
            message = f"other users can write to the cache folder {root}, and change what is read from it"
            warn(f"{message}; set TEXTGAUGE_CACHE to a folder of your own", RuntimeWarning)


def keeps_cache() -> bool:
    """Whether vectors and answers are kept on disk: not with `TEXTGAUGE_NO_CACHE=1`."""
    return os.environ.get("TEXTGAUGE_NO_CACHE", "") in {"", "0"}


def make_cache_folder(folder: Path) -> Path:
    """Create a folder; those of the cache are created so that other users cannot enter them."""
    root = cache_root()
    if root == folder or root in folder.parents:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in (*reversed(folder.parents), folder):
        if root in part.parents:
            part.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def resources() -> tuple[Resource, ...]:
    """List every declared resource."""
    return RESOURCES


def resource(name: str) -> Resource:
    """Give the declaration of one resource.

    >>> resource("wordllama").licence
    'MIT'
    """
    table = {entry.name: entry for entry in RESOURCES}
    if name not in table:
        raise UnknownName.among("resource", name, table)
    return table[name]


def locate(name: str) -> Path:
    """Give the folder that holds the checked files of a resource, fetching them if they are not there.

    The bytes are checked once by every process that uses them, and again where size or time of a file changes.
    Raises ResourceError, in one line that says what to do, where they cannot be had.
    """
    entry = resource(name)
    folder = _folder(entry)
    if not _in_order(folder, entry):
        _bring(entry, folder)
    return folder


def fetch(name: str) -> Path:
    """Bring a resource into the cache, replacing a copy whose bytes are wrong."""
    entry = resource(name)
    folder = _folder(entry)
    if not verify(name):
        _bring(entry, folder)
    return folder


def verify(name: str) -> bool:
    """Read every byte of the cached copy and say whether it is complete and right."""
    entry = resource(name)
    return _is_right(_folder(entry), entry)


def available(name: str) -> bool:
    """Tell whether a resource is on this machine, in the cache or at a local source; never uses the network."""
    entry = resource(name)
    if _in_order(_folder(entry), entry):
        return True
    with contextlib.suppress(OSError), tempfile.TemporaryDirectory() as scratch:
        return _try(entry, Path(scratch) / name, network=False) is None
    return False


def cached_folder(name: str) -> Path:
    """Give the folder a resource has in the cache, whether it is there or not."""
    return _folder(resource(name))


def _folder(entry: Resource) -> Path:
    # The digests are part of the name, so that a later version with other bytes never meets an older copy.
    digest = hashlib.sha256(json.dumps(dict(entry.files), sort_keys=True).encode()).hexdigest()
    return cache_root() / "resources" / f"{entry.name}-{digest[:8]}"


def _is_right(folder: Path, entry: Resource) -> bool:
    return folder.is_dir() and not wrong_files(folder, entry.files)


def _in_order(folder: Path, entry: Resource) -> bool:
    try:
        stats = [path.stat() for path in sorted(folder.rglob("*")) if path.is_file()]
    except OSError:  # another process puts it right
        return False
    stamp = [(stat.st_size, stat.st_mtime_ns) for stat in stats]
    if not stamp or (_checked.get(folder) != stamp and wrong_files(folder, entry.files)):
        return False
    _checked[folder] = stamp
    return True


def _bring(entry: Resource, folder: Path) -> None:
    try:
        make_cache_folder(folder.parent)
        with scratch_folder(folder.parent) as scratch:
            reason = _try(entry, scratch / entry.name, network=True)
            if reason is not None:
                raise ResourceError(_complaint(entry, reason))
            install_folder(scratch / entry.name, folder, lambda found: _is_right(found, entry))
    except OSError as error:
        raise ResourceError(f"cannot keep resource {entry.name!r} in {folder.parent}: {error.strerror}") from error


def _try(entry: Resource, target: Path, *, network: bool) -> str | None:
    """Fill `target` from the first source with the right bytes; give None, or the reasons of the last sources."""
    reasons = []
    for source in (_larger_resource, *LOCAL, *(REMOTE if network else ())):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        if source is REMOTE[0] and not offline():
            _notice(entry)
        try:
            source(entry, target)
        except SourceError as reason:
            reasons.append(str(reason))
            continue
        wrong = wrong_files(target, entry.files)
        if not wrong:
            return None
        reasons.append(f"wrong bytes in {', '.join(wrong)} from {source.__name__.replace('_', ' ')}")
    return "; ".join(reasons[-len(REMOTE) :])


def _larger_resource(entry: Resource, target: Path) -> None:
    if not entry.part_of:
        raise SourceError("not part of another resource")
    copy_folder(_folder(resource(entry.part_of)), entry, target)


def _notice(entry: Resource) -> None:
    print(f"textgauge: fetching {entry.name} ({entry.size / 1e6:.1f} MB, once)", file=sys.stderr)


def _complaint(entry: Resource, reason: str) -> str:
    lighter = f" or use the lighter {entry.lighter}" if entry.lighter else ""
    return (
        f"resource {entry.name!r} ({entry.purpose}, {entry.size / 1e6:.0f} MB) is not on this machine ({reason}); "
        f"with a network run: textgauge resources fetch {entry.name}{lighter}"
    )
