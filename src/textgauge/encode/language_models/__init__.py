"""Language models by name: how surprising a text is.

kneser-ney            modified Kneser–Ney of a representative corpus; `kneser-ney(order=5,tokenizer=words)`
trigram-en            the general English trigram model of CMU Sphinx (resource, 27 MB)
smollm2               SmolLM2-135M-Instruct on onnxruntime (resource, 98 MB)
arpa:PATH             an ARPA file
hf-causal:MODEL       a transformers model that reads from left to right, by hub name or folder (extra `hf`)
hf-masked:MODEL       a transformers model that fills gaps: pseudo-perplexity (extra `hf`)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.naming import parse
from textgauge.core.sizes import runs
from textgauge.encode.named import Entry, Named, Prefix, lazy

__all__ = ["LanguageModel", "Surprise", "get_language_model", "list_language_models"]

LONGEST_ORDER = 10
_TRAINED = "kneser-ney"
Surprise = tuple[NDArray[np.float64], NDArray[np.int64]]
"""−ln P of each text, in nats, and the number of tokens it is the sum over."""

CHARACTERS_AT_ONCE = 4_000_000


@runtime_checkable
class LanguageModel(Protocol):
    """Texts to how surprising they are. The value of a text does not depend on the other texts.

    The perplexity of a text is exp(nats / tokens). A text of which nothing can be scored (an empty one) has 0 tokens:
    its perplexity is undefined. Perplexities of models that cut texts into other tokens are not comparable.
    """

    @property
    def name(self) -> str:
        """The name it is called by."""

    @property
    def signature(self) -> str:
        """Everything the numbers depend on."""

    def surprise(self, texts: Sequence[str]) -> Surprise:
        """Give −ln P of each text in nats, and how many tokens were scored."""


def blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut a list of texts into runs of a few million characters, so that memory stays small.

    >>> [len(block) for block in blocks(["a" * 3_000_000, "b", "c" * 2_000_000])]
    [2, 1]
    """
    sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    return (texts[some] for some in runs(sizes, CHARACTERS_AT_ONCE))


def joined(parts: Sequence[Surprise]) -> Surprise:
    """Put the results of several blocks after each other."""
    nats = np.concatenate([np.empty(0), *(part[0] for part in parts)])
    tokens = np.concatenate([np.empty(0, dtype=np.int64), *(part[1] for part in parts)])
    return nats, tokens


def once(score: Callable[[list[str]], Surprise], texts: Sequence[str]) -> Surprise:
    """Score each different text once; for models that take long."""
    place = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    nats, tokens = score(list(place))
    rows = np.array([place[text] for text in texts], dtype=np.int64)
    return nats[rows], tokens[rows]


def windowed(rows: Sequence[Sequence[int]], longest: int, *, before: Sequence[int]) -> tuple[list[Ints], Ints]:
    """Cut rows of tokens into windows that begin with `before` and are no longer than `longest`, and tell whose
    each is. A row without tokens has no window.

    >>> windows, owner = windowed([[1, 2, 3], [], [4]], 3, before=[0])
    >>> [window.tolist() for window in windows], owner.tolist()
    ([[0, 1, 2], [0, 3], [0, 4]], [0, 0, 2])
    """
    step = longest - len(before)
    cuts = [(row, start) for row, tokens in enumerate(rows) for start in range(0, len(tokens), step)]
    windows = [np.array([*before, *rows[row][start : start + step]], dtype=np.int64) for row, start in cuts]
    return windows, np.array([row for row, _ in cuts], dtype=np.int64)


def get_language_model(name: str, *, representative: Sequence[str] | None = None) -> LanguageModel:
    """Give the language model of that name; all but `kneser-ney` and `arpa:` are loaded when first used.

    `kneser-ney` is trained here, on the `representative` texts; the others take no notice of them.

    >>> model = get_language_model("kneser-ney(order=2)", representative=["a cat sat", "a dog sat"])
    >>> model.name, model.surprise(["a cat sat", ""])[1].tolist()
    ('kneser-ney(order=2)', [4, 0])
    """
    if ":" in name:
        return LANGUAGE_MODELS.get(name)
    parsed = parse(name)
    if parsed.name == _TRAINED and not parsed.part and not parsed.on:
        return _kneser_ney(dict(parsed.params), representative)
    if parsed.name not in LANGUAGE_MODELS.entries or parsed.part or parsed.on:
        raise LANGUAGE_MODELS.unknown(name, [_TRAINED])
    if parsed.params:
        raise UnknownName(f"{parsed.name} has no parameters")
    return LANGUAGE_MODELS.get(parsed.name)


def list_language_models() -> list[str]:
    """All names, those with a part to fill in as `arpa:PATH`."""
    return [_TRAINED, *LANGUAGE_MODELS.forms()]


def _kneser_ney(params: Mapping[str, str], representative: Sequence[str] | None) -> LanguageModel:
    from textgauge.encode.language_models.kneser_ney import train

    unknown = sorted(params.keys() - {"order", "tokenizer"})
    if unknown:
        raise UnknownName(f"kneser-ney has no parameter {unknown[0]!r}; it has order, tokenizer")
    order = params.get("order", "3")
    if not order.isascii() or not order.isdigit() or not 1 <= int(order) <= LONGEST_ORDER:
        raise UnknownName(f"kneser-ney: order={order} must be a whole number from 1 to {LONGEST_ORDER}")
    if representative is None:
        raise InputError("kneser-ney learns from a representative corpus: give one, or use trigram-en")
    return train(representative, order=int(order), on=params.get("tokenizer", "words"))


LANGUAGE_MODELS: Named[LanguageModel] = Named(
    "language model",
    {
        "trigram-en": Entry(lazy(f"{__name__}.sphinx", "TrigramEn")),
        "smollm2": Entry(lazy(f"{__name__}.smollm2", "SmolLM2")),
    },
    {
        "arpa": Prefix(lazy(f"{__name__}.arpa", "arpa_model"), "PATH", kept=False),
        "hf-causal": Prefix(lazy(f"{__name__}.hf", "CausalModel")),
        "hf-masked": Prefix(lazy(f"{__name__}.hf", "MaskedModel")),
    },
)
