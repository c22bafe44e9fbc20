"""`textgauge run distributionality` as a user meets it."""

import csv

from textgauge.data import sample_pairs


def test_a_labelled_dataset_is_read_from_the_users_folder(run, tmp_path, monkeypatch):
    args = ["run", "distributionality", "--pairs", "mrpc", "-m", "cbdf@words", "-n", 12, "-k", 4]
    args += ["-p", "distributional=jsd@words", "-p", "neighbours=zipf@words", "--out", tmp_path / "run"]
    monkeypatch.setenv("TEXTGAUGE_DATA", str(tmp_path / "data"))
    code, _, err = run(*args)
    assert code != 0
    assert "columns sentence1, sentence2, label into a folder named by TEXTGAUGE_DATA as mrpc/FILE" in err
    folder, pairs = tmp_path / "data" / "mrpc", sample_pairs("cooking", n=60)
    folder.mkdir(parents=True)
    with (folder / "train.csv").open("w", newline="") as file:  # paraphrases in the rows labelled 1
        writer = csv.writer(file)
        writer.writerow(["sentence1", "sentence2", "label"])
        writer.writerows(zip(pairs.left, pairs.right, [1] * 40 + [0] * 20, strict=True))
    assert "15 computed" in run(*args)[2]
