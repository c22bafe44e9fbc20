"""What fourteen commands print as JSON on built-in data, kept in commands.json.

python -m tests.golden.commands          records what the commands print now

Times, versions and signatures are left out; numbers are compared to the fifth digit, as other processors change the
sixth one of encoders.
"""

import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
RELATIVE, ABSOLUTE = 1e-5, 1e-7
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


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words, _, output = command.partition(" > ")
    done = subprocess.run(
        [sys.executable, "-m", "textgauge", *shlex.split(words)],
        check=False, cwd=folder, capture_output=True, text=True, encoding="utf-8",
        env=os.environ | {"PYTHONUTF8": "1", "NO_COLOR": "1"},
    )  # fmt: skip
    if output:
        (folder / output).write_text(done.stdout, encoding="utf-8")
    return done


def prepare(folder: Path) -> None:
    """Write the files that the commands read: corpora, and pairs whose candidates lack words."""
    for command in PREPARED:
        done = run(command, folder)
        assert done.returncode == 0, done.stderr
    lines = (folder / "texts.csv").read_text(encoding="utf-8").splitlines()
    (folder / "train.csv").write_text("\n".join(lines[:361]) + "\n", encoding="utf-8")
    (folder / "test.csv").write_text("\n".join([lines[0], *lines[361:]]) + "\n", encoding="utf-8")
    done = run("datasets show sample:graded -n 60 -f json", folder)
    pairs = json.loads(done.stdout)
    rows = pairs["rows"] if isinstance(pairs, dict) else pairs
    write = {
        "out.txt": [row["left"] for row in rows],
        "ref.txt": [row["right"] for row in rows],
        "old.txt": [" ".join(word for i, word in enumerate(row["left"].split()) if i % 4) or "-" for row in rows],
    }
    for name, texts in write.items():
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")


def take() -> dict[str, object]:
    """Return what every command prints, by its name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        return {name: shorten(command, run(command, folder), folder) for name, command in COMMANDS.items()}


def shorten(command: str, done: subprocess.CompletedProcess[str], folder: Path) -> object:
    """Return the exit code and the JSON without what changes from run to run; of a file, its text."""
    printed: object = None
    if command.endswith("-f json"):
        printed = drop(json.loads(done.stdout or "null"))
    elif " -o " in command:
        printed = (folder / command.partition(" -o ")[2]).read_text(encoding="utf-8").splitlines()
    return {"exit": done.returncode, "printed": printed}


def drop(value: object) -> object:
    if isinstance(value, dict):
        return {key: drop(item) for key, item in value.items() if key not in CHANGING}
    return [drop(item) for item in value[:ROWS_KEPT]] if isinstance(value, list) else value


def differences(old: object, new: object, place: str = "") -> list[str]:
    """Return where two snapshots differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = {**old, **new}
        return [text for name in names for text in differences(old.get(name), new.get(name), f"{place}/{name}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [text for i, pair in pairs for text in differences(*pair, f"{place}/{i}")]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (old, new))
    if numbers and math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
        return []
    return [] if old == new else [f"{place}: {old!r} became {new!r}"]


def kept() -> dict[str, object]:
    return json.loads(FILE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    FILE.write_text(json.dumps(take(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
