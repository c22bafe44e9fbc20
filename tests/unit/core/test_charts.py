import json
import re

import altair as alt
import pytest

from textgauge.core.charts import library, rendered, without_network


@pytest.fixture
def chart():
    return without_network(
        alt.concat(alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q"), title=alt.Title("</script>"))
    )


def test_a_page_needs_no_network(chart):
    page = rendered(chart, "html").decode()
    assert library() in page
    assert "window.vegaEmbed" in library()
    assert not re.search(r'(src|href)="http', page)
    assert json.loads(page.split('id="spec">')[1].split("</script>")[0])["title"]["text"] == "</script>"


def test_notebooks_show_an_svg(chart):
    assert chart._repr_mimebundle_()["image/svg+xml"].startswith("<svg")
