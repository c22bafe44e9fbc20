"""`hf-causal:MODEL` and `hf-masked:MODEL`: any transformers language model, by hub name or folder (extra `hf`).

Weights are read from safetensors only, and code that comes with a model is never run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import ResourceError
from textgauge.core.sizes import split_into_blocks
from textgauge.encode.embedders.transformer import split_by_length
from textgauge.encode.hugging_face import TransformersModel, load_pretrained
from textgauge.encode.language_models import Surprise, cut_windows, score_distinct
from textgauge.encode.tokenizers import replace_surrogates

TOKENS = 1024  # at once: each has a number for every token of the vocabulary


@dataclass(frozen=True)
class HuggingFaceModel(TransformersModel):
    """What both kinds share: tokens and batches. Texts of equal length share a batch and nothing is padded."""

    @cached_property
    def signature(self) -> str:
        """Everything the numbers depend on; for a folder the digest of its files, else the hub's revision."""
        return self.spell_identity("window", "version=1")

    @cached_property
    def network(self) -> Any:
        """Its network."""
        return load_pretrained(self.name, self.model, self.kind, use_safetensors=True).float().eval()

    def surprise(self, texts: Sequence[str]) -> Surprise:
        """Return −ln P of each text in nats, and how many tokens were scored."""
        return score_distinct(self._surprise, texts)

    def _surprise(self, texts: list[str]) -> Surprise:
        nats, tokens = np.zeros(len(texts)), np.zeros(len(texts), dtype=np.int64)
        windows, owner = self._windows(self._ids(texts))
        for rows in split_by_length(windows, TOKENS):
            costs = self._costs(np.stack([windows[row] for row in rows]))
            np.add.at(nats, owner[rows], costs.sum(axis=1))
            np.add.at(tokens, owner[rows], costs.shape[1])
        return nats, tokens

    def _windows(self, ids: list[list[int]]) -> tuple[list[Ints], Ints]:
        raise NotImplementedError

    def _costs(self, ids: Ints) -> NDArray[np.float64]:
        raise NotImplementedError

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        clean = [replace_surrogates(text) for text in texts]
        found = self.tokenizer(clean, add_special_tokens=False, verbose=False)["input_ids"]
        return [list(row) for row in found]

    def _logs(self, ids: Ints) -> Any:
        """Return ln P of every token at every place, as a tensor."""
        import torch

        with torch.inference_mode():
            tokens = torch.from_numpy(ids)
            return torch.log_softmax(self.network(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits, -1)


@dataclass(frozen=True)
class CausalModel(HuggingFaceModel):
    """A model that reads from left to right: −Σ ln P(token | tokens before).

    A text is scored after the model's mark of beginning (of end, where it has none of beginning), so its first token
    counts; with neither mark it does not. Longer texts are cut into windows of at most 512 tokens that do not see each
    other.
    """

    prefix = "hf-causal"
    kind = "AutoModelForCausalLM"

    def _windows(self, ids: list[list[int]]) -> tuple[list[Ints], Ints]:
        marks = (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id)
        before = [mark for mark in marks if mark is not None][:1]
        return cut_windows(ids, self.longest, before=before)

    def _costs(self, ids: Ints) -> NDArray[np.float64]:
        import torch

        chosen = self._logs(ids)[:, :-1].gather(2, torch.from_numpy(ids[:, 1:, None]))
        return -np.asarray(chosen[..., 0].numpy(), dtype=np.float64)


@dataclass(frozen=True)
class MaskedModel(HuggingFaceModel):
    """A model that fills gaps: −Σ ln P(token | all others), one token hidden at a time (pseudo-perplexity).

    A text stands between the model's marks, which are not scored. Longer texts are cut into windows of at most 512
    tokens that do not see each other. The work grows with the square of a text's length.
    Source: Salazar et al. 2020.
    """

    prefix = "hf-masked"
    kind = "AutoModelForMaskedLM"

    @cached_property
    def _marks(self) -> tuple[list[int], list[int]]:
        if self.tokenizer.mask_token_id is None:
            raise ResourceError(f"{self.name} has no token for a gap: use hf-causal:{self.model}")
        # What the tokenizer itself puts around a text, found by a text of one token.
        inner = self._ids(["a"])[0]
        whole = list(self.tokenizer(["a"])["input_ids"][0])
        start = next(i for i in range(len(whole)) if whole[i : i + len(inner)] == inner)
        return whole[:start], whole[start + len(inner) :]

    def _windows(self, ids: list[list[int]]) -> tuple[list[Ints], Ints]:
        before, after = self._marks
        windows, owner = cut_windows(ids, self.longest - len(after), before=before)
        return [np.array([*window, *after], dtype=np.int64) for window in windows], owner

    def _costs(self, ids: Ints) -> NDArray[np.float64]:
        before, after = self._marks
        places = np.arange(len(before), ids.shape[1] - len(after))
        return np.array([[cost for part in self._row(row, places) for cost in part] for row in ids])

    def _row(self, row: Ints, places: Ints) -> Iterator[NDArray[np.float64]]:
        for some in split_into_blocks(len(places), TOKENS, len(row)):
            hidden = places[some]
            copies = np.repeat(row[None], len(hidden), axis=0)
            copies[np.arange(len(hidden)), hidden] = self.tokenizer.mask_token_id
            logs = self._logs(copies).numpy()
            yield -logs[np.arange(len(hidden)), hidden, row[hidden]].astype(np.float64)
