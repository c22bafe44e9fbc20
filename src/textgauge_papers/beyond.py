"""Questions that the papers leave open, on data they never had: seen on one data set, confirmed once on another.

Texts by people and machines as sources of mixtures, several encoders, a sample of the judgements of many corpora, and
how time grows with the number of texts. Claims were written down after the first data set, before the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from textgauge.bench import Ksc, Metrics, Plan, Protocol, Results, Sources, Speed, Verdict, make_plans, read_two
from textgauge.core import Row, drop_nonfinite_values
from textgauge.data import Corpus, read_table
from textgauge_papers.datasets import find_path
from textgauge_papers.kour2022_tables import KOUR_METRICS
from textgauge_papers.ledger import (
    NOT_RUN,
    UNKNOWN,
    Claim,
    MeasuredDifference,
    Outcome,
    estimate_mean,
    judge_above,
    judge_all,
    judge_claims,
    list_claims,
    subtract_paired,
    subtract_unpaired,
)
from textgauge_papers.paper import Paper, PaperFigure, Request
from textgauge_papers.zwerdling_corpora import draw, read_sentences

_TEXTS = 1_500
_SAMPLE = 2_000
_ENCODERS = "minilm|mpnet|gte-small|e5-small|bge-small|paraphrase-minilm|wordllama"
_TITLES = ("stackoverflow_titles/stackoverflow20", "biomedical_titles/biomedical20")
_NEWS = ("ag_news/ag_news_test", "huffpost_headlines/huffpost")
_REPETITIONS = "95 % interval over repetitions on the second data set"


def _authors(domain: str, machine: str, *, apart: bool = False) -> Sources:
    """Return texts of people and of a machine on the same prompts, or (`apart`) each on the prompts the other lacks."""
    table = read_table(find_path("ghostbuster/human_vs_machine", "domain, source, doc_id, text"))
    columns = [[str(cell) for cell in table.columns[name]] for name in ("domain", "source", "doc_id", "text")]
    rows = [row[1:] for row in zip(*columns, strict=True) if row[0] == domain]
    half = set(sorted({prompt for _, prompt, _ in rows})[::2])
    found = {
        role: Corpus.of(
            [text for author, prompt, text in rows if author == of and (not apart or (prompt in half) == own)]
        )
        for role, of, own in (("a", "human", True), ("b", machine, False))
    }
    return Sources(f"{domain}: human,{machine}{', other prompts' if apart else ''}", found)


def _short(names: tuple[str, str]) -> Sources:
    corpora = {
        role: Corpus.of(draw(read_sentences(name, "text"), _TEXTS, 0)) for role, name in zip("ab", names, strict=True)
    }
    return Sources(",".join(name.partition("/")[0] for name in names), corpora)


@dataclass(frozen=True)
class Study:
    """A protocol with its metrics, the data where something was seen, and those where it was to be confirmed."""

    name: str
    protocol: Protocol
    metrics: str
    seen: Callable[[], Sources]
    new: Callable[[], Sources]
    measure: str = "accuracy"


Test = Callable[["BeyondEvidence"], Outcome]
Side = tuple[str, str] | float  # a metric in a study, or a number

_NINE = f"{KOUR_METRICS},energy"
AUTHORS = Study(
    "authors",
    Ksc(k=7, n=60, repetitions=10, draw="disjoint"),
    _NINE,
    lambda: _authors("essay", "gpt"),
    lambda: _authors("reuter", "claude"),
)
SAME = replace(AUTHORS, name="same prompts", protocol=Ksc(k=7, n=35, repetitions=20, draw="disjoint"))
OTHER = replace(
    SAME,
    name="other prompts",
    seen=lambda: _authors("essay", "gpt", apart=True),
    new=lambda: _authors("reuter", "claude", apart=True),
)
ENCODERS = Study(
    "encoders",
    Ksc(k=7, n=100, repetitions=10, draw="disjoint"),
    ",".join(f"{name}@{_ENCODERS}" for name in ("energy", "fid", "mauve", "pr", "dc", "irpr")),
    lambda: _short(_TITLES),
    lambda: _short(_NEWS),
)
MANY = Study(
    "many corpora",
    Ksc(k=20, n=60, repetitions=5, draw="disjoint"),
    KOUR_METRICS,
    lambda: read_two("clinc150", "banking77"),
    lambda: _short(_NEWS),
)
GROWTH = Study(
    "growth",
    Speed(n=150, largest=1_200),
    f"{_NINE},jsd",
    lambda: read_two("clinc150", "banking77"),
    lambda: _short(_NEWS),
    measure="growth",
)
STUDIES = (AUTHORS, SAME, OTHER, ENCODERS, MANY, GROWTH)


def suite(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Questions beyond the papers: authors, encoders, many corpora, growth of time; about five minutes."""
    return [
        plan
        for study in STUDIES
        for plan in make_plans([study.protocol], [study.seen(), study.new()], metrics or study.metrics, seed)
    ]


@dataclass(frozen=True, eq=False)
class BeyondEvidence:
    """Verdicts by study, place (0: seen, 1: new) and metric; of `many corpora` also by a sample of judgements."""

    found: Mapping[tuple[str, int], Mapping[str, Verdict]]

    @classmethod
    def of(cls, results: Results) -> BeyondEvidence:
        """Return what a run has."""
        found: dict[tuple[str, int], dict[str, Verdict]] = {}
        groups = {(group.data, group.protocol): group for group in results.groups()}
        for study in STUDIES:
            for place, data in enumerate((study.seen().name, study.new().name)):
                group = groups.get((data, study.protocol))
                for key, observed in (group.complete if group else {}).items():
                    for name, protocol in _judges(study):
                        verdicts = {one.measure: one for one in protocol.judge(observed)}
                        found.setdefault((name, place), {})[key] = verdicts[study.measure]
        return cls(found)

    def gap(self, first: Side, second: Side, place: int) -> MeasuredDifference:
        """Return first less second, each a number or a metric in a study; two studies do not share repetitions."""
        if isinstance(first, float):
            other = self.gap(second, first, place)
            return MeasuredDifference(-other.value, -other.high, -other.low)
        one = self.found.get((first[0], place), {}).get(first[1])
        if isinstance(second, float):
            return UNKNOWN if one is None else estimate_mean(np.array(one.values) - second)
        two = self.found.get((second[0], place), {}).get(second[1])
        if one is None or two is None:
            return UNKNOWN
        prompts = {first[0], second[0]} == {SAME.name, OTHER.name}
        return subtract_unpaired(np.array(one.values), np.array(two.values)) if prompts else subtract_paired(one, two)


_SAMPLED = "sampled"


def _judges(study: Study) -> Iterator[tuple[str, Protocol]]:
    yield study.name, study.protocol
    if study is MANY and isinstance(study.protocol, Ksc):
        yield _SAMPLED, replace(study.protocol, sample=_SAMPLE)


def claims() -> list[Claim[BeyondEvidence]]:
    """Return what was seen on the first data sets."""
    return [
        *list_claims("topics and authors on shared prompts", *_of_authors()),
        *list_claims("which metrics depend on the encoder", *_of_encoders()),
        *list_claims("a sample of judgements is enough", _of_sampling()),
        *list_claims("how time grows", *_of_growth()),
    ]


def _of_authors() -> Iterator[Claim[BeyondEvidence]]:
    data, prompts = "essays of people and ChatGPT, news of people and Claude", "the same prompts on both sides"
    for name in ("fid", "irpr"):
        claim = f"with {prompts} the accuracy of {name} is below chance: shared topics look nearer than shared authors"
        yield _claim(claim, data, "0.5 less it is above 0", _more(0.5, (AUTHORS.name, name)))
        claim = f"the accuracy of {name} rises when people and machine write on other prompts"
        yield _claim(claim, data, "the rise (Welch) is above 0", _more((OTHER.name, name), (SAME.name, name)))
    claim = f"with {prompts} the accuracy of energy is above chance"
    yield _claim(claim, data, "it less 0.5 is above 0", _more((AUTHORS.name, "energy"), 0.5))
    claim = f"with {prompts} the accuracy of energy is above that of mauve"
    yield _claim(claim, data, "their difference is above 0", _more((AUTHORS.name, "energy"), (AUTHORS.name, "mauve")))


def _of_encoders() -> Iterator[Claim[BeyondEvidence]]:
    data = "titles of Stack Overflow and PubMed, AG News and headlines"
    for name in ("fid", "dc"):
        claim = f"the accuracy of {name} is higher on minilm than on the static wordllama"
        yield _claim(claim, data, "the paired difference is above 0", _more(*_on_both_encoders(name)))
    for name in ("energy", "mauve"):
        claim = f"the accuracy of {name} does not depend on the encoder: minilm and wordllama differ by less than 0.02"
        yield _claim(
            claim, data, "the paired difference lies within ±0.02", _within(0.02, {name: _on_both_encoders(name)})
        )


def _on_both_encoders(name: str) -> tuple[Side, Side]:
    return (ENCODERS.name, name), (ENCODERS.name, f"{name}@wordllama")


_MIXED = "clinc150 and banking77, AG News and headlines"


def _of_sampling() -> Claim[BeyondEvidence]:
    claim = f"{_SAMPLE:,} judgements drawn at random give the accuracy of all for k = 20, within 0.01"
    pairs: dict[str, tuple[Side, Side]] = {
        name: ((_SAMPLED, name), (MANY.name, name)) for name in KOUR_METRICS.split(",")
    }
    return _claim(claim, _MIXED, "for each metric the paired difference lies within ±0.01", _within(0.01, pairs))


def _of_growth() -> Iterator[Claim[BeyondEvidence]]:
    sizes = "from 150 to 1,200 texts"
    for name in ("pr", "dc"):
        claim = f"the time of {name} grows faster than the number of texts, {sizes}"
        yield _claim(claim, _MIXED, "the exponent less 1 is above 0", _more((GROWTH.name, name), 1.0))
    for name in ("chi", "zipf", "jsd"):
        claim = f"the time of {name} grows slower than the number of texts, {sizes}"
        yield _claim(claim, _MIXED, "1 less the exponent is above 0", _more(1.0, (GROWTH.name, name)))
    claim = f"no metric's time grows as the square of the number of texts, {sizes}"
    yield _claim(claim, _MIXED, "for each metric 2 less the exponent is above 0", _none_squared)


def _claim(claim: str, data: str, rule: str, test: Test) -> Claim[BeyondEvidence]:
    return Claim(claim, "seen on the first data set", data, f"{_REPETITIONS}: {rule}", test)


def _more(first: Side, second: Side) -> Test:
    names = [of[1] if isinstance(of, tuple) else f"{of:g}" for of in (first, second)]
    if names[0] == names[1]:
        names = [f"{of[1]} on {of[0]}" if isinstance(of, tuple) else "" for of in (first, second)]

    def test(evidence: BeyondEvidence) -> Outcome:
        seen, new = (evidence.gap(first, second, place) for place in (0, 1))
        found = judge_above(names[0], names[1], new)
        said = f"{found.ours} (seen first: {seen.value:+.3g}, {seen.interval})"
        return replace(found, ours=said) if found.ours else found

    return test


def _within(bound: float, pairs: Mapping[str, tuple[Side, Side]]) -> Test:
    def test(evidence: BeyondEvidence) -> Outcome:
        gaps = {name: evidence.gap(*of, 1) for name, of in pairs.items()}
        if not all(gap.known for gap in gaps.values()):
            return Outcome(None, why=NOT_RUN)
        widest = max(gaps, key=lambda name: max(-gaps[name].low, gaps[name].high))
        gap = gaps[widest]
        holds = -bound < gap.low and gap.high < bound
        return Outcome(
            holds, f"farthest: {widest} {gap.value:+.3g}", gap.interval, "" if holds else f"not within ±{bound:g}"
        )

    return test


def _none_squared(evidence: BeyondEvidence) -> Outcome:
    keys = evidence.found.get((GROWTH.name, 1), {})
    gaps = {key: evidence.gap(2.0, (GROWTH.name, key), 1) for key in keys}
    return judge_all({key: judge_above("2", key, gap) for key, gap in gaps.items()})


def rows(results: Results, request: Request) -> list[Row]:
    """Return every value on both data sets."""
    found = BeyondEvidence.of(results).found
    made = []
    for name in dict.fromkeys(name for name, _ in found):
        seen, new = (found.get((name, place), {}) for place in (0, 1))
        for key in {**seen, **new}:
            values = {side: of[key].value if key in of else np.nan for side, of in (("seen", seen), ("new", new))}
            made.append(drop_nonfinite_values({"table": name, "metric": key, **values}))
    return made


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """Return the ledger."""
    return judge_claims(claims(), BeyondEvidence.of(results))


_FIGURES = (
    PaperFigure("1", "distance", "How distance follows the share of machine text, or of the other source."),
    PaperFigure("2", "box", "Measures over repetitions. Boxes that overlap do not show that metrics are equal."),
)
PAPER = Paper(
    "beyond",
    (*(study.name for study in STUDIES), _SAMPLED),
    ("definition",),
    lambda request: suite(None, request.seed),
    rows,
    ledger_rows,
    _FIGURES,
    minutes=12,
)
