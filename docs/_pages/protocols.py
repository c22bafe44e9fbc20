"""Pages about experiments: protocols with their measures, suites, transformations."""

from __future__ import annotations

from dataclasses import fields
from typing import get_type_hints

import textgauge.data
from _pages.commands import all_commands
from _pages.markup import code, default_of, page, paragraphs, parameter_row, plain, shown, table
from textgauge.bench import Measure, Protocol, list_protocols, list_suites
from textgauge.bench.transformations import TRANSFORMATIONS
from textgauge.cli.output import get_option_name


def protocols_page() -> str:
    """Every protocol: what it does, its parameters, its measures, the data it reads."""
    intro = (
        "A protocol puts metrics to the test: it draws trials that know no metric, and judges what each metric gave. "
        "`textgauge run PROTOCOL` runs one on your data; parameters are set by `--param name=value`. In Python it is "
        "`textgauge.run(PROTOCOL, name=value)`."
    )
    return page("Protocols", intro, *(_protocol(kind) for kind in list_protocols().values()))


def suites_page() -> str:
    """Every suite with the first line of what it says of itself."""
    rows = [[code(name), plain(about)] for name, about in list_suites().items()]
    intro = "A suite names data, protocols and metrics: `textgauge run SUITE --out FOLDER`."
    data = "The data of the five tasks are listed among the [datasets](datasets.md#data-of-the-tasks)."
    return page("Suites", intro, table(["suite", "what it runs"], rows), data)


def transformations_page() -> str:
    """Every transformation: whether the meaning is kept, how strong it is by default, what it does."""
    rows = [
        [code(one.name), one.meaning, shown(one.strength), plain(one.about), ", ".join(map(code, one.needs))]
        for one in TRANSFORMATIONS.values()
    ]
    intro = (
        "Seeded changes of a text that keep its meaning, change it, or change it by degrees; robustness, "
        "sensitivity, retrieval and copies are made of them."
    )
    return page("Transformations", intro, table(["name", "meaning", "strength", "what it does", "needs"], rows))


def _protocol(kind: type[Protocol]) -> str:
    hints = get_type_hints(kind)
    rows = [parameter_row(item.name, hints[item.name], default_of(item)) for item in fields(kind)]
    given = table(["parameter", "default", "values"], rows) if rows else ""
    compares = f"Metrics of {kind.of}."
    asked = [f"## {kind.name}", f"**{kind.heading}.** {kind.question}"]
    parts = [*asked, *paragraphs(kind.__doc__), compares, given, _measures(kind), _data(kind)]
    return "\n\n".join(part for part in parts if part)


def _measures(kind: type[Protocol]) -> str:
    rows = [[code(one.name), _range(one), one.best, plain(one.about)] for one in kind.measures]
    return table(["measure", "values", "better", "what it is"], rows)


def _range(measure: Measure) -> str:
    return f"{shown(float(measure.low))} to {shown(float(measure.high))}"


def _list_run_options() -> set[str]:
    command = dict(all_commands())["textgauge run"]
    return {name for item in command.assemble_argument_collection() for name in item.names}


def _data(kind: type[Protocol]) -> str:
    """Return the options that name its data, and the columns that a task's table may have."""
    words = ", ".join(map(get_option_name, (*kind.data.needs, *kind.data.takes))).split(", ")
    options = [word for word in words if word in _list_run_options()]
    if not options:
        return ""
    named = f"Its data are named by {', '.join(map(code, options))}."
    if not kind.data.columns:
        return named
    reads = getattr(textgauge.data, kind.data.loader)
    columns = ", ".join(code(f"{name}=…") for name in kind.data.columns)
    return f"{named} Columns of a table: {columns}. {' '.join(paragraphs(reads.__doc__))}"
