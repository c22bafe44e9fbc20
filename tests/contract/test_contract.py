"""Every metric of the registry, and variants of it, against every check of the contract."""

import pytest

from textgauge import get_metric, list_metrics
from textgauge.testing import check_metric, checks_of, without_models

VARIANTS = [
    "pr(k=3,ties=open)", "pr.recall", "pr@cosine", "dc(k=2)", "dc.density", "irpr@angular", "irpr(compat=compcor)",
    "energy(root=true)@angular", "energy@euclidean", "energy.coefficient", "mmd(estimator=biased)", "kid(degree=2)",
    "chi(df=paper)", "jsd(root=true)", "classifier(score=f1)", "ttr_gap(rarefy=false)",
    "sliced_wasserstein(p=1,projections=16)", "mauve(seeds=3)", "energy@levenshtein", "irpr@jaccard", "pr(k=3)@chrf",
    "dc(k=3)@rouge1", "mmd@levenshtein@words",
]  # fmt: skip
PAIR_VARIANTS = [
    "levenshtein@words", "levenshtein(kind=indel)", "levenshtein(norm=max)", "jaccard@characters", "bm25plus(b=0)",
    "rouge1(stem=true)@rouge", "rougeL.recall", "bleu@zh", "bleu(smoothing=add-k)", "chrf(word_order=2)", "chrf.recall",
    "ter(normalized=true)", "gleu.recall", "meteor(stages=stem)", "cosine(scale=unit)", "bertscore(idf=true)",
    "bertscore.precision", "bertscore(compat=bert_score)",
    "wmd(stopwords=drop,unit=true)", "wordvec_cosine(pool=mean)", "cosine@wordllama",
]  # fmt: skip
HOSTED = ("model", "service", "column")  # tested in their own files, against a stand-in
METRICS = [
    *(without_models(metric) for metric in [*list_metrics(kind="corpus"), *map(get_metric, VARIANTS)]),
    *(metric for metric in list_metrics(kind="pair") if metric.needs not in HOSTED),
    *map(get_metric, PAIR_VARIANTS),
]
CASES = [(metric, check) for metric in METRICS for check in checks_of(metric)]


@pytest.mark.parametrize(
    ("metric", "check"), CASES, ids=[f"{metric}-{check.__name__.removeprefix('check_')}" for metric, check in CASES]
)
def test_contract(metric, check):
    check(metric)


def test_the_contract_catches_a_corpus_metric_that_breaks_it():
    class Broken(type(get_metric("medoid"))):
        def compute(self, comparison):
            return {"value": float(comparison.reference.index.sum())}

    with pytest.raises(AssertionError):
        check_metric(Broken(on="given"))


def test_the_contract_catches_a_pair_metric_that_breaks_it():
    class Broken(type(get_metric("jaccard"))):
        def compute(self, pairs):
            return {"value": pairs.left.index / (1 + pairs.left.index.max())}

    with pytest.raises(AssertionError):
        check_metric(Broken())
