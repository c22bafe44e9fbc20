"""Increasingly fine-tuned corpora of Kour et al. 2022, section 5: their corpora, plans and claims.

Small GPTs are trained from scratch in place of GPT-2: on headlines, and on requests of bank customers with labels and
a filter. The corpora of every training run are kept in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from textgauge.bench import (
    Ifc,
    Metrics,
    Observations,
    Plan,
    Results,
    Sources,
    format_step_role,
    list_step_files,
    make_plans,
)
from textgauge.core import Floats, write_table
from textgauge.data import Corpus, load_corpus, load_published_texts
from textgauge.encode import get_cache_root, make_cache_folder
from textgauge.stats import spearman
from textgauge_papers.generate import GptSettings, ifc_corpora
from textgauge_papers.generate.settings import hash_texts, one_thread
from textgauge_papers.kour2022_tables import KOUR_METRICS
from textgauge_papers.ledger import Claim, Outcome, about, estimate_mean, on_side
from textgauge_papers.zwerdling_corpora import draw, read_sentences

STEPS, RUNS = 20, 3
_WRITTEN = 240
_PROTOCOL = Ifc(n=200, repetitions=1)
_LABELS = 20
_GPT = GptSettings(vocabulary=2_000, layers=2, width=96, longest=48, warmup=50)
_WHY = "the run has no generated texts: they need torch (pip install 'textgauge[generate]') and the data"
_FROM_SCRATCH = "it is about a pre-trained model: one that begins at noise nears its texts whatever the metric"
_MODEL = "GPTs of 0.4 million weights trained from scratch in place of GPT-2"

Texts = tuple[Sequence[str], Sequence[str] | None]


@dataclass(frozen=True)
class FineTuning:
    """Texts that models learn step by step, with labels or without."""

    name: str
    about: str
    read: Callable[[], Texts]
    per_step: int
    steps: int = STEPS
    reference: int = 1_000
    protocol: Ifc = _PROTOCOL

    @property
    def deviation(self) -> str:
        """How the corpora differ from the paper's."""
        return f"{_MODEL}; {self.per_step:,} texts learned and {_WRITTEN} written at each step"

    def data(self, run: int) -> str:
        """Return the name of the data of one training run."""
        return f"{self.name}, training run {run}"


def _headlines() -> Texts:
    return read_sentences("huffpost_headlines/huffpost", "text"), None


def _requests() -> Texts:
    """Return requests of the first labels in alphabetical order: writing and filtering takes time for each."""
    found = load_published_texts("banking77/train")
    labels = found.labels or ()
    kept = set(sorted(set(labels))[:_LABELS])
    rows = [row for row, label in enumerate(labels) if label in kept]
    return [found.texts[row] for row in rows], [labels[row] for row in rows]


STUDIES = (
    FineTuning("huffpost_headlines", "headlines, unlabelled", _headlines, 4_000),
    FineTuning("banking77", f"{_LABELS} intents of banking77, by label with a filter", _requests, 1_500),
)


def ifc_plans(metrics: Metrics = None, seed: int = 0, studies: Sequence[FineTuning] = STUDIES) -> list[Plan]:
    """Increasingly fine-tuned corpora of Kour et al. 2022: two ways of training, three runs each; trains them first."""
    return [
        plan
        for study in studies
        for run in range(1, RUNS + 1)
        for plan in make_plans([study.protocol], [_sources(study, run, seed)], metrics or KOUR_METRICS, seed)
    ]


def _sources(study: FineTuning, run: int, seed: int) -> Sources:
    texts, labels = study.read()
    # Steps write with the seeds that follow, so those of two runs must not meet.
    folder = _trained(study, texts, labels, 1_000 * (seed * RUNS + run))
    corpora = {Path(path).stem: load_corpus(path) for path in list_step_files(folder)}
    return Sources(study.data(run), {"reference": Corpus.of(draw(texts, study.reference, seed)), **corpora})


def _trained(study: FineTuning, texts: Sequence[str], labels: Sequence[str] | None, seed: int) -> Path:
    """Return the folder of one training run, trained and filled where files are missing."""
    settings = f"{study.steps} {study.per_step} {_WRITTEN} {_GPT}"
    name = f"{study.name}-{hash_texts([*texts, settings])}"
    folder = make_cache_folder(get_cache_root() / "ifc") / name / f"seed-{seed}"
    if not (folder / f"{format_step_role(study.steps)}.txt").exists():
        made = ifc_corpora(
            texts,
            labels=labels,
            candidates=3.0,
            steps=study.steps,
            per_step=study.per_step,
            n=_WRITTEN,
            settings=_GPT,
            seed=seed,
            checkpoint=folder / "checkpoint",
        )
        with one_thread():
            for number, written in made:
                write_table(folder / f"{format_step_role(number)}.txt", [{"text": text} for text in written])
    return folder


@dataclass(frozen=True, eq=False)
class IfcEvidence:
    """The observations of every training run, by study and metric."""

    runs: Mapping[str, Mapping[str, Sequence[Observations]]]

    @classmethod
    def of(cls, results: Results, names: Mapping[str, str]) -> IfcEvidence:
        """Return what a run has; `names` are the printed names of metrics by key."""
        found: dict[str, dict[str, list[Observations]]] = {}
        known = {(study.name, study.protocol) for study in STUDIES}
        for group in results.groups():
            study = group.data.partition(",")[0]
            if (study, group.protocol) in known:
                for key, observed in group.complete.items():
                    if key in names:
                        found.setdefault(study, {}).setdefault(names[key], []).append(observed)
        return cls(found)


def ifc_claims() -> Iterator[Claim[IfcEvidence]]:
    """Yield what figure 5 and section 5 say, for each way of training."""
    for name in ("FID", "PR", "DC", "MAUVE", "CLASSIFIER", "IRPR"):
        rule = "Spearman's ρ of step and distance is below 0"
        yield from _claims(
            "distances fall with fine-tuning", f"{name} falls with the steps", rule, "−ρ", _minus(name, _trend)
        )
    claim = "CHI is less effective than the others"
    rule = "CHI's Spearman's ρ of step and distance less the mean of the other seven is above 0"
    yield from _claims("CHI is less effective with fine-tuning", claim, rule, "ρ of CHI less theirs", _chi_behind)
    for name in ("FID", "IRPR"):
        claim = f"{name} still sees generated texts after {STEPS} steps"
        rule = "the distance of the last step less the self-distance is above 0"
        found = _over_runs(name, _left)
        yield from _claims("FID and IRPR see generated texts after many steps", claim, rule, "distance left", found)
    claim, rule = "ZIPF rises with the steps", "its slope is above 0"
    yield from _claims("ZIPF rises with fine-tuning", claim, rule, "slope", _over_runs("ZIPF", _slope))
    claim, found = "the type–token ratio grows with the steps", _over_runs("FID", _ttr_slope)
    yield from _claims("the type–token ratio grows with fine-tuning", claim, rule, "slope", found, ".295, .299, .322")


def _claims(
    finding: str, claim: str, rule: str, what: str, values: Found, paper: str = "figure 5"
) -> list[Claim[IfcEvidence]]:
    return about(finding, *(_claim(study, claim, rule, what, values, paper) for study in STUDIES))


Measured = Callable[[Observations], float]
Found = Callable[[Mapping[str, Sequence[Observations]]], list[float]]


def _claim(study: FineTuning, claim: str, rule: str, what: str, values: Found, paper: str) -> Claim[IfcEvidence]:
    def test(evidence: IfcEvidence) -> Outcome:
        runs = evidence.runs.get(study.name, {})
        found = values(runs)
        if len(found) != RUNS:
            return Outcome(None, why=_WHY)
        return replace(on_side(what, estimate_mean(found)), holds=None, why=_FROM_SCRATCH)

    criterion = f"the 95 % interval over {RUNS} training runs: {rule}"
    return Claim(f"{claim} ({study.about})", paper, study.about, criterion, test, study.deviation)


def _over_runs(name: str, measured: Measured) -> Found:
    return lambda runs: [measured(observed) for observed in runs.get(name, ())]


def _minus(name: str, measured: Measured) -> Found:
    return lambda runs: [-measured(observed) for observed in runs.get(name, ())]


def _chi_behind(runs: Mapping[str, Sequence[Observations]]) -> list[float]:
    others = [of for name, of in runs.items() if name != "CHI"]
    if "CHI" not in runs or any(len(of) != RUNS for of in others):
        return []
    means = np.mean([[_trend(observed) for observed in of] for of in others], axis=0)
    return [_trend(observed) - mean for observed, mean in zip(runs["CHI"], means.tolist(), strict=True)]


def _mean_by_step(observed: Observations, column: str | None = None) -> tuple[Floats, Floats]:
    """Return steps, and the mean over draws of the distance or of a column."""
    along = observed.of("kind", "step")
    values = along.value if column is None else along.columns[column]
    steps = np.unique(along.columns["step"])
    return steps.astype(np.float64), np.array([values[along.columns["step"] == step].mean() for step in steps])


def _trend(observed: Observations) -> float:
    return spearman(*_mean_by_step(observed))


def _slope(observed: Observations) -> float:
    return _fit_slope(*_mean_by_step(observed))


def _ttr_slope(observed: Observations) -> float:
    return _fit_slope(*_mean_by_step(observed, "ttr"))


def _fit_slope(step: Floats, value: Floats) -> float:
    gap = step - step.mean()
    return float(gap @ value / (gap @ gap))


def _left(observed: Observations) -> float:
    return float(_mean_by_step(observed)[1][-1] - observed.of("kind", "self").value.mean())
