"""Charts as files and in notebooks: a page that works without a network, SVG, PNG. The same chart gives the same bytes.

Pages hold the drawing library (vega, vega-lite, vega-embed) that comes with vl-convert.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import altair as alt

FORMATS = ("html", "svg", "png")
_Chart = TypeVar("_Chart")

# Nothing may be loaded from anywhere; the drawing library compiles its expressions, hence eval.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
_ACTIONS = {"export": True, "source": False, "compiled": False, "editor": False}  # the editor is a web site


def render_chart(chart: alt.ConcatChart, form: str) -> bytes:
    """Return the chart as the bytes of a file, `form` one of html, svg, png."""
    made = chart.to_dict(validate=False)  # tests do; checking every row of data takes longer than drawing
    spec = json.dumps(made)
    if form == "html":
        return render_page(made["title"]["text"], spec).encode()
    if form == "svg":
        return _render_svg(spec).encode()
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, scale=2, allowed_base_urls=[]))


def draw_without_network(chart: _Chart) -> _Chart:
    """Return the chart, which notebooks show as it is drawn here; altair alone would load a script from the web."""
    kind = type(chart)
    object.__setattr__(chart, "__class__", type(kind.__name__, (_Drawn, kind), {}))  # altair keeps attributes as data
    return chart


class _Drawn:
    def _repr_mimebundle_(self, *_: object, **__: object) -> dict[str, str]:
        return {"image/svg+xml": _render_svg(json.dumps(self.to_dict(validate=False)))}  # type: ignore[attr-defined]


def _render_svg(spec: str) -> str:
    import vl_convert

    return renumber_references(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def render_page(title: str, spec: str) -> str:
    """Return one HTML page with the chart and all it needs.

    altair's own page puts the JSON into a script as it is, so that a name with an end tag in it would leave the
    script; here it holds no `<`.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="UTF-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{html.escape(title)}</title>\n<script>{get_drawing_library()}</script>\n</head>\n<body>\n"
        f'<div id="figure"></div>\n<script type="application/json" id="spec">{escape_for_script(spec)}</script>\n'
        '<script>vegaEmbed("#figure", JSON.parse(document.getElementById("spec").textContent), '
        f'{{"renderer": "svg", "actions": {json.dumps(_ACTIONS)}}});</script>\n</body>\n</html>\n'
    )


def escape_for_script(text: str) -> str:
    r"""JSON that may stand inside a script element: no tag can begin or end in it.

    >>> escape_for_script('"</script>"')
    '"\\u003c/script>"'
    """
    return text.replace("<", r"\u003c")


@cache
def get_drawing_library() -> str:
    """Return the drawing library, which puts itself into `window.vegaEmbed`."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def renumber_references(svg: str) -> str:
    """Return the SVG with its references numbered from 0: the renderer goes on counting from one chart to the next.

    >>> renumber_references('<g fill="url(#gradient_7)"/><x id="gradient_7"/>')
    '<g fill="url(#gradient_0)"/><x id="gradient_0"/>'
    """
    numbers: dict[str, str] = {}

    def new(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"{found[1]}{len(numbers)}")

    return re.sub(r'(?:(?<= id=")|(?<=url\(#))(gradient_|clip)\d+(?=[")])', new, svg)
