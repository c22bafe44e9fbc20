"""A small good file of every format that textgauge reads, and what reads it; and ways to damage one."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import xlsxwriter
from tests.contract.protocol_data import example_data

from textgauge.bench import Ksc, Plan, Store, run
from textgauge.bench.results import Results
from textgauge.cli import make_app, read_config
from textgauge.core.files import unseal_json
from textgauge.core.result import TableResult
from textgauge.data import read_embeddings
from textgauge.data.formats import read_table
from textgauge.encode.embedders.static import make_static
from textgauge.encode.embedders.transformer import make_onnx
from textgauge.encode.word_vectors import read_blocks
from textgauge.measure.check import Check
from textgauge.measure.checking import read_checks, run_checks
from textgauge.metrics import get_corpus_metrics, get_metric, get_metrics
from textgauge.metrics.pair.ensemble import FORMAT, load_model
from textgauge.report.page import read_result, render_page
from textgauge.report.saved import load
from textgauge_papers.elmo import read_network

Read = Callable[[Path], object]


@dataclass(frozen=True)
class Target:
    """A format: the name of a good file, its content, what reads a path, and how many bytes at its front matter most.

    `checked` says that the content is protected by a checksum: no damage may be read.
    """

    file: str
    content: bytes
    read: Read
    head: int = 0
    checked: bool = False


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """One to four changes: a byte set, a stretch cut out or repeated, the end cut off."""
    for _ in range(int(rng.integers(1, 5))):
        place, length = int(rng.integers(len(content) + 1)), int(rng.integers(1, 40))
        how = int(rng.integers(8))
        if how < 5:
            content = content[:place] + rng.bytes(1) + content[place + 1 :]
        elif how == 5:
            content = content[:place] + content[place + length :]
        elif how == 6:
            content = content[:place] + content[place : place + length] * 3 + content[place:]
        else:
            content = content[:place] or b"\0"
    return content


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """One bit of one byte turned."""
    place = int(rng.integers(len(content)))
    return content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]


def damaged(target: Target, rng: np.random.Generator) -> bytes:
    """The content with some damage, half of the time in its head."""
    if target.head and rng.random() < 0.5:
        return mutated(target.content[: target.head], rng) + target.content[target.head :]
    return mutated(target.content, rng)


@cache
def targets() -> dict[str, Target]:
    """Every format by its name."""
    texts = [f"text {n}, with “signs” and\ttabs" for n in range(30)]
    frame = pl.DataFrame({"text": [text.replace("\t", " ") for text in texts], "n": list(range(30))})
    csv = frame.write_csv().encode()
    return {
        "txt": Target("a.txt", "\n".join(texts).encode(), _texts),
        "csv": Target("a.csv", csv, _texts),
        "tsv": Target("a.tsv", frame.write_csv(separator="\t").encode(), _texts),
        "json": Target("a.json", json.dumps(frame.to_dicts()).encode(), _texts),
        "jsonl": Target("a.jsonl", frame.write_ndjson().encode(), _texts),
        "parquet": Target("a.parquet", _written(frame.write_parquet), _texts),
        "arrow": Target("a.arrow", _written(frame.write_ipc), _texts),
        "arrow stream": Target(
            "s.arrow", _written(lambda out: frame.write_ipc_stream(out, compression="zstd")), _texts
        ),
        "npy": Target(
            "a.npy",
            _written(lambda out: np.save(out, np.random.default_rng(0).normal(size=(30, 4)))),
            read_embeddings,
            128,
        ),
        "gzip": Target("a.csv.gz", gzip.compress(csv, mtime=0), _texts),
        "bzip2": Target("a.csv.bz2", bz2.compress(csv), _texts),
        "xz": Target("a.csv.xz", lzma.compress(csv), _texts),
        "zstd": Target("a.csv.zst", _zstd(csv), _texts),
        "spreadsheet": Target("a.xlsx", _spreadsheet(frame), _texts),
        "word vectors, text": Target("a.vec", _word_vectors(), lambda path: list(read_blocks(path))),
        "word vectors, binary": Target("a.bin", _binary_vectors(), lambda path: list(read_blocks(path)), 40),
        "ELMo, options": Target("options.json", json.dumps(_ELMO).encode(), _elmo),
        "ELMo, weights": Target("weights.hdf5", _elmo_weights(), _elmo, 2_048),
        "safetensors": Target("model.safetensors", _safetensors(), _static, 80),
        "ensemble": Target("model.json", _ensemble(), load_model),
        "run store, manifest": _manifest(sealed=True),
        "run store, manifest without checksum": _manifest(sealed=False),
        "saved result": Target("result.json", _saved(), load, checked=True),
        "saved result without checksum": Target("bare.json", _bare(_saved()), load),
        "saved result without checksum, report": Target("old.json", json.dumps(_ROWS).encode(), _reported),
        "checks": Target("checks.toml", _CHECKS, read_checks),
        "baselines": Target("baselines.json", _baselines(), _compared),
        "static, settings": Target("config.json", b'{"normalize": true, "hidden_dim": 2}', _static_settings),
        "ONNX, settings": Target("sentence_bert_config.json", b'{"max_seq_length": 512}', _onnx_settings),
        "ONNX, modules": Target("modules.json", _MODULES, _onnx_settings),
        "config": Target("textgauge.toml", _CONFIG, _configured),
        "name": Target("name", b"pr.recall(k=3|5,ties=open)@minilm|wordllama:cosine", _named),
    }


def _zstd(content: bytes) -> bytes:
    module = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    return bytes(module.compress(content))


def _spreadsheet(frame: pl.DataFrame) -> bytes:
    def write(out: io.BytesIO) -> None:
        with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
            book.set_properties({"created": datetime(2026, 1, 1)})  # else that of now
            frame.write_excel(book)

    return _written(write)


_ROWS: list[dict[str, Any]] = [
    {"metric": "energy", "value": 0.2, "low": 0.1, "high": 0.3, "p_value": 0.01, "n_reference": 30, "n_candidate": 30,
     "reason": None, "null": 0.05},
    {"metric": "bleu", "mean": 0.2, "low": 0.1, "high": 0.3, "n": 30, "reason": None},
]  # fmt: skip
_CONFIG = b"""[compare]
metrics = ["energy", "mauve"]
permutations = 999
ci = true

[run]
repetitions = 5
"""
_CHECKS = b"""level = 0.95
seed = 1

[check.drift]
kind = "drift"
reference = "a.txt"
candidate = "b.txt"
metric = "jsd@words"
max_ratio = 9

[check.copies]
kind = "copies"
generated = "b.txt"
train = "a.txt"
max = "5%"
"""
_MODULES = b"""[{"idx": 0, "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "type": "sentence_transformers.models.Pooling"}]"""
_ELMO = {
    "char_cnn": {
        "activation": "relu",
        "embedding": {"dim": 4},
        "filters": [[1, 3], [2, 4]],
        "max_characters_per_token": 50,
        "n_characters": 262,
        "n_highway": 1,
    },
    "lstm": {
        "cell_clip": 3,
        "dim": 5,
        "n_layers": 1,
        "proj_clip": 3,
        "projection_dim": 3,
        "use_skip_connections": True,
    },
}


def _written(write: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def _texts(path: Path) -> list[str | None]:
    table = read_table(path)
    return table.get_texts(table.find_column(None))


def _word_vectors() -> bytes:
    rng = np.random.default_rng(1)
    rows = [f"word{n} {' '.join(f'{number:.4f}' for number in rng.normal(size=5))}" for n in range(20)]
    return "\n".join(["20 5", *rows]).encode()


def _binary_vectors() -> bytes:
    rng = np.random.default_rng(1)
    rows = [f"word{n} ".encode() + rng.normal(size=5).astype("<f4").tobytes() for n in range(20)]
    return b"20 5\n" + b"\n".join(rows)


def _elmo_weights() -> bytes:
    import h5py

    rng = np.random.default_rng(3)
    cells = [f"RNN_{side}/RNN/MultiRNNCell/Cell0/LSTMCell" for side in (0, 1)]
    shapes = {"char_embed": (261, 4), "CNN/W_cnn_0": (1, 1, 4, 3), "CNN/b_cnn_0": (3,), "CNN/W_cnn_1": (1, 2, 4, 4)}
    shapes |= {"CNN/b_cnn_1": (4,), "CNN_proj/W_proj": (7, 3), "CNN_proj/b_proj": (3,)}
    shapes |= {f"CNN_high_0/W_{part}": (7, 7) for part in ("carry", "transform")}
    shapes |= {f"CNN_high_0/b_{part}": (7,) for part in ("carry", "transform")}
    for cell in cells:
        shapes |= {f"{cell}/W_0": (6, 20), f"{cell}/B": (20,), f"{cell}/W_P_0": (5, 3)}

    def write(out: io.BytesIO) -> None:
        with h5py.File(out, "w") as file:
            for name, shape in shapes.items():
                file[name] = rng.normal(size=shape).astype(np.float32)

    return _written(write)


def _elmo(path: Path) -> object:
    """The one file that is given, and the other as it should be."""
    options, weights = path.with_name("options.json"), path.with_name("weights.hdf5")
    for other, content in ((options, json.dumps(_ELMO).encode()), (weights, _good_weights())):
        if other != path:
            other.write_bytes(content)
    return read_network(options, weights)


@cache
def _good_weights() -> bytes:
    return _elmo_weights()


def _safetensors() -> bytes:
    from safetensors.numpy import save

    return save({"embeddings": np.arange(8, dtype=np.float32).reshape(4, 2), "weights": np.ones(4, dtype=np.float32)})


@cache
def _word_tokenizer() -> str:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    library = Tokenizer(WordLevel({"[UNK]": 0, "red": 1, "cat": 2, "dog": 3}, unk_token="[UNK]"))
    library.pre_tokenizer = Whitespace()
    return str(library.to_str())


def _static(path: Path) -> object:
    path.with_name("tokenizer.json").write_text(_word_tokenizer())
    path.with_name("config.json").write_text('{"normalize": true}')
    return make_static(str(path.parent)).encode(["red cat", "dog"])


def _ensemble() -> bytes:
    content = {
        "format": FORMAT,
        "model": "ridge",
        "features": [{"metric": name, "signature": get_metric(name).signature} for name in ("jaccard", "chrf")],
        "scale": [0.0, 5.0],
        "parameters": {
            "mean": [0.5, 0.4],
            "scale": [0.2, 0.2],
            "weights": [1.0, 2.0],
            "missing": [0.0, 0.0],
            "intercept": 2.5,
            "penalty": 1.0,
        },
        "trained": {"on": "pairs", "n": 100},
    }
    return json.dumps(content, indent=1).encode()


def _manifest(*, sealed: bool) -> Target:
    from tempfile import TemporaryDirectory

    protocol = Ksc(k=3, n=6, repetitions=2)
    plan = Plan(protocol, example_data(protocol.data), get_corpus_metrics("jsd@words"))
    with TemporaryDirectory() as folder:
        run([plan], Store(folder))
        files = {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    (name,) = (path for path in files if path.parent.name == "manifests")
    content = files.pop(name)

    def read(changed: Path) -> object:
        folder = changed.parent / "run"
        for path, whole in files.items() if not folder.exists() else ():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(whole)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(changed.read_bytes())
        return [group.verdicts for group in Results(Store.open(folder)).groups()]

    return Target("manifest.json", content if sealed else _bare(content), read, checked=sealed)


def _bare(content: bytes) -> bytes:
    return json.dumps(unseal_json(content.decode()), indent=1).encode()


def _drop_check() -> Check:
    made, real = ["a cat", "a dog", "two"], ["one cat", "a dog", "2"]
    return Check("score", name="scores", candidate=made, reference=real, metric="jaccard", max_drop=0.5)


def _baselines() -> bytes:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        run_checks([_drop_check()], baselines=Path(folder, "a.json"), update=True)
        return _bare(Path(folder, "a.json").read_bytes())


def _compared(path: Path) -> object:
    return run_checks([_drop_check()], baselines=path)


def _static_settings(path: Path) -> object:
    path.with_name("tokenizer.json").write_text(_word_tokenizer())
    path.with_name("model.safetensors").write_bytes(_safetensors())
    return make_static(str(path.parent)).encode(["red cat"])


def _onnx_settings(path: Path) -> object:
    for other in {"modules.json", "sentence_bert_config.json"} - {path.name}:
        path.with_name(other).unlink(missing_ok=True)
    for needed in ("tokenizer.json", "model.onnx"):
        path.with_name(needed).touch()
    return make_onnx(str(path.parent)).pooling


def _saved() -> bytes:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        return TableResult("compare", _ROWS[:1], answer="They differ.").save(Path(folder, "a.json")).read_bytes()


def _reported(path: Path) -> object:
    return render_page((), [read_result(path)])


def _named(path: Path) -> object:
    return get_metrics(path.read_bytes().decode("utf-8", "surrogateescape"))


def _configured(path: Path) -> object:
    return read_config(_command(), path.parent, "compare")


@cache
def _command() -> Any:
    return make_app()
