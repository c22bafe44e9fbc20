"""`textgauge generate` as a user meets it: files in, files out, one clear line where something is wrong."""

import csv
import json
import sys

import pytest

from textgauge.encode import wordnet as synonyms

THINGS = ["cat", "dog", "card", "bill"]
TEXTS = [
    f"The {how} {thing} was {what}, today." for how in ("big", "old") for thing in THINGS for what in ("lost", "found")
]
KNOWN = {"big": ("large", "great"), "card": ("ticket",), "lost": ("missing",), "old": ("aged",)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "train.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    with open(tmp_path / "train.csv", "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("what", "kind"))
        writer.writerows((text, "animal" if " cat " in text or " dog " in text else "thing") for text in TEXTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(synonyms, "load_thesaurus", type("T", (), {"get_synonyms": lambda _, w: KNOWN.get(w, ())}))
    return tmp_path


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_eda_to_all_formats(run, folder):
    code, out, err = run("generate", "eda", "train.txt", "-o", "eda.txt", "--n", 50, "--seed", 1)
    assert (code, out) == (0, "")
    assert "wrote 50 texts to eda.txt" in err
    made = lines(folder / "eda.txt")
    assert len(made) == 50
    assert not set(made) & set(TEXTS)
    run("generate", "eda", "train.csv", "--column", "what", "-o", "eda.csv", "--n", 50, "--seed", 1)
    run("generate", "eda", "train.txt", "-o", "eda.jsonl", "--n", 50, "--seed", 1)
    with open(folder / "eda.csv", encoding="utf-8", newline="") as stream:
        assert [row["text"] for row in csv.DictReader(stream)] == made
    assert [json.loads(line)["text"] for line in lines(folder / "eda.jsonl")] == made


def test_compat_and_strengths_reach_eda(run, folder):
    options = ("--alpha-sr", 0, "--alpha-ri", 0, "--p-rd", 0, "--compat", "eda")
    run("generate", "eda", "train.txt", "-o", "eda.txt", *options)
    cleaned = [sorted(text.lower().replace(",", "").replace(".", "").split()) for text in TEXTS]
    assert [sorted(text.split()) for text in lines(folder / "eda.txt")] == cleaned


VAE = ("-p", "embedding=8", "-p", "hidden=8", "-p", "latent=2", "-p", "batch=8")
SMOLLM2 = ("-p", "rank=2", "-p", "longest=48", "-p", "rate=1e-2", "--param", "batch=8")


@pytest.mark.usefixtures("tiny_smollm2")
@pytest.mark.parametrize(("kind", "settings"), [("vae", VAE), ("lm", SMOLLM2)])
def test_training_is_kept_and_goes_on(run, folder, kind, settings):
    pytest.importorskip("torch", reason="the extra `generate` is not installed")
    args = ("generate", kind, "train.txt", "--n", 12, *settings)
    assert run(*args, "-o", "whole.txt", "--epochs", 3)[0] == 0
    assert run(*args, "-o", "part.txt", "--epochs", 1, "--checkpoint", "model")[0] == 0
    code, _, err = run(*args, "-o", "rest.txt", "--epochs", 3, "--checkpoint", "model")
    assert code == 0
    assert "resumes from model: 1 epochs" in err
    assert "epoch 3: loss" in err
    assert lines(folder / "rest.txt") == lines(folder / "whole.txt")
    code, _, err = run(*args, "-o", "other.txt", "--epochs", 3, "--checkpoint", "model", "--seed", 4)
    assert code == 2
    assert "another seed" in err


@pytest.mark.usefixtures("tiny_smollm2")
def test_texts_of_labels(run, folder):
    pytest.importorskip("torch", reason="the extra `generate` is not installed")
    columns = ("--column", "what", "--label", "kind")
    options = ("--candidates", 20, "--embedder", "wordllama", "--epochs", 8, *SMOLLM2)
    code, _, err = run("generate", "conditional", "train.csv", *columns, "-o", "new.csv", "--n", 3, *options)
    assert code == 0
    with open(folder / "new.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["label"] for row in rows} <= {"animal", "thing"}
    assert all(0.5 <= float(row["confidence"]) <= 1 for row in rows)
    assert not {row["text"] for row in rows} & set(TEXTS)
    assert f"wrote {len(rows)} texts" in err


@pytest.mark.parametrize("kind", ["vae", "lm", "steps"])
def test_without_torch_the_install_line_is_said(run, folder, kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    code, out, err = run(
        "generate", kind, "train.txt", *(("--folder", "out") if kind == "steps" else ("-o", "out.txt"))
    )
    assert (code, out) == (2, "")
    assert "pip install 'textgauge[generate]'" in err
    assert len(err.strip().splitlines()) == 1
