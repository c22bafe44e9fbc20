"""`textgauge check`: gates for builds, from a file or from options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from textgauge.checking import (
    Check,
    CheckReport,
    CopiesCheck,
    DescribeCheck,
    DriftCheck,
    Outcome,
    ScoreCheck,
    parse_number,
    read_checks,
    run_checks,
)
from textgauge.cli.output import ColumnOption, Format, FormatOption, LevelOption, SeedOption, print_result
from textgauge.cli.progress import progress
from textgauge.data.source import accepted, load_references
from textgauge.errors import InputError
from textgauge.files import write_atomically


class _FileFirst(TyperGroup):
    """A group whose first word may be a file of checks in place of a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`check FILE ...` is `check file FILE ...`."""
        if args and not any(word in self.commands for word in args) and not {"-h", "--help"} & set(args):
            args = ["file", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_FileFirst,
    no_args_is_help=True,
    help="Check bounds for a build: `check FILE.toml`, or one check by its options. "
    "Exit code 0: pass, 1: fail, 3: cannot be decided with these numbers of texts, 2: wrong use.",
)

MaxRatio = Annotated[
    str | None,
    typer.Option(
        metavar="X",
        show_default=False,
        help="The largest distance allowed, in times the mean distance of corpora of these sizes from one source.",
    ),
]
Max = Annotated[
    str | None,
    typer.Option(metavar="X", show_default=False, help="The largest value allowed, as 0.05 or 5%."),
]
Min = Annotated[
    str | None,
    typer.Option(metavar="X", show_default=False, help="The smallest value allowed, as 0.6 or 60%."),
]
MaxRise = Annotated[
    str | None,
    typer.Option(metavar="X", show_default=False, help="The largest rise over the stored baseline."),
]
MaxDrop = Annotated[
    str | None,
    typer.Option(
        metavar="X", show_default=False, help="The largest drop behind the baseline, in the unit of the metric."
    ),
]
MaxOf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROPERTY=X", show_default=False, help="The largest value allowed of a property; repeated for several."
    ),
]
MinOf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROPERTY=X", show_default=False, help="The smallest value allowed of a property; repeated for several."
    ),
]
MaxRiseOf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROPERTY=X", show_default=False, help="The largest rise of a property over the stored baseline."
    ),
]
MaxDropOf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROPERTY=X", show_default=False, help="The largest drop of a property behind the stored baseline."
    ),
]
JunitOption = Annotated[Path | None, typer.Option(help="Write the outcomes as JUnit XML to this file.")]
MarkdownOption = Annotated[
    Path | None, typer.Option(help="Write answer, table and evidence as Markdown to this file, for a build's summary.")
]
BaselinesOption = Annotated[
    Path | None, typer.Option(help="The file of stored baselines, for bounds on a change.", show_default=False)
]
UpdateOption = Annotated[
    bool, typer.Option("--update", help="Store the present numbers as baselines in place of comparing with them.")
]


@app.command("file")
def file(
    path: Annotated[Path, typer.Argument(metavar="FILE.toml", help="A file with a table [check.NAME] per check.")],
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    baselines: BaselinesOption = None,
    update: UpdateOption = False,
    form: FormatOption = Format.table,
) -> None:
    """Run all checks of a file; `textgauge check FILE.toml` is short for it."""
    read = read_checks(path)
    stored = baselines or read.baselines
    how = {"level": read.level, "seed": read.seed, "baselines": stored, "update": update}
    _run(read.checks, how, form, junit, markdown)


@app.command("drift")
def drift(
    reference: Annotated[str, typer.Argument(help=f"The reference corpus. {accepted(embeddings=True)}")],
    candidate: Annotated[str, typer.Argument(help="The new texts.")],
    metric: Annotated[str, typer.Option("-m", "--metric", help="A corpus metric.")] = "energy",
    max_ratio: MaxRatio = None,
    max: Max = None,  # noqa: A002
    min: Min = None,  # noqa: A002
    max_rise: MaxRise = None,
    column: ColumnOption = None,
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    baselines: BaselinesOption = None,
    update: UpdateOption = False,
    form: FormatOption = Format.table,
) -> None:
    """New texts may not be far from a reference.

    Example: textgauge check drift sample:banking sample:travel --max-ratio 3
    """
    limits = _numbers(max_ratio=max_ratio, max=max, min=min, max_rise=max_rise)
    check = DriftCheck(name="drift", reference=reference, candidate=candidate, metric=metric, column=column, **limits)
    _run([check], _how(level, seed, baselines, update), form, junit, markdown)


@app.command("copies")
def copies(
    generated: Annotated[str, typer.Argument(help=f"The generated texts. {accepted()}")],
    train: Annotated[str, typer.Option(help="The texts the generator learned from.")],
    max: Max = None,  # noqa: A002
    max_rise: MaxRise = None,
    threshold: Annotated[float, typer.Option(help="Similarity by wording from which a text is a near copy.")] = 0.9,
    column: ColumnOption = None,
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    baselines: BaselinesOption = None,
    update: UpdateOption = False,
    form: FormatOption = Format.table,
) -> None:
    """Few generated texts may be near copies of train texts: at most the share --max, as 5% or 0.05.

    Example: textgauge check copies generated.txt --train train.txt --max 5%
    """
    limits = _numbers(max=max, max_rise=max_rise)
    check = CopiesCheck(name="copies", generated=generated, train=train, threshold=threshold, column=column, **limits)
    _run([check], _how(level, seed, baselines, update), form, junit, markdown)


@app.command("score")
def score(
    candidate: Annotated[str, typer.Argument(help=f"The texts of the system. {accepted()}")],
    reference: Annotated[list[str], typer.Argument(help="Their references; several files give several references.")],
    metric: Annotated[str, typer.Option("-m", "--metric", help="A pair metric.")] = "chrf",
    baseline: Annotated[str | None, typer.Option(help="The texts of the system to compare with.")] = None,
    max_drop: MaxDrop = None,
    max: Max = None,  # noqa: A002
    min: Min = None,  # noqa: A002
    column: ColumnOption = None,
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    baselines: BaselinesOption = None,
    update: UpdateOption = False,
    form: FormatOption = Format.table,
) -> None:
    """A system's score may not drop: by at most --max-drop behind --baseline, or behind the stored baseline.

    Example: textgauge check score out.txt ref.txt --baseline old.txt -m chrf --max-drop 0.005
    """
    limits = _numbers(max_drop=max_drop, max=max, min=min)
    right = load_references(reference, column=column)
    check = ScoreCheck(
        name="score", candidate=candidate, reference=right, metric=metric, baseline=baseline, column=column, **limits
    )
    _run([check], _how(level, seed, baselines, update), form, junit, markdown)


@app.command("describe")
def describe(
    generated: Annotated[str, typer.Argument(help=f"The generated texts. {accepted()}")],
    train: Annotated[str, typer.Option(help="The texts the generator learned from.")],
    test: Annotated[str | None, typer.Option(help="Texts the generated ones should be like.")] = None,
    min: MinOf = None,  # noqa: A002
    max: MaxOf = None,  # noqa: A002
    max_drop: MaxDropOf = None,
    max_rise: MaxRiseOf = None,
    embedder: Annotated[str, typer.Option(help="The embedder of meaning.")] = "minilm",
    grammar: Annotated[str, typer.Option(help="The grammar checker.")] = "harper",
    plausibility: Annotated[str, typer.Option(help="The language model.")] = "kneser-ney",
    column: ColumnOption = None,
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    baselines: BaselinesOption = None,
    update: UpdateOption = False,
    form: FormatOption = Format.table,
) -> None:
    """Properties of a generated corpus, those of `textgauge describe`, keep limits given as PROPERTY=X, repeated.

    Example: textgauge check describe generated.txt --train train.txt --test test.txt --min semantic_recall=0.6
    """
    limits = {"min": min, "max": max, "max_drop": max_drop, "max_rise": max_rise}
    check = DescribeCheck(
        name="describe",
        generated=generated,
        train=train,
        test=test,
        embedder=embedder,
        grammar=grammar,
        plausibility=plausibility,
        column=column,
        **{name: _by_property(name, given) for name, given in limits.items() if given},
    )
    _run([check], _how(level, seed, baselines, update), form, junit, markdown)


def _how(level: float, seed: int, baselines: Path | None, update: bool) -> dict[str, Any]:
    return {"level": level, "seed": seed, "baselines": baselines, "update": update}


def _numbers(**given: str | None) -> dict[str, Any]:
    return {name: parse_number(text, f"--{name.replace('_', '-')}") for name, text in given.items() if text is not None}


def _by_property(option: str, given: Sequence[str]) -> dict[str, float]:
    found = {}
    for one in given:
        name, equals, limit = one.partition("=")
        if not equals:
            raise InputError(f"--{option.replace('_', '-')} takes PROPERTY=X, not {one!r}")
        found[name] = parse_number(limit, name)
    return found


def _run(checks: Sequence[Check], how: dict[str, Any], form: Format, junit: Path | None, markdown: Path | None) -> None:
    with progress() as watch:
        report = run_checks(checks, on_step=watch, **how)
    if junit is not None:
        write_atomically(junit, report.to_junit())
    if markdown is not None:
        write_atomically(markdown, report.to_markdown())
    _print(report, form)
    if report.outcome is not Outcome.passed:
        raise typer.Exit(report.exit_code)


def _print(report: CheckReport, form: Format) -> None:
    if form is Format.markdown:
        typer.echo(report.to_markdown(), nl=False)
        return
    if form is not Format.table:
        print_result(report, form)
        return
    typer.echo(f"{report.answer}\n")
    for result in report:
        typer.echo(result.line)
        for text in result.evidence:
            typer.echo(f"    {text}")
