"""`textgauge datasets`: list the samples and the published datasets, bring them here, look into them."""

from __future__ import annotations

from typing import Annotated

import typer

from textgauge.cli.output import Format, FormatOption, SeedOption, print_result
from textgauge.core.errors import UnknownName
from textgauge.core.result import TableResult
from textgauge.core.tabular import Row, listed
from textgauge.data import DatasetCard, fetch_dataset, is_here, list_published, list_samples, load_pairs, load_texts
from textgauge.data.samples import PREFIX
from textgauge.encode import resources

app = typer.Typer(help="List, fetch and show samples and published datasets.", no_args_is_help=True)


@app.command()
def ls(form: FormatOption = Format.table) -> None:
    """List all datasets with their size, licence, and whether they are on this machine."""
    rows = dataset_rows()
    here = sum(row["available"] for row in rows)
    print_result(TableResult("datasets ls", rows, f"{len(rows)} datasets, {here} of them on this machine."), form)


def dataset_rows() -> list[Row]:
    """One row per dataset."""
    return [
        {
            "name": name,
            "kind": card.kind,
            "texts": card.size,
            "licence": card.licence,
            "available": _available(card, name),
            "about": card.about,
        }
        for name, card in _named_cards()
    ]


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="Names as `textgauge datasets ls` prints them.")],
    form: FormatOption = Format.table,
) -> None:
    """Fetch datasets and check them by their sha256; from then on they are used offline."""
    cards = [(name, _card(name)) for name in names]
    rows: list[Row] = [{"name": name, "files": _bring(card, name), "available": True} for name, card in cards]
    print_result(TableResult("datasets fetch", rows, f"On this machine: {listed(names)}."), form)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name as `textgauge datasets ls` prints it, or a file.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many texts or pairs.")] = 5,
    pairs: Annotated[bool, typer.Option("--pairs", help="Show the pairs of a dataset that has texts too.")] = False,
    seed: SeedOption = 0,
    form: FormatOption = Format.table,
) -> None:
    """Print a few texts or pairs of a dataset."""
    kinds = {card.kind for known, card in _named_cards() if known == name.partition("/")[0]}
    rows = _pair_rows(name, n, seed) if pairs or kinds == {"pairs"} else _text_rows(name, n, seed)
    what = "pairs" if "left" in rows[0] else "texts"
    print_result(TableResult("datasets show", rows, f"{len(rows)} {what} of {name}, drawn at random."), form)


def _named_cards() -> list[tuple[str, DatasetCard]]:
    samples = [(PREFIX + card.name, card) for card in list_samples()]
    return samples + [(card.name, card) for card in list_published()]


def _card(name: str) -> DatasetCard:
    cards = dict(_named_cards())
    if name not in cards:
        raise UnknownName.among("dataset", name, cards)
    return cards[name]


def _available(card: DatasetCard, name: str) -> bool:
    if name.startswith(PREFIX):
        return all(map(resources.available, card.needs))
    return is_here(card.name)


def _bring(card: DatasetCard, name: str) -> int:
    if not name.startswith(PREFIX):
        return len(fetch_dataset(card.name))
    needs = {need for known, other in _named_cards() if known == name for need in other.needs}
    return len([resources.locate(need) for need in sorted(needs)])


def _text_rows(name: str, n: int, seed: int) -> list[Row]:
    found = load_texts(name, limit=n, seed=seed)
    return [
        {"text": text, "label": None if found.labels is None else found.labels[i]} for i, text in enumerate(found.texts)
    ]


def _pair_rows(name: str, n: int, seed: int) -> list[Row]:
    found = load_pairs(name, limit=n, seed=seed)
    return [
        {"left": left, "right": right, "grade": None if found.grade is None else found.grade[i]}
        for i, (left, right) in enumerate(zip(found.left, found.right, strict=True))
    ]
