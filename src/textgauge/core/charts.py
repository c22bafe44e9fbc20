"""Charts as files and in notebooks: a page that works without a network, SVG, PNG. The same chart gives the same bytes.

`vega.js` is the drawing library (vega 6.2.0, vega-lite 6.4, vega-embed 7.0.2; licences in `vega.LICENSE.txt`), which
`setup.py` takes out of vl-convert when textgauge is built.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from textgauge.core.errors import MissingExtra

if TYPE_CHECKING:
    import altair as alt

FORMATS = ("html", "svg", "png")
_Chart = TypeVar("_Chart")

# Nothing may be loaded from anywhere; the drawing library compiles its expressions, hence eval.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
_ACTIONS = {"export": True, "source": False, "compiled": False, "editor": False}  # the editor is a web site


def rendered(chart: alt.ConcatChart, form: str) -> bytes:
    """The chart as the bytes of a file, `form` one of html, svg, png; the last two need the extra `figures`."""
    made = chart.to_dict(validate=False)  # tests do; checking every row of data takes longer than drawing
    spec = json.dumps(made)
    if form == "html":
        return page(made["title"]["text"], spec).encode()
    if form == "svg":
        return _svg(spec).encode()
    return bytes(_converter().vegalite_to_png(spec, scale=2, allowed_base_urls=[]))


def without_network(chart: _Chart) -> _Chart:
    """The chart, which notebooks show as it is drawn here; altair alone would load a script from the web."""
    kind = type(chart)
    object.__setattr__(chart, "__class__", type(kind.__name__, (_Drawn, kind), {}))  # altair keeps attributes as data
    return chart


class _Drawn:
    def _repr_mimebundle_(self, *_: object, **__: object) -> dict[str, str]:
        """An SVG, or without the extra `figures` a frame with the drawing library in it."""
        spec = json.dumps(self.to_dict(validate=False))  # type: ignore[attr-defined]
        try:
            return {"image/svg+xml": _svg(spec)}
        except MissingExtra:
            frame = '<iframe style="width: 100%; height: 420px; border: 0" srcdoc="{}"></iframe>'
            return {"text/html": frame.format(html.escape(page("Figure", spec)))}


def _svg(spec: str) -> str:
    return renumbered(_converter().vegalite_to_svg(spec, allowed_base_urls=[]))


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra.named("a figure as .svg or .png (.html needs nothing more)", "figures") from None
    return vl_convert


def page(title: str, spec: str) -> str:
    """One HTML page with the chart and all it needs.

    altair's own page puts the JSON into a script as it is, so that a name with an end tag in it would leave the
    script; here it holds no `<`.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="UTF-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{html.escape(title)}</title>\n<script>{library()}</script>\n</head>\n<body>\n"
        f'<div id="figure"></div>\n<script type="application/json" id="spec">{in_script(spec)}</script>\n'
        '<script>vegaEmbed("#figure", JSON.parse(document.getElementById("spec").textContent), '
        f'{{"renderer": "svg", "actions": {json.dumps(_ACTIONS)}}});</script>\n</body>\n</html>\n'
    )


def in_script(text: str) -> str:
    r"""JSON that may stand inside a script element: no tag can begin or end in it.

    >>> in_script('"</script>"')
    '"\\u003c/script>"'
    """
    return text.replace("<", r"\u003c")


@cache
def library() -> str:
    """The drawing library, which puts itself into `window.vegaEmbed`."""
    return (files("textgauge.core") / "vega.js").read_text("utf-8")


def renumbered(svg: str) -> str:
    """The SVG with its references numbered from 0: the renderer goes on counting from one chart to the next.

    >>> renumbered('<g fill="url(#gradient_7)"/><x id="gradient_7"/>')
    '<g fill="url(#gradient_0)"/><x id="gradient_0"/>'
    """
    numbers: dict[str, str] = {}

    def new(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"{found[1]}{len(numbers)}")

    return re.sub(r'(?:(?<= id=")|(?<=url\(#))(gradient_|clip)\d+(?=[")])', new, svg)
