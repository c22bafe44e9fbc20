"""`textgauge recommend`: which metric to use on these data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from textgauge.bench.recommend import Recommendation
from textgauge.bench.recommend import recommend as run_recommend
from textgauge.cli.door import OUTPUT, calling, option
from textgauge.cli.output import Format, FormatOption, note, print_result, print_table, print_warnings, say
from textgauge.cli.progress import progress
from textgauge.core.errors import InputError
from textgauge.core.files import write_atomically


@calling(run_recommend, options={"reference": ["--reference"], "candidate": ["--candidate"]})
def recommend(
    given: dict[str, Any],
    output: Annotated[
        Path | None, option("--output", "-o", help="Write the answer to a .md, .json or .html file.", group=OUTPUT)
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Find the metric to use: the best one, those tied with it, how many texts they need, what they cost.

    Examples: textgauge recommend --reference a.txt --candidate b.txt --effort quick ·
    textgauge recommend --pairs rated.csv --left a --right b --rating score · textgauge recommend --task clustering
    --data sample:intents
    """
    if output is not None and output.suffix not in _WRITERS:
        raise InputError(f"{output}: the answer is written to a file that ends in {', '.join(_WRITERS)}")
    with progress() as watch:
        answer = run_recommend(**given, on_step=watch)
    if output is not None:
        _WRITERS[output.suffix](answer, output)
        note(f"written to {output}")
    _show(answer, form)


_WRITERS: dict[str, Callable[[Recommendation, Path], object]] = {
    ".md": lambda answer, path: write_atomically(path, answer.markdown()),
    ".json": lambda answer, path: answer.save(path),
    ".html": lambda answer, path: write_atomically(path, answer.html()),
}


def _show(answer: Recommendation, form: Format) -> None:
    if form is Format.markdown:
        say(answer.markdown(), nl=False)
        return
    if form is not Format.table:
        print_result(answer, form)
        return
    for sentence in answer.sentences:
        say(sentence)
    for title, rows in answer.tables():
        say(f"\n{title}")
        print_table(rows, form)
    print_warnings(answer.warnings)
    for text in answer.notes:
        note(text)
