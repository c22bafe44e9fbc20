"""Names of metrics: what a name that is not known leads to."""

import re

import pytest

from textgauge import get_metric
from textgauge.core.errors import UnknownName
from textgauge.metrics import registry


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chrF++", "unknown metric 'chrF++'; use chrf(word_order=2)"),
        ("COMET", "give its scores as a column of the pairs: column:NAME"),
        ("prdc", "use pr and dc"),
        ("self-bleu", "use self_bleu_gap"),
        ("bert_score", "did you mean bertscore"),
    ],
)
def test_names_of_other_packages_lead_to_what_there_is(name, said):
    with pytest.raises(UnknownName, match=re.escape(said)):
        get_metric(name)


@pytest.mark.parametrize("names", [[3], b"jsd", [None]])
def test_what_is_no_name_is_refused(names):
    with pytest.raises(UnknownName, match="a metric is called by its name"):
        registry.get_metrics(names)


def test_what_is_named_instead_of_another_metric_is_a_metric():
    for said in registry._ELSEWHERE.values():
        named = re.match(r"use ([\w.()=@]+)", said)
        assert named is None or get_metric(named[1]).key
    assert not set(registry._ELSEWHERE) & set(registry.METRICS)
