"""What no part of the package does: run what it reads, start a shell, make a page that may load anything."""

import ast
from pathlib import Path

import pytest
from benchmarks.audit import summary

import textgauge
from textgauge.bench.store import Store
from textgauge.core.errors import TextgaugeError
from textgauge.data.source import load_corpus
from textgauge.encode.embedders import get_embedder
from textgauge.encode.resources import locate

ROOT = Path(textgauge.__file__).parent
MODULES = [path for path in sorted(ROOT.rglob("*.py")) if path.parent.name != "testing"]
FORBIDDEN = {"eval", "exec", "compile", "__import__"}
SERIALISED = {"pickle", "marshal", "shelve", "dill", "joblib"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_evaluated_unpickled_or_given_to_a_shell(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            assert not (isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN), node.lineno
            options = {word.arg: word.value for word in node.keywords}
            shell = options.get("shell")
            assert shell is None or (isinstance(shell, ast.Constant) and shell.value is False), node.lineno
            allowed = options.get("allow_pickle")
            assert allowed is None or (isinstance(allowed, ast.Constant) and allowed.value is False), node.lineno
        elif isinstance(node, ast.Import):
            assert not SERIALISED & {name.name.partition(".")[0] for name in node.names}, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").partition(".")[0] not in SERIALISED, node.lineno


def test_every_page_has_a_content_policy():
    pages = [path for path in ROOT.rglob("*") if path.suffix in (".py", ".html") and "<html" in path.read_text("utf-8")]
    assert len(pages) >= 3
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
