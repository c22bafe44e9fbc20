"""Descriptions that are kept: of whole corpora, and of draws as large as test.

descriptions/NAME-FINGERPRINT.json      both tables, sizes, warnings, what they were made with
descriptions/NAME-FINGERPRINT.parquet   every generated text with its values and neighbours
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.files import write_atomically, write_table
from textgauge.generate.settings import fingerprint
from textgauge.papers.zwerdling_corpora import Corpora, draw
from textgauge.tabular import plain_row

Row = dict[str, Any]

_FORMAT = 1
_TRAIN = "train drawn"
# Whatever depends on how many texts there are.
DRAWN = (
    "unique",
    "vocab",
    "semantic_precision",
    "semantic_recall",
    "semantic_f1",
    "syntactic_precision",
    "syntactic_recall",
    "syntactic_f1",
)


@dataclass(frozen=True, kw_only=True)
class Backends:
    """What texts are described with, and how often they are drawn at the size of test."""

    embedder: str = "minilm"
    grammar: str = "harper"
    plausibility: str = "kneser-ney"
    draws: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Described:
    """The description of one source.

    `rows` are those of `describe` on whole corpora. `drawn` are means over draws that are all as large as test, with
    their standard deviation; `test` is test at that size, and there is a corpus `train`, too.
    """

    name: str
    sizes: dict[str, int]
    rows: list[Row]
    drawn: list[Row]
    warnings: list[str]


def described(
    name: str, corpora: Corpora, backends: Backends, folder: Path, on_step: Callable[[str], None]
) -> tuple[Described, bool]:
    """The description that is kept, or a new one, and whether it is new."""
    path = folder / "descriptions" / f"{name}-{_fingerprint(corpora, backends)}.json"
    kept = _read(path, name)
    if kept is not None:
        return kept, False
    whole = _describe(corpora, backends, on_step)
    sizes = {role: len(texts) for role, texts in _sets(corpora).items()}
    found = Described(name, sizes, whole.to_dicts(), _drawn(corpora, backends, on_step), list(whole.warnings))
    write_table(path.with_suffix(".parquet"), whole.per_text)
    content = {"format": _FORMAT, "backends": asdict(backends), **asdict(found)}
    write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False))
    return found, True


def _describe(corpora: Corpora, backends: Backends, on_step: Callable[[str], None], **changed: Any) -> Any:
    from textgauge.describing import describe

    asked = {"embedder": backends.embedder, "grammar": backends.grammar, "plausibility": backends.plausibility}
    named = {role: None if backend == "none" else backend for role, backend in (asked | changed).items()}
    return describe(
        generated=corpora.generated,
        train=corpora.train,
        test=corpora.test,
        ci=not changed,
        seed=backends.seed,
        on_step=on_step,
        **named,  # type: ignore[arg-type]
    )


def _drawn(corpora: Corpora, backends: Backends, on_step: Callable[[str], None]) -> list[Row]:
    """Means over draws at one size for all: that of test, or of the smallest corpus."""
    everything = {**corpora.generated, _TRAIN: corpora.train}
    size = min(len(corpora.test), *map(len, everything.values()))
    numbers = range(backends.draws)
    drawn = {
        f"{name}/{number}": draw(texts, size, backends.seed, number)
        for name, texts in everything.items()
        for number in numbers
    }
    test = draw(corpora.test, size, backends.seed)
    found = _describe(Corpora(corpora.train, test, drawn), backends, on_step, grammar="none", plausibility="none")
    return [
        _mean(name, [found[wanted, f"{name}/{number}"] for number in numbers], size)
        for name in everything
        for wanted in DRAWN
        if name != _TRAIN or wanted.startswith("semantic")
    ]


def _mean(name: str, properties: list[Any], size: int) -> Row:
    values = [found.value for found in properties]
    row = {"corpus": "train" if name == _TRAIN else name, "property": properties[0].property, "texts": size}
    row |= {"value": float(np.mean(values)), "deviation": float(np.std(values)), "test": properties[0].test}
    return plain_row(row)


def _sets(corpora: Corpora) -> dict[str, Any]:
    return {"train": corpora.train, "test": corpora.test, **corpora.generated}


def _fingerprint(corpora: Corpora, backends: Backends) -> str:
    texts = {role: fingerprint(part) for role, part in _sets(corpora).items()}
    about = json.dumps([_FORMAT, asdict(backends), texts], sort_keys=True)
    return hashlib.blake2b(about.encode(), digest_size=6).hexdigest()


def _read(path: Path, name: str) -> Described | None:
    """What is kept; None where it is missing or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        parts = (found["sizes"], found["rows"], found["drawn"], found["warnings"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Described(name, *parts) if path.with_suffix(".parquet").is_file() else None
