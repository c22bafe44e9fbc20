"""Every metric of the registry, and variants of it, against every check of the contract."""

import pytest

from textgauge import get_metric, list_metrics
from textgauge.metrics.corpus_metric import CorpusMetric
from textgauge.testing import CHECKS, check_metric, without_models

VARIANTS = [
    "pr(k=3,ties=open)", "pr.recall", "pr@cosine", "dc(k=2)", "dc.density", "irpr@angular", "irpr(compat=compcor)",
    "energy(root=true)@angular", "energy@euclidean", "energy.coefficient", "mmd(estimator=biased)", "kid(degree=2)",
    "chi(df=paper)", "jsd(root=true)", "classifier(score=f1)", "ttr_gap(rarefy=false)",
    "sliced_wasserstein(p=1,projections=16)", "mauve(seeds=3)",
]  # fmt: skip
METRICS = [without_models(metric) for metric in [*list_metrics(), *map(get_metric, VARIANTS)]]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_contract(metric: CorpusMetric, check):
    check(metric)


def test_the_contract_catches_a_metric_that_breaks_it():
    class Broken(type(get_metric("medoid"))):
        def compute(self, comparison):
            return {"value": float(comparison.reference.index.sum())}

    with pytest.raises(AssertionError):
        check_metric(Broken(on="given"))
