"""A page per metric of the registry."""

from __future__ import annotations

import math
import re

from _pages.markup import code, formulas, page, paragraphs, parameter_row, plain, shown, split_paragraphs, table
from _pages.names import AFTER_AT, grids, variants
from textgauge.core.errors import TextgaugeError
from textgauge.core.show import format_cell
from textgauge.data import sample
from textgauge.metrics import CorpusMetric, Metric, PairMetric, Part, list_metrics
from textgauge.metrics.base import get_parameters

ROOM = "reference/metrics"
PAIR = ("the cat sat on the mat", "a cat was sitting on the mat")
ASKING = ("judge", "column")  # a service, or a table
AS_GROUND = "; a hundredth of it as a ground distance and in protocols"
# The extra that an example needs, and what comes before it on the command line.
NEEDS = {
    "cross_encoder": "needs st: it runs a model of sentence-transformers; `cross_encoder@ms-marco-int8` does not",
    "blend": "fetches: the models of five encoders, 0.8 GB",
    "nli": "fetches: a model of the hub that is exported to ONNX",
}
FIRST = {
    "ensemble": "textgauge train ensemble --pairs sample:graded --limit 100 -m chrf,jaccard -o ensemble.json",
    "column": "textgauge datasets show sample:graded -n 20 -f csv > graded.csv",
}

# What parameters do that no definition names.
MEANINGS = {
    "alpha": "weight of precision against recall",
    "b": "how much the length of a text counts, from 0 to 1",
    "beta": "how steeply the penalty for scattered matches grows",
    "degree": "degree of the polynomial kernel",
    "delta": "what a word that occurs adds at least",
    "df": "degrees of freedom: those of a table of two samples, or those of the paper",
    "estimator": "whether a text is compared with itself (`biased`) or not (`unbiased`)",
    "gamma": "the largest penalty for scattered matches",
    "k": "how many neighbours make up the neighbourhood of a text",
    "k1": "how soon further occurrences of a word add nothing",
    "lowercase": "whether capitals are made small first",
    "p": "the order of the distance",
    "padding": "whether the tokens count that pad each text to the longest one of its source (`source`) or not",
    "repeats": "how many random splits are averaged",
    "seed": "the random seed",
    "share": "the share of the texts that is held out",
    "stem": "whether words are reduced to their stems first",
    "ties": "how equal distances count",
    "tokens": "how texts are split into words",
    "top": "how many of the most frequent tokens count",
}


def pages() -> dict[str, str]:
    """Return the page of every metric and the index of them all."""
    return {f"{ROOM}/index.md": _index()} | {
        f"{ROOM}/{metric.name}.md": metric_page(metric) for metric in list_metrics()
    }


def navigation() -> list[dict[str, object]]:
    """Return the pages by what the metrics compare."""
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
        "## What a good value is",
        good_value(metric),
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
    """Return a call on the command line and one in Python; marked where they need what is not built in."""
    mark = f"<!-- {NEEDS[metric.name]} -->\n" if metric.name in NEEDS else ""
    python, command = _of_corpora(metric) if isinstance(metric, CorpusMetric) else _of_pairs(metric)
    commands = "\n".join(filter(None, [FIRST.get(metric.name), command]))
    return f"{mark}```sh\n{commands}\n```\n\n{mark}```python\n{python}\n```\n\n{worked(metric)}"


def worked(metric: Metric) -> str:
    """Return the value of the example, where all that it needs is on this machine."""
    if metric.name in {*NEEDS, *FIRST, *ASKING}:
        return ""
    try:
        corpora = sample("banking", n=50).texts, sample("travel", n=50).texts
        found = metric(*(corpora if isinstance(metric, CorpusMetric) else PAIR))
    except TextgaugeError:
        return ""
    return f"Its value is {format_cell(float(found))}."


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


def _of_a_table() -> tuple[str, str]:
    python = (
        "import textgauge\n\n"
        "report = textgauge.score(\n"
        f'    left=["{PAIR[0]}"],\n'
        f'    right=["{PAIR[1]}"],\n'
        '    metrics="column:comet",\n'
        '    columns={"comet": [0.87]},\n)\n'
        'print(report["column:comet"].values)'
    )
    return python, "textgauge score --pairs graded.csv --left left --right right -m column:grade --summary"


def _of_pairs(metric: PairMetric) -> tuple[str, str]:
    if metric.name == "column":
        return _of_a_table()
    python = (
        "import textgauge\n\n"
        "report = textgauge.score(\n"
        f'    left=["{PAIR[0]}"],\n'
        f'    right=["{PAIR[1]}"],\n'
        f'    metrics="{metric.name}",\n)\n'
        f'print(report["{metric.name}"].values)'
    )
    return python, f"textgauge score --pairs sample:graded --limit 20 -m {metric.name} --summary"


def _facts(metric: Metric) -> str:
    of = "two corpora" if isinstance(metric, CorpusMetric) else "two texts"
    default = f"; {code(metric.on)} by default" if metric.on else ""
    facts = [
        ("Compares", of),
        ("Values", _range(metric, metric.headline) + ("" if _factor(metric) == 1.0 else AS_GROUND)),
        ("Closer", f"{metric.closer} values mean closer; {_at_identity(metric)} for equal {of[4:]}"),
        ("Symmetric", "yes" if metric.symmetric else f"no: {_roles(metric)} are not exchangeable"),
        ("Reads", AFTER_AT[metric.needs if metric.on else "texts"] + default),
        ("Seeded", "yes" if metric.seeded else "no"),
        *([("Interval", interval(metric))] if isinstance(metric, CorpusMetric) else []),
        ("Source", plain(metric.source)),
    ]
    return table(["Name", code(metric.name)], [[f"**{term}**", said] for term, said in facts])


def interval(metric: CorpusMetric) -> str:
    """From how many texts an interval is offered, or why none is."""
    if metric.no_interval is not None:
        return f"none: {metric.no_interval}"
    unequal = f", no corpus over {metric.most_unequal:g} times as large" if math.isfinite(metric.most_unequal) else ""
    return f"from {metric.min_texts_interval} texts a corpus{unequal}"


def _roles(metric: Metric) -> str:
    return "reference and candidate" if isinstance(metric, CorpusMetric) else "left and right"


def _range(metric: Metric, part: Part) -> str:
    return " to ".join(shown(_factor(metric) * end) for end in part.bounds)


def _at_identity(metric: Metric) -> str:
    return shown(_factor(metric) * metric.value_at_identity)


def _factor(metric: Metric) -> float:
    return 1.0 if isinstance(metric, CorpusMetric) else metric.factor


def _parameters(metric: Metric) -> str:
    kinds = get_parameters(type(metric))
    if not kinds:
        return ""
    rows = [[*parameter_row(name, kind, getattr(metric, name)), meaning(metric, name)] for name, kind in kinds.items()]
    return f"## Parameters\n\n{table(['parameter', 'default', 'values', 'what it does'], rows)}"


def meaning(metric: Metric, parameter: str) -> str:
    """Return the sentences of the definition that name a parameter; else what all parameters of that name do."""
    text = " ".join(" ".join(part.split()) for part in split_paragraphs(type(metric).__doc__))
    named = [part for part in re.split(r"(?<=[.;]) ", text) if re.search(rf"`{parameter}[`=]|\b{parameter}=", part)]
    return formulas("; ".join(part.rstrip(".;:") for part in named)) or MEANINGS.get(parameter, "")


def good_value(metric: Metric) -> str:
    """How to read a value: what equal inputs give, and what to compare it with."""
    equal = _at_identity(metric)
    if isinstance(metric, CorpusMetric):
        return (
            f"Equal corpora have {equal}; {metric.closer} is closer. No value is good for all corpora: two "
            "samples from one source have a distance too, which depends on their sizes. Compare the value with the "
            "column “if same source” of `textgauge compare`, and values with each other at equal sizes only."
        )
    return (
        f"Equal texts have {equal}; {metric.closer} is closer. What is good depends on the task: compare with the "
        "values of another system on the same texts (`textgauge score … --baseline`), or learn from rated pairs which "
        "values people call similar (`textgauge run agreement`)."
    )


def _parts(metric: Metric) -> str:
    if not metric.parts:
        return ""
    rows = [[code(f"{metric.name}.{part.name}"), _range(metric, part), part.closer] for part in metric.parts]
    return f"## Parts\n\n{table(['part', 'values', 'closer'], rows)}"


def _names(metric: Metric) -> str:
    single = ", ".join(code(name) for name in (metric.name, *variants(metric)))
    many = ", ".join(code(name) for name in grids(metric))
    return f"One metric each: {single}." + (f"\n\nGrids, several at once: {many}." if many else "")


def _index() -> str:
    parts = []
    for kind, title in (("corpus", "Of two corpora"), ("pair", "Of two texts")):
        rows = [_row(metric) for metric in list_metrics(kind=kind)]
        parts += [f"## {title}", table(["metric", "what it measures", "reads", "closer", "source"], rows)]
    intro = (
        "A metric is a value with a name that parses back: `name[.part][(param=value,...)][@on]`, with `|` for grids. "
        "The same name works in Python, on the command line and in stored runs."
    )
    return page("Metrics", intro, *parts)


def _row(metric: Metric) -> list[str]:
    what = paragraphs(type(metric).__doc__)[0]
    return [f"[{metric.name}]({metric.name}.md)", what, code(metric.on), metric.closer, plain(metric.source)]
