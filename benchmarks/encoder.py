"""`minilm` against sentence-transformers on torch: same run, same texts, same weights, one thread each.

Run in an environment that has textgauge and sentence-transformers: python -m benchmarks.encoder [n]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Row, race
from textgauge.data import is_here, load_texts
from textgauge.encode.embedders import get_embedder


def race_row(n: int = 2_000) -> Row:
    """Time to encode n texts of banking77, or of the built-in banking sample where it is not here."""
    texts = load_texts("banking77" if is_here("banking77") else "sample:banking", limit=n).texts
    with tempfile.TemporaryDirectory() as scratch:
        peer = _peer(peer_model(Path(scratch) / "model"))
        ours = get_embedder("minilm")
        ours.encode(texts[:8])
        row, mine, yours = race(
            "minilm sentences/s",
            n,
            lambda: ours.encode(texts),
            lambda: peer.encode(texts, batch_size=32, show_progress_bar=False),
            repeats=3,
        )
    return row | {"max_abs_diff": float(np.abs(mine - yours).max())}


def _peer(folder: Path) -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def peer_model(folder: Path) -> Path:
    """Make the folder sentence-transformers wants, around the weights of our resource."""
    from textgauge.encode.resources import locate

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


if __name__ == "__main__":
    os.environ["TEXTGAUGE_THREADS"] = "1"
    print(race_row(int(sys.argv[1]) if sys.argv[1:] else 2_000))
