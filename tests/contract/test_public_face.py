"""What can be imported from the face is exactly what is declared, it is light, and it needs no network."""

import subprocess
import sys

import textgauge


def test_all_names_exist_and_are_few():
    assert all(hasattr(textgauge, name) for name in textgauge.__all__)
    assert len(textgauge.__all__) <= 35
    assert sorted(textgauge.__all__) == textgauge.__all__


def test_importing_loads_no_heavy_module():
    heavy = ["scipy", "sklearn", "polars", "onnxruntime", "tokenizers", "torch", "cyclopts", "rich", "pooch"]
    code = f"import sys, textgauge; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
