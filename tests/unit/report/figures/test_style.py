"""How figures are put together: in another way than altair's own, with the same result."""

import altair as alt
import polars as pl
import pytest

from textgauge.report.figures.style import layer_charts, make_title, prepare_data

ROWS = pl.DataFrame({"x": [1.0, 2.0], "low": [0.5, 0.7], "high": [1.5, None], "name": ["a", "b"]})


def layers():
    x = alt.X("x:Q", title="steps", axis=alt.Axis(format="d", grid=False), scale=alt.Scale(domain=[0, 3]))
    tip = [alt.Tooltip("name:N"), alt.Tooltip("low:Q", format=".6g")]
    dark = alt.condition("datum.low > 0.6", alt.value("white"), alt.value("#222222"))
    band = alt.Chart(ROWS).mark_area(opacity=0.25).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), tooltip=tip)
    words = alt.Chart(ROWS.head(1)).mark_text(dy=-5).encode(x, alt.Text("name:N"), color=dark)
    return [band, words, alt.Chart(ROWS).mark_rule().encode(alt.Y("low:Q"), x=alt.value(4))]


@pytest.mark.parametrize("title", [None, make_title("energy", "ρ 0.5")])
def test_a_panel_is_the_one_that_altair_makes(title):
    own = alt.LayerChart(layer=layers()).properties(width=180, height=140)
    own = own if title is None else own.properties(title=title)
    made = layer_charts(layers(), width=180, height=140, title=title, resolve={"scale": {"stroke": "independent"}})
    assert made.to_dict() == own.resolve_scale(stroke="independent").to_dict()


def test_layers_can_be_drawn_again():
    drawn = layers()
    first = layer_charts(drawn, width=180, height=140).to_dict()
    assert layer_charts(drawn, width=180, height=140).to_dict() == first
    assert layer_charts(layer_charts(drawn, width=1, height=1).layer, width=180, height=140).to_dict() == first


def test_texts_of_data_are_printable_in_every_row_and_gaps_stay():
    numbers = [1.0, float("inf"), float("nan"), 2.0]
    found = prepare_data(pl.DataFrame({"name": ["a\x00", None, "b", "a\x00"], "value": numbers}))
    assert found["name"].to_list() == ["a\ufffd", None, "b", "a\ufffd"]
    assert found["value"].to_list() == [1.0, None, None, 2.0]
