"""Increasingly fine-tuned corpora of Kour et al. 2022, section 5: their corpora, the suite and the claims.

SmolLM2 is trained further in place of GPT-2, one epoch of 1,000 texts at each step: on headlines, and on requests of
bank customers with labels and a filter. `textgauge run kour2022-ifc --out FOLDER` takes hours; killed at any time, the
same command goes on. Where FOLDER is that of `textgauge reproduce kour2022`, its ledger and figure 5 have the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.bench import Observations, Plan, Results, Sources, Store, make_plans, run
from textgauge.core import Floats, InputError, ResourceError, Row, UnknownName, tell_note, write_table
from textgauge.data import Corpus, load_corpus, load_published_texts
from textgauge.metrics import get_corpus_metrics
from textgauge_papers.generate import AdapterSettings, ifc_corpora
from textgauge_papers.generate.settings import hash_texts, make_generator, one_thread
from textgauge_papers.ifc import Ifc, format_step_role
from textgauge_papers.kour2022_tables import KOUR_METRICS
from textgauge_papers.ledger import (
    Claim,
    MeasuredDifference,
    Outcome,
    estimate_from_draws,
    estimate_mean,
    judge_side,
    list_claims,
)
from textgauge_papers.paper import measure_time
from textgauge_papers.zwerdling_corpora import draw, read_sentences

STEPS = 40
_LEARNED, _PASSES = 1_000, 1  # texts of a step, and how often they are learned
_MODEL = AdapterSettings(longest=48, bits=16)
_REFERENCE = 4_000
_CANDIDATES = 3.0
_RESAMPLES = 2_000
_PROTOCOL = Ifc(n=100, repetitions=10)

Texts = tuple[Sequence[str], Sequence[str] | None]


@dataclass(frozen=True)
class FineTuning:
    """Texts that a model learns step by step, with labels or without; `written` are its texts after each step."""

    name: str
    about: str
    read: Callable[[], Texts]
    written: int
    protocol: Ifc = _PROTOCOL

    @property
    def deviation(self) -> str:
        """How the corpora differ from the paper's."""
        size = f"{_LEARNED:,} texts learned and {self.written:,} written at each step"
        return f"SmolLM2-135M with adapters, frozen weights in bfloat16, in place of GPT-2 medium; {size}"

    def plan(self, folder: Path, steps: int, seed: int) -> list[Plan]:
        """Return the comparison of every step with the texts that the model learns."""
        corpora = {format_step_role(step): load_corpus(folder / _name(step)) for step in range(1, steps + 1)}
        reference = Corpus.of(draw(self.read()[0], _REFERENCE, seed))
        sources = Sources(f"{self.name}, {steps} steps", {"reference": reference, **corpora})
        return make_plans([self.protocol], [sources], KOUR_METRICS, seed)


def _headlines() -> Texts:
    return read_sentences("huffpost_headlines/huffpost", "text"), None


def _requests() -> Texts:
    found = load_published_texts("banking77/train")
    return found.texts, found.labels


STUDIES = (
    FineTuning("huffpost_headlines", "headlines, unlabelled", _headlines, 1_000),
    FineTuning("banking77", "banking77, by label with a filter", _requests, 300),
)


@dataclass(frozen=True, kw_only=True)
class Kour2022Ifc:
    """Increasingly fine-tuned corpora of Kour et al. 2022: distances of what SmolLM2 writes, step by step.

    It learns 1,000 texts at each of `steps`, once, and writes 1,000 headlines, or 300 requests that a classifier gives
    the right label; ten draws of 100 texts of each step are compared with as many of the texts it learns. `studies`
    names some of huffpost_headlines, banking77. Texts and the state of training are kept in the folder of the run,
    or in `corpora`. A step of headlines takes some four minutes of one core, one of requests eight; the same command
    goes on after the last finished batch. Fewer `steps` than are there measure the first ones alone.
    """

    steps: int = STEPS
    studies: str = "huffpost_headlines"
    corpora: str = ""

    def __post_init__(self) -> None:
        if self.steps < 3:
            raise InputError(f"steps are 3 or more, not {self.steps}")
        known = [study.name for study in STUDIES]
        for name in self.studies.split(","):
            if name not in known:
                raise UnknownName.among("study", name, known)

    def run_rows(self, folder: Path, *, seed: int) -> list[Row]:
        """Write the steps that are missing, compare all of them, and return one row for each study and metric."""
        chosen = [study for study in STUDIES if study.name in self.studies.split(",")]
        store = Store(folder)
        with measure_time(store):
            place = Path(self.corpora or folder) / "ifc"
            written = [(study, write_steps(study, place, self.steps, seed)) for study in chosen]
            plans = [plan for study, texts in written for plan in study.plan(texts, self.steps, seed)]
            failures = run(plans, store).failures
        if failures:
            raise ResourceError(str(failures[0]))
        names = {metric.key: metric.name.upper() for metric in get_corpus_metrics(KOUR_METRICS)}
        found = IfcEvidence.of(Results(store, seed=seed), names)
        return [_row(study, name, of) for study in chosen for name, of in found.by_study[study.name].items()]


def write_steps(study: FineTuning, folder: Path, steps: int, seed: int) -> Path:
    """Return the folder of the corpora, after writing those that are missing."""
    texts, labels = study.read()
    settings = f"{_LEARNED} {_PASSES} {study.written} {_MODEL} {_CANDIDATES} {seed}"
    place = folder / f"{study.name}-{hash_texts([*texts, settings])}"
    place.mkdir(parents=True, exist_ok=True)
    missing = sum(not (place / _name(step)).exists() for step in range(1, steps + 1))
    if missing:
        minutes = (4 if labels is None else 8) * missing
        tell_note(f"{study.name}: {missing} steps to write, about {minutes} minutes of processor time")
        made = ifc_corpora(
            texts,
            labels=labels,
            candidates=_CANDIDATES,
            embedder="minilm",
            steps=steps,
            per_step=_LEARNED,
            n=study.written,
            passes=_PASSES,
            settings=_MODEL,
            seed=1_000 * seed,  # steps write with the seeds that follow
            checkpoint=place / "checkpoint",
        )
        with one_thread():
            for number, written in made:
                write_table(place / _name(number), [{"text": text} for text in written], exact=True)
                tell_note(f"{study.name}: step {number} of {steps} is written")
    return place


def _name(step: int) -> str:
    return f"{format_step_role(step)}.txt"


@dataclass(frozen=True, eq=False)
class IfcEvidence:
    """The observations of each study by metric: of the run with the most steps."""

    by_study: Mapping[str, Mapping[str, Observations]]

    @classmethod
    def of(cls, results: Results, names: Mapping[str, str]) -> IfcEvidence:
        """Return what a run has; `names` are the printed names of metrics by key."""
        known = {study.name: study.protocol for study in STUDIES}
        found: dict[str, dict[str, Observations]] = {}
        for group in results.groups():
            study = group.data.partition(",")[0]
            if known.get(study) != group.protocol:
                continue
            for key, observed in group.complete.items():
                own = found.setdefault(study, {})
                name = names.get(key)
                if name is not None and (name not in own or _count(observed) > _count(own[name])):
                    own[name] = observed
        return cls(found)


def ifc_claims() -> Iterator[Claim[IfcEvidence]]:
    """Yield what figure 5 and section 5 say, for each way of training."""
    for name in ("FID", "PR", "DC", "MAUVE", "CLASSIFIER", "IRPR"):
        rule = "Spearman's ρ of step and distance is below 0"
        yield from _claims("distances fall with fine-tuning", f"{name} falls with the steps", rule, _falls(name))
    rule = "CHI's Spearman's ρ of step and distance less the mean of the other seven is above 0"
    claim = "CHI is less effective than the others"
    yield from _claims("CHI is less effective with fine-tuning", claim, rule, _chi_behind)
    for name in ("FID", "IRPR"):
        rule = "the distance of the last step less the self-distance is above 0, over draws"
        claim = f"{name} still sees generated texts after the last step"
        yield from _claims("FID and IRPR see generated texts after many steps", claim, rule, _left(name))
    rule = "the slope of its mean over steps is above 0"
    yield from _claims("ZIPF rises with fine-tuning", "ZIPF rises with the steps", rule, _rises("ZIPF"))
    claim, found = "the type–token ratio grows with the steps", _rises("FID", "ttr")
    yield from _claims("the type–token ratio grows with fine-tuning", claim, rule, found, ".295, .299, .322")


Observed = Mapping[str, Observations]
Test = Callable[[Observed], Outcome]


def _claims(finding: str, claim: str, rule: str, test: Test, paper: str = "figure 5") -> list[Claim[IfcEvidence]]:
    return list_claims(finding, *(_claim(study, claim, rule, test, paper) for study in STUDIES))


def _claim(study: FineTuning, claim: str, rule: str, test: Test, paper: str) -> Claim[IfcEvidence]:
    def decide(evidence: IfcEvidence) -> Outcome:
        found = evidence.by_study.get(study.name, {})
        if len(found) < len(KOUR_METRICS.split(",")):
            return Outcome(None, why=f"{study.name} was not run: `textgauge run kour2022-ifc -p studies={study.name}`")
        outcome, steps = test(found), _count(next(iter(found.values())))
        return (
            outcome
            if steps >= STEPS
            else replace(outcome, holds=None, why=f"{study.name}: {steps} of {STEPS} steps were run")
        )

    criterion = f"one run, 95 % interval over resampled steps: {rule}"
    return Claim(f"{claim} ({study.about})", paper, study.about, criterion, decide, study.deviation)


def _falls(name: str) -> Test:
    return lambda found: judge_side(f"ρ of {name}", _resample(_trend, found[name]), below=True)


def _rises(name: str, column: str | None = None) -> Test:
    return lambda found: judge_side("slope", _resample(_slope, found[name], column=column))


def _chi_behind(found: Observed) -> Outcome:
    def compute_gap(steps: Floats, chi: Floats, *others: Floats) -> Floats:
        return np.asarray(_trend(steps, chi) - np.mean([_trend(steps, other) for other in others], axis=0))

    others = [of for name, of in found.items() if name != "CHI"]
    return judge_side("ρ of CHI less theirs", _resample(compute_gap, found["CHI"], *others))


def _left(name: str) -> Test:
    def test(found: Observed) -> Outcome:
        observed = found[name]
        last = observed.of("kind", "step").of("step", _count(observed))
        own = observed.of("kind", "self")
        gaps = last.value[np.argsort(last.batch)] - own.value[np.argsort(own.batch)]
        return judge_side("distance left", estimate_mean(gaps))

    return test


def _resample(compute: Callable[..., Floats], *observed: Observations, column: str | None = None) -> MeasuredDifference:
    """Return a number about means by step, with its interval over resampled steps."""
    steps, values = np.arange(1, _count(observed[0]) + 1.0), [_mean_by_step(one, column) for one in observed]
    rows = make_generator(0, _RESAMPLES).integers(0, len(steps), (_RESAMPLES, len(steps)))
    draws = compute(steps[rows], *(of[rows] for of in values))
    return estimate_from_draws(float(compute(steps, *values)), draws, len(steps))


def _count(observed: Observations) -> int:
    return int(observed.columns["step"].max())


def _mean_by_step(observed: Observations, column: str | None = None) -> Floats:
    """Return the mean over draws of the distance or of a column, step by step."""
    along = observed.of("kind", "step")
    values = along.value if column is None else along.columns[column]
    return np.array([values[along.columns["step"] == step].mean() for step in range(1, _count(observed) + 1)])


def _trend(steps: Floats, values: Floats) -> Floats:
    """Return Spearman's ρ of each row."""
    from scipy.stats import rankdata

    x, y = (rankdata(of, axis=-1) - (of.shape[-1] + 1) / 2 for of in (steps, values))
    with np.errstate(invalid="ignore"):  # undefined where all values are equal
        return np.asarray((x * y).sum(axis=-1) / np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1)))


def _slope(steps: Floats, values: Floats) -> Floats:
    """Return the slope of the least-squares line of each row."""
    gap = steps - steps.mean(axis=-1, keepdims=True)
    return np.asarray((gap * values).sum(axis=-1) / (gap * gap).sum(axis=-1))


def _row(study: FineTuning, name: str, observed: Observations) -> Row:
    values, own = _mean_by_step(observed), float(observed.of("kind", "self").value.mean())
    row: dict[str, Any] = {"study": study.name, "metric": name, "steps": len(values)}
    trend = float(_trend(np.arange(1.0, len(values) + 1), values))
    return row | {"trend": trend, "first": float(values[0]), "last": float(values[-1]), "self": own}
