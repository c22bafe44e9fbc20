"""A page per metric of the registry."""

from __future__ import annotations

from _pages.markup import code, page, paragraphs, parameter_row, plain, shown, table
from _pages.names import AFTER_AT, grids, variants
from textgauge.metrics import CorpusMetric, Metric, PairMetric, Part, list_metrics
from textgauge.metrics.base import parameters

ROOM = "reference/metrics"
# The extra that an example needs, and what comes before it on the command line.
NEEDS = {"cross_encoder": "needs st: it runs a model of sentence-transformers"}
FIRST = {"ensemble": "textgauge train ensemble --pairs sample:graded --limit 100 -m chrf,jaccard -o ensemble.json"}


def pages() -> dict[str, str]:
    """The page of every metric and the index of them all."""
    return {f"{ROOM}/index.md": _index()} | {
        f"{ROOM}/{metric.name}.md": metric_page(metric) for metric in list_metrics()
    }


def navigation() -> list[dict[str, object]]:
    """The pages by what the metrics compare."""
    return [
        {title: [{metric.name: f"{ROOM}/{metric.name}.md"} for metric in list_metrics(kind=kind)]}
        for kind, title in (("corpus", "Of two corpora"), ("pair", "Of two texts"))
    ]


def metric_page(metric: Metric) -> str:
    """All that a metric declares, in words, with names and a call that can be copied."""
    what, *definition = paragraphs(type(metric).__doc__)
    return page(
        metric.label,
        what,
        _facts(metric),
        "## Definition",
        "\n\n".join(definition),
        _parameters(metric),
        _parts(metric),
        "## When it is undefined",
        undefined(metric),
        "## Names",
        _names(metric),
        "## Example",
        example(metric),
    )


def undefined(metric: Metric) -> str:
    """When the value is NaN, in one sentence."""
    reasons = [getattr(metric, "undefined", "")]
    if isinstance(metric, CorpusMetric):
        reasons.append(f"a corpus has fewer than {metric.min_texts} texts" if metric.min_texts > 1 else "")
    told = ", or ".join(reason for reason in reasons if reason)
    return f"The value is NaN, with a reason, where {plain(told)}." if told else "Never: there is always a value."


def example(metric: Metric) -> str:
    """A call on the command line and one in Python; marked where they need what is not built in."""
    mark = f"<!-- {NEEDS[metric.name]} -->\n" if metric.name in NEEDS else ""
    python, command = _of_corpora(metric) if isinstance(metric, CorpusMetric) else _of_pairs(metric)
    commands = "\n".join(filter(None, [FIRST.get(metric.name), command]))
    return f"{mark}```sh\n{commands}\n```\n\n{mark}```python\n{python}\n```"


def _of_corpora(metric: CorpusMetric) -> tuple[str, str]:
    python = (
        "import textgauge\n"
        "from textgauge.data import sample\n\n"
        "report = textgauge.compare(\n"
        '    reference=sample("banking", n=50).texts,\n'
        '    candidate=sample("travel", n=50).texts,\n'
        f'    metrics="{metric.name}",\n)\n'
        f'score = report["{metric.name}"]\n'
        "print(score.value, score.parts)"
    )
    return python, f"textgauge compare sample:banking sample:travel --limit 50 -m {metric.name} --ci"


def _of_pairs(metric: PairMetric) -> tuple[str, str]:
    python = (
        "import textgauge\n\n"
        "report = textgauge.score(\n"
        '    left=["the cat sat on the mat"],\n'
        '    right=["a cat was sitting on the mat"],\n'
        f'    metrics="{metric.name}",\n)\n'
        f'print(report["{metric.name}"].values)'
    )
    return python, f"textgauge score --pairs sample:graded --limit 20 -m {metric.name} --summary"


def _facts(metric: Metric) -> str:
    of = "two corpora" if isinstance(metric, CorpusMetric) else "two texts"
    default = f", {code(metric.on)} unless said" if metric.on else ""
    facts = [
        ("Compares", of),
        ("Values", _range(metric.headline)),
        ("Closer", f"{metric.closer} values mean closer; {shown(metric.value_at_identity)} for equal {of[4:]}"),
        ("Symmetric", "yes" if metric.symmetric else f"no: {_roles(metric)} are not exchangeable"),
        ("Looks at", AFTER_AT[metric.needs] + default),
        ("Seeded", "yes" if metric.seeded else "no"),
        ("Source", plain(metric.source)),
    ]
    return table(["Name", code(metric.name)], [[f"**{term}**", said] for term, said in facts])


def _roles(metric: Metric) -> str:
    return "reference and candidate" if isinstance(metric, CorpusMetric) else "left and right"


def _range(part: Part) -> str:
    return " to ".join(shown(end) for end in part.bounds)


def _parameters(metric: Metric) -> str:
    kinds = parameters(type(metric))
    if not kinds:
        return ""
    rows = [parameter_row(name, kind, getattr(metric, name)) for name, kind in kinds.items()]
    return f"## Parameters\n\n{table(['parameter', 'default', 'values'], rows)}"


def _parts(metric: Metric) -> str:
    if not metric.parts:
        return ""
    rows = [[code(f"{metric.name}.{part.name}"), _range(part), part.closer] for part in metric.parts]
    return f"## Parts\n\n{table(['part', 'values', 'closer'], rows)}"


def _names(metric: Metric) -> str:
    single = ", ".join(code(name) for name in (metric.name, *variants(metric)))
    many = ", ".join(code(name) for name in grids(metric))
    return f"One metric each: {single}." + (f"\n\nGrids, several at once: {many}." if many else "")


def _index() -> str:
    parts = []
    for kind, title in (("corpus", "Of two corpora"), ("pair", "Of two texts")):
        rows = [_row(metric) for metric in list_metrics(kind=kind)]
        parts += [f"## {title}", table(["metric", "what it measures", "looks at", "closer", "source"], rows)]
    intro = (
        "A metric is a value with a name that parses back: `name[.part][(param=value,...)][@on]`, with `|` for grids. "
        "The same name works in Python, on the command line and in stored runs."
    )
    return page("Metrics", intro, *parts)


def _row(metric: Metric) -> list[str]:
    what = paragraphs(type(metric).__doc__)[0]
    return [f"[{metric.name}]({metric.name}.md)", what, code(metric.on), metric.closer, plain(metric.source)]
