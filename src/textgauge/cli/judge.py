"""`textgauge judge`: whether a judge agrees with people, and where it does not."""

from __future__ import annotations

from typing import Annotated, Any

from textgauge.bench.judge_audit import audit_judge
from textgauge.cli.door import OUTPUT, calling, option
from textgauge.cli.output import Format, FormatOption, OutputOption, print_result, print_titled


@calling(audit_judge)
def judge(
    given: dict[str, Any],
    rating: Annotated[
        list[str],
        option(help="The column of people's ratings, or several, one for each person.", consume_multiple=True),
    ],
    text: Annotated[
        list[str] | None,
        option(
            help="Columns of texts: shown where judge and people differ; does their length bias the judge? By default "
            "all columns of texts.",
            consume_multiple=True,
        ),
    ] = None,
    repeat: Annotated[
        list[str] | None,
        option(help="Columns of the judge's answers to the same question again.", consume_multiple=True),
    ] = None,
    top: Annotated[int, option(min=0, help="How many disagreements are shown.", group=OUTPUT)] = 5,
    output: OutputOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Say how well a judge, such as a language model, agrees with people, where it is biased, and where it differs.

    With the ratings of two people or more: whether it may take the place of a person.

    Examples: textgauge judge ratings.csv --judge gpt --rating human ·
    textgauge judge ratings.csv --judge gpt --rating ann bob cyd --swapped gpt_swapped -o judge.json
    """
    audit = audit_judge(**given, rating=rating, text=text, repeat=repeat or ())
    print_result(audit, form, output)
    if not form.for_people:
        return
    for title, rows in (
        ("Ratings of people in rows, of the judge in columns", audit.confusion),
        (f"Where they differ most ({len(audit.disagreements):,} items)", audit.disagreements[:top]),
    ):
        print_titled(title, rows, form)
