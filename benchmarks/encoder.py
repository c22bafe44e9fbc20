"""Sentences per second of `minilm` against sentence-transformers on torch: same run, same texts, same weights.

    python benchmarks/encoder.py --peer PYTHON --texts train.csv [--column text] [--n 2000] [--threads 2] [--rounds 3]
        [--clock wall|cpu]

PYTHON is the interpreter of an environment with sentence-transformers. Both sides take turns; the best round counts.
On a busy machine use `--threads 1 --clock cpu`: torch's waiting threads burn time that is not work.
Prints one row: name, ours and peer (sentences per second), ratio, largest absolute difference.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def peer_loop(model: str, texts_file: str, out_file: str, threads: int, clock: str) -> None:
    """Run on the peer's interpreter: encode the texts for each line read, answer with the seconds."""
    import numpy as np
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    encoder = SentenceTransformer(model, device="cpu", local_files_only=True)
    texts = json.loads(Path(texts_file).read_text())
    np.save(out_file, encoder.encode(texts, batch_size=32, show_progress_bar=False))
    print("ready", flush=True)
    for _ in sys.stdin:
        start = CLOCKS[clock]()
        encoder.encode(texts, batch_size=32, show_progress_bar=False)
        print(CLOCKS[clock]() - start, flush=True)


def peer_model(folder: Path) -> Path:
    """Make the folder sentence-transformers wants, around the weights of our resource."""
    from textgauge.represent.resources import locate

    source = locate("minilm")
    (folder / "1_Pooling").mkdir(parents=True)
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).symlink_to(source / name)
    kind = "sentence_transformers.models."
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    settings = {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_act": "gelu",
            "hidden_size": 384,
            "intermediate_size": 1536,
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": 512,
            "num_attention_heads": 12,
            "num_hidden_layers": 6,
            "type_vocab_size": 2,
            "vocab_size": 30522,
        },
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512},
        "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True},
        "modules.json": [
            {"idx": i, "name": str(i), "path": path, "type": kind + name} for i, (path, name) in enumerate(modules)
        ],
    }
    for name, content in settings.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def main() -> None:
    """Take turns with the peer and print the row."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--peer", required=True)
    options.add_argument("--texts", required=True, type=Path)
    options.add_argument("--column", default="text")
    options.add_argument("--n", type=int, default=2000)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    chosen = options.parse_args()
    os.environ["TEXTGAUGE_THREADS"] = str(chosen.threads)
    with chosen.texts.open(encoding="utf-8", newline="") as stream:
        texts = [row[chosen.column] for row in csv.DictReader(stream)][: chosen.n]
    with tempfile.TemporaryDirectory() as scratch:
        measure(texts, Path(scratch), chosen)


def measure(texts: list[str], scratch: Path, chosen: argparse.Namespace) -> None:
    """Interleave the rounds of both sides."""
    import numpy as np

    from textgauge.represent.embedders import embedder

    (scratch / "texts.json").write_text(json.dumps(texts))
    arguments = [
        peer_model(scratch / "model"),
        scratch / "texts.json",
        scratch / "peer.npy",
        chosen.threads,
        chosen.clock,
    ]
    command = [chosen.peer, __file__, "--as-peer", *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": str(chosen.threads), "HF_HUB_OFFLINE": "1"}
    peer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    assert peer.stdin
    assert peer.stdout
    if peer.stdout.readline().strip() != "ready":
        raise SystemExit("the peer did not start")
    ours = embedder("minilm")
    vectors = ours.encode(texts)
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(chosen.rounds):
        start = CLOCKS[chosen.clock]()
        ours.encode(texts)
        seconds[0].append(CLOCKS[chosen.clock]() - start)
        print("go", file=peer.stdin, flush=True)
        seconds[1].append(float(peer.stdout.readline()))
    peer.stdin.close()
    peer.wait()
    difference = float(np.abs(vectors - np.load(scratch / "peer.npy")).max())
    speed = [len(texts) / min(side) for side in seconds]
    print("name\tours\tpeer\tratio\tmax_abs_diff")
    print(f"minilm\t{speed[0]:.0f}\t{speed[1]:.0f}\t{speed[0] / speed[1]:.2f}\t{difference:.1e}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-peer"]:
        peer_loop(*sys.argv[2:5], int(sys.argv[5]), sys.argv[6])
    else:
        main()
