import builtins
import json
import re
from importlib.resources import files

import altair as alt
import pytest

from textgauge.core.charts import library, rendered, without_network
from textgauge.core.errors import MissingExtra


@pytest.fixture
def chart():
    return without_network(
        alt.concat(alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q"), title=alt.Title("</script>"))
    )


@pytest.fixture
def core_only(monkeypatch):
    """As in an installation without the extra `figures`."""
    original = builtins.__import__

    def importing(name, *rest, **named):
        if name == "vl_convert":
            raise ImportError(name)
        return original(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", importing)


def test_the_library_has_its_licences():
    notice = (files("textgauge.core") / "vega.LICENSE.txt").read_text("utf-8")
    assert all(name in notice for name in ("vega 6.2.0", "vega-lite 6.4", "vega-embed 7.0.2", "Redistribution and use"))
    assert "window.vegaEmbed" in library()


def test_a_page_needs_no_extra(chart, core_only):
    page = rendered(chart, "html").decode()
    assert library() in page
    assert not re.search(r'(src|href)="http', page)
    assert json.loads(page.split('id="spec">')[1].split("</script>")[0])["title"]["text"] == "</script>"


@pytest.mark.parametrize("form", ["svg", "png"])
def test_other_files_name_the_line_that_installs_what_they_need(chart, core_only, form):
    with pytest.raises(MissingExtra, match=r"install.*'textgauge\[figures\]"):
        rendered(chart, form)


def test_notebooks_show_an_svg_or_a_frame_without_a_network(chart, core_only, monkeypatch):
    shown = chart._repr_mimebundle_()
    assert list(shown) == ["text/html"]
    assert shown["text/html"].startswith("<iframe")
    assert "http-equiv=&quot;Content-Security-Policy&quot;" in shown["text/html"]
    monkeypatch.undo()
    assert chart._repr_mimebundle_()["image/svg+xml"].startswith("<svg")
