"""What no part of the package does: run what it reads, start a shell, make a page that may load anything."""

import ast

import pytest
from benchmarks.audit import summary
from tests.contract.source import PACKAGE, parse_modules

from textgauge.bench.store import Store
from textgauge.core.errors import TextgaugeError
from textgauge.data.source import load_corpus
from textgauge.encode.embedders import get_embedder
from textgauge.encode.resources import locate

FORBIDDEN = {"eval", "exec", "compile", "__import__"}
SERIALISED = {"pickle", "marshal", "shelve", "dill", "joblib"}


def is_unsafe(node):
    """Whether code evaluates or unpickles what it reads, or starts a shell."""
    if isinstance(node, ast.Import):
        return bool(SERIALISED & {name.name.partition(".")[0] for name in node.names})
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in SERIALISED
    if not isinstance(node, ast.Call):
        return False
    given = [word.value for word in node.keywords if word.arg in ("shell", "allow_pickle")]
    allowing = [value for value in given if not (isinstance(value, ast.Constant) and value.value is False)]
    return bool(allowing) or (isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN)


def test_nothing_is_evaluated_unpickled_or_given_to_a_shell():
    modules = {name: tree for name, tree in parse_modules().items() if not name.startswith("testing/")}
    unsafe = [f"{name}:{node.lineno}" for name, tree in modules.items() for node in ast.walk(tree) if is_unsafe(node)]
    assert unsafe == []
    for code in (
        "eval(x)",
        "run(x, shell=True)",
        "load(x, allow_pickle=y)",
        "import pickle",
        "from joblib import load",
    ):
        assert is_unsafe(getattr(ast.parse(code).body[0], "value", ast.parse(code).body[0])), code


def test_every_page_has_a_content_policy():
    pages = [
        path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".html") and "<html" in path.read_text("utf-8")
    ]
    assert len(pages) >= 2
    for path in pages:
        text = path.read_text("utf-8")
        assert "Content-Security-Policy" in text or "STATIC_PAGE_POLICY" in text, path


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "..\\secret", "a/../../b", "x\0y", "."])
def test_names_of_datasets_resources_and_encoders_do_not_leave_their_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("a text")
    for read in (locate, lambda given: load_corpus(f"sample:{given}"), get_embedder):
        with pytest.raises(TextgaugeError):
            read(name)


def test_the_names_of_stored_results_are_hashes(tmp_path):
    from textgauge.bench.plan import Cell

    cell = Cell("../../x", "../y", "../z", 0, 0, "../m", "../s")
    path = Store(tmp_path / "run").path(cell).resolve()
    assert (tmp_path / "run").resolve() in path.parents
    assert path.stem.isalnum()


def test_an_audit_that_reached_nothing_does_not_look_clean():
    weak = {"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}
    clean, skipped = {"name": "b", "version": "1", "vulns": []}, {"name": "c", "skip_reason": "not found"}
    assert summary([skipped]) == summary([]) == (["Not audited: the source of advisories cannot be reached."], False)
    assert summary([clean, skipped]) == (["Packages: 1 audited, 1 not."], False)
    assert summary([weak, clean]) == (["Packages: 2 audited, 0 not.", "a 1: CVE-1, mended in 2"], True)
