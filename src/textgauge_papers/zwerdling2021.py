"""Zwerdling et al. 2021, tables 1 to 4: properties of texts by EDA, a VAE and a language model, and what people say.

Reviews of phones stand for Amazon's, political headlines of one year for the news, questions on health for Yahoo's;
SmolLM2, trained further, for GPT-2. Published precision and recall of test and train are equal, so they were taken
between equal numbers of texts: ours by meaning are at the size of test; by wording, both at that of train and at that
of test. Unique texts and new terms of EDA and the VAE are of 100,000 texts, as published. Published plausibility is on
the scale of logarithms: ours is nats a token, the logarithm of perplexity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textgauge.bench import Plan, Results
from textgauge.core import Row, drop_nonfinite_values
from textgauge.stats import is_ahead, spearman
from textgauge_papers.ledger import (
    NOT_RUN,
    Claim,
    MeasuredDifference,
    Outcome,
    judge_above,
    judge_above_all,
    judge_below_all,
    judge_claims,
    judge_order,
    look_up,
)
from textgauge_papers.paper import Paper, PaperFigure, Request, load_published, make_row
from textgauge_papers.zwerdling_suite import Described, Zwerdling2021, choose_grammar

Values = Mapping[tuple[str, str], float]
"""By model and property; `drawn.` before a property that is taken at the size of test."""

_TABLES = {"amazon": "1", "news": "3", "yahoo": "4"}
_OUR_CORPUS = {"amazon": "phone", "news": "news", "yahoo": "health"}
_RATED = _OUR_CORPUS["amazon"]
# The shortest source first.
PARAMS: dict[str, int | str] = {"sources": "health,news,phone", "limit": 0, "many": 100_000, "judged": 1_000}
_OUR_MODEL = {"train": "train", "test": "test", "eda": "eda", "vae": "vae", "gpt-2": "lm"}
_GENERATED = ("eda", "vae", "gpt-2")
# What people rated of the Amazon corpora, the property nearest to it, and whether more of it is better.
_ASKED_PEOPLE = {
    "grammar": ("grammar", False),
    "make_sense": ("plausibility", False),
    "domain_relevance": ("drawn.semantic_precision", True),
}
_DEVIATION = (
    "{} texts in place of {}; SmolLM2-135M with adapters, frozen weights in bfloat16, in place of GPT-2; "
    "as many texts as train in place of 100,000"
)
_JUDGE = "; perplexity by SmolLM2, from which the language model began, in place of BERT"
_FIT = 0.9  # of train's semantic F1: what a VAE must reach to be compared


def plans(_: Request) -> list[Plan]:
    """None: the suite runs itself."""
    return []


def _make_program(request: Request) -> Zwerdling2021:
    return Zwerdling2021(**PARAMS | dict(request.params))


def rows(results: Results, request: Request) -> list[Row]:
    """Return each published number next to ours."""
    ours = {one.name: get_our_values(one) for one in _get_descriptions(results, request)}
    made = [row for corpus in _TABLES if _OUR_CORPUS[corpus] in ours for row in _rows(corpus, ours)]
    made += list(_people(ours[_RATED])) if _RATED in ours else []
    return [drop_nonfinite_values(row) for row in made]


def _get_descriptions(results: Results, request: Request) -> list[Described]:
    found = _make_program(request).read_kept(results.store.folder, seed=request.seed)
    return [replace(one, rows=[_take_logarithm(row) for row in one.rows]) for one in found]


def _take_logarithm(row: Row) -> Row:
    """Return plausibility in nats a token; other properties as they are."""
    ends = ("value", "low", "high", "test", "train") if row["property"] == _LM else ()
    return row | {name: float(np.log(row[name])) for name in ends if row.get(name) is not None}


def get_our_values(one: Described) -> dict[tuple[str, str], float]:
    """Return values of a description by the paper's names of models."""
    theirs = {ours: name for name, ours in _OUR_MODEL.items()}
    found = {(theirs[role], "texts"): float(size) for role, size in one.sizes.items()}
    for row in [*one.rows, *one.many]:
        for model, cell in ((theirs[row["corpus"]], "value"), ("test", "test"), ("train", "train")):
            found[model, row["property"]] = _number(row[cell])
    for row in one.drawn:
        found[theirs[row["corpus"]], f"drawn.{row['property']}"] = _number(row["value"])
        found["test", f"drawn.{row['property']}"] = _number(row["test"])
    return found


def load_published_values(corpus: str) -> dict[tuple[str, str], float]:
    """Return the paper's values; `unique` of train and test are their numbers of texts, and all sizes were equal."""
    found = {}
    for row in load_published("zwerdling_table1_3_4").iter_rows(named=True):
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
    theirs, mine = load_published_values(corpus), ours[_OUR_CORPUS[corpus]]
    about = {"corpus": corpus, "our_corpus": _OUR_CORPUS[corpus]}
    for (model, name), value in theirs.items():
        own = mine.get((model, name), float("nan"))
        if np.isnan(value) or name.startswith("semantic"):
            continue
        size = "as test" if name.startswith("drawn.") else "all"
        row = {**about, "model": model, "property": name.removeprefix("drawn."), "texts": size}
        yield make_row(_TABLES[corpus], row, value, own, "our data")


def _people(mine: Values) -> Iterator[Row]:
    """Table 2: Spearman's correlation over models of people's marks with the paper's property, and with ours."""
    marks = {row["model"]: row for row in load_published("zwerdling_table2_human").iter_rows(named=True)}
    for question, (name, more) in _ASKED_PEOPLE.items():
        said = np.array([float(row[question]) for row in marks.values()])
        about = {"corpus": "amazon", "our_corpus": _RATED, "property": name.removeprefix("drawn."), "people": question}
        both = [
            spearman(said[known], own[known] if more else -own[known])
            for values in (load_published_values("amazon"), mine)
            for own in [np.array([values.get((model, name), np.nan) for model in marks])]
            for known in [np.isfinite(own)]
        ]
        yield make_row("2", about, both[0], both[1], "our data")


@dataclass(frozen=True)
class Ends:
    """A value with its 95 % interval, and the values of the draws that it is the mean of, if it is one."""

    value: float
    low: float
    high: float
    draws: tuple[float, ...] = ()

    @classmethod
    def of_draws(cls, draws: Sequence[float]) -> Ends:
        """Return the mean, with the interval of one draw by Student's quantiles."""
        from scipy.special import stdtrit

        middle, free = float(np.mean(draws)), len(draws) - 1
        reach = float(stdtrit(free, 0.975) * np.std(draws, ddof=1)) if free else float("nan")
        return cls(middle, middle - reach, middle + reach, tuple(draws))

    def less(self, other: Ends) -> MeasuredDifference:
        """Return the difference with its interval: draw by draw, or of two values of different texts (MOVER).

        Source of the second: Zou and Donner 2008, from the intervals of both values.
        """
        if self.draws and other.draws:
            gap = Ends.of_draws(np.subtract(self.draws, other.draws).tolist())
            return MeasuredDifference(gap.value, gap.low, gap.high)
        value = self.value - other.value
        down = np.hypot(self.value - self.low, other.high - other.value)
        return MeasuredDifference(
            value, value - down, value + np.hypot(self.high - self.value, other.value - other.low)
        )


Intervals = Mapping[str, Mapping[tuple[str, str], Ends]]
"""By our corpus, model and property, as `Values`."""


def intervals(one: Described) -> dict[tuple[str, str], Ends]:
    """Properties with the interval of `describe`; at the size of test, that of one draw of that size."""
    theirs, found = {ours: name for name, ours in _OUR_MODEL.items()}, {}
    for row in [*one.rows, *one.many]:
        if row.get("low") is not None:
            value, low, high = (_number(row[cell]) for cell in ("value", "low", "high"))
            found[theirs[row["corpus"]], row["property"]] = Ends(value, low, high)
    for row in one.drawn:
        found[theirs[row["corpus"]], f"drawn.{row['property']}"] = Ends.of_draws(
            [_number(one) for one in row["values"]]
        )
    return found


def ledger_rows(results: Results, request: Request) -> list[Row]:
    """Return the ledger; deviations say how many texts there were."""
    described = _get_descriptions(results, request)
    found = {one.name: intervals(one) | _counts(one) for one in described}
    rows = judge_claims([claim for corpus in _TABLES for claim in claims(corpus)] + _of_people(), found)
    sizes = {one.name: _say_sizes(one) for one in described if one.sizes}
    return [
        row | {"deviation": row["deviation"].replace("as many texts as train", sizes[row["data"]])}
        if row["data"] in sizes
        else row
        for row in rows
    ]


def _say_sizes(one: Described) -> str:
    many = f", and {one.many[0]['texts']:,} of EDA and the VAE for unique texts and new terms," if one.many else ","
    return f"{one.sizes['train']:,} texts, as many as train{many}"


def _counts(one: Described) -> dict[tuple[str, str], Ends]:
    """Return numbers that are counted, not estimated."""
    values = get_our_values(one)
    return {key: Ends(value, value, value) for key, value in values.items() if key[1] == "vocab"}


def claims(corpus: str) -> list[Claim[Intervals]]:
    """Return what the paper finds on one corpus."""
    recall, precision, f1 = (f"drawn.semantic_{name}" for name in ("recall", "precision", "f1"))
    gpt, vae, eda = "gpt-2", "vae", "eda"
    printed = load_published_values(corpus)
    best = min(_GENERATED, key=lambda model: printed[model, "grammar"])
    others = _all("grammar", *(model for model in _GENERATED if model != best))
    said = {"vae": "the VAE", "gpt-2": "GPT-2"}[best]
    finding = "the VAE, or GPT-2 (yahoo), has the fewest grammatical errors of the three"
    claim = f"{said} has the fewest grammatical errors of the three"
    return [
        _order(
            corpus, "GPT-2 has the highest semantic recall of the three", (gpt, recall), [(vae, recall), (eda, recall)]
        ),
        _order(corpus, "GPT-2's semantic recall is above its precision", (gpt, recall), [(gpt, precision)]),
        _order(corpus, "the VAE's semantic precision is above its recall", (vae, precision), [(vae, recall)]),
        _order(corpus, "the VAE's semantic precision is above train's", (vae, precision), [("train", precision)]),
        _order(corpus, "EDA has the lowest semantic F1 of the three", (eda, f1), [(vae, f1), (gpt, f1)], below=True),
        _order(corpus, "EDA has the most grammatical errors of the three", (eda, "grammar"), _all("grammar", vae, gpt)),
        replace(_order(corpus, claim, (best, "grammar"), others, below=True), finding=finding),
        _order(corpus, "EDA has the highest perplexity of the three", (eda, _LM), _all(_LM, vae, gpt)),
        _order(corpus, "the VAE has the lowest perplexity of the three", (vae, _LM), _all(_LM, eda, gpt), below=True),
        _new_terms(corpus),
        *(_falls(corpus, model) for model in (vae, eda, gpt)),
        _follows(corpus),
    ]


_LM = "plausibility"


def _all(name: str, *models: str) -> list[tuple[str, str]]:
    return [(model, name) for model in models]


def _order(
    corpus: str, claim: str, first: tuple[str, str], others: list[tuple[str, str]], *, below: bool = False
) -> Claim[Intervals]:
    printed = load_published_values(corpus)
    shown = ", ".join(f"{model} {printed[model, name]:g}" for model, name in [first, *others])

    def test(evidence: Intervals) -> Outcome:
        own, *theirs = look_up(_get_values(evidence, corpus), first, *others, why=_WHY.get(first[1], NOT_RUN))
        gaps = {_name_key(key): own.less(other) for key, other in zip(others, theirs, strict=True)}
        return judge_below_all(_name_key(first), gaps) if below else judge_above_all(_name_key(first), gaps)

    resampled = " over draws at the size of test" if first[1].startswith("drawn") else ""
    criterion = f"the 95 % interval of each difference{resampled} is on that side of 0"
    fit = any(model == "vae" for model, _ in (first, *others))
    made = _claim(corpus, claim, shown, criterion, _if_fit(corpus, test) if fit else test)
    harper = "; Harper in place of LanguageTool" if choose_grammar() == "harper" else ""
    more = {_LM: _JUDGE, "grammar": harper}.get(first[1], "")
    return replace(made, deviation=made.deviation + more)


def _get_values(evidence: Intervals, corpus: str) -> Mapping[tuple[str, str], Ends]:
    return evidence.get(_OUR_CORPUS[corpus], {})


def _name_key(key: tuple[str, str]) -> str:
    """Return a model and its property, in words."""
    return f"{key[0]} {_in_words(key[1])}"


def _in_words(name: str) -> str:
    return name.removeprefix("drawn.").replace("_", " ")


def _if_fit(corpus: str, test: Callable[[Intervals], Outcome]) -> Callable[[Intervals], Outcome]:
    """Return a test that is made only where the VAE's texts are about as near to test as train is."""

    def gated(evidence: Intervals) -> Outcome:
        values = _get_values(evidence, corpus)
        vae, train = (values.get((model, "drawn.semantic_f1")) for model in ("vae", "train"))
        if vae is not None and train is not None and vae.value < _FIT * train.value:
            why = f"the VAE is too weak to be compared: semantic F1 {vae.value:.2f}, train {train.value:.2f}"
            return Outcome(None, why=why)
        return test(evidence)

    return gated


_WHY = {_LM: "perplexity by a model that has not seen train (smollm2) was not computed"}


def _claim(
    corpus: str, claim: str, paper: str, criterion: str, test: Callable[[Intervals], Outcome]
) -> Claim[Intervals]:
    ours = _OUR_CORPUS[corpus]
    deviation = _DEVIATION.format(ours, corpus)
    return Claim(f"{claim} ({corpus})", paper, ours, criterion, test, deviation, finding=claim)


def _new_terms(corpus: str) -> Claim[Intervals]:
    def test(evidence: Intervals) -> Outcome:
        counted = look_up(_get_values(evidence, corpus), *_all("vocab", *_GENERATED))
        eda, vae, lm = (one.value for one in counted)
        shown = f"eda {eda:g}, vae {vae:g}, gpt-2 {lm:g}"
        return Outcome(vae == 0 and min(eda, lm) > 0, shown, "counted")

    printed = load_published_values(corpus)
    shown = ", ".join(f"{model} {printed[model, 'vocab']:g}" for model in _GENERATED)
    criterion = "terms that train lacks: none by the VAE, some by EDA and by the language model"
    claim = "only EDA and the language model make new terms"
    return _claim(corpus, claim, shown, criterion, _if_fit(corpus, test))


def _falls(corpus: str, model: str) -> Claim[Intervals]:
    """Return what becomes of the share of unique texts with their number: the VAE's falls, the others' is kept."""

    def test(evidence: Intervals) -> Outcome:
        at_test, whole = look_up(_get_values(evidence, corpus), (model, "drawn.unique"), (model, "unique"))
        gap = at_test.less(whole)
        found = judge_above("at the size of test", "of all texts", gap)
        kept = is_ahead(_KEPT - gap.high)
        return found if model == "vae" else replace(found, holds=kept, why="" if kept else "it may fall by more")

    if model == "vae":
        criterion = "the 95 % interval of the share of unique texts at the size of test less that of all is above 0"
        claim = "the VAE's share of unique texts falls with their number"
        return _claim(corpus, claim, "figures", criterion, _if_fit(corpus, test))
    criterion = (
        f"the share of unique texts falls by less than {_KEPT:g} from the size of test to all, by 95 % intervals"
    )
    claim = f"{'GPT-2' if model == 'gpt-2' else 'EDA'} keeps its share of unique texts"
    return _claim(corpus, claim, "figures", criterion, test)


_KEPT = 0.1


def _follows(corpus: str) -> Claim[Intervals]:
    def test(evidence: Intervals) -> Outcome:
        values, orders = _get_values(evidence, corpus), []
        for name in ("grammar", _LM):
            found = look_up(values, *_all(name, *_GENERATED), why=_WHY[_LM])
            numbers = {model: one.value for model, one in zip(_GENERATED, found, strict=True)}
            orders.append(sorted(_GENERATED, key=numbers.__getitem__))
        return Outcome(orders[0] == orders[1], f"errors {' < '.join(orders[0])}, perplexity {' < '.join(orders[1])}")

    criterion = "the same order of the three by grammatical errors and by perplexity"
    return _claim(corpus, "plausibility follows grammar", "tables 1, 3, 4", criterion, _if_fit(corpus, test))


def _of_people() -> list[Claim[Intervals]]:
    """Table 2 beside table 1: marks of people and properties of five corpora, both published."""
    found: list[Claim[Intervals]] = []
    for question, (name, more) in _ASKED_PEOPLE.items():
        if question == "make_sense":
            continue
        values, said = load_published_values("amazon"), _marks(question)
        pairs = [(mark, values.get((model, name), np.nan)) for model, mark in said.items()]
        known = [(mark, own if more else -own) for mark, own in pairs if np.isfinite(own)]

        def test(_: Intervals, known: list[tuple[float, float]] = known) -> Outcome:
            return judge_order([mark for mark, _ in known], [own for _, own in known])

        claim = f"people's marks for {_in_words(question)} agree with {_in_words(name)}"
        criterion = "exact one-sided permutation test of Spearman's ρ over the corpora, p ≤ 0.05"
        ours = "published values of the amazon corpora"
        found.append(Claim(claim, "tables 1 and 2", ours, criterion, test, finding=claim))
    why = "the ratings of single sentences are not published"
    claim = "general marks hardly follow semantic similarity"
    untold: Claim[Intervals] = Claim(
        claim, "ρ = .08", "none", "95 % interval of ρ over sentences includes .08", why=why, finding=claim
    )
    return [*found, untold]


def _marks(question: str) -> dict[str, float]:
    return {
        row["model"]: float(row[question]) for row in load_published("zwerdling_table2_human").iter_rows(named=True)
    }


def _number(cell: object) -> float:
    """Return a published cell: a number, a share in per cent, or nothing.

    >>> _number("93.2%"), _number(621)
    (0.932, 621.0)
    """
    if cell is None:
        return float("nan")
    text = str(cell)
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)


_FIGURES = (
    PaperFigure(
        "1-2", "plane", "EDA's texts lie low, as near copies of train; what lies high and to the right is new and apt."
    ),
)
PAPER = Paper(
    "zwerdling2021",
    ("1", "2", "3", "4"),
    ("definition",),
    plans,
    rows,
    ledger_rows,
    _FIGURES,
    program=_make_program,
    minutes=200,
    params=PARAMS,
)
