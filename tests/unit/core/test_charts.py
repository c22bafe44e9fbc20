import json
import re

import altair as alt
import pytest

from textgauge.core.charts import draw_without_network, get_drawing_library, render_chart


@pytest.fixture
def chart():
    return draw_without_network(
        alt.concat(alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q"), title=alt.Title("</script>"))
    )


def test_a_page_needs_no_network(chart):
    page = render_chart(chart, "html").decode()
    assert get_drawing_library() in page
    assert "window.vegaEmbed" in get_drawing_library()
    assert not re.search(r'(src|href)="http', page)
    assert json.loads(page.split('id="spec">')[1].split("</script>")[0])["title"]["text"] == "</script>"


def test_notebooks_show_an_svg(chart):
    assert chart._repr_mimebundle_()["image/svg+xml"].startswith("<svg")
