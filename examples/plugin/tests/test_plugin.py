"""The plug-in keeps the contracts of textgauge, and textgauge finds it."""

from gauge_plugin.embedder import Letters

from textgauge import get_metric, list_metrics
from textgauge.encode.embedders import list_embedders
from textgauge.testing import check_embedder, check_metric, drop_models


def test_the_metric_keeps_its_contract():
    check_metric(drop_models(get_metric("mean_gap")))


def test_the_embedder_keeps_its_contract():
    check_embedder(Letters())


def test_textgauge_lists_both():
    assert "mean_gap" in {metric.name for metric in list_metrics()}
    assert "letters" in {row["name"] for row in list_embedders()}
