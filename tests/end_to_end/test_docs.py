"""What the documentation shows is true: its code runs, its output is what is printed, its pages and links are there.

Every block of code of a page runs, in order, in a folder with small files and stand-ins for published data: Python in
one namespace, `textgauge …` in this process, `make …` as a dry run. A `text` block after commands is what they print.
Comments before a block, each with its reason:

    <!-- needs EXTRA: … -->     without the extra it ends with one line that names it, and exit code 2; else it runs
    <!-- fetches: … -->         not run: it reads a model of the hub
    <!-- serves: … -->          commands that run until the page ends
    <!-- varies: … -->          the output shown is one of many
    <!-- numbers vary: … -->    the output shown is compared without its numbers

`REWRITE_PAGES=1 python -m pytest tests/end_to_end/test_docs.py -k PAGE` writes what is printed onto a page that shows
something else.
"""

import contextlib
import doctest
import io
import os
import posixpath
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import types
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.end_to_end.docs_folder import chat_service, prepare, use_stand_ins, write_stand_ins

from textgauge.bench import list_protocols
from textgauge.bench.recommend import EFFORTS, list_usable_metrics
from textgauge.cli import main
from textgauge.core.errors import MissingExtra
from textgauge.encode.resources import is_available
from textgauge.metrics import get_metrics, list_metrics, registry
from textgauge.metrics.base import get_parameters

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
MARK = r"<!-- (?P<mark>needs \w+|fetches|serves|varies|numbers vary)(?:: (?P<reason>.*?))? *-->"
BLOCK = re.compile(rf"(?:^{MARK}\n\n?)?^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s]+)\)")
CODE = {"python", "sh"}
SHOWN = {"text", "csv", "json", "toml", "yaml"}  # languages of what is only shown
OUTPUT = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
REWRITE = "REWRITE_PAGES" in os.environ
# Their commands are those of README, on more texts; a cluster has tests of its own.
MARKS = dict.fromkeys(("choose-a-metric", "which-pair-metric", "run-on-a-cluster"), pytest.mark.slow)
NEEDED = ("minilm", "wordllama", "wordnet", "pos-en")
EXTRAS = {"generate": "torch", "st": "sentence_transformers"}  # and the package that each one brings

pytestmark = pytest.mark.skipif(
    not all(map(is_available, NEEDED)), reason=f"not all here: textgauge resources fetch {' '.join(NEEDED)}"
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and the comment before it."""

    language: str
    body: str
    mark: str | None
    reason: str | None
    span: tuple[int, int]

    @property
    def extra(self):
        """The extra that the block needs and that is not installed here."""
        name = (self.mark or "").removeprefix("needs ") if (self.mark or "").startswith("needs ") else None
        return name if name and find_spec(EXTRAS[name]) is None else None


def blocks_of(text):
    return [
        Block(
            found["language"], found["body"], found["mark"], (found["reason"] or "").strip() or None, found.span("body")
        )
        for found in BLOCK.finditer(text)
    ]


def run_page(text, page=None):
    """Run the blocks of a page in order, in the current folder; gives how many ran."""
    module, printed, ran, bodies = types.ModuleType("page"), None, 0, {}
    sys.modules["page"] = module  # a class of the page can be pickled, as one of a user's module
    with contextlib.ExitStack() as servers:
        for block in blocks_of(text):
            if block.mark == "fetches":
                ran += 1
            elif block.language == "python":
                printed = run_python(block, vars(module), bodies) or None
                ran += 1
            elif block.language == "sh":
                printed = "".join(run_line(line, block, servers) for line in commands_of(block.body))
                ran += 1
            elif block.language == "text" and printed is not None and block.mark != "varies":
                assert_shown(block, printed, bodies)
                printed = None
    for (start, end), body in sorted(bodies.items(), reverse=True):
        text = text[:start] + body + text[end:]
    if bodies:
        page.write_text(text, encoding="utf-8")
    return ran


class Rewriter(doctest.DocTestRunner):
    """Notes what a session prints in place of what it shows."""

    def __init__(self, body):
        super().__init__(optionflags=OUTPUT)
        self.body, self.printed = body, []

    def report_failure(self, out, test, example, got):
        start = example.lineno + example.source.count("\n")
        shown = re.sub(" +$", "", got, flags=re.M).rstrip("\n")
        shown = re.sub("^$", "<BLANKLINE>", shown, flags=re.M)
        self.printed.append((start, start + example.want.count("\n"), f"{shown}\n"))

    def report_unexpected_exception(self, out, test, example, exc_info):
        raise exc_info[1]

    def rewrite(self):
        lines = self.body.splitlines(keepends=True)
        for start, end, shown in reversed(self.printed):
            lines[start:end] = [shown]
        return "".join(lines)


def run_python(block, names, bodies):
    """What a block of Python prints; that of a session is checked as a doctest."""
    if block.extra:
        with pytest.raises(MissingExtra, match=re.escape(f"textgauge[{block.extra}]")):
            exec(compile(block.body, "page", "exec"), names)
        return ""
    if ">>>" not in block.body:
        with contextlib.redirect_stdout(io.StringIO()) as told:
            exec(compile(block.body, "page", "exec"), names)
        return told.getvalue()
    test, told = doctest.DocTestParser().get_doctest(block.body, {}, "page", None, None), io.StringIO()
    test.globs = names
    if REWRITE:
        rewriter = Rewriter(block.body)
        if rewriter.run(test, out=told.write, clear_globs=False).failed:
            bodies[block.span] = rewriter.rewrite()
        return ""
    results = doctest.DocTestRunner(optionflags=OUTPUT).run(test, out=told.write, clear_globs=False)
    assert results.failed == 0, told.getvalue()
    return ""


def commands_of(body):
    return [line for line in body.replace("\\\n", " ").splitlines() if line and not line.lstrip().startswith("#")]


def run_line(line, block, servers):
    """What a line of a block prints."""
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, check=True, capture_output=True)
        return ""
    if block.mark == "serves":
        servers.enter_context(serving(words))
        return ""
    return run_command(words, block.extra)


def run_command(words, extra=None):
    """What a command prints; the output of `… > FILE` goes there. Without an extra it needs, one line that names it."""
    told, complained = io.StringIO(), io.StringIO()
    words, target = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)
    assert words[0] == "textgauge", f"not a command of ours: {words}"
    with (
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(complained),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("sys.argv", words)
        with pytest.raises(SystemExit) as stop:
            main()
    if extra:
        assert stop.value.code == 2, f"exit code {stop.value.code} without {extra}: {words}"
        assert complained.getvalue().count("\n") == 1
        assert f"pip install 'textgauge[{extra}]'" in complained.getvalue()
        return ""
    assert not stop.value.code, f"exit code {stop.value.code}: {words}\n{complained.getvalue()}"
    if target is None:
        return told.getvalue()
    Path(target).write_text(told.getvalue(), encoding="utf-8")
    return ""


@contextlib.contextmanager
def serving(words):
    """A program that runs until it is no longer needed; one with a port is waited for."""
    with subprocess.Popen(
        [sys.executable, "-m", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as found:
        try:
            if "--port" in words:
                _wait_for(int(words[words.index("--port") + 1]), found)
            yield
        finally:
            found.terminate()


def _wait_for(port, program):
    for _ in range(1200):
        assert program.poll() is None, "the program ended"
        with contextlib.suppress(OSError), socket.create_connection(("localhost", port), timeout=1.0):
            return
        time.sleep(0.1)
    pytest.fail(f"nothing answers at port {port}")


def assert_shown(block, printed, bodies):
    """The output that a page shows is what was printed; rulers have any length, and sacrebleu any version."""
    wanted, got = (re.sub("─+|version:[0-9.]+", "─", text) for text in (block.body, printed))
    if block.mark == "numbers vary":
        wanted, got = (re.sub(r"\d[\d,.]*(e[-+]?\d+)?", "0", text) for text in (wanted, got))
    if not doctest.OutputChecker().check_output(wanted, got, OUTPUT):
        if REWRITE:
            bodies[block.span] = re.sub(" +$", "", printed, flags=re.M).strip() + "\n"
            return
        pytest.fail(f"shown:\n{block.body}\nprinted:\n{printed}")


@pytest.fixture(scope="module")
def generated():
    """The pages that the site's hook writes, by path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        import _pages  # type: ignore[import-not-found]

        yield _pages.all_pages()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Small files and stand-ins for published data, made once."""
    found = tmp_path_factory.mktemp("prepared")
    (found / "here").mkdir()
    prepare(found / "here")
    write_stand_ins(found / "data")
    return found


@pytest.fixture
def folder(prepared, tmp_path, monkeypatch):
    """A folder with small files, as the current one; metrics that a page registers are forgotten."""
    shutil.copytree(prepared / "here", tmp_path, dirs_exist_ok=True)
    use_stand_ins(prepared / "data", monkeypatch)
    monkeypatch.chdir(tmp_path)
    known = dict(registry.METRICS)
    with chat_service(monkeypatch):
        yield tmp_path
    registry.METRICS.clear()
    registry.METRICS.update(known)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=MARKS.get(page.stem, ()), id=page.relative_to(ROOT).as_posix()) for page in WRITTEN],
)
def test_the_code_of_a_page_runs(page, folder, monkeypatch):
    if page.stem == "tour":  # which shows nothing that `recommend` prints; its tutorial tries all metrics
        small = replace(EFFORTS["quick"], texts=100, mixture=20, sizes=(25, 50), tests=2, repetitions=3)
        monkeypatch.setitem(EFFORTS, "quick", small)
        few = {kind: list_usable_metrics(kind)[:4] for kind in ("corpus", "pair")}
        monkeypatch.setattr(sys.modules["textgauge.bench.recommend"], "list_usable_metrics", few.get)
    text = page.read_text(encoding="utf-8")
    assert run_page(text, page) == sum(block.language in CODE for block in blocks_of(text))


def test_no_block_is_passed_over():
    """Every fence is a block of a known language, every comment before one is a known mark with a reason."""
    for page in WRITTEN:
        text = page.read_text(encoding="utf-8")
        found = blocks_of(text)
        assert len(found) == len(re.findall("^ *```", text, re.M)) / 2, f"{page.name}: a fence that no test sees"
        assert {block.language for block in found} <= CODE | SHOWN, f"{page.name}: a block that no test runs"
        comments = re.findall(r"^<!-- .*? -->\n\n?```", text, re.M | re.S)
        marked = [block for block in found if block.mark]
        assert len(comments) == len(marked), f"{page.name}: a comment before a block that means nothing"
        assert all(block.reason for block in marked), f"{page.name}: a mark without a reason"
        assert all(block.mark.removeprefix("needs ") in EXTRAS for block in marked if block.mark.startswith("needs "))


def test_commands_stand_in_fences():
    for page in WRITTEN:
        outside = BLOCK.sub("", page.read_text(encoding="utf-8"))
        bare = re.findall(r"^ {4,}(?:textgauge |>>> ).*", outside, re.M)
        assert not bare, f"{page.name}: code that no test runs: {bare[0]}"


@pytest.mark.parametrize("metric", list_metrics(), ids=lambda metric: metric.name)
def test_every_metric_has_a_page_that_tells_all(metric, generated, folder):
    text = generated[f"reference/metrics/{metric.name}.md"]
    assert text.startswith(f"# {metric.label}\n")
    told = [metric.source, "**Values**", "**Symmetric**", "## Definition", "## When it is undefined"]
    told += ["## What a good value is", "## Example"]
    told += [f"| `{name}` |" for name in get_parameters(type(metric))]
    told += [f"| `{metric.name}.{part.name}` |" for part in metric.parts]
    assert [piece for piece in told if piece not in text.replace("&amp;", "&")] == []
    assert not re.search(r"^\| `\w+` \|.*\| +\|$", text, re.M), "a parameter that is not explained"
    assert run_page(text) >= 2


def test_names_on_metric_pages_are_names(generated):
    for metric in list_metrics():
        section = generated[f"reference/metrics/{metric.name}.md"].partition("## Names")[2].partition("## ")[0]
        single, _, grids = section.partition("Grids")
        for name in re.findall("`([^`]+)`", single):
            assert len(get_metrics(name)) == 1
        for name in re.findall("`([^`]+)`", grids):
            assert len(get_metrics(name)) == 2


def test_protocols_tell_their_measures_and_commands_their_options(generated):
    protocols, commands = generated["reference/protocols.md"], generated["reference/commands.md"]
    for kind in list_protocols().values():
        section = protocols.partition(f"\n## {kind.name}\n")[2].partition("\n## ")[0]
        assert [one.name for one in kind.measures if f"| `{one.name}` |" not in section] == []
    for words in ("compare", "recommend", "generate eda", "resources fetch", "train ensemble"):
        assert f"\n## textgauge {words}\n" in commands
    assert "| `--explain` |" in commands


def test_reference_pages_hold_no_markup_that_is_not_read(generated):
    reference = {path: text for path, text in generated.items() if path.startswith("reference/")}
    assert [path for path, text in reference.items() if "&lt;span" in text or "\\\\[" in text or "-----" in text] == []
    options = set(re.findall("`(--[a-z-]+)`", reference["reference/commands.md"]))
    assert set(re.findall("`(--[a-z-]+)`", reference["reference/protocols.md"])) <= options | {"--param"}


def test_examples_of_commands_are_calls_that_can_be_read(generated):
    import _pages.commands

    for path, command in _pages.commands.all_commands():
        items = command.assemble_argument_collection()
        known = {"-q", "-v", *(name for item in items for name in (*item.names, *item.negatives))}
        for call in _pages.commands.examples(command):
            assert call.startswith(path)
            assert {word for word in shlex.split(call) if re.match("--?[a-z]", word)} <= known, call


def test_the_list_for_language_models_says_what_pages_are_about(generated):
    from _pages.llms import llms_text

    pages = {**generated, "index.md": "# Home\n\nWhat [it](x.md)\nis. More.", "a.md": "# A\n\n| x |\n"}
    navigation = [{"Home": "index.md"}, {"Reference": [{"Python": "reference/python.md"}, {"A": "a.md"}]}]
    assert llms_text(navigation, "About.", pages.__getitem__).splitlines()[4:] == [
        "## Home",
        "",
        "- [Home](./): What it is.",
        "",
        "## Reference",
        "",
        "- [Python](reference/python/): All of `import textgauge`, and the contracts and assertions of "
        "`textgauge.testing`.",
        "- [A](a/)",
    ]


def test_links_between_pages_lead_somewhere(generated):
    pages = generated | {page.relative_to(DOCS).as_posix(): page.read_text("utf-8") for page in DOCS.rglob("*.md")}
    for path, text in pages.items():
        for link in _links(text):
            target, _, anchor = link.partition("#")
            where = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            assert where in pages or (DOCS / where).is_file(), f"{path}: {link} leads nowhere"
            assert not anchor or anchor in _anchors(pages[where]), f"{path}: {link} has no such heading"
    for link in _links((ROOT / "README.md").read_text("utf-8")):
        assert (ROOT / link.partition("#")[0]).exists(), f"README.md: {link} leads nowhere"


def test_every_written_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [
        page.name for page in DOCS.rglob("*.md") if f": {page.relative_to(DOCS).as_posix()}\n" not in navigation
    ] == []


def _links(text):
    return [link for link in LINK.findall(BLOCK.sub("", text)) if "://" not in link and not link.startswith("mailto:")]


def _anchors(text):
    titles = re.findall(r"^#+ (.*)$", BLOCK.sub("", text), re.M)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in titles}
