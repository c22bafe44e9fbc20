"""The pictures of README and tutorials: pages that their commands make, as a browser shows them.

`python -m benchmarks.pictures [NAME]…` runs the commands on the files that the first block of the tutorial makes, and
takes the first screen of the page with Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking")
WIDTH = 1080


@dataclass(frozen=True)
class Picture:
    """A picture: its file, the tutorial whose first block makes the files, commands of which the last makes a page."""

    name: str
    tutorial: str
    commands: tuple[str, ...]
    height: int = 640


PICTURES = (
    Picture(
        "report",
        "",
        (
            "textgauge compare sample:banking sample:travel --limit 300 --explain -o found.json",
            "textgauge report found.json -o page.html --title 'Banking and travel questions'",
        ),
        900,
    ),
    Picture(
        "describe",
        "",
        (
            "textgauge datasets show sample:banking -n 600 --seed 1 -f csv > all.csv",
            "head -401 all.csv > train.csv",
            "(head -1 all.csv; tail -200 all.csv) > test.csv",
            "textgauge generate eda train.csv --column text -n 200 -o generated.csv",
            "textgauge describe generated.csv --train train.csv --test test.csv --column text --grammar none --explain "
            "-o found.json",
            "textgauge report found.json -o page.html --title 'Generated texts'",
        ),
        760,
    ),
    Picture(
        "systems",
        "score-a-system",
        (
            "textgauge score new.txt ref.txt --baseline old.txt -m bleu,chrf --explain -o found.json",
            "textgauge report found.json -o page.html --title 'Two systems'",
        ),
        560,
    ),
    Picture(
        "prompts",
        "two-prompts",
        (
            "textgauge diff old.jsonl:messages new.jsonl:messages -o found.json",
            "textgauge report found.json -o page.html --title 'Two prompts'",
        ),
        560,
    ),
    Picture(
        "judge",
        "scores-and-judges",
        (
            "textgauge judge judged.csv --judge judge --rating ann bob cyd --scale ordinal -o found.json",
            "textgauge report found.json -o page.html --title 'A judge and people'",
        ),
        560,
    ),
    Picture(
        "ranks",
        "rank-systems",
        (
            "textgauge leaderboard scores.csv --group document -o found.json",
            "textgauge report found.json -o page.html --title 'Four systems'",
        ),
        420,
    ),
    Picture(
        "metrics",
        "",
        (
            "textgauge run ksc --source-a sample:banking --source-b sample:travel -m energy,fid,mauve,pr,jsd --out run",
            "textgauge report run -o page.html --title 'Which metric follows known mixtures?'",
        ),
        620,
    ),
)


def make_picture(picture: Picture, browser: str) -> Path:
    """Run the commands of a picture in a folder of its own, and take the first screen of their page."""
    made = DOCS / "images" / f"{picture.name}.png"
    with tempfile.TemporaryDirectory() as folder:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

        def run(*command: str) -> None:
            subprocess.run(command, cwd=folder, env=os.environ | {"PATH": path}, check=True, stdout=subprocess.DEVNULL)

        if picture.tutorial:
            page = (DOCS / "tutorials" / f"{picture.tutorial}.md").read_text("utf-8")
            run(sys.executable, "-c", page.partition("```python\n")[2].partition("```")[0])
        for command in picture.commands:
            run("sh", "-c", command)
        size = f"--window-size={WIDTH},{picture.height}"
        profile = f"--user-data-dir={folder}/profile"
        run(browser, *FLAGS, size, profile, "--virtual-time-budget=4000", f"--screenshot={made}", f"{folder}/page.html")
    return made


def main(names: list[str]) -> None:
    """Make the pictures of these names, all of them without any."""
    browser = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if browser is None:
        raise SystemExit(f"no browser on the path: one of {', '.join(CHROMIUM)}")
    for picture in PICTURES:
        if not names or picture.name in names:
            print(make_picture(picture, browser).relative_to(DOCS))


if __name__ == "__main__":
    main(sys.argv[1:])
