"""Writes the tables of docs/reliability.md and docs/stress-tests.md from what is left in benchmarks/simulated.

    python -m benchmarks.reliability

A table NAME stands between the marks `<!-- NAME -->` and `<!-- /NAME -->`.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import (
    candidates,
    coverage,
    dependence,
    describing,
    equivalence,
    gates,
    leaderboards,
    null_range,
    omnibus,
    score_groups,
    streams,
    trust,
)
from benchmarks.ledgers import marked
from benchmarks.simulated import file_of, read

DOCS = Path(__file__).parents[1] / "docs"


def simulations() -> dict[str, str]:
    """Every table of reliability.md by name, as Markdown."""
    cells, boards = coverage.stored(file_of("coverage")), read(file_of("leaderboards"))
    ranges = [null_range.RangeCheck(**line) for line in read(file_of("null_range"))]
    return {
        "intervals": coverage.summary(cells),
        "no_intervals": coverage.refusals(),
        "coverage": coverage.table(cells),
        "other_sizes": coverage.other_sizes(cells),
        "null_range": null_range.range_table(ranges),
        "family": null_range.family_table(read(file_of("family"))),
        "omnibus": omnibus.table(read(omnibus.FILE)),
        "foreign": null_range.share_table(read(file_of("foreign"))),
        "equivalence": equivalence.table(read(equivalence.FILE)),
        "smallest": equivalence.smallest_table(read(equivalence.FILE)),
        "dependence": dependence.table(read(dependence.FILE)),
        "group_intervals": dependence.coverage_table(read(dependence.FILE)),
        "score_groups": score_groups.table(read(score_groups.FILE)),
        "score_metrics": score_groups.metrics_table(read(score_groups.FILE)),
        "describing": describing.table(read(describing.FILE)),
        "candidates": candidates.table(read(file_of("candidates"))),
        "gates": gates.table([row for row in read(file_of("gates")) if "design" not in row]),
        "dependent_gates": gates.table([row for row in read(file_of("gates")) if "design" in row]),
        "streams": streams.table(read(file_of("streams"))),
        **{name: leaderboards.table(name, boards) for name in dict.fromkeys(line["table"] for line in boards)},
    }


PAGES = {"reliability.md": simulations, "stress-tests.md": trust.tables}


def main(docs: Path = DOCS) -> None:
    """Put every table into its page."""
    for name, tables in PAGES.items():
        page = (docs / name).read_text(encoding="utf-8")
        for mark, table in tables().items():
            page = marked(page, mark, table)
        (docs / name).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
