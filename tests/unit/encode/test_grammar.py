"""Grammar checkers: pieces, Harper, and LanguageTool against a server started here."""

from __future__ import annotations

import os
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.core.errors import ResourceError, UnknownName
from textgauge.encode.grammar import (
    LONGEST_PIECE,
    LONGEST_TEXT,
    GrammarChecker,
    HarperChecker,
    get_grammar_checker,
    list_grammar_checkers,
    split_pieces,
)

GOOD = ["The cat sat on the mat.", "There are many books on the table.", "You should have told me earlier."]
BAD = ["The cat sat in the the mat.", "He don't likes coffee in teh morning.", "You should of told me more early."]


@given(st.lists(st.sampled_from(["word ", "End. ", "x" * 700, "\n", " " * 900, "?! "]), max_size=60).map("".join))
def test_pieces_are_short_and_lose_nothing(text):
    parts = list(split_pieces(text))
    assert all(len(part) <= LONGEST_PIECE for part in parts)
    assert text.startswith("".join(parts))
    if len(text) <= LONGEST_TEXT:
        assert not text[len("".join(parts)) :].strip()
    else:
        assert sum(map(len, parts)) <= LONGEST_TEXT


def test_pieces_end_with_sentences():
    text = "This is a sentence of some words. " * 500
    assert all(part.endswith("words. ") for part in split_pieces(text[:-1] + " "))
    assert sum(map(len, split_pieces(text * 100))) > LONGEST_TEXT - 100


class Letters(GrammarChecker):
    """Every character is an error."""

    name = signature = "letters"

    def __init__(self):
        self.asked: list[list[str]] = []

    def _count(self, parts):
        self.asked.append(parts)
        return [len(part) for part in parts]


def test_equal_texts_are_checked_once():
    checker = Letters()
    assert checker.errors(["ab", "c", "ab", "", "  "]).tolist() == [2, 1, 2, 0, 0]
    assert checker.asked == [["ab", "c"]]
    assert checker.errors([]).tolist() == []


def test_lengths_are_of_what_is_checked():
    assert Letters().lengths(["One, two -- three!", "It's 5 o'clock", "", "..."]).tolist() == [3, 3, 0, 0]
    assert Letters().lengths(["word " * 1_000_000]).tolist() == [LONGEST_TEXT // 5]


@pytest.fixture(scope="module")
def harper():
    return get_grammar_checker("harper")


def test_bad_sentences_have_errors_and_what_is_not_grammar_does_not_count(harper):
    assert harper.errors([*GOOD, "", "the cat sat on the mat"]).tolist() == [0] * 5
    assert (harper.errors(BAD) > 0).all()
    assert harper.errors(["we saw the cat and " * 20 + "teh dog"]).tolist() == [1]


def test_threads_and_order_change_nothing(harper, monkeypatch):
    texts = [*GOOD, *BAD, "\ud800 the the", "emoji 🙂 🙂 teh"]
    expected = harper.errors(texts)
    np.testing.assert_array_equal(harper.errors(texts[::-1]), expected[::-1])
    for threads in ("1", "3"):
        monkeypatch.setenv("TEXTGAUGE_THREADS", threads)
        np.testing.assert_array_equal(HarperChecker().errors(texts), expected)


def test_dialects():
    british = get_grammar_checker("harper(dialect=british)")
    assert british.errors(["The colour is grey."]).tolist() == [0]
    assert get_grammar_checker("harper").errors(["The colour is grey."])[0] > 0
    assert british.name == "harper(dialect=british)"
    assert get_grammar_checker("harper(dialect=american)").name == "harper"
    assert get_grammar_checker("harper").signature.startswith("harper(dialect=american,ignored=capitalization|")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("harpr", "harper"),
        ("languagetool", "languagetool:URL"),
        ("languagetool:", "languagetool:URL"),
        ("languagetool:ftp://host", "languagetool:URL"),
        ("harper(accent=british)", "dialect"),
        ("harper(dialect=scots)", "scots"),
        ("harper@words", "harper"),
        ("harper:x", "harper"),
    ],
)
def test_wrong_names(name, says):
    with pytest.raises(UnknownName, match=says):
        get_grammar_checker(name)
    assert list_grammar_checkers() == ["harper", "languagetool:URL", "languagetool:FOLDER"]


@pytest.fixture
def server(endpoint):
    """A LanguageTool whose every `teh` is a misspelling and every lower-case beginning a matter of casing."""

    def check(form):
        categories = ["TYPOS"] * form["text"].count("teh") + ["CASING"] * form["text"][:1].islower()
        matches = [{"rule": {"category": {"id": category}}} for category in categories]
        return {"software": {"name": "LanguageTool", "version": "6.4"}, "matches": matches}

    endpoint.usual = check
    return endpoint


def test_a_server_is_asked_once_for_each_text(server):
    checker = get_grammar_checker(f"languagetool:{server.address}/")
    texts = ["teh cat saw teh dog", "Fine.", "", "teh cat saw teh dog", "\ud800 teh"]
    assert checker.errors(texts).tolist() == [2, 0, 0, 2, 1]
    assert sorted(form["text"] for form in server.requests) == ["Fine.", "teh cat saw teh dog", "\ufffd teh"]
    assert {form["language"] for form in server.requests} == {"en-US"}
    assert {form["path"] for form in server.requests} == {"/v2/check"}
    assert checker.lengths(texts).tolist() == [5, 1, 0, 5, 1]
    assert checker.signature.startswith("languagetool(server=6.4,language=en-US,")
    assert checker.errors([]).tolist() == []


def test_other_languages_and_addresses(server):
    checker = get_grammar_checker(f"languagetool:{server.address}/v2/check#de-DE")
    assert checker.errors(["Gut."]).tolist() == [0]
    assert server.requests[0]["language"] == "de-DE"
    assert checker.name == f"languagetool:{server.address}#de-DE"
    secret = get_grammar_checker("languagetool:https://user:password@host.example/lt")
    assert secret.name == "languagetool:https://host.example/lt"


@pytest.mark.parametrize(
    "answer",
    [(500, "oops"), (200, "<html>"), (200, "[" * 100_000), (200, []), (200, {"matches": 3}), (200, {"matches": [{}]})],
)
def test_a_server_that_fails(server, answer):
    status, content = answer
    server.prescribed = [(status, {}, content)] * 9
    with pytest.raises(ResourceError, match=server.address):
        get_grammar_checker(f"languagetool:{server.address}").errors(["Some text."])


@pytest.mark.parametrize(
    ("url", "offline", "message"),
    [
        ("http://127.0.0.1:9", "", r"127\.0\.0\.1:9.*harper"),
        ("http://user:password@a..b", "", r"a\.\.b"),
        ("http://user:password@192.0.2.1", "1", r"TEXTGAUGE_OFFLINE.*192\.0\.2\.1"),
    ],
)
def test_a_server_that_cannot_be_asked(monkeypatch, url, offline, message):
    pytest.importorskip("httpx")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", offline)
    with pytest.raises(ResourceError, match=message) as caught:
        get_grammar_checker(f"languagetool:{url}").errors(["Some text."])
    assert "password" not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands for java")
def test_languagetool_of_a_folder_is_given_small_files(tmp_path, monkeypatch):
    found = '<error fromy="0" fromx="0" offset="4" errorlength="2"/>'
    java = tmp_path / "java"
    java.write_text(
        "#!/bin/sh\nfor file; do :; done\n"
        "if [ $(wc -c < $file) -gt 64000 ]; then echo '<matches>'; exit; fi\n"
        f"echo \"<matches version='2.2'>{found.replace(chr(34), chr(39))}</matches>\"\n"
    )
    java.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    checker = get_grammar_checker(f"languagetool:{tmp_path}")
    assert checker.errors([]).tolist() == []
    assert checker.errors(["é" * 30, *GOOD[:2]]).tolist() == [1, 0, 0]
    texts = [f"{number} {'é ' * 660}" for number in range(200)]
    assert 4 <= checker.errors(texts).sum() <= 10
    java.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(ResourceError, match="java"):
        checker.errors(GOOD)


class PanicException(BaseException):
    pass


class Fragile:
    """Finds one error in every piece, and breaks down on two words together."""

    def lint(self, text, **_):
        if "hot ice" in text:
            raise PanicException
        return [SimpleNamespace(span=SimpleNamespace(start=0, end=1), lint_kind="Spelling")]


def test_a_text_that_breaks_the_checker_is_checked_in_halves(monkeypatch):
    monkeypatch.setattr(HarperChecker, "_make_linter", lambda _: Fragile())
    assert HarperChecker().errors(["all is well", "some hot ice here", "hot ice"]).tolist() == [1, 2, 2]


def test_other_errors_of_the_checker_are_not_hidden(monkeypatch):
    def broken(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(HarperChecker, "_make_linter", lambda _: SimpleNamespace(lint=broken))
    with pytest.raises(KeyboardInterrupt):
        HarperChecker().errors(["a text"])


MATCHES = """<?xml version="1.0" encoding="UTF-8"?><matches software="LanguageTool" version="2.2">
<error fromy="0" offset="4" errorlength="4" category="Grammar" locqualityissuetype="grammar"/>
<error fromy="0" offset="6" errorlength="2" category="Grammar" locqualityissuetype="grammar"/>
<error fromy="2" offset="30" errorlength="3" category="Possible Typo" locqualityissuetype="misspelling"/>
<error fromy="2" offset="40" errorlength="3" category="Miscellaneous" locqualityissuetype="typographical"/>
<error fromy="2" offset="45" errorlength="3" category="Capitalization" locqualityissuetype="misspelling"/>
</matches>"""


def test_languagetool_of_a_folder_is_run_by_java(tmp_path, monkeypatch):
    if os.name != "posix":
        pytest.skip("the stand-in for java is a shell script")
    java = tmp_path / "java"
    (tmp_path / "found.xml").write_text(MATCHES)
    java.write_text(f'#!/bin/sh\nfor last; do :; done\ncp "$last" {tmp_path}/seen.txt\ncat {tmp_path}/found.xml\n')
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    checker = get_grammar_checker(f"languagetool:{tmp_path}")
    texts = ["She have two cats.", "Fine.", "A tset  on\ntwo lines."]
    assert checker.errors(texts).tolist() == [1, 0, 1]  # what overlaps counts once
    assert (tmp_path / "seen.txt").read_text() == "She have two cats.\nFine.\nA tset on two lines."
    assert checker.signature == "languagetool(local=2.2,language=en-US,version=1)"
    (tmp_path / "found.xml").write_text("no xml")
    with pytest.raises(ResourceError, match="cannot be run by java"):
        checker.errors(texts)
