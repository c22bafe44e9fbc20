"""Pages that list what there is: datasets, resources, what metrics look at, properties of generated text."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from _pages.markup import code, listing, page, plain, table
from textgauge.bench import list_tasks
from textgauge.cli.catalogue import list_dataset_rows, list_resource_rows
from textgauge.encode import embedders, grammar, language_models, tokenizers
from textgauge.encode import word_vectors as wordvectors
from textgauge.metrics.numerics.moments import GROUNDS
from textgauge.metrics.properties import list_properties
from textgauge_papers.usmb import TASK_DATA


def properties_page() -> str:
    """Every row of the table that `describe` prints."""
    intro = (
        "`textgauge describe` gives these of a generated corpus, each with an interval where one holds its level, and "
        "with the same number for test and train as yardsticks. See the tutorial "
        "[Describe generated text](../tutorials/describe-generated-text.md)."
    )
    rows = [[code(known.name), known.about, known.better or "", ", ".join(known.needs)] for known in list_properties()]
    wording = (
        "Texts that are equal except for case and punctuation are one text. "
        "Similarity of wording is 1/(1 + d/m), d the word edits between two texts and m the words of the longer one: "
        "1 for the same words, ½ for none in common."
    )
    return page(
        "Properties of generated text", intro, table(["property", "what it is", "better", "needs"], rows), wording
    )


def datasets_page() -> str:
    """Return samples and published datasets."""
    intro = (
        "Samples are built in; published datasets are read from the folders "
        "of `TEXTGAUGE_DATA`, or fetched and checked by sha256 with `textgauge datasets fetch NAME`. Any of the names "
        "stands wherever a file may stand; `textgauge datasets show NAME` prints a few texts."
    )
    names = {"name": "name", "kind": "kind", "texts": "size", "licence": "licence", "about": "what it holds"}
    return page("Datasets", intro, listing(list_dataset_rows(), names), "## Data of the tasks", task_data())


def task_data() -> str:
    """Return what the protocols that are tasks read: built in for the quick suite, published for the full one."""
    rows = [
        [code(kind.name), ", ".join(map(code, kind.data.samples)), ", ".join(map(code, TASK_DATA[kind]))]
        for kind in list_tasks()
    ]
    return table(["task", "built in (`usmb-quick`)", "published (`usmb`)"], rows)


def resources_page() -> str:
    """Models and sample texts that are fetched once."""
    intro = (
        "Files that are fetched once, checked by sha256, and read as data: nothing of them is imported or executed. "
        "`textgauge resources fetch NAME` brings one; sources are tried in order, and a folder named by "
        "`TEXTGAUGE_RESOURCES` comes first."
    )
    names = {
        "name": "name",
        "purpose": "what it is",
        "megabytes": "megabytes",
        "licence": "licence",
        "sources": "sources",
    }
    return page("Resources", intro, listing(list_resource_rows(), names))


# Sentences of STS-B per second of CPU time on a shared machine: compare them with each other only. Renewed by hand.
_MEASURED_ENCODERS = """Agreement with people, as Spearman's correlation of `cosine` with the ratings of the 1,379 pairs
of STS-B's test part, and speed, as sentences of it per second of CPU time on a machine with other work, all in one
process. No encoder is the best everywhere: on other rated data the order changes.

| embedder | STS-B test | sentences per CPU second |
|---|---|---|
| `minilm` | .820 | 735 |
| `paraphrase-minilm` | .824 | 1,350 |
| `mpnet` | .834 | 117 |
| `gte-small` | .856 | 402 |
| `e5-small` | .864 | 135: one text a run |
| `bge-small` | .859 | 333 |
| `bge-small-int8` | .857 | 404: one text a run |

`e5-small` takes one text a run, and int8 networks scale all numbers of a run together: these are run text by text, so
that a text has the same vector in any company. Tests in `tests/golden/test_encoders.py` hold the first column."""


def representations_page() -> str:
    """Return what may stand after `@` in a metric's name, and the models of `describe`."""
    vectors = {"name": "name", "dimension": "dimensions", "megabytes": "megabytes", "note": "what it is"}
    others = [{"name": "given", "note": "ready-made embeddings: arrays, or .npy files"}]
    return page(
        "Embedders, tokenizers, language models",
        "## Embedders",
        listing([*embedders.list_embedders(), *map(_row, others)], vectors),
        _MEASURED_ENCODERS,
        "[Models of your own](../tutorials/own-models.md) can be used too.",
        "## Grounds",
        "Distances between embeddings: " + ", ".join(code(name) for name in GROUNDS) + ".",
        "## Tokenizers",
        _block(tokenizers.__doc__),
        "## Word vectors",
        listing(wordvectors.list_word_vectors(), vectors),
        "## Language models",
        "For `describe --plausibility`.",
        _block(language_models.__doc__),
        "## Grammar checkers",
        "For `describe --grammar`.",
        _block(grammar.__doc__),
    )


def _row(known: dict[str, Any]) -> dict[str, Any]:
    return {"dimension": None, "megabytes": None} | known


def _block(doc: str | None) -> str:
    """Return a module's docstring: its first line, its list as it stands, and what follows."""
    _, *rest = (doc or "").strip().split("\n\n")
    listed, *after = rest
    listed = re.sub(r": see `\w+`", "", listed)
    told = [plain(" ".join(part.split())) for part in after]
    return "\n\n".join([f"```text\n{textwrap.dedent(listed)}\n```", *told])
