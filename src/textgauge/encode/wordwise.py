"""Token ids of texts by way of their words: a word is split into tokens once and remembered.

Most texts are made of words seen before, and looking a word up is ten times as fast as splitting it. This is exact
where no token reaches across two words. Texts for which that is not sure go through the library as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.settings import cap_size

_MOST_WORDS = 300_000  # remembered: some 60 MB

Cut = list[list[str] | None]
Cutter = Callable[[Sequence[str]], Cut]
IdArray = NDArray[np.int32]


class _Numbers(dict[str, int]):
    """Words numbered in the order in which they first occur."""

    def __missing__(self, word: str) -> int:
        self[word] = len(self)
        return self[word]


class WordwiseTokenizer:
    """A tokenizer of the library `tokenizers` with a memory of words.

    `cut` gives the words of each text, None for a text it cannot cut: the tokenizer's own description says how its
    texts may be cut. The memory has the token ids of each word, flat, and where those of each word start.
    """

    def __init__(self, library: Any) -> None:
        self.library, self.cut = library, _get_cutter(library)
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._numbers = _Numbers()
        self._ids: IdArray = np.empty(0, dtype=np.int32)
        self._starts: Ints = np.zeros(1, dtype=np.int64)

    def ids(self, texts: Sequence[str]) -> tuple[IdArray, Ints]:
        """Return the token ids of texts, flat, and how many each text has.

        No special tokens, nothing cut off or padded.
        """
        cut = self.cut(texts)
        whole = [row for row, words in enumerate(cut) if words is None]
        ids, lengths = self._of_words([words or [] for words in cut])
        if whole:
            rows = self.library.encode_batch_fast([texts[row] for row in whole], add_special_tokens=False)
            parts = np.split(ids, np.cumsum(lengths)[:-1])
            for row, encoding in zip(whole, rows, strict=True):
                parts[row] = np.array(encoding.ids, dtype=np.int32)
            ids, lengths[whole] = np.concatenate(parts), [len(parts[row]) for row in whole]
        return ids, lengths

    def _of_words(self, cut: list[list[str]]) -> tuple[IdArray, Ints]:
        counts = np.fromiter(map(len, cut), dtype=np.int64, count=len(cut))
        with self._lock:  # threads share the memory
            if len(self._numbers) > cap_size(_MOST_WORDS):
                self._forget()
            flat = map(self._numbers.__getitem__, chain.from_iterable(cut))
            words = np.fromiter(flat, dtype=np.int64, count=int(counts.sum()))
            if new := list(self._numbers)[len(self._starts) - 1 :]:
                rows = [encoding.ids for encoding in self.library.encode_batch_fast(new, add_special_tokens=False)]
                self._ids = np.append(self._ids, np.fromiter(chain.from_iterable(rows), dtype=np.int32))
                self._starts = np.append(self._starts, self._starts[-1] + np.cumsum([len(row) for row in rows]))
            known, starts = self._ids, self._starts
        sizes = np.diff(starts)[words]
        ends = np.cumsum(sizes)
        places = np.arange(len(words) and ends[-1]) + np.repeat(starts[words] - (ends - sizes), sizes)
        until = np.append(0, ends)[np.append(0, np.cumsum(counts))]
        return known[places], np.diff(until)


def _get_cutter(library: Any) -> Cutter:
    made = json.loads(library.to_str())
    if _is_lower_bert(made):
        return _cut_plain_words
    if _has_words_with_spaces(made):
        special = tuple(token["content"] for token in made["added_tokens"])
        return lambda texts: _cut_spaced_words(texts, special)
    return lambda texts: [None] * len(texts)


def _is_lower_bert(made: dict[str, Any]) -> bool:
    normalizer, splitter = made["normalizer"] or {}, made["pre_tokenizer"] or {}
    lower = normalizer.get("type") == "BertNormalizer" and normalizer["lowercase"] and normalizer["clean_text"]
    bracketed = all(token["content"].startswith("[") for token in made["added_tokens"])
    return bool(lower and bracketed and splitter.get("type") == "BertPreTokenizer")


def _cut_plain_words(texts: Sequence[str]) -> Cut:
    """Return what stands between spaces; None unless a text is plain ASCII without the names of special tokens."""
    return [text.split() if text.isascii() and text.isprintable() and "[" not in text else None for text in texts]


def _has_words_with_spaces(made: dict[str, Any]) -> bool:
    """Return whether spaces become `▁` in front of words, and no token has one anywhere else."""
    steps = [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]
    spaced = (made["normalizer"] or {}).get("normalizers") == steps and made["pre_tokenizer"] is None
    model = made["model"]
    whole = model["type"] == "BPE" and model.get("byte_fallback") and model.get("dropout") is None
    return bool(spaced and whole and not any("▁" in token.lstrip("▁") for token in model["vocab"]))


def _cut_spaced_words(texts: Sequence[str], special: tuple[str, ...]) -> Cut:
    """Return the words between single spaces.

    None where there are other spaces, `▁`, or the name of a special token.
    """
    together = "\n".join(texts)
    odd = tuple(token for token in (*special, "▁") if token in together)
    cut = [text.split(" ") for text in texts]
    if not odd:
        return [None if "" in words else words for words in cut]
    return [
        None if "" in words or any(token in text for token in odd) else words
        for text, words in zip(texts, cut, strict=True)
    ]
