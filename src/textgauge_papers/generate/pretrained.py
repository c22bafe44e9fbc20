"""Any causal language model of transformers, by hub name or local folder, trained further on texts (extra `hf`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from textgauge.core import InputError
from textgauge.encode import load_pretrained, pin_revision, replace_surrogates
from textgauge_papers.generate.language_model import GeneratorModel, TunedSettings
from textgauge_papers.generate.training import Ids, Recipe

_SEPARATOR = " SEP "


class ReadyCodec:
    """A tokenizer of transformers; the token of the end also starts texts where the model has none for that."""

    def __init__(self, tokenizer: Any, name: str) -> None:
        if tokenizer.eos_token_id is None:
            raise InputError(f"{name} has no token for the end of a text: it cannot be trained to end one")
        self._tokenizer = tokenizer
        first = tokenizer.bos_token_id
        self.end: int = int(tokenizer.eos_token_id)
        self.start: Ids = [self.end if first is None else int(first)]
        self.separator: Ids = self.encode([_SEPARATOR])[0]

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Return the tokens of each text, without special ones."""
        clean = [replace_surrogates(text) for text in texts]
        return [list(ids) for ids in self._tokenizer(clean, add_special_tokens=False)["input_ids"]]

    def decode(self, ids: Ids) -> str:
        """Return the text, white space run together."""
        return " ".join(str(self._tokenizer.decode(ids, skip_special_tokens=True)).split())


class Pretrained(GeneratorModel):
    """A transformers model. Weights are read from safetensors alone, and no code that comes with a model is run."""

    kind = "pretrained"

    def __init__(self, model: str, settings: TunedSettings) -> None:
        self.model, self.settings = model, settings
        name = f"the model {model}"
        self.codec = ReadyCodec(load_pretrained(name, model, "AutoTokenizer"), model)
        kind = "AutoModelForCausalLM"
        self.network = load_pretrained(name, model, kind, use_safetensors=True).float()
        places = getattr(self.network.config, "max_position_embeddings", None)
        self.longest = min(settings.longest, int(places or settings.longest))
        self.recipe = Recipe(batch=settings.batch, rate=settings.rate, warmup=settings.warmup)

    def describe(self) -> dict[str, Any]:
        """Kind, settings, and which weights it began with: the digest of a folder, or the hub's revision."""
        began = pin_revision(self.model, self.network.config)
        return {"kind": self.kind, "model": self.model, "settings": asdict(self.settings), "revision": began}

    def logits(self, ids: Any, memory: Any, mask: Any = None) -> tuple[Any, Any]:
        """Return the values as the model gives them."""
        attend = {} if mask is None else {"attention_mask": mask.long()}
        found = self.network(input_ids=ids, past_key_values=memory, use_cache=not self.network.training, **attend)
        return found.logits, found.past_key_values

    def keep(self, memory: Any, rows: Any) -> Any:
        """Return the memory of some rows: transformers selects them in place."""
        memory.batch_select_indices(rows)
        return memory
