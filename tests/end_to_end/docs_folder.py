"""What the pages of the documentation speak of: small files, stand-ins for published data sets, a chat service."""

import csv
import json
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from tests.servers import Endpoint, serve

from textgauge.core.registry import Registry
from textgauge.data import datasets, load_pairs, load_retrieval, load_texts, sample
from textgauge.encode.resources import compute_sha256
from textgauge_papers.generate.ngrams import write_ngram_corpora

STYLES = ("Bible", "GYAFC_formal", "GYAFC_informal", "GYAFC_rewrites", "Paralex", "Paraphrase", "Yelp")


def prepare(folder):
    """The small files that pages speak of."""
    banking, travel = (sample(name, n=120).texts for name in ("banking", "travel"))
    pairs = load_pairs("sample:graded", limit=60)
    copies = [text.replace("card", "credit card") for text in banking[:20]]
    for name, texts in {
        "reference.txt": banking[:60],
        "candidate.txt": travel[:60],
        "a.txt": banking,
        "b.txt": travel,
        "train.txt": banking[:60],
        "test.txt": banking[60:90],
        "generated.txt": [*banking[90:], *copies],
        "other.txt": banking[80:],
        "gan.txt": banking[70:],
        "gpt.txt": travel[:30],
        "out.txt": pairs.left[:30],
        "ref.txt": pairs.right[:30],
        "ref1.txt": pairs.right[:30],
        "ref2.txt": pairs.right[30:],
        "old.txt": pairs.left[30:],
        "corpora/step-1.txt": [*banking[60:70], *travel[:50]],
        "corpora/step-2.txt": [*banking[60:90], *travel[50:80]],
        "corpora/step-3.txt": banking[60:],
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    _table(folder / "a.csv", ["text"], zip(banking[:60], strict=True))
    real = sample("banking", n=400).texts
    _table(folder / "real.csv", ["text"], zip(real[:200], strict=True))
    _table(
        folder / "synthetic.csv",
        ["text"],
        zip(*write_ngram_corpora(real[200:], steps=1, per_step=200, seed=0), strict=True),
    )
    _table(folder / "b.csv", ["text"], zip(travel[:60], strict=True))
    for name in ("rated.csv", "pairs.csv"):
        _table(folder / name, ["a", "b", "score"], zip(pairs.left, pairs.right, pairs.grade, strict=True))
    paraphrases = load_pairs("sample:banking", limit=200)
    _table(folder / "paraphrases.csv", ["a", "b"], zip(paraphrases.left, paraphrases.right, strict=True))
    labelled = load_texts("sample:banking", limit=400)
    for name in ("labelled.csv", "texts.csv"):
        _table(folder / name, ["body", "topic"], zip(labelled.texts, labelled.labels, strict=True))
    rows = np.random.default_rng(0).normal(size=(2, 40, 8))
    for name, side in zip(("a.npy", "b.npy"), rows, strict=True):
        np.save(folder / name, side)
    _beir(folder / "folder")


def write_stand_ins(folder):
    """Published data sets as `TEXTGAUGE_DATA` has them, with built-in texts."""
    rows = {name: load_texts(f"sample:{name}", limit=240) for name in ("banking", "travel", "cooking", "support")}
    labelled = {name: list(zip(found.texts, found.labels, strict=True)) for name, found in rows.items()}
    for name in ("banking77", "clinc150", "atis", "nfcats", "yamshchikov14"):
        (folder / name).mkdir(parents=True)
    for split, part in _splits(labelled["banking"], ("train", "test")):
        _table(folder / "banking77" / f"{split}.csv", ["text", "category"], part)
    clinc = dict(_splits(labelled["support"], ("train", "val", "test")))
    clinc |= {f"oos_{split}": [[text, "oos"] for text, _ in labelled["cooking"][:9]] for split in clinc}
    (folder / "clinc150" / "data_full.json").write_text(json.dumps(clinc), encoding="utf-8")
    for split, part in _splits(labelled["travel"], ("train", "valid", "test")):
        for end, column in (("seq.in", 0), ("label", 1)):
            lines = [row[column] for row in part]
            (folder / "atis" / f"{split}_{end}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for split, part in _splits(labelled["cooking"], ("train", "valid", "test")):
        numbered = ((place, label, text) for place, (text, label) in enumerate(part))
        _table(folder / "nfcats" / f"{split}.csv", ["annotated_by", "category", "question"], numbered)
    _rated_sets(folder / "yamshchikov14")
    for name in ("banking77", "clinc150"):
        for file in datasets.DATASETS[name].files:
            if file.name.endswith(".json") and not (folder / name / file.name).exists():
                (folder / name / file.name).write_text("{}", encoding="utf-8")  # lists that nothing reads


def use_stand_ins(folder, patch):
    """Point the package to stand-ins, and let it expect their bytes."""
    expected = {
        name: replace(dataset, files=tuple(_expected(file, folder / name) for file in dataset.files))
        for name, dataset in datasets.DATASETS.items()
    }
    patch.setattr(datasets, "DATASETS", Registry("dataset", expected))
    patch.setenv("TEXTGAUGE_DATA", str(folder))


@contextmanager
def chat_service(patch):
    """A service in the manner of OpenAI's that rates every pair with 70."""
    with serve(Endpoint(lambda _: {"choices": [{"message": {"content": "SCORE: 70"}}]})) as address:
        patch.setenv("TEXTGAUGE_API_BASE", address)
        yield


def _rated_sets(folder):
    """Fourteen tables of pairs: the graded sample, and its left texts with right texts of other pairs."""
    pairs = load_pairs("sample:graded", limit=8 * len(STYLES))
    for place, style in enumerate(STYLES):
        rows = range(8 * place, 8 * place + 8)
        near = [(pairs.left[row], pairs.right[row], 1 + pairs.grade[row]) for row in rows]
        far = [(pairs.left[row], pairs.right[row - 8], 1.0) for row in rows]
        for name, part in ((style, near), (f"{style}_random", far)):
            cells = [(left, right, grade, grade, grade, grade) for left, right, grade in part]
            _table(folder / f"{name}.csv", ["text_1", "text_2", "label_1", "label_2", "label_3", "avg_score"], cells)


def _beir(folder):
    """A small part of the built-in library in the layout of BEIR."""
    data = load_retrieval("sample:library").draw(60, 0, queries=12)
    (folder / "qrels").mkdir(parents=True)
    documents = zip(data.documents, data.texts, strict=True)
    queries = zip(data.query_ids, data.queries, strict=True)
    for name, rows in (("corpus", documents), ("queries", queries)):
        lines = [json.dumps({"_id": key, "text": text}) for key, text in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    marks = [(query, found, 1) for query in data.query_ids for found in sorted(data.relevant[query])]
    lines = ["\t".join(map(str, row)) for row in [("query-id", "corpus-id", "score"), *marks]]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _expected(entry, folder):
    path = folder / entry.name
    return replace(entry, size=path.stat().st_size, sha256=compute_sha256(path)) if path.is_file() else entry


def _splits(rows, names):
    return [(name, rows[place :: len(names)]) for place, name in enumerate(names)]


def _table(path, head, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
