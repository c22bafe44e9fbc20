import json
import re
from pathlib import Path

import pytest

import textgauge
from textgauge.data.cache import PARTS, clean_cache

MADE = {
    "embeddings": "embeddings/" + "a" * 24 + "/1.vec",
    "models": "resources/minilm-0123abcd/model.safetensors",
    "prepared": "wordvectors/" + "b" * 32 + "-2/table.npy",
    "seen": "wordvectors/seen/" + "b" * 24 + ".json",
    "datasets": "datasets/banking77/train.csv",
    "answers": "answers/" + "e" * 24 + ".jsonl",
    "runs": "runs/kour2022/cells/ab/1.parquet",
    "generators": "ifc/banking77-0123456789abcdef/seed-0/step-01.txt",
}
STAYS = [
    "embeddings/mine/1.vec",
    "resources/notes.txt",
    "answers/x.jsonl",
    "runs/mine/cells/ab/1.parquet",
    "datasets/mine/b.csv",
    "ifc/mine/1.txt",
    "my.txt",
]


def filled(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x" * 500_000)
    return folder


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = filled(tmp_path / "cache", (*MADE.values(), *STAYS))
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(folder))
    return folder


@pytest.mark.parametrize(
    ("kinds", "gone"),
    [
        ((), {"embeddings", "models", "prepared", "seen"}),
        (("embeddings",), {"embeddings"}),
        (("models",), {"models", "prepared", "seen"}),
        (("all",), set(MADE)),
    ],
)
def test_only_what_is_asked_for_and_made_by_textgauge_is_removed(root, kinds, gone):
    assert clean_cache(*kinds) == len(gone) * 500_000
    assert {name for name, path in MADE.items() if not (root / path).exists()} == gone
    assert all((root / name).is_file() for name in STAYS)


def test_folders_that_are_empty_then_go_too(tmp_path, monkeypatch):
    root = filled(tmp_path / "cache", MADE.values())
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(root))
    clean_cache("embeddings")
    assert {path.name for path in root.iterdir()} == {"resources", "wordvectors", "datasets", "answers", "runs", "ifc"}
    clean_cache()
    assert {path.name for path in root.iterdir()} == {"datasets", "answers", "runs", "ifc"}
    clean_cache("all")
    assert not root.exists()


def test_nothing_behind_a_link_is_removed(root, tmp_path):
    outside = tmp_path / "outside" / ("c" * 24)
    outside.mkdir(parents=True)
    (outside / "1.vec").write_text("kept")
    (root / "embeddings" / ("d" * 24)).symlink_to(outside)
    (root / "resources").rename(tmp_path / "elsewhere")
    (root / "resources").symlink_to(tmp_path / "elsewhere")
    clean_cache()
    assert (outside / "1.vec").read_text() == "kept"
    assert (tmp_path / "elsewhere" / "minilm-0123abcd" / "model.safetensors").is_file()


def test_every_folder_of_a_cache_is_listed():
    made = re.compile(r'cache_root\(\) / "(\w+)"|Path\(cache, "(\w+)"')
    source = Path(textgauge.__file__).parents[1].glob("textgauge*/**/*.py")
    named = {name for path in source for found in made.findall(path.read_text("utf-8")) for name in found if name}
    assert named | {"ifc"} == {part.folder for part in PARTS}  # which version 0.1.0 made


def test_the_command(run, root):
    assert run("cache", "path")[:2] == (0, f"{root}\n")
    rows = {row["folder"]: row for row in json.loads(run("cache", "ls", "-f", "json")[1])["rows"]}
    assert (rows["embeddings"]["files"], rows["embeddings"]["megabytes"]) == (2, 1.0)
    assert rows["answers"]["removed_with"] == "--all"
    assert run("cache", "clean", "--models")[:2] == (0, f"Freed 1.5 MB in {root}\n")
    assert run("cache", "clean")[1] == f"Freed 0.5 MB in {root}\n"
    assert run("cache", "clean", "--all")[1] == f"Freed 2.0 MB in {root}\n"
