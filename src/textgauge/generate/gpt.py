"""A small GPT: blocks of causal attention and a wide layer, normalised first, output weights tied to the embeddings."""

from __future__ import annotations

from typing import Any

from textgauge.generate.extras import need_torch


def gpt_network(*, vocabulary: int, layers: int, width: int, longest: int) -> Any:
    """The layers, with weights drawn from torch's random numbers as they stand.

    Source of the sizes of first weights: Radford et al. 2019 (0.02, smaller by √(2·layers) where a block adds).
    """
    nn = need_torch("a language model").nn

    def block() -> Any:
        return nn.ModuleDict(
            {
                "norm_1": nn.LayerNorm(width),
                "mixed": nn.Linear(width, 3 * width),
                "joined": nn.Linear(width, width),
                "norm_2": nn.LayerNorm(width),
                "wide": nn.Linear(width, 4 * width),
                "narrow": nn.Linear(4 * width, width),
            }
        )

    network = nn.ModuleDict(
        {
            "tokens": nn.Embedding(vocabulary, width),
            "places": nn.Embedding(longest, width),
            "blocks": nn.ModuleList([block() for _ in range(layers)]),
            "norm": nn.LayerNorm(width),
        }
    )
    for name, weights in network.named_parameters():
        if weights.dim() > 1:
            adds = "joined" in name or "narrow" in name
            nn.init.normal_(weights, std=0.02 / ((2 * layers) ** 0.5 if adds else 1.0))
    return network


def gpt_logits(network: Any, ids: Any, memory: Any, *, heads: int, dropout: float) -> tuple[Any, Any]:
    """Logits after every token, and keys and values of all tokens so far, block by block; None is an empty memory."""
    torch = need_torch("a language model")
    drop = torch.nn.functional.dropout
    past = 0 if memory is None else memory[0][0].shape[2]
    places = torch.arange(past, past + ids.shape[1])
    x = drop(network["tokens"](ids) + network["places"](places), dropout, network.training)
    kept = []
    for number, block in enumerate(network["blocks"]):
        seen, new = _attention(block, x, None if memory is None else memory[number], heads)
        kept.append(new)
        x = x + drop(seen, dropout, network.training)
        wide = torch.nn.functional.gelu(block["wide"](block["norm_2"](x)))
        x = x + drop(block["narrow"](wide), dropout, network.training)
    return network["norm"](x) @ network["tokens"].weight.T, kept


def _attention(block: Any, x: Any, memory: Any, heads: int) -> tuple[Any, Any]:
    torch = need_torch("a language model")
    rows, length, width = x.shape
    mixed = block["mixed"](block["norm_1"](x)).view(rows, length, 3, heads, width // heads)
    query, key, value = mixed.permute(2, 0, 3, 1, 4)
    if memory is not None:
        key, value = torch.cat([memory[0], key], dim=2), torch.cat([memory[1], value], dim=2)
    # Several tokens come at once only at the start; a single one sees everything before it.
    seen = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=length > 1)
    return block["joined"](seen.transpose(1, 2).reshape(rows, length, width)), (key, value)
