"""What fourteen commands print as JSON on built-in data, kept in commands.json.

python -m tests.golden.commands          records what the commands print now

Times, versions and signatures are left out; numbers are compared to the fifth digit, as other processors change the
sixth one of encoders.
"""

import contextlib
import io
import json
import math
import re
import shlex
import sys
import tempfile
from pathlib import Path

from textgauge.cli import main

FILE = Path(__file__).with_suffix(".json")
RELATIVE, ABSOLUTE = 1e-5, 1e-6
VERSIONS = re.compile(r"(version:|onnxruntime-|rapidfuzz=)[\d.]+")  # of libraries, within a text
CHANGING = {"seconds", "version", "signature", "checksum", "speed", "per_second"}
ROWS_KEPT = 30

# Files that the commands read are written from the samples by the commands above the line.
PREPARED = [
    "datasets show sample:banking -n 600 -f csv > texts.csv",
    "datasets show sample:travel -n 120 -f csv > travel.csv",
    "datasets show sample:cooking -n 120 -f csv > cooking.csv",
]
COMMANDS = {
    "compare": "compare sample:banking sample:travel --limit 80 --ci "
    "-m energy,fid,pr,dc,irpr,jsd@words,chi@words -f json",
    "compare seeded": "compare sample:banking sample:travel --limit 80 -m mauve,classifier,mmd --seed 3 -f json",
    "compare several": "compare sample:banking travel.csv cooking.csv --limit 80 -m energy,pr -f json",
    "compare slices": "compare train.csv:text test.csv:text --by label -m energy@wordllama --permutations 49 -f json",
    "compare explained": "compare sample:banking sample:travel --limit 40 -m energy,irpr --explain -f json",
    "score": "score out.txt ref.txt "
    "-m bleu,chrf,ter,rouge1,rougeL,meteor,cosine,bertscore,levenshtein,wmd --summary -f json",
    "score pairs": "score out.txt ref.txt -m jaccard,gleu,nist,tfidf,bm25plus,rwmd -f json",
    "score baseline": "score out.txt ref.txt --baseline old.txt -m bleu,chrf,rougeL -f json",
    "score systems": "score out.txt old.txt --reference ref.txt -m chrf,jaccard -f json",
    "describe": "describe test.csv --column text --grammar none -f json",
    "describe generated": "describe test.csv --train train.csv --test texts.csv --column text --grammar none -f json",
    "check drift": "check drift texts.csv:text travel.csv:text --max-ratio 3 -f json",
    "run": "run ksc --source-a texts.csv:text --source-b travel.csv:text -m fid,energy,pr,jsd@words -k 5 -n 20 "
    "--repetitions 3 --out run -q",
    "leaderboard": "leaderboard run -f json",
    "agreement": "run agreement --pairs sample:graded --limit 200 -m chrf,jaccard,cosine --out agreement -q",
    "agreement leaderboard": "leaderboard agreement -f json",
    "generate": "generate eda train.csv --column text -n 20 -o eda.txt",
    "ls": "ls protocols -f json",
}


def run(command, folder):
    """Run a command in this process, in a folder; return its exit code and what it prints."""
    words, _, output = command.partition(" > ")
    printed, old = io.StringIO(), sys.argv
    sys.argv = ["textgauge", *shlex.split(words)]
    quiet = contextlib.redirect_stderr(io.StringIO())
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed), quiet:
            main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.argv = old
    if output:
        (folder / output).write_text(printed.getvalue(), encoding="utf-8")
    return code, printed.getvalue()


def prepare(folder):
    """Write the files that the commands read: corpora, and pairs whose candidates lack words."""
    for command in PREPARED:
        assert run(command, folder)[0] == 0, command
    lines = (folder / "texts.csv").read_text(encoding="utf-8").splitlines()
    (folder / "train.csv").write_text("\n".join(lines[:361]) + "\n", encoding="utf-8")
    (folder / "test.csv").write_text("\n".join([lines[0], *lines[361:]]) + "\n", encoding="utf-8")
    rows = json.loads(run("datasets show sample:graded -n 60 -f json", folder)[1])["rows"]
    write = {
        "out.txt": [row["left"] for row in rows],
        "ref.txt": [row["right"] for row in rows],
        "old.txt": [" ".join(word for i, word in enumerate(row["left"].split()) if i % 4) or "-" for row in rows],
    }
    for name, texts in write.items():
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")


def take():
    """Return what every command prints, by its name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        return {name: shorten(command, *run(command, folder), folder) for name, command in COMMANDS.items()}


def shorten(command, code, text, folder):
    """Return the exit code and the JSON without what changes from run to run; of a file, its text."""
    printed: object = None
    if command.endswith("-f json"):
        printed = drop(json.loads(text or "null"))
    elif " -o " in command:
        printed = (folder / command.partition(" -o ")[2]).read_text(encoding="utf-8").splitlines()
    return {"exit": code, "printed": printed}


def drop(value):
    if isinstance(value, dict):
        return {key: drop(item) for key, item in value.items() if key not in CHANGING}
    return [drop(item) for item in value[:ROWS_KEPT]] if isinstance(value, list) else value


def differences(old, new, place=""):
    """Return where two snapshots differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = {**old, **new}
        return [text for name in names for text in differences(old.get(name), new.get(name), f"{place}/{name}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [text for i, pair in pairs for text in differences(*pair, f"{place}/{i}")]
    if all(isinstance(value, str) for value in (old, new)):
        old, new = (VERSIONS.sub(r"\1", value) for value in (old, new))
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (old, new))
    if numbers and math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
        return []
    return [] if old == new else [f"{place}: {old!r} became {new!r}"]


def kept():
    return json.loads(FILE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    FILE.write_text(json.dumps(take(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
