"""`textgauge doctor`: does everything work on this machine?"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec

import typer

from textgauge.cli.output import Format, FormatOption, print_result
from textgauge.core.errors import TextgaugeError, install_line, installed_from
from textgauge.core.result import TableResult
from textgauge.core.tabular import Row, listed

# The packages that each extra of `textgauge[all]` adds.
EXTRAS = {
    "st": ("sentence_transformers",),
    "hf": ("transformers", "torch"),
    "api": ("httpx",),
    "dask": ("distributed",),
    "elmo": ("h5py",),
    "generate": ("torch",),
    "pandas": ("pandas",),
    "excel": ("fastexcel",),
    "zstd": ("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd",),
}


def doctor(form: FormatOption = Format.table) -> None:
    """Check versions, folders, resources, extras and the built-in encoder; nothing is fetched.

    The exit code is 1 if something needed is broken or missing.
    """
    checks: dict[str, Callable[[], str]] = {
        "textgauge": lambda: version("textgauge"),
        "python": platform.python_version,
        "numpy, scipy, scikit-learn": lambda: ", ".join(version(name) for name in ("numpy", "scipy", "scikit-learn")),
        "cores": lambda: str(os.cpu_count()),
        "cache folder": _cache_root,
        "data folder": lambda: os.environ.get("TEXTGAUGE_DATA") or "not set (TEXTGAUGE_DATA)",
        "resources": _resources,
        "extras": _extras,
        "metrics": _metrics,
        "encoder minilm": _encoder,
    }
    rows = [_run(name, check) for name, check in checks.items()]
    failed = [row["check"] for row in rows if not row["ok"]]
    said = f"{len(failed)} of {len(rows)} checks failed: {listed(failed)}." if failed else "Everything works."
    print_result(TableResult("doctor", rows, said), form)
    if failed:
        raise typer.Exit(1)


def _run(name: str, check: Callable[[], str]) -> Row:
    try:
        return {"check": name, "ok": True, "found": check()}
    except (TextgaugeError, OSError, ImportError) as error:
        return {"check": name, "ok": False, "found": str(error)}


def _cache_root() -> str:
    from textgauge.encode.resources import cache_root, make_cache_folder

    folder = make_cache_folder(cache_root())
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} cannot be written; set TEXTGAUGE_CACHE to a folder that can")
    return str(folder)


def _resources() -> str:
    from textgauge.encode.resources import available, resources

    missing = [item.name for item in resources() if not available(item.name)]
    here = f"{len(resources()) - len(missing)} of {len(resources())} here"
    return f"{here}; to get the others: textgauge resources fetch {' '.join(missing)}" if missing else here


def _extras() -> str:
    missing = [extra for extra, packages in EXTRAS.items() if not all(map(_is_here, packages))]
    here = f"{len(EXTRAS) - len(missing)} of {len(EXTRAS)} here"
    line = install_line(",".join(missing), sys.prefix, *installed_from())
    return f"{here}; to get the others: {line}" if missing else here


def _is_here(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def _metrics() -> str:
    from textgauge.metrics import list_metrics

    return f"{len(list_metrics(kind='corpus'))} corpus metrics, {len(list_metrics(kind='pair'))} pair metrics"


def _encoder() -> str:
    import numpy as np

    from textgauge.core.errors import ResourceError
    from textgauge.encode.embedders import embedder
    from textgauge.encode.resources import available, resource

    missing = [name for name in ("wordpiece", "minilm") if not available(name)]
    if missing:
        size = sum(resource(name).size for name in missing) / 1e6
        raise ResourceError(f"not on this machine ({size:.0f} MB); run: textgauge resources fetch {' '.join(missing)}")
    near, same, far = embedder("minilm").encode(["A cat sat down.", "A cat was sitting.", "Stocks fell sharply."])
    if not float(near @ same) > float(near @ far) + 0.3 or not np.isclose(np.linalg.norm(near), 1.0, atol=1e-5):
        raise ResourceError("the encoder runs but its vectors make no sense; run `textgauge resources verify minilm`")
    return "runs, and finds a paraphrase closer than another sentence"
