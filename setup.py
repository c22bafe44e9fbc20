"""The compiled kernels; all else is in pyproject.toml. Without a compiler, numpy does their work."""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "textgauge.numerics.native._kernels",
            sources=sorted(glob("src/textgauge/numerics/native/*.c")),
            depends=sorted(glob("src/textgauge/numerics/native/*.h")),
            # No contraction: what is computed entry by entry has the same bits as in numpy.
            extra_compile_args=[
                "-O3",
                "-std=c11",
                "-fopenmp-simd",
                "-ffp-contract=off",
                "-fno-math-errno",
                "-fno-trapping-math",
            ],
            optional=True,
        )
    ]
)
