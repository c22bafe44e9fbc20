"""What the documentation shows is true: its code runs, its output is what is printed, its pages and links are there.

Blocks of a page run in order, in a folder with small files: Python in one namespace, `textgauge …` in this process.
A `text` block after commands is what they print. Comments before a block, each with its reason:

    <!-- skip: … -->            it does not run
    <!-- varies: … -->          the output shown is one of many
    <!-- numbers vary: … -->    the output shown is compared without its numbers
"""

import contextlib
import csv
import doctest
import io
import posixpath
import re
import shlex
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from textgauge.cli import main
from textgauge.datasets import load_pairs, load_texts, sample
from textgauge.metrics import get_metrics, list_metrics, registry
from textgauge.metrics.base import parameters
from textgauge.protocols import PROTOCOLS
from textgauge.represent.resources import available

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>skip|varies|numbers vary)(?:: (?P<reason>.*?))? *-->\n\n?)?"
    r"^```(?P<language>\w*)\n(?P<body>.*?)^```$",
    re.M | re.S,
)
LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s]+)\)")
SHOWN = {"text", "csv", "json", "toml", "yaml"}  # languages of what is only shown
OUTPUT = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
NEEDED = ("minilm", "wordllama", "wordnet", "pos-en")

pytestmark = pytest.mark.skipif(
    not all(map(available, NEEDED)), reason=f"not all here: textgauge resources fetch {' '.join(NEEDED)}"
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and the comment before it."""

    language: str
    body: str
    mark: str | None
    reason: str | None


def blocks_of(text):
    return [
        Block(found["language"], found["body"], found["mark"], (found["reason"] or "").strip() or None)
        for found in BLOCK.finditer(text)
    ]


def prepare(folder):
    """The small files that pages speak of."""
    banking, travel = (sample(name, n=120).texts for name in ("banking", "travel"))
    pairs = load_pairs("sample:graded", limit=60)
    copies = [text.replace("card", "credit card") for text in banking[:20]]
    for name, texts in {
        "reference.txt": banking[:60],
        "candidate.txt": travel[:60],
        "a.txt": banking,
        "b.txt": travel,
        "train.txt": banking[:60],
        "test.txt": banking[60:90],
        "generated.txt": [*banking[90:], *copies],
        "other.txt": banking[80:],
        "gan.txt": banking[70:],
        "gpt.txt": travel[:30],
        "out.txt": pairs.left[:30],
        "ref.txt": pairs.right[:30],
        "ref1.txt": pairs.right[:30],
        "ref2.txt": pairs.right[30:],
        "old.txt": pairs.left[30:],
    }.items():
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    _table(folder / "a.csv", ["text"], zip(banking[:60], strict=True))
    _table(folder / "b.csv", ["text"], zip(travel[:60], strict=True))
    for name in ("rated.csv", "pairs.csv"):
        _table(folder / name, ["a", "b", "score"], zip(pairs.left, pairs.right, pairs.grade, strict=True))
    paraphrases = load_pairs("sample:banking", limit=200)
    _table(folder / "paraphrases.csv", ["a", "b"], zip(paraphrases.left, paraphrases.right, strict=True))
    labelled = load_texts("sample:banking", limit=400)
    for name in ("labelled.csv", "texts.csv"):
        _table(folder / name, ["body", "topic"], zip(labelled.texts, labelled.labels, strict=True))
    rows = np.random.default_rng(0).normal(size=(2, 40, 8))
    for name, side in zip(("a.npy", "b.npy"), rows, strict=True):
        np.save(folder / name, side)


def _table(path, head, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def run_page(text):
    """Run the blocks of a page in order, in the current folder; gives how many ran."""
    module, printed, ran = types.ModuleType("page"), None, 0
    sys.modules["page"] = module  # a class of the page can be pickled, as one of a user's module
    for block in blocks_of(text):
        if block.mark == "skip":
            printed = None
        elif block.language == "python":
            run_python(block.body, vars(module))
            ran += 1
        elif block.language == "sh":
            printed = "".join(run_command(line) for line in commands_of(block.body))
            ran += 1
        elif block.language == "text" and printed is not None and block.mark != "varies":
            assert_shown(block, printed)
            printed = None
    return ran


def run_python(body, names):
    if ">>>" not in body:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(body, "page", "exec"), names)
        return
    test, told = doctest.DocTestParser().get_doctest(body, {}, "page", None, None), io.StringIO()
    test.globs = names
    results = doctest.DocTestRunner(optionflags=OUTPUT).run(test, out=told.write, clear_globs=False)
    assert results.failed == 0, told.getvalue()


def commands_of(body):
    return [line for line in body.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]


def run_command(line):
    """What a command prints; the output of `… > FILE` goes there."""
    words, told = shlex.split(line, comments=True), io.StringIO()
    words, target = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)
    assert words[0] == "textgauge", f"not a command of ours, mark it with a reason to skip it: {line}"
    with contextlib.redirect_stdout(told), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", words)
        with pytest.raises(SystemExit) as stop:
            main()
    assert not stop.value.code, f"exit code {stop.value.code}: {line}"
    if target is None:
        return told.getvalue()
    Path(target).write_text(told.getvalue(), encoding="utf-8")
    return ""


def assert_shown(block, printed):
    """The output that a page shows is what was printed; rulers have any length."""
    wanted, got = (re.sub("─+", "─", text) for text in (block.body, printed))
    if block.mark == "numbers vary":
        wanted, got = (re.sub(r"\d[\d,.]*(e[-+]?\d+)?", "0", text) for text in (wanted, got))
    if not doctest.OutputChecker().check_output(wanted, got, OUTPUT):
        pytest.fail(f"shown:\n{block.body}\nprinted:\n{printed}")


@pytest.fixture(scope="module")
def generated():
    """The pages that the site's hook writes, by path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        import _pages  # type: ignore[import-not-found]

        yield _pages.all_pages()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with small files, as the current one; metrics that a page registers are forgotten."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    known = dict(registry.known_metrics())
    yield tmp_path
    registry.known_metrics().clear()
    registry.known_metrics().update(known)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_runs(page, folder):
    text = page.read_text(encoding="utf-8")
    ran = run_page(text)
    assert ran == sum(block.language in ("python", "sh") and block.mark != "skip" for block in blocks_of(text))


def test_what_does_not_run_has_a_reason():
    for page in WRITTEN:
        found = blocks_of(page.read_text(encoding="utf-8"))
        skipped = [block for block in found if block.mark]
        assert all(block.reason for block in skipped), f"{page.name}: a mark without a reason"
        unknown = {block.language for block in found} - SHOWN - {"python", "sh"}
        assert not unknown, f"{page.name}: blocks in {unknown}"


def test_most_blocks_run():
    blocks = [block for page in WRITTEN for block in blocks_of(page.read_text(encoding="utf-8"))]
    code = [block for block in blocks if block.language in ("python", "sh")]
    assert sum(block.mark == "skip" for block in code) < len(code) / 3


def test_commands_stand_in_fences():
    for page in WRITTEN:
        bare = re.findall(r"^ {4,}(?:textgauge |>>> ).*", page.read_text(encoding="utf-8"), re.M)
        assert not bare, f"{page.name}: code that no test runs: {bare[0]}"


@pytest.mark.parametrize("metric", list_metrics(), ids=lambda metric: metric.name)
def test_every_metric_has_a_page_that_tells_all(metric, generated, folder):
    text = generated[f"reference/metrics/{metric.name}.md"]
    assert text.startswith(f"# {metric.label}\n")
    told = [metric.source, "**Values**", "**Symmetric**", "## Definition", "## When it is undefined"]
    told += [f"| `{name}` |" for name in parameters(type(metric))]
    told += [f"| `{metric.name}.{part.name}` |" for part in metric.parts]
    assert [piece for piece in told if piece not in text.replace("&amp;", "&")] == []
    assert run_page(text) >= 2 or "<!-- skip: needs " in text


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
    for kind in PROTOCOLS.values():
        section = protocols.partition(f"\n## {kind.name}\n")[2].partition("\n## ")[0]
        assert [one.name for one in kind.measures if f"| `{one.name}` |" not in section] == []
    for words in ("compare", "recommend", "generate eda", "resources fetch", "train ensemble"):
        assert f"\n## textgauge {words}\n" in commands
    assert "| `--explain` |" in commands


def test_examples_of_commands_are_calls_that_can_be_read(generated):
    import _pages.commands

    for path, command in _pages.commands.all_commands():
        known = {option for item in command.params for option in (*item.opts, *item.secondary_opts)}
        for call in _pages.commands.examples(command):
            assert call.startswith(path)
            assert {word for word in shlex.split(call) if re.match("--?[a-z]", word)} <= known, call


def test_links_between_pages_lead_somewhere(generated):
    pages = generated | {page.relative_to(DOCS).as_posix(): page.read_text("utf-8") for page in DOCS.rglob("*.md")}
    for path, text in pages.items():
        for link in _links(text):
            target, _, anchor = link.partition("#")
            where = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            assert where in pages, f"{path}: {link} leads nowhere"
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
