"""Language models by name: how surprising a text is.

kneser-ney            modified Kneser–Ney of a representative corpus; `kneser-ney(order=5,tokenizer=words)`
trigram-en            the general English trigram model of CMU Sphinx (resource, 27 MB)
smollm2               SmolLM2-135M-Instruct on onnxruntime (resource, 98 MB)
arpa:PATH             an ARPA file
hf-causal:MODEL       a transformers model that reads from left to right, by hub name or folder (extra `hf`)
hf-masked:MODEL       a transformers model that fills gaps: pseudo-perplexity (extra `hf`)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from textgauge.encode.language_models.base import LanguageModel, Surprise
from textgauge.errors import InputError, UnknownName
from textgauge.naming import parse

__all__ = ["LanguageModel", "Surprise", "get_language_model", "list_language_models"]

LONGEST_ORDER = 10


def get_language_model(name: str, *, representative: Sequence[str] | None = None) -> LanguageModel:
    """Give the language model of that name; all but `kneser-ney` and `arpa:` are loaded when first used.

    `kneser-ney` is trained here, on the `representative` texts; the others take no notice of them.

    >>> model = get_language_model("kneser-ney(order=2)", representative=["a cat sat", "a dog sat"])
    >>> model.name, model.surprise(["a cat sat", ""])[1].tolist()
    ('kneser-ney(order=2)', [4, 0])
    """
    prefix, colon, rest = name.partition(":")
    if colon and rest and prefix in _PREFIXES:
        return _PREFIXES[prefix](rest)
    parsed = parse(name) if not colon else None
    if parsed is None or parsed.name not in list_language_models() or parsed.part or parsed.on:
        raise UnknownName.among("language model", name, list_language_models())
    if parsed.name == "kneser-ney":
        return _kneser_ney(dict(parsed.params), representative)
    if parsed.params:
        raise UnknownName(f"{parsed.name} has no parameters")
    return _MODELS[parsed.name]()


def list_language_models() -> list[str]:
    """List the names of all language models, those with a part to fill in as `arpa:PATH`."""
    return ["kneser-ney", *_MODELS, "arpa:PATH", "hf-causal:MODEL", "hf-masked:MODEL"]


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


@cache
def _trigram_en() -> LanguageModel:
    from textgauge.encode.language_models.sphinx import TrigramEn

    return TrigramEn()


@cache
def _smollm2() -> LanguageModel:
    from textgauge.encode.language_models.smollm2 import SmolLM2

    return SmolLM2()


def _arpa(path: str) -> LanguageModel:
    from textgauge.encode.language_models.arpa import arpa_model

    return arpa_model(path)


@cache
def _causal(model: str) -> LanguageModel:
    from textgauge.encode.language_models.hf import CausalModel

    return CausalModel(model)


@cache
def _masked(model: str) -> LanguageModel:
    from textgauge.encode.language_models.hf import MaskedModel

    return MaskedModel(model)


_MODELS: dict[str, Callable[[], LanguageModel]] = {"trigram-en": _trigram_en, "smollm2": _smollm2}
_PREFIXES: dict[str, Callable[[str], LanguageModel]] = {"arpa": _arpa, "hf-causal": _causal, "hf-masked": _masked}
