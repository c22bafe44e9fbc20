"""`textgauge cache ls|clean|path`: the folder of models and embeddings."""

from __future__ import annotations

from typing import Annotated

import typer

from textgauge.cli.output import Format, FormatOption, print_result
from textgauge.data.cache_folder import Removable, cache_use, clean_cache
from textgauge.encode.resources import cache_root
from textgauge.result import TableResult

app = typer.Typer(help="Show and empty the folder of models and embeddings.", no_args_is_help=True)


@app.command("ls")
def list_cache(form: FormatOption = Format.table) -> None:
    """List what the cache holds, its size, and which option of `textgauge cache clean` removes it."""
    rows = [use.to_dict() for use in cache_use()]
    total = sum(row["megabytes"] for row in rows)
    print_result(TableResult("cache ls", rows, f"{total:.1f} MB in {cache_root()}"), form)


@app.command("path")
def print_path() -> None:
    """Print the cache folder; the variable TEXTGAUGE_CACHE sets it."""
    typer.echo(cache_root())


@app.command("clean")
def clean(
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="Remove embeddings; they are computed again.")
    ] = False,
    models: Annotated[bool, typer.Option("--models", help="Remove models; they are fetched again.")] = False,
) -> None:
    """Remove embeddings and models, or one of both, from the cache folder without asking; results and datasets stay."""
    kinds: dict[Removable, bool] = {"embeddings": embeddings, "models": models}
    freed = clean_cache(*(kind for kind, wanted in kinds.items() if wanted))
    typer.echo(f"Freed {freed / 1e6:.1f} MB in {cache_root()}")
