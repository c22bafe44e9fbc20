"""`textgauge check`: gates for builds, from a file or from options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App

from textgauge.cli.door import argument, calling, check_writable, option, parse_parameter_texts, parse_settings
from textgauge.cli.output import (
    Format,
    FormatOption,
    OutputOption,
    fill_line,
    print_answer,
    print_result,
    say,
    show_progress,
)
from textgauge.core.files import write_atomically
from textgauge.data.source import describe_accepted, load_references
from textgauge.measure.check import KINDS, Check, Outcome
from textgauge.measure.checking import EXIT_CODES, read_checks, run_checks
from textgauge.measure.watching import watch as run_watch

app = App(
    name="check",
    help="Gate a build: run the checks of a file with `textgauge check FILE.toml`, or a single check by its options. "
    "Exit code 0: pass, 1: fail, 3: cannot be decided with this many texts, 2: wrong use.",
)

JunitOption = Annotated[
    Path | None, option(help="Write the outcomes to this JUnit XML file.", validator=check_writable)
]
MarkdownOption = Annotated[
    Path | None,
    option(
        help="Write answer, table and evidence to this Markdown file, for the summary of a build.",
        validator=check_writable,
    ),
]
_HELP = {
    "drift": """Fail if new texts are too far from a reference.

    Example: textgauge check drift sample:banking sample:travel --max-ratio 3
    """,
    "copies": """Fail if too many generated texts are near copies of train texts (--max) or contain passages of them.

    Example: textgauge check copies generated.txt --train train.txt --max 5%
    """,
    "score": """Fail if a system scores too low: below --min, or --max-drop below --baseline or the stored one.

    Example: textgauge check score out.txt ref.txt --baseline old.txt -m chrf --max-drop 0.5
    """,
    "describe": """Fail if a property of generated texts, as `textgauge describe` has it, is beyond a limit PROPERTY=X.

    Example: textgauge check describe generated.txt --train train.txt --test test.txt --min semantic_recall=0.6
    """,
}


@app.default
@app.command(name="file", show=False)
@calling(run_checks, without=["checks", "level", "seed"])
def file(
    given: dict[str, Any],
    path: Annotated[Path, argument(metavar="FILE.toml", help="A file with a table [check.NAME] per check.")],
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Run all checks of a file; `textgauge check FILE.toml` is the short form."""
    read = read_checks(path)
    given |= {
        "level": read.level,
        "seed": read.seed,
        "looks": max(given["looks"], read.looks),
        "baselines": given["baselines"] or read.baselines,
    }
    _run(read.checks, given, junit, markdown, form)


def _run(
    checks: Sequence[Check], given: dict[str, Any], junit: Path | None, markdown: Path | None, form: Format
) -> None:
    with show_progress():
        report = run_checks(checks, **given)
    if junit is not None:
        write_atomically(junit, report.to_junit())
    if markdown is not None:
        write_atomically(markdown, report.to_markdown())
    if form is Format.markdown:
        say(report.to_markdown(), nl=False)
    elif form is not Format.table:
        print_result(report, form)
    else:
        print_answer(report.answer, form)
        for result in report:
            say("\n    ".join([fill_line(result.line), *result.evidence]))
    if report.outcome is not Outcome.passed:
        raise SystemExit(report.exit_code)


def _make_check(kind: str) -> Callable[..., Any]:
    """Return the command of a kind of check: what it takes says `KINDS`, what that is says the docstring of `Check`."""
    declared = KINDS[kind]

    def check(given: dict[str, Any], junit: Path | None, markdown: Path | None, form: Format, **entries: Any) -> None:
        for name in [name for name in declared.bounds if declared.by_property and entries[name] is not None]:
            entries[name] = parse_settings(entries[name])
        if kind == "score":
            entries["reference"] = load_references(entries["reference"], column=entries["column"])
        _run([Check(kind, name=kind, **entries)], given, junit, markdown, form)

    shared = inspect.signature(file).parameters
    entries = [_declare_entry(kind, name) for name in declared.takes if name != "name"]
    own = [inspect.Parameter("given", inspect.Parameter.POSITIONAL_ONLY), *entries]
    own += [shared[name] for name in ("junit", "markdown", "form")]
    check.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    check.__name__, check.__doc__ = kind, _HELP[kind]
    return calling(run_checks, without=["checks"])(check)


def _declare_entry(kind: str, name: str) -> inspect.Parameter:
    declared, text = KINDS[kind], parse_parameter_texts(Check)[name]
    is_needed, is_bound = name in declared.corpora[:2], name in declared.bounds
    default = inspect.Parameter.empty if is_needed else declared.options.get(name)
    if name == declared.corpora[0]:
        text = f"{text} {describe_accepted(embeddings=kind == 'drift')}"
    shown: Any = {"threshold": float, "passage": int, "paired": bool}.get(name, str)
    metavar = "X" if is_bound else None
    if is_bound and declared.by_property:
        shown, metavar, text = list[str], "PROPERTY=X", f"{text} Repeat for several properties."
    elif (kind, name) == ("score", "reference"):
        shown = list[str]
    if default is None:
        shown = shown | None
    names = ("--metric", "-m") if name == "metric" else ()
    is_argument = is_needed and name != "train"
    how = argument(help=text) if is_argument else option(*names, help=text, metavar=metavar)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[shown, how])


@calling(run_watch)
def watch(given: dict[str, Any], output: OutputOption = None, form: FormatOption = Format.table) -> None:
    """Say whether a stream of texts has left the source of the reference; look as often as you like.

    Run it again whenever texts were added at its end: at most 5 % false alarms over all looks together. Exit code 0: no
    alarm, 1: alarm, 3: the reference is used up, 2: wrong use. Example: textgauge watch reference.txt stream.txt
    """
    with show_progress():
        found = run_watch(**given)
    print_result(found, form, output)
    if code := EXIT_CODES[Outcome(found.details["outcome"])]:
        raise SystemExit(code)


for _kind in KINDS:
    app.command(_make_check(_kind), name=_kind)
