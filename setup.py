"""The compiled kernels; all else is in pyproject.toml. Without a compiler, numpy does their work."""

from setuptools import Extension, setup

NATIVE = "src/textgauge/native"
KERNELS = "angles eigenvalues eigenvectors interface kmeans kmeans_by_products rbf svm tridiagonal"

setup(
    ext_modules=[
        Extension(
            "textgauge.native._kernels",
            sources=[f"{NATIVE}/{name}.c" for name in KERNELS.split()],
            depends=[f"{NATIVE}/kernels.h"],
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
