"""Write the drawing library of figures; all else is in pyproject.toml."""

from pathlib import Path

import vl_convert
from setuptools import setup

# vega, vega-lite and vega-embed in one script; their licences are in vega.LICENSE.txt.
DRAWING = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
Path(__file__).with_name("src").joinpath("textgauge", "core", "vega.js").write_text(DRAWING, encoding="utf-8")

setup()
