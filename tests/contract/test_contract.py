"""Every metric of the registry, and variants of it, against every check of the contract."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from textgauge import get_metric, list_metrics
from textgauge.data import GIVEN, Corpus, Pairs
from textgauge.metrics import PairMetric, PairScores
from textgauge.testing import check_metric, drop_models, get_checks

VARIANTS = [
    "pr(k=3,ties=open)", "pr.recall", "pr@cosine", "dc(k=2)", "dc.density", "irpr@angular", "irpr(compat=compcor)",
    "energy(root=true)@angular", "energy@euclidean", "energy.coefficient", "mmd(estimator=biased)", "kid(degree=2)",
    "chi(df=paper)", "jsd(root=true)", "classifier(score=f1)", "ttr_gap(rarefy=false)",
    "sliced_wasserstein(p=1,projections=16)", "mauve(seeds=3)", "energy@levenshtein", "irpr@jaccard", "pr(k=3)@chrf",
    "dc(k=3)@rouge1", "mmd@levenshtein@words",
]  # fmt: skip
PAIR_VARIANTS = [
    "levenshtein@words", "levenshtein(kind=indel)", "levenshtein(kind=osa)@words", "levenshtein(kind=damerau)",
    "levenshtein(norm=max)", "jaccard@characters", "bm25plus(b=0)",
    "rouge1(stem=true)@rouge", "rouge(side=left)", "rougeL.recall", "bleu@zh", "bleu(smoothing=add-k)",
    "chrf(word_order=2)", "chrf.recall",
    "ter(normalized=true)", "gleu.recall", "meteor(stages=stem)", "cosine(scale=unit)", "bertscore(idf=true)",
    "bertscore.precision", "bertscore(compat=bert_score)",
    "wmd(stopwords=drop,unit=true)", "wordvec_cosine(pool=mean)", "cosine@wordllama",
]  # fmt: skip
HOSTED = ("model", "service", "column")  # tested in their own files, against a stand-in
METRICS = [
    *(drop_models(metric) for metric in [*list_metrics(kind="corpus"), *map(get_metric, VARIANTS)]),
    *(metric for metric in list_metrics(kind="pair") if metric.needs not in HOSTED),
    *map(get_metric, PAIR_VARIANTS),
]


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_contract(metric):
    check_metric(metric)


@pytest.mark.parametrize("metric", [metric for metric in METRICS if isinstance(metric, PairMetric)], ids=str)
def test_no_pairs_have_no_values(metric):
    none, two = Corpus.of([]), Corpus.of(["a b", "b"])
    assert metric.measure(Pairs([], [])).values.shape == (0,)
    shapes = [metric.matrix(rows, columns).shape for rows, columns in ((two, none), (none, two), (none, none))]
    assert shapes == [(2, 0), (0, 2), (0, 0)]
    if metric.statistics(Pairs(["a"], ["b"])) is not None:
        assert len(metric.statistics(Pairs([], []))) == 0


def value(metric, comparison):
    return type(metric).__mro__[2].compute(metric, comparison)["value"]


def rows_of(corpus):
    return corpus.embeddings(GIVEN)


CORPUS, PAIR = drop_models(get_metric("medoid")), get_metric("jaccard")
# A metric for each check that breaks what the check is for, made of a sound one by replacing members.
BROKEN_CORPUS = {
    "declaration": {"label": ""},
    "name": {},  # not registered: its key gives another metric
    "value_object": {"__reduce__": lambda self: (get_metric, ("energy",))},
    "identity": {"compute": lambda self, found: {"value": value(self, found) + 1}},
    "direction": {"compute": lambda self, found: {"value": 1 / (1 + value(self, found))}},
    "symmetry": {"compute": lambda self, found: {"value": value(self, found) + rows_of(found.reference).sum()}},
    "bounds": {"compute": lambda self, found: {"value": value(self, found) - 9}},
    "order": {"compute": lambda self, found: {"value": value(self, found) + rows_of(found.reference)[0, 0]}},
    "view": {"compute": lambda self, found: {"value": float(found.reference.index.sum())}},
    "draws": {"compute_many": lambda self, joint, draws: {"value": np.ones(len(draws.left))}},
    "repeatable": {"compute": lambda self, found: {"value": value(self, found) + np.random.random()}},  # noqa: NPY002
    "too_few": {"require": lambda self, found: None, "min_texts": 3, "compute": lambda self, found: {"value": 0.5}},
    "odd_texts": {"compute": lambda self, found: {"value": float("nan")}},
    "uncertainty": {"null_values": lambda self, found, **_: SimpleNamespace(p_value=0.0, mean=0.0, deviation=0.0)},
}


def shared(metric, pairs):
    return type(metric).__mro__[2].compute(metric, pairs)["value"]


def lengths(corpus):
    return np.array([len(text) for text in corpus.texts])


BROKEN_PAIR = {
    "declaration": {"source": ""},
    "name": {},
    "value_object": {"__reduce__": lambda self: (get_metric, ("overlap",))},
    "identity": {"compute": lambda self, pairs: {"value": shared(self, pairs) / 2}},
    "blank": {"compute": lambda self, pairs: {"value": np.where(lengths(pairs.left) == 0, 0.0, shared(self, pairs))}},
    "direction": {"compute": lambda self, pairs: {"value": 1 - shared(self, pairs)}},
    "symmetry": {"compute": lambda self, pairs: {"value": shared(self, pairs) / lengths(pairs.left).clip(1)}},
    "bounds": {"compute": lambda self, pairs: {"value": shared(self, pairs) + 5}},
    "batch": {"compute": lambda self, pairs: {"value": shared(self, pairs) / len(pairs)}},
    "matrix": {"matrix": lambda self, rows, columns, **_: np.zeros((len(rows), len(columns)))},
    "references": {"compute_items": lambda self, pairs: {"value": np.full(pairs.n_items, float(len(pairs)))}},
    "repeatable": {"compute": lambda self, pairs: {"value": np.random.random(len(pairs))}},  # noqa: NPY002
    "odd_texts": {
        "compute": lambda self, pairs: {"value": np.where(lengths(pairs.left) > 999, np.inf, shared(self, pairs))}
    },
    "whole_set": {
        "statistics": lambda self, pairs: np.ones((len(pairs), 1)),
        "of_statistics": lambda self, sums: np.full(len(sums), np.nan),
    },
}


def made(sound, members):
    members = {"__doc__": "Broken.", "__module__": __name__, **members}
    kind = dataclass(frozen=True, kw_only=True)(type("Broken", (type("Middle", (type(sound),), {}),), members))
    return kind(on=sound.on)


@pytest.mark.parametrize(
    ("sound", "broken", "check"),
    [
        (sound, broken, check)
        for sound, broken in ((CORPUS, BROKEN_CORPUS), (PAIR, BROKEN_PAIR))
        for check in get_checks(sound)
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_every_check_catches_a_metric_that_breaks_it(sound, broken, check):
    check(sound)
    with pytest.raises(AssertionError):
        check(made(sound, broken[check.__name__.removeprefix("check_")]))


def test_repeated_pairs_are_computed_once():
    members = {"measure": lambda self, pairs: PairScores(metric="broken", values=self.compute(pairs)["value"])}
    (check,) = (check for check in get_checks(PAIR) if check.__name__ == "check_batch")
    with pytest.raises(AssertionError, match="pairs computed"):
        check(made(PAIR, members))


def test_check_metric_runs_all_checks():
    check_metric(get_metric("jaccard"))
    with pytest.raises(AssertionError, match="needs a source"):
        check_metric(made(get_metric("jaccard"), BROKEN_PAIR["declaration"]))
