"""Language models by name: how surprising a text is.

kneser-ney            modified Kneser–Ney of a representative corpus; `kneser-ney(order=5,tokenizer=words)`
smollm2               SmolLM2-135M-Instruct (resource, 98 MB)
hf-causal:MODEL       a transformers model that reads from left to right, by hub name or folder (extra `hf`)
hf-masked:MODEL       a transformers model that fills gaps: pseudo-perplexity (extra `hf`)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.registry import parse
from textgauge.encode.encoders import Encoder, Encoders

LONGEST_ORDER = 10
_TRAINED = "kneser-ney"
Surprise = tuple[NDArray[np.float64], NDArray[np.int64]]
"""−ln P of each text, in nats, and the number of tokens it is the sum over."""


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
        """Return −ln P of each text in nats, and how many tokens were scored."""


def get_language_model(name: str, *, representative: Sequence[str] | None = None) -> LanguageModel:
    """Return the language model of that name; all but `kneser-ney` are loaded when first used.

    `kneser-ney` is trained here, on the `representative` texts; the others take no notice of them.

    >>> model = get_language_model("kneser-ney(order=2)", representative=["a cat sat", "a dog sat"])
    >>> model.name, model.surprise(["a cat sat", ""])[1].tolist()
    ('kneser-ney(order=2)', [4, 0])
    """
    if ":" in name:
        return LANGUAGE_MODELS.make(name)
    parsed = parse(name)
    if parsed.part or parsed.on or parsed.name not in list_language_models():
        raise UnknownName.among("language model", name, list_language_models())
    if parsed.name == _TRAINED:
        return _train(dict(parsed.params), representative)
    if parsed.params:
        raise UnknownName(f"{parsed.name} has no parameters")
    return LANGUAGE_MODELS.make(parsed.name)


def list_language_models() -> list[str]:
    """Return all names, those with a part to fill in as `hf-causal:MODEL`."""
    return [_TRAINED, *LANGUAGE_MODELS]


def _train(params: Mapping[str, str], representative: Sequence[str] | None) -> LanguageModel:
    from textgauge.encode.language_models.kneser_ney import train

    unknown = sorted(params.keys() - {"order", "tokenizer"})
    if unknown:
        raise UnknownName(f"kneser-ney has no parameter {unknown[0]!r}; it has order, tokenizer")
    order = params.get("order", "3")
    if not order.isascii() or not order.isdigit() or not 1 <= int(order) <= LONGEST_ORDER:
        raise UnknownName(f"kneser-ney: order={order} must be a whole number from 1 to {LONGEST_ORDER}")
    if representative is None:
        raise InputError("kneser-ney learns from a representative corpus: give one, or use smollm2")
    return train(representative, order=int(order), on=params.get("tokenizer", "words"))


def score_distinct(score: Callable[[list[str]], Surprise], texts: Sequence[str]) -> Surprise:
    """Score each different text once; for models that take long."""
    place = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    nats, tokens = score(list(place))
    rows = np.array([place[text] for text in texts], dtype=np.int64)
    return nats[rows], tokens[rows]


def cut_windows(rows: Sequence[Sequence[int]], longest: int, *, before: Sequence[int]) -> tuple[list[Ints], Ints]:
    """Cut rows of tokens into windows that begin with `before` and are no longer than `longest`, and tell whose
    each is. A row without tokens has no window.

    >>> windows, owner = cut_windows([[1, 2, 3], [], [4]], 3, before=[0])
    >>> [window.tolist() for window in windows], owner.tolist()
    ([[0, 1, 2], [0, 3], [0, 4]], [0, 0, 2])
    """
    step = longest - len(before)
    cuts = [(row, start) for row, tokens in enumerate(rows) for start in range(0, len(tokens), step)]
    windows = [np.array([*before, *rows[row][start : start + step]], dtype=np.int64) for row, start in cuts]
    return windows, np.array([row for row, _ in cuts], dtype=np.int64)


LANGUAGE_MODELS: Encoders[LanguageModel] = Encoders(
    "language model",
    {
        "smollm2": Encoder("language_models.smollm2:SmolLM2"),
        "hf-causal:MODEL": Encoder("hugging_face:CausalModel"),
        "hf-masked:MODEL": Encoder("hugging_face:MaskedModel"),
    },
)
