"""`textgauge run zwerdling2021` and `reproduce zwerdling2021` on ready-made corpora of a few sentences."""

import json

import pytest

TRAIN = [
    "the cat sat on a mat",
    "my new phone broke in a week",
    "who sells cheap screens around here",
    "we loved this camera from day one",
    "batteries should last longer than that",
    "do not buy it again",
    "sound comes out of one side only",
    "delivery took three days and nobody called",
    "great value for little money",
    "it gets hot when charging",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("TEXTGAUGE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    texts = {
        "train": TRAIN,
        "test": ["a small bird sat here", "this phone is hot"],
        "eda": [f"{text} {text.split()[1]}" for text in TRAIN],
        "vae": TRAIN[:1] * 10,
        "lm": [f"my {text} and odd{i}" for i, text in enumerate(TRAIN)],
    }
    place = tmp_path / "kept" / "corpora" / "phone"
    place.mkdir(parents=True)
    for name, part in texts.items():
        (place / f"{name}.txt").write_text("\n".join(part) + "\n")
    return tmp_path


QUICK = ("-p", "embedder=none", "-p", "grammar=none", "-p", "plausibility=none", "-p", "draws=2")


def test_a_run_prints_its_table_and_goes_on(run, folder):
    code, out, err = run("run", "zwerdling2021", "--out", "kept", *QUICK, "-f", "json")
    assert code == 0
    assert "phone: described" in err
    assert "news is left out" in err
    assert "huffpost_v3_recent.csv" in err
    assert "warning: collapsed" in err
    assert "(phone vae)" in err
    rows = {(row["property"], row["texts"]): row for row in json.loads(out)["rows"]}
    unique = rows["unique", "all"]
    assert (unique["eda"], unique["vae"], unique["lm"]) == (1.0, 0.0, 1.0)
    assert rows["syntactic_precision", "all"]["vae"] == 1.0
    assert rows["vocab", "all"]["lm"] == 10
    again = run("run", "zwerdling2021", "--out", "kept", *QUICK, "-f", "json")
    assert again[1] == out
    assert "phone: was there" in again[2]
