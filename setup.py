"""The compiled library; all else is in pyproject.toml. Without a C compiler, NumPy does its work."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "textgauge.numerics.native._kmeans",
            sources=["src/textgauge/numerics/native/kmeans.c"],
            # No contraction: what is computed entry by entry has the same bits as in NumPy.
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
