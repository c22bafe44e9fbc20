"""The compiled library and the drawing library of figures; all else is in pyproject.toml.

Without a C compiler, NumPy does the work of the compiled library.

The library includes no Python header, so one wheel serves every Python of a platform (`py3-none-PLATFORM`).
`TEXTGAUGE_NATIVE=0` leaves it out of the build: a wheel for all platforms.
Its size and digest are written next to it, so that a damaged or foreign library is refused before it is loaded.
"""

import hashlib
import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import vl_convert
from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

# No contraction: what is computed entry by entry has the same bits as in NumPy.
UNIX = ["-O3", "-g0", "-std=c11", "-fopenmp-simd", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
MSVC = ["/O2", "/std:c11", "/fp:precise"]


class BuildLibrary(build_ext):
    """Build the library under a name that holds no version of Python."""

    def run(self) -> None:
        """Build, then record what was built."""
        super().run()
        for path in (Path(self.get_ext_fullpath(ext.name)) for ext in self.extensions):
            if path.is_file():
                content = path.read_bytes()
                record = f"{len(content)} {hashlib.sha256(content).hexdigest()}\n"
                path.with_name(f"{path.name}.sha256").write_text(record, encoding="ascii")

    def build_extension(self, ext: Extension) -> None:
        """Compile with the options of the compiler at hand; no path of this machine goes into the library."""
        msvc = self.compiler.compiler_type == "msvc"
        ext.extra_compile_args = MSVC if msvc else UNIX
        if not msvc:
            self.compiler.linker_so = [option for option in self.compiler.linker_so if "-rpath" not in option]
        super().build_extension(ext)

    def get_export_symbols(self, ext: Extension) -> list[str]:
        """None but those of the C file: on Windows the linker would look in vain for the start of a Python module."""
        return []

    def get_ext_filename(self, ext_name: str) -> str:
        """The file of an extension, with the shortest suffix that this platform has."""
        return str(Path(*ext_name.split("."))) + EXTENSION_SUFFIXES[-1]


class Wheel(bdist_wheel):
    """A wheel that is bound to the platform alone."""

    def get_tag(self) -> tuple[str, str, str]:
        """Python, ABI, platform."""
        return "py3", "none", super().get_tag()[2]


LIBRARY = Extension(
    "textgauge.metrics.numerics.native._kmeans",
    sources=["src/textgauge/metrics/numerics/native/kmeans.c"],
    optional=True,
)

# vega, vega-lite and vega-embed in one script; their licences are in vega.LICENSE.txt.
DRAWING = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
Path(__file__).with_name("src").joinpath("textgauge", "core", "vega.js").write_text(DRAWING, encoding="utf-8")

setup(
    ext_modules=[] if os.environ.get("TEXTGAUGE_NATIVE") == "0" else [LIBRARY],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": Wheel},
)
