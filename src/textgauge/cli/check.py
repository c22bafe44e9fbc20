"""`textgauge check`: gates for builds, from a file or from options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App

from textgauge.cli.door import argument, command, option
from textgauge.cli.output import (
    ColumnOption,
    Format,
    FormatOption,
    LevelOption,
    SeedOption,
    print_result,
    say,
)
from textgauge.cli.progress import progress
from textgauge.core.errors import InputError
from textgauge.core.files import write_atomically
from textgauge.data.source import describe_accepted, load_references
from textgauge.measure.check import Check
from textgauge.measure.check_report import CheckReport, Outcome
from textgauge.measure.checking import parse_number, read_checks, run_checks

app = App(
    name="check",
    help="Gate a build: run the checks of a file with `textgauge check FILE.toml`, or a single check by its options. "
    "Exit code 0: pass, 1: fail, 3: cannot be decided with this many texts, 2: wrong use.",
)


def _bound(text: str, metavar: str = "X") -> Any:
    return option(metavar=metavar, help=text)


_OF = "PROPERTY=X"
MaxRatio = Annotated[
    str | None,
    _bound(
        "The largest distance allowed, as a multiple of the mean distance of corpora of these sizes from one source."
    ),
]
Max = Annotated[str | None, _bound("The largest value allowed, such as 0.05 or 5%.")]
Min = Annotated[str | None, _bound("The smallest value allowed, such as 0.6 or 60%.")]
MaxRise = Annotated[str | None, _bound("The largest rise above the stored baseline that is allowed.")]
MaxDrop = Annotated[
    str | None, _bound("The largest drop below the baseline that is allowed, on the scale of the metric.")
]
MaxOf = Annotated[list[str] | None, _bound("The largest value allowed for a property; repeat for several.", _OF)]
MinOf = Annotated[list[str] | None, _bound("The smallest value allowed for a property; repeat for several.", _OF)]
MaxRiseOf = Annotated[
    list[str] | None,
    _bound("The largest rise of a property above the stored baseline that is allowed; repeat for several.", _OF),
]
MaxDropOf = Annotated[
    list[str] | None,
    _bound("The largest drop of a property below the stored baseline that is allowed; repeat for several.", _OF),
]


@dataclass(frozen=True)
class _Files:
    """What every check takes besides its bounds."""

    junit: Annotated[Path | None, option(help="Write the outcomes to this JUnit XML file.")] = None
    markdown: Annotated[
        Path | None,
        option(help="Write answer, table and evidence to this Markdown file, for the summary of a build."),
    ] = None
    baselines: Annotated[Path | None, option(help="The file of stored baselines, for limits on a change.")] = None
    update: Annotated[
        bool, option("--update", help="Store the present numbers as baselines instead of comparing with them.")
    ] = False
    form: FormatOption = Format.table

    def run(self, checks: Sequence[Check], level: float, seed: int, baselines: Path | None = None) -> None:
        """Run checks, print and write the outcomes; the exit code says what came out."""
        stored = self.baselines or baselines
        with progress():
            report = run_checks(checks, level=level, seed=seed, baselines=stored, update=self.update)
        if self.junit is not None:
            write_atomically(self.junit, report.to_junit())
        if self.markdown is not None:
            write_atomically(self.markdown, report.to_markdown())
        _print(report, self.form)
        if report.outcome is not Outcome.passed:
            raise SystemExit(report.exit_code)


@dataclass(frozen=True)
class _One(_Files):
    """What a single check takes besides."""

    column: ColumnOption = None
    level: LevelOption = 0.95
    seed: SeedOption = 0

    def check(self, kind: str, **given: Any) -> None:
        """Run one check."""
        self.run([Check(kind, column=self.column, **given)], self.level, self.seed)


@app.default
@app.command(name="file", show=False)
@command
def file(
    path: Annotated[Path, argument(metavar="FILE.toml", help="A file with a table [check.NAME] per check.")],
    *,
    how: _Files,
) -> None:
    """Run all checks of a file; `textgauge check FILE.toml` is the short form."""
    read = read_checks(path)
    how.run(read.checks, read.level, read.seed, read.baselines)


@app.command(name="drift")
@command
def drift(
    reference: Annotated[str, argument(help=f"The reference corpus. {describe_accepted(embeddings=True)}")],
    candidate: Annotated[str, argument(help="The new texts.")],
    metric: Annotated[str, option("-m", "--metric", help="A corpus metric.")] = "energy",
    max_ratio: MaxRatio = None,
    max: Max = None,  # noqa: A002
    min: Min = None,  # noqa: A002
    max_rise: MaxRise = None,
    *,
    how: _One,
) -> None:
    """Fail if new texts are too far from a reference.

    Example: textgauge check drift sample:banking sample:travel --max-ratio 3
    """
    limits = _parse_limits(max_ratio=max_ratio, max=max, min=min, max_rise=max_rise)
    how.check("drift", name="drift", reference=reference, candidate=candidate, metric=metric, **limits)


@app.command(name="copies")
@command
def copies(
    generated: Annotated[str, argument(help=f"The generated texts. {describe_accepted()}")],
    train: Annotated[str, option(help="The texts that the generator learned from.")],
    max: Max = None,  # noqa: A002
    max_rise: MaxRise = None,
    threshold: Annotated[
        float, option(help="The similarity of wording from which a text counts as a near copy.")
    ] = 0.9,
    *,
    how: _One,
) -> None:
    """Fail if too many generated texts are near copies of train texts: more than the share --max.

    Example: textgauge check copies generated.txt --train train.txt --max 5%
    """
    limits = _parse_limits(max=max, max_rise=max_rise)
    how.check("copies", name="copies", generated=generated, train=train, threshold=threshold, **limits)


@app.command(name="score")
@command
def score(
    candidate: Annotated[str, argument(help=f"The texts of the system. {describe_accepted()}")],
    reference: Annotated[
        list[str],
        argument(help="The references, line by line; several files give several references for each text."),
    ],
    metric: Annotated[str, option("-m", "--metric", help="A pair metric.")] = "chrf",
    baseline: Annotated[str | None, option(help="The texts of another system: test the difference from it.")] = None,
    max_drop: MaxDrop = None,
    max: Max = None,  # noqa: A002
    min: Min = None,  # noqa: A002
    *,
    how: _One,
) -> None:
    """Fail if a system scores too low: more than --max-drop below --baseline or the stored baseline, or below --min.

    Example: textgauge check score out.txt ref.txt --baseline old.txt -m chrf --max-drop 0.005
    """
    limits = _parse_limits(max_drop=max_drop, max=max, min=min)
    right = load_references(reference, column=how.column)
    given = {"candidate": candidate, "reference": right, "metric": metric, "baseline": baseline}
    how.check("score", name="score", **given, **limits)


@app.command(name="describe")
@command
def describe(
    generated: Annotated[str, argument(help=f"The generated texts. {describe_accepted()}")],
    train: Annotated[str, option(help="The texts that the generator learned from.")],
    test: Annotated[str | None, option(help="Real texts that the generator has not seen.")] = None,
    min: MinOf = None,  # noqa: A002
    max: MaxOf = None,  # noqa: A002
    max_drop: MaxDropOf = None,
    max_rise: MaxRiseOf = None,
    embedder: Annotated[str, option(help="The embedder that compares meanings.")] = "minilm",
    grammar: Annotated[str, option(help="The grammar checker.")] = "harper",
    plausibility: Annotated[str, option(help="The language model that judges plausibility.")] = "kneser-ney",
    *,
    how: _One,
) -> None:
    """Fail if a property of a generated corpus, as `textgauge describe` has it, is beyond a limit PROPERTY=X.

    Example: textgauge check describe generated.txt --train train.txt --test test.txt --min semantic_recall=0.6
    """
    limits = {"min": min, "max": max, "max_drop": max_drop, "max_rise": max_rise}
    how.check(
        "describe",
        name="describe",
        generated=generated,
        train=train,
        test=test,
        embedder=embedder,
        grammar=grammar,
        plausibility=plausibility,
        **{name: _parse_limits_by_property(name, given) for name, given in limits.items() if given},
    )


def _parse_limits(**given: str | None) -> dict[str, Any]:
    return {name: parse_number(text, f"--{name.replace('_', '-')}") for name, text in given.items() if text is not None}


def _parse_limits_by_property(option: str, given: Sequence[str]) -> dict[str, float]:
    found = {}
    for one in given:
        name, equals, limit = one.partition("=")
        if not equals:
            raise InputError(f"--{option.replace('_', '-')} takes PROPERTY=X, not {one!r}")
        found[name] = parse_number(limit, name)
    return found


def _print(report: CheckReport, form: Format) -> None:
    if form is Format.markdown:
        say(report.to_markdown(), nl=False)
        return
    if form is not Format.table:
        print_result(report, form)
        return
    say(f"{report.answer}\n")
    for result in report:
        say(result.line)
        for text in result.evidence:
            say(f"    {text}")
