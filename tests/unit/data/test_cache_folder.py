import json

import pytest

from textgauge.data.cache_folder import clean_cache

MADE = {
    "embeddings": "embeddings/" + "a" * 24 + "/1.vec",
    "models": "resources/minilm-0123abcd/model.safetensors",
    "prepared": "wordvectors/" + "b" * 32 + "-2/table.npy",
}
STAYS = [
    "embeddings/mine/1.vec",
    "resources/notes.txt",
    "answers/x.jsonl",
    "runs/paper/store",
    "datasets/a/b.csv",
    "my.txt",
]


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    for name in (*MADE.values(), *STAYS):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x" * 500_000)
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(folder))
    return folder


@pytest.mark.parametrize(
    ("kinds", "gone"),
    [
        ((), {"embeddings", "models", "prepared"}),
        (("embeddings",), {"embeddings"}),
        (("models",), {"models", "prepared"}),
    ],
)
def test_only_what_is_asked_for_and_made_by_textgauge_is_removed(root, kinds, gone):
    assert clean_cache(*kinds) == len(gone) * 500_000
    assert {name for name, path in MADE.items() if not (root / path).exists()} == gone
    assert all((root / name).is_file() for name in STAYS)


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


def test_the_command(run, root):
    assert run("cache", "path")[:2] == (0, f"{root}\n")
    rows = {row["folder"]: row for row in json.loads(run("cache", "ls", "-f", "json")[1])["rows"]}
    assert (rows["embeddings"]["files"], rows["embeddings"]["megabytes"]) == (2, 1.0)
    assert rows["answers"]["removed_with"] is None
    assert run("cache", "clean", "--models")[:2] == (0, f"Freed 1.0 MB in {root}\n")
    assert run("cache", "clean")[1] == f"Freed 0.5 MB in {root}\n"


def test_an_empty_cache_is_no_error(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "none"))
    assert run("cache", "clean")[0] == 0
    assert run("cache", "ls")[0] == 0
