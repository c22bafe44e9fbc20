"""`explain`: which texts and which words set two corpora apart."""

from __future__ import annotations

from textgauge.comparing.compare import Source, Step, blas_threads, prepared
from textgauge.comparing.contributions import contributions, require_explained
from textgauge.comparing.explanation import Explanation
from textgauge.comparing.nearest import nearest_other
from textgauge.comparing.terms import Terms, separating_terms
from textgauge.corpus import Comparison
from textgauge.errors import InputError
from textgauge.metrics import CorpusMetric, Score, get_corpus_metrics


def explain(
    *,
    reference: Source,
    candidate: Source,
    metric: str | CorpusMetric = "energy",
    seed: int = 0,
    prior: float | None = None,
    on_step: Step = lambda _: None,
) -> Explanation:
    """What each text adds to the distance of two corpora, exactly, and the words that separate them.

    Corpora as in `compare`. Metrics: energy, mmd, kid, irpr, ahd, pr, dc, chi, cbdf, classifier, c2st, on any ground,
    embedder or tokenizer, and their parts; others do not split into texts and are refused. `prior` is the weight of the
    prior of the words' log-odds, in words.

    >>> found = explain(reference=["a cat", "a dog"], candidate=["a dog", "one cow"], metric="cbdf@words")
    >>> [row["text"] for row in found.top(1, "candidate")], found.terms.top(1, "reference")[0]["term"]
    (['one cow'], 'cat')
    """
    named = get_corpus_metrics([metric])
    if len(named) != 1:
        raise InputError(f"one metric is explained at a time, not {len(named)}: {metric}")
    require_explained(named[0])
    comparison, (chosen,) = prepared(reference, candidate, named, seed, on_step)
    with blas_threads(comparison):
        score = chosen.measure(comparison)
        if score.reason is not None:
            raise InputError(f"{chosen.key} is undefined for these corpora: {score.reason}")
        return explanation_of(chosen, comparison, score, separating_terms(comparison, prior=prior))


def explanation_of(metric: CorpusMetric, comparison: Comparison, score: Score, terms: Terms) -> Explanation:
    """The explanation of a score that exists."""
    found, distance = nearest_other(metric, comparison)
    with_texts = comparison.joint.pool.has_texts
    return Explanation(
        metric=metric.key,
        value=score.value,
        contributions=contributions(metric, comparison),
        nearest=found,
        distance=distance,
        texts=(comparison.reference.texts, comparison.candidate.texts) if with_texts else None,
        terms=terms,
        larger_is_farther=metric.closer == "smaller",
    )
