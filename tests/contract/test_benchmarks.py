"""Every benchmark can be imported, so that a name that moved in the package is noticed before somebody runs it."""

import pkgutil
from importlib import import_module

import benchmarks
import pytest

MODULES = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_is_importable(name):
    try:
        import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        peer = (error.name or "").partition(".")[0]
        assert peer not in ("textgauge", "benchmarks", "tests")
        pytest.skip(f"{peer} is not installed")
