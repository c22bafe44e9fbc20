"""Token ids of texts by way of their words: a word is split into tokens once and remembered.

Most texts are made of words seen before, and looking a word up is ten times as fast as splitting it. This is exact
where no token reaches across two words. Texts for which that is not sure go through the library as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_WORDS = 300_000  # remembered: some 60 MB

Words = Callable[[str], "list[str] | None"]


@dataclass(frozen=True)
class WordwiseTokenizer:
    """A tokenizer of the library `tokenizers` with a memory of words; `words` gives None for texts it cannot cut."""

    library: Any
    words: Words
    _known: dict[str, list[int]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, library: Any) -> WordwiseTokenizer:
        """Find out from the tokenizer's own description how its texts may be cut into words."""
        return cls(library, _words_for(library))

    def ids(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The token ids of texts, flat, and how many each text has; no special tokens, nothing cut off or padded."""
        cut = [self.words(text) for text in texts]
        self._learn({word for words in cut if words is not None for word in words})
        whole = [text for text, words in zip(texts, cut, strict=True) if words is None]
        rest = iter(self.library.encode_batch_fast(whole, add_special_tokens=False) if whole else ())
        known = self._known
        rows = [next(rest).ids if words is None else _joined(known, words) for words in cut]
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        flat = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(lengths.sum()))
        return flat, lengths

    def _learn(self, words: set[str]) -> None:
        if len(self._known) > _MOST_WORDS:
            self._known.clear()
        new = list(words.difference(self._known))
        found = self.library.encode_batch_fast(new, add_special_tokens=False)
        self._known.update(zip(new, (encoding.ids for encoding in found), strict=True))


def _joined(known: dict[str, list[int]], words: list[str]) -> list[int]:
    row: list[int] = []
    for word in words:
        row += known[word]
    return row


def _words_for(library: Any) -> Words:
    import json

    made = json.loads(library.to_str())
    if _is_lower_bert(made):
        return _bert_words
    if _starts_words_with_spaces(made):
        special = tuple(token["content"] for token in made["added_tokens"])
        return lambda text: _spaced_words(text, special)
    return lambda text: None


def _is_lower_bert(made: dict[str, Any]) -> bool:
    normalizer, splitter = made["normalizer"] or {}, made["pre_tokenizer"] or {}
    lower = normalizer.get("type") == "BertNormalizer" and normalizer["lowercase"] and normalizer["clean_text"]
    bracketed = all(token["content"].startswith("[") for token in made["added_tokens"])
    return bool(lower and bracketed and splitter.get("type") == "BertPreTokenizer")


def _bert_words(text: str) -> list[str] | None:
    """What stands between spaces; None unless the text is plain ASCII without the names of special tokens."""
    return text.split() if text.isascii() and text.isprintable() and "[" not in text else None


def _starts_words_with_spaces(made: dict[str, Any]) -> bool:
    """Whether spaces become `▁` in front of words, and no token has one anywhere else."""
    steps = [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]
    spaced = (made["normalizer"] or {}).get("normalizers") == steps and made["pre_tokenizer"] is None
    model = made["model"]
    whole = model["type"] == "BPE" and model.get("byte_fallback") and model.get("dropout") is None
    return bool(spaced and whole and not any("▁" in token.lstrip("▁") for token in model["vocab"]))


def _spaced_words(text: str, special: tuple[str, ...]) -> list[str] | None:
    """The words between single spaces; None where there are other spaces, `▁`, or the name of a special token."""
    words = text.split(" ")
    return None if "" in words or "▁" in text or any(token in text for token in special) else words
