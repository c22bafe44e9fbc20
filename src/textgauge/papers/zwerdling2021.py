"""Zwerdling et al. 2021, tables 1 to 4: properties of texts by EDA, a VAE and a language model, and what people say.

Reviews of phones stand for Amazon's, political headlines of one year for the news, questions on health for Yahoo's; a
small GPT trained from scratch for GPT-2. Published precision and recall of test and train are equal, so they were
taken between equal numbers of texts: ours by meaning are at the size of test; by wording, both at that of train and at
that of test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from textgauge.evaluate.plan import Plan
from textgauge.evaluate.results import Results
from textgauge.papers.paper import Paper, Request, compared, published
from textgauge.papers.zwerdling_suite import Described, Zwerdling2021
from textgauge.stats.correlation import spearman
from textgauge.tabular import Row, plain_row

Values = Mapping[tuple[str, str], float]
"""By model and property; `drawn.` before a property that is taken at the size of test."""

_TABLES = {"amazon": "1", "news": "3", "yahoo": "4"}
_OUR_CORPUS = {"amazon": "phone", "news": "news", "yahoo": "health"}
_RATED = _OUR_CORPUS["amazon"]
_PROGRAM = {"sources": ",".join(_OUR_CORPUS.values())}
_OUR_MODEL = {"train": "train", "test": "test", "eda": "eda", "vae": "vae", "gpt-2": "lm"}
_GENERATED = ("eda", "vae", "gpt-2")
# What people rated of the Amazon corpora, the property nearest to it, and whether more of it is better.
_ASKED_PEOPLE = {
    "grammar": ("grammar", False),
    "make_sense": ("plausibility", False),
    "domain_relevance": ("drawn.semantic_precision", True),
}
_FAR, _ABOUT = 0.1, 0.03  # SynSim: far above a yardstick, and about as high


@dataclass(frozen=True)
class Finding:
    """What the paper finds of a model: numbers, and whether they say so."""

    model: str
    says: str
    numbers: Callable[[Values], tuple[float, ...]]
    holds: Callable[..., bool]


FINDINGS = (
    Finding("eda", "unique is 0.8 or more", lambda v: (v["eda", "unique"],), lambda own: own >= 0.8),
    Finding("eda", "syntactic F1 is 0.8 or more", lambda v: (v["eda", "syntactic_f1"],), lambda own: own >= 0.8),
    Finding(
        "eda",
        f"syntactic F1 is {_FAR} or more above test's",
        lambda v: (v["eda", "drawn.syntactic_f1"], v["test", "drawn.syntactic_f1"]),
        lambda own, test: own - test >= _FAR,
    ),
    Finding(
        "eda",
        "grammar is worse than test's",
        lambda v: (v["eda", "grammar"], v["test", "grammar"]),
        lambda own, test: own > test,
    ),
    Finding("vae", "vocab is 0", lambda v: (v["vae", "vocab"],), lambda own: own == 0),
    Finding(
        "vae",
        "semantic recall is below precision",
        lambda v: (v["vae", "drawn.semantic_recall"], v["vae", "drawn.semantic_precision"]),
        lambda recall, precision: recall < precision,
    ),
    Finding(
        "gpt-2",
        "has most new words, or most unique texts",
        lambda v: tuple(v[model, name] for name in ("vocab", "unique") for model in ("gpt-2", "eda", "vae")),
        lambda vocab, *rest: vocab > max(rest[:2]) or rest[2] > max(rest[3:]),
    ),
    Finding(
        "gpt-2",
        f"syntactic F1 is within {_ABOUT} of test's",
        lambda v: (v["gpt-2", "drawn.syntactic_f1"], v["test", "drawn.syntactic_f1"]),
        lambda own, test: abs(own - test) <= _ABOUT,
    ),
)


def plans(_: Request) -> list[Plan]:
    """None: the suite runs itself."""
    return []


def rows(results: Results, request: Request) -> list[Row]:
    """Each published number next to ours, and each finding with whether ours say the same."""
    found = Zwerdling2021(sources=_PROGRAM["sources"]).run(
        results.store.folder, seed=request.seed, on_step=_silent, on_note=_silent
    )
    ours = {one.name: our_values(one) for one in found}
    made = [row for corpus in _TABLES if _OUR_CORPUS[corpus] in ours for row in _rows(corpus, ours)]
    made += list(_people(ours[_RATED])) if _RATED in ours else []
    return [plain_row(row) for row in made]


def our_values(one: Described) -> dict[tuple[str, str], float]:
    """Values of a description by the paper's names of models."""
    theirs = {ours: name for name, ours in _OUR_MODEL.items()}
    found = {(theirs[role], "texts"): float(size) for role, size in one.sizes.items()}
    for row in one.rows:
        for model, cell in ((theirs[row["corpus"]], "value"), ("test", "test"), ("train", "train")):
            found[model, row["property"]] = _number(row[cell])
    for row in one.drawn:
        found[theirs[row["corpus"]], f"drawn.{row['property']}"] = _number(row["value"])
        found["test", f"drawn.{row['property']}"] = _number(row["test"])
    return found


def published_values(corpus: str) -> dict[tuple[str, str], float]:
    """The paper's values; `unique` of train and test are their numbers of texts, and all sizes were equal."""
    found = {}
    for row in published("zwerdling_table1_3_4").iter_rows(named=True):
        if row["corpus"] != corpus:
            continue
        model = row["model"]
        for name in [name for name in row if name not in ("corpus", "model")]:
            found[model, name] = _number(row[name])
        found[model, "texts"] = found[model, "unique"] if model not in _GENERATED else float("nan")
        if model not in _GENERATED:
            found[model, "unique"] = float("nan")
    return found | {(model, f"drawn.{name}"): value for (model, name), value in found.items() if "_" in name}


def _rows(corpus: str, ours: Mapping[str, Values]) -> Iterator[Row]:
    theirs, mine = published_values(corpus), ours[_OUR_CORPUS[corpus]]
    about = {"corpus": corpus, "our_corpus": _OUR_CORPUS[corpus]}
    for (model, name), value in theirs.items():
        own = mine.get((model, name), float("nan"))
        if np.isnan(value) or name.startswith("semantic"):
            continue
        size = "as test" if name.startswith("drawn.") else "all"
        row = {**about, "model": model, "property": name.removeprefix("drawn."), "texts": size}
        yield compared(_TABLES[corpus], row, value, own, "our data")
    for finding in FINDINGS:
        yield {"table": "findings", **about, "model": finding.model, **_judged(finding, theirs, mine)}


def _people(mine: Values) -> Iterator[Row]:
    """Table 2: Spearman's correlation over models of people's marks with the paper's property, and with ours."""
    marks = {row["model"]: row for row in published("zwerdling_table2_human").iter_rows(named=True)}
    for question, (name, more) in _ASKED_PEOPLE.items():
        said = np.array([float(row[question]) for row in marks.values()])
        about = {"corpus": "amazon", "our_corpus": _RATED, "property": name.removeprefix("drawn."), "people": question}
        both = [
            spearman(said[known], own[known] if more else -own[known])
            for values in (published_values("amazon"), mine)
            for own in [np.array([values.get((model, name), np.nan) for model in marks])]
            for known in [np.isfinite(own)]
        ]
        yield compared("2", about, both[0], both[1], "our data")


def _judged(finding: Finding, theirs: Values, mine: Values) -> Row:
    known = {key: mine.get(key, float("nan")) for key in theirs}
    return {
        "finding": finding.says,
        "published": _shown(finding.numbers(theirs)),
        "ours": _shown(finding.numbers(known)),
        "agrees": _holds(finding, known),
    }


def _holds(finding: Finding, values: Values) -> bool | None:
    """None where a number is missing."""
    numbers = finding.numbers(values)
    return None if np.isnan(numbers).any() else bool(finding.holds(*numbers))


def _shown(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{number:.4g}" for number in numbers)


def _number(cell: object) -> float:
    """A published cell: a number, a share in per cent, or nothing.

    >>> _number("93.2%"), _number(621)
    (0.932, 621.0)
    """
    if cell is None:
        return float("nan")
    text = str(cell)
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)


def _silent(_: str) -> None:
    """Say nothing: what there is to say was said when the suite ran."""


PAPER = Paper("zwerdling2021", ("1", "2", "3", "4", "findings"), ("definition",), plans, rows, program=_PROGRAM)
