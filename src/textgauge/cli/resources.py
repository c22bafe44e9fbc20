"""`textgauge resources`, the models and data files that are read, and `textgauge cache`, the folder of them."""

from __future__ import annotations

from typing import Annotated

import typer

from textgauge.cli.output import Format, FormatOption, print_result, say
from textgauge.core.result import TableResult
from textgauge.core.tabular import Row, count_of, listed
from textgauge.data.cache_folder import Removable, cache_use, clean_cache
from textgauge.encode import resources as store

app = typer.Typer(help="List, fetch and verify models and data files.", no_args_is_help=True)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="Resources to verify; default: all that are on this machine."),
]


@app.command("ls")
def list_resources(form: FormatOption = Format.table) -> None:
    """List every resource: what it is for, size, licence, whether it is on this machine, where it comes from."""
    rows = resource_rows()
    here = sum(row["here"] for row in rows)
    print_result(TableResult("resources ls", rows, f"{len(rows)} resources, {here} of them on this machine."), form)


@app.command("fetch")
def fetch_resources(names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Resources to fetch.")]) -> None:
    """Fetch models and data files into the cache; files that are there and intact are kept."""
    for name in names:
        store.resource(name)
    for name in names:
        say(f"{name}\t{store.fetch(name)}")


@app.command("verify")
def verify_resources(names: Names = None, form: FormatOption = Format.table) -> None:
    """Check every byte of the files in the cache; exit code 1 if one is damaged, or one that you name is missing."""
    rows: list[Row] = [{"name": name, "state": _state(name)} for name in names or _cached()]
    wrong = [f"{row['name']} is {row['state']}" for row in rows if row["state"] != "ok"]
    said = f"{listed(wrong)}." if wrong else f"{count_of(len(rows), 'resource')}: every byte is right."
    print_result(TableResult("resources verify", rows, said[0].upper() + said[1:]), form)
    if wrong:
        raise typer.Exit(1)


def _cached() -> list[str]:
    return [entry.name for entry in store.resources() if store.cached_folder(entry.name).is_dir()]


def _state(name: str) -> str:
    if not store.cached_folder(name).is_dir():
        return "missing"
    return "ok" if store.verify(name) else "damaged"


def resource_rows() -> list[Row]:
    """One row per resource."""
    return [
        {
            "name": entry.name,
            "purpose": entry.purpose,
            "megabytes": round(entry.size / 1e6, 1),
            "licence": entry.licence,
            "here": store.available(entry.name),
            "sources": ", ".join(entry.sources),
        }
        for entry in store.resources()
    ]


cache_app = typer.Typer(help="Show and empty the folder of models and embeddings.", no_args_is_help=True)


@cache_app.command("ls")
def list_cache(form: FormatOption = Format.table) -> None:
    """List what the cache holds, its size, and which option of `textgauge cache clean` removes it."""
    rows = [use.to_dict() for use in cache_use()]
    total = sum(row["megabytes"] for row in rows)
    print_result(TableResult("cache ls", rows, f"{total:.1f} MB in {store.cache_root()}"), form)


@cache_app.command("path")
def print_path() -> None:
    """Print the cache folder; the environment variable TEXTGAUGE_CACHE sets it."""
    say(str(store.cache_root()))


@cache_app.command("clean")
def clean(
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="Remove only embeddings; they are computed again when needed.")
    ] = False,
    models: Annotated[
        bool, typer.Option("--models", help="Remove only models; they are fetched again when needed.")
    ] = False,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also remove datasets, answers of paid services and results of reproduced papers."),
    ] = False,
) -> None:
    """Remove embeddings and models from the cache folder, without asking; with --all everything else too."""
    kinds: dict[Removable, bool] = {"embeddings": embeddings, "models": models, "all": everything}
    freed = clean_cache(*(kind for kind, wanted in kinds.items() if wanted))
    say(f"Freed {freed / 1e6:.1f} MB in {store.cache_root()}")
