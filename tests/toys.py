"""Stand-ins that tests of several folders share: an embedder, a metric, a small network, distances over steps."""

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from textgauge.bench import Distributionality, Group, Observations
from textgauge.core.progress import advance
from textgauge.data import Corpus, load_texts
from textgauge.metrics import Part, TokenMetric


class Letters:
    """An embedder that counts letters, and keeps what it was asked."""

    name, dimension = "letters", 26

    def __init__(self, identity="letters(1)"):
        self.identity, self.asked = identity, []

    def encode(self, texts, *, batch_size=64):
        self.asked += texts
        advance(len(texts), len(texts))
        counts = [[text.lower().count(letter) for letter in ascii_lowercase] for text in texts]
        return np.array(counts, dtype=np.float32).reshape(-1, 26)


@dataclass(frozen=True, kw_only=True)
class Constant(TokenMetric):
    """The same for all, or an error for a third of the references."""

    name = "constant"
    label = "constant"
    source = "none"
    headline = Part("value")

    fails: bool = False

    def compute(self, comparison):
        if self.fails and comparison.reference.keys.min() % 3 == 0:
            raise ZeroDivisionError("just so")
        return {"value": 0.5}


def make_llama(width, wide, tokens):
    """Sizes and random weights of a network like SmolLM2's, of two layers, four heads and two of keys."""
    head = width // 4
    sizes = {
        "general.architecture": "llama",
        "llama.block_count": 2,
        "llama.embedding_length": width,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 10_000.0,
    }
    layer = {"attn_q": (width, width), "attn_k": (2 * head, width), "attn_v": (2 * head, width)}
    layer |= {"attn_output": (width, width), "ffn_gate": (wide, width), "ffn_up": (wide, width)}
    layer |= {"ffn_down": (width, wide), "attn_norm": (width,), "ffn_norm": (width,)}
    shapes = {"token_embd.weight": (tokens, width), "output_norm.weight": (width,)}
    shapes |= {f"blk.{number}.{name}.weight": shape for number in range(2) for name, shape in layer.items()}
    draw = np.random.default_rng(0)
    return sizes, {name: draw.normal(size=shape).astype(np.float32) * 0.4 for name, shape in shapes.items()}


def take_samples():
    """The first texts of two packaged samples, as the two sources of a run."""
    names = {"a": "banking", "b": "travel"}
    return {role: Corpus.of(load_texts(f"sample:{name}", limit=80).texts) for role, name in names.items()}


def draw_texts(protocol, sources, seed=0):
    """The texts of both sides, of all trials."""
    return [
        tuple(frozenset(batch.joint.take(np.flatnonzero(side)).texts) for side in sides)
        for batch in protocol.trials(sources, seed)
        for sides in zip(batch.draws.left, batch.draws.right, strict=True)
    ]


STEPS = Distributionality(n=20, k=5, repetitions=3)
PROTOTYPES = ("energy@euclidean", "ahd@euclidean")


def steps_of(values, parts=()):
    """Observations of k + 1 corpora: one row of values per repetition."""
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    i, j = np.triu_indices(STEPS.k + 1, 1)
    columns = {"i": np.tile(i, len(rows)), "j": np.tile(j, len(rows)), "sample": np.zeros(rows.size, dtype=int)}
    columns["repetition"] = np.repeat(np.arange(len(rows)), len(i))
    return Observations(rows.ravel(), np.repeat(np.arange(len(rows)), len(i)), columns | dict(parts))


def make_compared():
    """Five metrics over steps, the prototypes among them."""
    i, j = np.triu_indices(STEPS.k + 1, 1)

    def noisy(power, seed=0):
        return (j - i) ** power + np.random.default_rng(seed).normal(0, 0.3, (3, len(i)))

    shares = {name: np.random.default_rng(3).random(45) for name in ("part.precision", "part.recall")}
    observed = {
        PROTOTYPES[1]: steps_of(noisy(0.5)),
        PROTOTYPES[0]: steps_of(noisy(2.0)),
        "fid": steps_of(noisy(1.5)),
        "pr(k=2)": steps_of(noisy(1.0), shares),
        "pr(k=3)": steps_of(noisy(1.0, 1), {name: 1 - share for name, share in shares.items()}),
    }
    return Group("pairs", STEPS, 0, "", observed)
