import pytest

from textgauge.core.errors import InputError, UnknownName
from textgauge.measure.checking import read_checks

GOOD = """
level = 0.9
[check.weekly]
kind = "drift"
reference = "ref.txt"
candidate = "sample:banking"
metric = "energy"
max_ratio = 3
[check.copies]
kind = "copies"
generated = "new.csv:text"
train = "ref.txt"
max = "5%"
[check.score]
kind = "score"
candidate = "ref.txt"
reference = ["ref.txt", "ref.txt"]
max_drop = 0.005
[check.made]
kind = "describe"
generated = "ref.txt"
train = "ref.txt"
min = { unique = 0.9, semantic_recall = "60%" }
"""


@pytest.fixture
def written(tmp_path):
    (tmp_path / "ref.txt").write_text("a cat\na dog\n")
    (tmp_path / "new.csv").write_text("text\na cow\n")

    def write(content):
        (tmp_path / "gate.toml").write_text(content)
        return read_checks(tmp_path / "gate.toml")

    return write


def test_a_file_of_every_kind(written, tmp_path):
    found = written(GOOD)
    weekly, copies, score, made = found.checks
    assert weekly.kind == "drift"
    assert (weekly.name, weekly.reference, weekly.candidate) == ("weekly", str(tmp_path / "ref.txt"), "sample:banking")
    assert (copies.generated, copies.max) == (str(tmp_path / "new.csv:text"), 0.05)
    assert score.reference == [["a cat", "a cat"], ["a dog", "a dog"]]
    assert made.min == {"unique": 0.9, "semantic_recall": 0.6}
    assert (found.level, found.baselines) == (0.9, tmp_path / "gate.baselines.json")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("", "at least one table"),
        ("check = 3", "at least one table"),
        ("[chek.a]\nkind='drift'", "unknown entry of .*gate.toml 'chek'; did you mean check"),
        ("[check.a]", "has no kind: drift, copies, score and describe"),
        ("[check.a]\nkind='drfit'", "did you mean drift"),
        ("[check.a]\nkind='drift'", "check 'a' needs reference and candidate"),
        ("[check.a]\nkind='drift'\nmax_ration=3", "did you mean max_ratio"),
        ("[check.a]\nkind='drift'\nreference='r'\ncandidate='c'\nmax='few'", "is a number or a share in percent"),
        ("[check.a]\nkind='drift'\nreference=1\ncandidate='c'\nmax=1", "reference is the name of a file"),
        ("[check.a]\nkind='describe'\ngenerated='g'\ntrain='t'\nmin=0.5", "table of limits by property"),
        ("[check.a\n", "no TOML file"),
        ("seed='x'\n[check.a]\nkind='drift'\nreference='r'\ncandidate='c'\nmax=1", "seed is a whole number"),
    ],
)
def test_mistakes_are_one_clear_line(written, content, error):
    with pytest.raises((InputError, UnknownName), match=error) as found:
        written(content)
    assert "\n" not in str(found.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_checks(tmp_path / "none.toml")
