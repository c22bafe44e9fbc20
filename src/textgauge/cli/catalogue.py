"""What there is to choose from, and whether it works: `ls`, `datasets`, `resources`, `cache` and `doctor`."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib.metadata import version
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from cyclopts import App

from textgauge.cli.door import argument, command, option
from textgauge.cli.output import Format, FormatOption, SeedOption, print_next, print_result, say
from textgauge.core.errors import ResourceError, TextgaugeError, UnknownName, format_install_line, get_install_source
from textgauge.core.result import TableResult
from textgauge.core.settings import get_cache_root, make_cache_folder
from textgauge.core.show import Row, format_count, join_words
from textgauge.data import DatasetCard, fetch_dataset, is_here, list_published, list_samples, load_pairs, load_texts
from textgauge.data.cache import Removable, clean_cache, measure_cache
from textgauge.data.samples import PREFIX
from textgauge.encode import resources as store
from textgauge.encode.embedders import get_embedder, list_embedders
from textgauge.encode.tokenizers import list_tokenizers
from textgauge.encode.word_vectors import list_word_vectors
from textgauge.metrics import CorpusMetric, list_metrics
from textgauge.metrics.base import get_parameters

datasets = App(name="datasets", help="List, fetch and show samples and published datasets.")
resources = App(name="resources", help="List, fetch and verify models and data files.")
cache = App(name="cache", help="Show and empty the folder of models and embeddings.")

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


What = Literal[
    "metrics", "embedders", "tokenizers", "word-vectors", "protocols", "suites", "figures", "datasets", "resources"
]


@command
def ls(
    what: Annotated[What, argument(help="What to list.")] = "metrics",
    words: Annotated[
        list[str] | None, argument(help="Only rows that contain all these words, such as `pairs embeddings`.")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """List metrics, embedders, tokenizers, word vectors, protocols, suites, figures, datasets or resources.

    Example: textgauge ls metrics corpora embeddings
    """
    rows = _LISTINGS[what]()
    cells = ["\n".join(map(str, row.values())).lower() for row in rows]
    matches = [row for row, text in zip(rows, cells, strict=True) if all(word.lower() in text for word in words or ())]
    shown = [{name: value for name, value in row.items() if name not in _LONG} for row in matches]
    of = f" of {len(rows)}" if words else ""
    print_result(TableResult("ls", matches, f"{len(matches)}{of} {what.replace('-', ' ')}.", shown=shown), form)
    if what == "metrics":
        print_next(["textgauge ls metrics corpora · textgauge ls metrics pairs tokens"], form)


def _list_metrics() -> list[Row]:
    return [
        {
            "name": metric.name,
            "of": "corpora" if isinstance(metric, CorpusMetric) else "pairs",
            "answers": (metric.__doc__ or "").strip().splitlines()[0],
            "needs": metric.needs,
            "label": metric.label,
            "on": metric.on,
            "parameters": ", ".join(f"{name}={getattr(metric, name)}" for name in get_parameters(type(metric))),
            "parts": ", ".join(part.name for part in metric.parts),
            "closer": metric.closer,
            "symmetric": metric.symmetric,
            "explains": isinstance(metric, CorpusMetric) and metric.explains,
            "source": metric.source,
        }
        for metric in list_metrics()
    ]


def _list_protocols() -> list[Row]:
    from textgauge.bench import list_protocols

    return [
        {
            "name": name,
            "parameters": ", ".join(f"{item.name}={item.default}" for item in fields(kind)),
            "measures": ", ".join(measure.name for measure in kind.measures),
            "about": (kind.__doc__ or "").strip().splitlines()[0],
        }
        for name, kind in list_protocols().items()
    ]


def _list_figures() -> list[Row]:
    from textgauge.bench import list_protocols
    from textgauge.report.figures import KINDS

    drawn = {name: [kind.name for kind in list_protocols().values() if name in kind.figures] for name in KINDS}
    return [{"name": name, "protocols": ", ".join(of)} for name, of in drawn.items()]


def _list_suites() -> list[Row]:
    from textgauge.bench import list_suites

    return [{"name": name, "about": about} for name, about in list_suites().items()]


@datasets.command(name="ls")
@command
def list_datasets(form: FormatOption = Format.table) -> None:
    """List all datasets with their size, licence, and whether they are on this machine."""
    rows = list_dataset_rows()
    here = sum(row["available"] for row in rows)
    print_result(TableResult("datasets ls", rows, f"{len(rows)} datasets, {here} of them on this machine."), form)


@datasets.command(name="fetch")
@command
def fetch_datasets(
    names: Annotated[list[str], argument(help="Names as `textgauge datasets ls` prints them.")],
    form: FormatOption = Format.table,
) -> None:
    """Fetch datasets and check them by their sha256; from then on they are used offline."""
    known = dict(_get_named_cards())
    for name in names:
        if name not in known:
            raise UnknownName.among("dataset", name, known)
    files = {name: 0 if name.startswith(PREFIX) else len(fetch_dataset(name)) for name in names}
    rows: list[Row] = [{"name": name, "files": count, "available": True} for name, count in files.items()]
    print_result(TableResult("datasets fetch", rows, f"On this machine: {join_words(names)}."), form)


@datasets.command(name="show")
@command
def show_dataset(
    name: Annotated[str, argument(help="A name as `textgauge datasets ls` prints it, or a file.")],
    n: Annotated[int, option("-n", "--n", min=1, help="How many texts or pairs.")] = 5,
    pairs: Annotated[bool, option(help="Show the pairs of a dataset that has texts too.")] = False,
    seed: SeedOption = 0,
    form: FormatOption = Format.table,
) -> None:
    """Print a few texts or pairs of a dataset."""
    kinds = {card.kind for known, card in _get_named_cards() if known == name.partition("/")[0]}
    columns: dict[str, Sequence[Any]]
    if pairs or kinds == {"pairs"}:
        both = load_pairs(name, limit=n, seed=seed)
        grades = both.grade or [None] * len(both.left)
        columns = {"left": both.left, "right": both.right, "grade": grades}
    else:
        texts = load_texts(name, limit=n, seed=seed)
        labels = texts.labels or [None] * len(texts.texts)
        columns = {"text": texts.texts, "label": labels}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    what = "pairs" if "left" in columns else "texts"
    print_result(TableResult("datasets show", rows, f"{len(rows)} {what} of {name}, drawn at random."), form)


def list_dataset_rows() -> list[Row]:
    """Return one row per dataset."""
    return [
        {
            "name": name,
            "kind": card.kind,
            "texts": card.size,
            "licence": card.licence,
            "available": name.startswith(PREFIX) or is_here(card.name),
            "about": card.about,
        }
        for name, card in _get_named_cards()
    ]


def _get_named_cards() -> list[tuple[str, DatasetCard]]:
    samples = [(PREFIX + card.name, card) for card in list_samples()]
    return samples + [(card.name, card) for card in list_published()]


@resources.command(name="ls")
@command
def list_resources(form: FormatOption = Format.table) -> None:
    """List every resource: what it is for, size, licence, whether it is on this machine, where it comes from."""
    rows = list_resource_rows()
    here = sum(row["here"] for row in rows)
    print_result(TableResult("resources ls", rows, f"{len(rows)} resources, {here} of them on this machine."), form)


@resources.command(name="fetch")
@command
def fetch_resources(names: Annotated[list[str], argument(help="Resources to fetch.")]) -> None:
    """Fetch models and data files into the cache; files that are there and intact are kept."""
    for name in names:
        store.get_resource(name)
    for name in names:
        say(f"{name}\t{store.fetch(name)}")


@resources.command(name="verify")
@command
def verify_resources(
    names: Annotated[
        list[str] | None, argument(help="Resources to verify; default: all that are on this machine.")
    ] = None,
    form: FormatOption = Format.table,
) -> int:
    """Check every byte of the files in the cache; exit code 1 if one is damaged, or one that you name is missing."""

    def state(name: str) -> str:
        if not store.get_cached_folder(name).is_dir():
            return "missing"
        return "ok" if store.verify(name) else "damaged"

    cached = [entry.name for entry in store.list_resources() if store.get_cached_folder(entry.name).is_dir()]
    rows: list[Row] = [{"name": name, "state": state(name)} for name in names or cached]
    wrong = [f"{row['name']} is {row['state']}" for row in rows if row["state"] != "ok"]
    answer = f"{join_words(wrong)}." if wrong else f"{format_count(len(rows), 'resource')}: every byte is right."
    print_result(TableResult("resources verify", rows, answer[0].upper() + answer[1:]), form)
    return 1 if wrong else 0


def list_resource_rows() -> list[Row]:
    """Return one row per resource."""
    return [
        {
            "name": entry.name,
            "purpose": entry.purpose,
            "megabytes": round(entry.size / 1e6, 1),
            "licence": entry.licence,
            "here": store.is_available(entry.name),
            "sources": ", ".join(entry.sources),
        }
        for entry in store.list_resources()
    ]


@cache.command(name="ls")
@command
def list_cache(form: FormatOption = Format.table) -> None:
    """List what the cache holds, its size, and which option of `textgauge cache clean` removes it."""
    rows = measure_cache()
    total = sum(row["megabytes"] for row in rows)
    print_result(TableResult("cache ls", rows, f"{total:.1f} MB in {get_cache_root()}"), form)


@cache.command(name="path")
@command
def print_cache_path() -> None:
    """Print the cache folder; the environment variable TEXTGAUGE_CACHE sets it."""
    say(str(get_cache_root()))


@cache.command(name="clean")
@command
def clean(
    embeddings: Annotated[bool, option(help="Remove only embeddings; they are computed again when needed.")] = False,
    models: Annotated[bool, option(help="Remove only models; they are fetched again when needed.")] = False,
    everything: Annotated[
        bool,
        option("--all", help="Also remove datasets, answers of paid services and results of reproduced papers."),
    ] = False,
) -> None:
    """Remove embeddings and models from the cache folder, without asking; with --all everything else too."""
    kinds: dict[Removable, bool] = {"embeddings": embeddings, "models": models, "all": everything}
    freed = clean_cache(*(kind for kind, wanted in kinds.items() if wanted))
    say(f"Freed {freed / 1e6:.1f} MB in {get_cache_root()}")


@command
def doctor(form: FormatOption = Format.table) -> int:
    """Check versions, folders, resources, extras and the built-in encoder; nothing is fetched.

    The exit code is 1 if something needed is broken or missing.
    """
    corpus, pair = (len(list_metrics(kind=kind)) for kind in ("corpus", "pair"))
    checks: dict[str, Callable[[], str]] = {
        "textgauge": lambda: version("textgauge"),
        "python": platform.python_version,
        "numpy, scipy, scikit-learn": lambda: ", ".join(version(name) for name in ("numpy", "scipy", "scikit-learn")),
        "cores": lambda: str(os.cpu_count()),
        "cache folder": _check_cache_folder,
        "data folder": lambda: os.environ.get("TEXTGAUGE_DATA") or "not set (TEXTGAUGE_DATA)",
        "resources": _count_resources,
        "extras": _count_extras,
        "metrics": lambda: f"{corpus} corpus metrics, {pair} pair metrics",
        "encoder minilm": _check_encoder,
    }
    rows: list[Row] = []
    for name, check in checks.items():
        try:
            rows.append({"check": name, "ok": True, "found": check()})
        except (TextgaugeError, OSError, ImportError) as error:
            rows.append({"check": name, "ok": False, "found": str(error)})
    failed = [row["check"] for row in rows if not row["ok"]]
    answer = f"{len(failed)} of {len(rows)} checks failed: {join_words(failed)}." if failed else "Everything works."
    print_result(TableResult("doctor", rows, answer), form)
    return 1 if failed else 0


def _check_cache_folder() -> str:
    folder = make_cache_folder(get_cache_root())
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} cannot be written; set TEXTGAUGE_CACHE to a folder that can")
    return str(folder)


def _count_resources() -> str:
    known = store.list_resources()
    missing = [item.name for item in known if not store.is_available(item.name)]
    here = f"{len(known) - len(missing)} of {len(known)} here"
    return f"{here}; to get the others: textgauge resources fetch {' '.join(missing)}" if missing else here


def _count_extras() -> str:
    missing = [extra for extra, packages in EXTRAS.items() if not all(map(_is_installed, packages))]
    here = f"{len(EXTRAS) - len(missing)} of {len(EXTRAS)} here"
    line = format_install_line(",".join(missing), *get_install_source())
    return f"{here}; to get the others: {line}" if missing else here


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def _check_encoder() -> str:
    import numpy as np

    missing = [name for name in ("wordpiece", "minilm") if not store.is_available(name)]
    if missing:
        size = sum(store.get_resource(name).size for name in missing) / 1e6
        raise ResourceError(f"not on this machine ({size:.0f} MB); run: textgauge resources fetch {' '.join(missing)}")
    near, same, far = get_embedder("minilm").encode(["A cat sat down.", "A cat was sitting.", "Stocks fell sharply."])
    if not float(near @ same) > float(near @ far) + 0.3 or not np.isclose(np.linalg.norm(near), 1.0, atol=1e-5):
        raise ResourceError("the encoder runs but its vectors make no sense; run `textgauge resources verify minilm`")
    return "runs, and finds a paraphrase closer than another sentence"


_LONG = ("label", "parameters", "parts", "symmetric", "explains", "source", "sources")  # in JSON and CSV
_LISTINGS: dict[What, Callable[[], list[Row]]] = {
    "metrics": _list_metrics,
    "embedders": list_embedders,
    "tokenizers": lambda: [{"name": name} for name in list_tokenizers()],
    "word-vectors": list_word_vectors,
    "protocols": _list_protocols,
    "suites": _list_suites,
    "figures": _list_figures,
    "datasets": list_dataset_rows,
    "resources": list_resource_rows,
}
