"""Planted copies: which texts does a metric find that were copied from train, and how many others does it name?"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from textgauge.bench.inputs import PlantedCorpora
from textgauge.bench.pieces import sentence_spans
from textgauge.bench.protocols.base import (
    RESAMPLES,
    Measure,
    Observations,
    Protocol,
    Verdict,
    explain_undefined,
    make_generator,
    register_protocol,
)
from textgauge.bench.protocols.task import divide_known
from textgauge.bench.sources import Column, MatrixBatch, Sources, Values
from textgauge.bench.transformations import TRANSFORMATIONS
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.core.files import write_table
from textgauge.data import Corpus
from textgauge.metrics import PairMetric, Range
from textgauge.metrics.base import VALUE
from textgauge.metrics.numerics.passages import PASSAGE
from textgauge.metrics.properties.base import share_interval
from textgauge.stats.resampling import resample_sums

KINDS = ("verbatim", "contained", "embedded", "rewrapped", "capitals", "unpunctuated", "edited", "paraphrased")
_CURVE = range(10, 100, 10)  # similarities in percent
_WIDTH = 40  # characters of a line that is wrapped anew
_EDITED = 20  # of so many words one is exchanged


@dataclass(frozen=True, eq=False)
class BestMatchBatch(MatrixBatch):
    """Trials that are texts: the value of each is that of the nearest one of other texts, or that of a column."""

    scores: Mapping[str, Column] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def compute(self, metric: PairMetric) -> Values:
        if metric.needs == "column":
            return {VALUE: self.scores[metric.on]}
        return {metric.part or VALUE: metric.find_best(self.rows, self.others or self.rows)}

    def _take(self, trial: int) -> BestMatchBatch:
        scores = {name: cells[[trial]] for name, cells in self.scores.items()}
        return replace(self, rows=self.rows.take([trial]), columns={}, scores=scores)


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Copies(Protocol):
    """How many planted copies of training texts a metric finds, and how many other texts it names.

    `train` texts of source a are the training texts. `n` copies of each kind are made of them: the text itself; two
    sentences cut out of it; these within a text of source b; other line breaks; all in capitals; without punctuation;
    one word in 20 exchanged; clauses moved and words replaced by synonyms. The same is made of as many texts of source
    b, which are no copies. Each is compared with all training texts, and the most similar one counts. Measures, with
    Wilson's intervals:

    - `recall`: share of the copies above the smallest threshold that at most the share `false_alarms` of the other
      texts pass; `found_KIND` for each kind of copy.
    - `precision`: share of the texts above it that are copies, where as many are copies as are not.
    - `threshold`: that similarity; `recall_at_50` and `alarms_at_50` are the share of copies and of other texts with a
      similarity of 0.5 or more, and so on: the curve from which to choose another one.

    A detector that is no metric is judged by its flags. A run with `planted` writes the training texts and the texts to
    judge to that file where it is not there; with a column of flags, or of similarities, added to it, `column:NAME` is
    a metric of the next run. In Python `plant` gives the texts and `judge` takes `Observations(flags, batch, columns)`
    with the columns `kind` and `copy` of `plant`. Source: textgauge.
    """

    name = "copies"
    heading = "Planted copies"
    question = "Does it find copies of training texts, and only these?"
    purpose = "Finding copies"
    of = "pairs"
    data = PlantedCorpora()
    default_metrics = f"copied(words={PASSAGE}),jaccard,rouge1,cosine"
    similarities = True
    resampled = "texts"
    judging = ("false_alarms",)
    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("recall", about="share of planted copies found, at the threshold"),
        Measure("precision", about="share of the texts named that are copies, at the threshold", detail=True),
        Measure("threshold", low=-np.inf, high=np.inf, about="similarity from which texts are named", quality=False),
        *(Measure(f"found_{kind}", about=f"share of {kind} copies found", detail=True) for kind in KINDS),
        *(Measure(f"recall_at_{p}", about=f"share of copies {p / 100} similar or more", detail=True) for p in _CURVE),
        *(
            Measure(f"alarms_at_{p}", best="smaller", about=f"share of others {p / 100} similar or more", detail=True)
            for p in _CURVE
        ),
    )
    ranges = (Range("n", 1), Range("train", 1), Range("false_alarms", 0, 1))

    n: int = 25
    train: int = 500
    false_alarms: float = 0.01

    def check(self, sources: Sources) -> None:
        sources.check_different({"a": 2, "b": 2}, "planted copies need")

    def batch_numbers(self, sources: Sources, seed: int) -> Sequence[int]:
        return range(1)

    def plant(self, sources: Sources, seed: int) -> tuple[list[str], list[str], dict[str, Column]]:
        """Return the training texts, the texts to judge, and their columns `kind` and `copy`."""
        rng = make_generator(self, sources, seed, 0)
        a, b = (_draw_texts(sources.corpora[role], rng) for role in ("a", "b"))
        a = a[: self.train]
        made: dict[tuple[str, bool], list[str]] = {
            (kind, copied): [
                make_copy(side[place % len(side)], kind, seed, b[(place + len(b) // 2) % len(b)])
                for place in range(number * self.n, (number + 1) * self.n)
            ]
            for number, kind in enumerate(KINDS)
            for copied, side in ((True, a), (False, b))
        }
        texts = [text for part in made.values() for text in part]
        kinds, copied = (np.repeat(np.array(column), self.n) for column in zip(*made, strict=True))
        return a, texts, {"kind": kinds, "copy": copied}

    def trials(self, sources: Sources, seed: int) -> Iterator[BestMatchBatch]:
        train, texts, columns = self.plant(sources, seed)
        joint = Corpus.of([*texts, *train])
        if sources.planted is not None and not sources.texts:
            kinds = [*columns["kind"].tolist(), *["train"] * len(train)]
            flags = [*columns["copy"].tolist(), *[None] * len(train)]
            rows = zip(joint.texts, kinds, flags, strict=True)
            write_table(sources.planted, [{"text": a, "kind": b, "copy": c} for a, b, c in rows], exact=True)
        elif sources.planted is not None and [text.split() for text in sources.texts] != list(
            map(str.split, joint.texts)
        ):
            raise InputError(
                f"{sources.planted} does not hold the texts that this run plants, in their order: its sources, seed, n "
                "and train are those of the run that wrote it"
            )
        scores = {name: cells[: len(texts)] for name, cells in sources.scores.items()}
        others = joint.take(np.arange(len(texts), len(joint)))
        yield BestMatchBatch(0, joint.take(np.arange(len(texts))), others, columns, others, scores)

    def judge(self, observations: Observations) -> list[Verdict]:
        known = np.isfinite(observations.value)
        copied = observations.columns["copy"].astype(bool)
        reason = explain_undefined(observations)
        if not known[copied].any() or not known[~copied].any():
            absent = reason or "no text is judged"
            return [Verdict(measure.name, float("nan"), reason=absent) for measure in self.measures]
        values = observations.value[known]
        columns: Mapping[str, Any] = {name: column[known] for name, column in observations.columns.items()}
        copied = copied[known]
        usual = np.sort(values[~copied])[::-1]
        passed = int(self.false_alarms * len(usual))
        threshold = float(usual[passed]) if passed < len(usual) else float(usual[-1])
        hits = values > threshold if passed < len(usual) else np.ones(len(values), dtype=bool)
        pairs = [(copied & hits, copied), (copied & hits, hits)]
        pairs += [(copied & hits & (columns["kind"] == kind), copied & (columns["kind"] == kind)) for kind in KINDS]
        pairs += [(side & (values >= percent / 100 - 1e-9), side) for side in (copied, ~copied) for percent in _CURVE]
        rows = np.column_stack([column for pair in pairs for column in pair]).astype(np.float64)
        sums = np.vstack([rows.sum(axis=0), resample_sums(rows, RESAMPLES, 0)])
        shares: Floats = divide_known(sums[:, ::2], sums[:, 1::2])
        found = []
        names = [measure.name for measure in self.measures if measure.name != "threshold"]
        for name, column, n in zip(names, shares.T, sums[0, 1::2].tolist(), strict=True):
            why = reason or ("no text is named" if np.isnan(column[0]) else None)
            draws = column[1:][np.isfinite(column[1:])]
            one = Verdict.of_draws(name, float(column[0]), draws, len(values), bounds=(0.0, 1.0), reason=why)
            if n:  # Wilson's interval: that of resampling has no width where all are found
                low, high = share_interval(one.value, one.value * (1.0 - one.value) / n, n=int(n))
                one = replace(one, low=low, high=high, boot_low=low, boot_high=high, n=int(n))
            found.append(one)
        return [*found, Verdict("threshold", threshold, values=(threshold,), reason=reason)]


def _draw_texts(corpus: Corpus, rng: np.random.Generator) -> list[str]:
    """Return the different texts of a corpus in an order that content and seed decide."""
    rows = np.unique(corpus.keys, return_index=True)[1]
    return list(corpus.take(rng.permutation(rows)).texts)


def make_copy(text: str, kind: str, seed: int, other: str) -> str:
    """Return a copy of one kind; `other` is the text that words are taken from, or that holds a passage.

    >>> make_copy("One day it rained. We stayed in. It was dark. We slept.", "contained", 0, "")
    'We stayed in. It was dark.'
    >>> make_copy("Now, we go!", "unpunctuated", 0, "")
    'Now we go'
    """
    words, others = text.split(), other.split() or [""]
    for place in range(_EDITED // 2 - 1, len(words), _EDITED) if kind == "edited" else ():
        words[place] = others[place % len(others)]
    half = len(others) // 2
    made: dict[str, Callable[[], str]] = {
        "contained": lambda: _cut_middle(text),
        "embedded": lambda: " ".join([*others[:half], _cut_middle(text), *others[half:]]),
        "rewrapped": lambda: textwrap.fill(text, _WIDTH),
        "capitals": text.upper,
        "unpunctuated": lambda: re.sub(r"[^\w\s]", "", text),
        "edited": lambda: " ".join(words),
        "paraphrased": lambda: _paraphrase(text, seed),
    }
    return made[kind]() if kind in made else text


def _paraphrase(text: str, seed: int) -> str:
    """Move clauses, then replace words by synonyms, each with a seed of its own."""
    for place, name in enumerate(("word_order", "synonyms")):
        digest = hashlib.blake2b(f"{seed}|{place}".encode(), digest_size=6).digest()
        text = TRANSFORMATIONS[name](text, seed=int.from_bytes(digest, "little"))
    return text


def _cut_middle(text: str) -> str:
    """Return two sentences from within a text, or the middle half of the words of a short one."""
    spans = sentence_spans(text)
    if len(spans) >= 4:
        first = len(spans) // 2 - 1
        return text[spans[first][0] : spans[first + 1][1]]
    words = text.split()
    return " ".join(words[len(words) // 4 : len(words) - len(words) // 4])
