"""`textgauge recommend`: which metric to use on these data."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from textgauge.bench.recommend import Recommendation
from textgauge.bench.recommend import recommend as run_recommend
from textgauge.cli.door import OUTPUT, calling, check_writable, option
from textgauge.cli.output import Format, FormatOption, note, print_result, say
from textgauge.cli.progress import progress
from textgauge.core.errors import InputError
from textgauge.core.files import write_atomically

_ENDINGS = (".md", ".json", ".html")


@calling(run_recommend, options={"reference": ["--reference"], "candidate": ["--candidate"]})
def recommend(
    given: dict[str, Any],
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            help="Write the answer to a .md, .json or .html file.",
            group=OUTPUT,
            validator=check_writable,
        ),
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Find the metric to use: the best one, those tied with it, how many texts they need, what they cost.

    Examples: textgauge recommend --reference a.txt --candidate b.txt --effort quick ·
    textgauge recommend --pairs rated.csv --left a --right b --rating score · textgauge recommend --task clustering
    --data sample:intents
    """
    if output is not None and output.suffix not in _ENDINGS:
        raise InputError(f"{output}: the answer is written to a file that ends in {', '.join(_ENDINGS)}")
    with progress():
        answer = run_recommend(**given)
    if output is not None:
        _write(answer, output)
        note(f"written to {output}")
    if form is Format.markdown:
        say(answer.to_markdown(), nl=False)
        return
    print_result(answer, form)
    for text in answer.notes if form is Format.table else ():
        note(text)


def _write(answer: Recommendation, path: Path) -> None:
    """Write the answer as a result that is saved, as text, or as the page that `textgauge report` makes of it."""
    from textgauge.report.page import read_result, render_page_and_summary

    if path.suffix == ".json":
        answer.save(path)
    elif path.suffix == ".md":
        write_atomically(path, answer.to_markdown())
    else:
        with TemporaryDirectory() as folder:
            saved = read_result(answer.save(Path(folder) / "recommend.json"))
        write_atomically(path, render_page_and_summary([], [saved], title=answer.title)[0])
