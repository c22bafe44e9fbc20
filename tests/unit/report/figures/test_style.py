"""How figures are put together: in another way than altair's own, with the same result."""

import altair as alt
import polars as pl
import pytest

from textgauge.report.figures.style import draw_panel, prepare_data

ROWS = pl.DataFrame({"x": [1.0, 2.0], "low": [0.5, 0.7], "high": [1.5, None], "name": ["a", "b"]})


def layers():
    x = alt.X("x:Q", title="steps", axis=alt.Axis(format="d", grid=False), scale=alt.Scale(domain=[0, 3]))
    tip = [alt.Tooltip("name:N"), alt.Tooltip("low:Q", format=".6g")]
    dark = alt.condition("datum.low > 0.6", alt.value("white"), alt.value("#222222"))
    band = alt.Chart(ROWS).mark_area(opacity=0.25).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), tooltip=tip)
    words = alt.Chart(ROWS.head(1)).mark_text(dy=-5).encode(x, alt.Text("name:N"), color=dark)
    return [band, words, alt.Chart(ROWS).mark_rule().encode(alt.Y("low:Q"), x=alt.value(4))]


@pytest.mark.parametrize("title", [None, "energy"])
def test_a_panel_is_the_one_that_altair_makes(title):
    own = alt.LayerChart(layer=layers()).properties(width=180, height=140)
    if title is not None:
        look = {"anchor": "start", "limit": 180, "fontSize": 11, "frame": "group"}
        own = own.properties(title=alt.TitleParams(title, subtitle=["ρ 0.5"], **look))
    made = draw_panel(layers(), title, "ρ 0.5", resolve={"scale": {"stroke": "independent"}})
    assert made.to_dict() == own.resolve_scale(stroke="independent").to_dict()


def test_layers_can_be_drawn_again():
    drawn = layers()
    first = draw_panel(drawn, None).to_dict()
    assert draw_panel(drawn, None).to_dict() == first
    assert draw_panel(draw_panel(drawn, None, width=1).layer, None).to_dict() == first


def test_texts_of_data_are_printable_in_every_row_and_gaps_stay():
    numbers = [1.0, float("inf"), float("nan"), 2.0]
    found = prepare_data(pl.DataFrame({"name": ["a\x00", None, "b", "a\x00"], "value": numbers}))
    assert found["name"].to_list() == ["a\ufffd", None, "b", "a\ufffd"]
    assert found["value"].to_list() == [1.0, None, None, 2.0]
