"""Training step by step: the same steps whether it was interrupted or not.

What is random in a step depends on the seed, the epoch and the number of its batch alone, and no setting looks at how
many epochs are planned. So a run of six epochs, one of three that is resumed for three more, and one that was killed in
between give the same weights, on the same machine with as many threads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from textgauge.core import InputError, begin_step, replace_file, tell_note
from textgauge_papers.generate.settings import import_torch, make_generator

Ids = list[int]
_CLIP = 1.0  # largest norm of a step's gradient
_TOGETHER = 32  # batches whose texts are sorted by length together
_ORDER, _STEP, _START = 11, 12, 13  # purposes of random numbers
FILE = "checkpoint.safetensors"
_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is trained: texts in a batch, learning rate, and over how many steps it rises at the start."""

    batch: int
    rate: float
    warmup: int = 0


class Trainable(Protocol):
    """What training needs of a model."""

    network: Any
    recipe: Recipe

    def describe(self) -> dict[str, Any]:
        """Kind, settings and vocabulary, as plain JSON: what the model is made again from."""

    def loss(self, rows: list[Ids], step: int) -> Any:
        """Return the mean loss of some examples, after this many steps of training."""


@contextmanager
def seed_torch(*words: int) -> Iterator[None]:
    """Torch's global random numbers from a seed, put back as they were afterwards."""
    torch = import_torch("training")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(make_generator(*words).integers(2**62)))
        yield


@contextmanager
def seed_weights(seed: int) -> Iterator[None]:
    """Draw the weights that a model starts from by this seed."""
    with seed_torch(seed, _START):
        yield


class Training:
    """A model, its optimizer, and how far it has come; kept in a folder, if given, and taken up from there."""

    def __init__(
        self, model: Trainable, *, seed: int, data: str, folder: str | Path | None = None, every: float = 60.0
    ) -> None:
        torch = import_torch("training")
        self.model, self.recipe, self.seed, self.data = model, model.recipe, seed, data
        self.folder, self.every = None if folder is None else Path(folder), every
        self.epoch, self.batch, self.steps = 0, 0, 0
        self.losses: list[float] = []
        self._sum = 0.0
        self._named = dict(model.network.named_parameters())
        self._optimizer = torch.optim.AdamW(
            self._named.values(), lr=self.recipe.rate, betas=(0.9, 0.98), weight_decay=0.01
        )
        found = None if self.folder is None else load_checkpoint(self.folder)
        if found is not None:
            self._take_up(found)

    def run(self, examples: Sequence[Ids]) -> float:
        """Train one epoch over the examples, from where it was left, and return the mean loss."""
        batches = split_batches(examples, self.recipe.batch, self.seed, self.epoch)
        start = saved = time.monotonic()
        self.model.network.train()
        while self.batch < len(batches):
            self._step([examples[row] for row in batches[self.batch]])
            epoch = f"epoch {self.epoch + 1}"
            begin_step(f"{epoch}, loss {self._mean:.3f}", self.batch, len(batches), epoch)
            if time.monotonic() - saved > self.every and self.batch < len(batches):
                self.save()
                saved = time.monotonic()
        self.losses.append(self._mean)
        self.epoch, self.batch, self._sum = self.epoch + 1, 0, 0.0
        self.save()
        tell_note(f"epoch {self.epoch}: loss {self.losses[-1]:.3f}, {time.monotonic() - start:.0f} s")
        return self.losses[-1]

    def save(self) -> None:
        """Keep weights, optimizer and place in the folder; nothing without one."""
        if self.folder is None:
            return
        tensors = {f"model.{name}": value.detach() for name, value in self._named.items()}
        for name, parameter in self._named.items():
            tensors |= {f"{key}.{name}": value for key, value in self._optimizer.state.get(parameter, {}).items()}
        about = {**self._identity(), "epoch": self.epoch, "batch": self.batch, "steps": self.steps}
        save_checkpoint(Checkpoint({**about, "losses": self.losses, "sum": self._sum}, tensors), self.folder)

    @property
    def _mean(self) -> float:
        return self._sum / max(self.batch, 1)

    def _step(self, rows: list[Ids]) -> None:
        torch = import_torch("training")
        with seed_torch(self.seed, _STEP, self.epoch, self.batch):
            loss = self.model.loss(rows, self.steps)
            self._optimizer.zero_grad(set_to_none=True)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(self._named.values(), _CLIP)
        self.steps += 1
        for group in self._optimizer.param_groups:
            group["lr"] = self.recipe.rate * min(1.0, self.steps / max(self.recipe.warmup, 1))
        self._optimizer.step()
        self.batch += 1
        self._sum += float(loss.detach())

    def _identity(self) -> dict[str, Any]:
        return {"model": self.model.describe(), "seed": self.seed, "data": self.data}

    def _take_up(self, found: Checkpoint) -> None:
        """Go on from a checkpoint of the same model, seed and texts; refuse any other."""
        wanted, have = self._identity(), {key: found.about.get(key) for key in ("model", "seed", "data")}
        other = [name for name in wanted if wanted[name] != have[name]]
        if other:
            what = {"model": "other settings", "seed": "another seed", "data": "other texts"}[other[-1]]
            raise InputError(f"the checkpoint in {self.folder} was made with {what}; name another folder")
        restore(self._named, found, str(self.folder))
        for name, parameter in self._named.items():
            kept = {key: found.tensors.get(f"{key}.{name}") for key in ("step", "exp_avg", "exp_avg_sq")}
            if all(value is not None for value in kept.values()):
                self._optimizer.state[parameter] = kept
        self.epoch, self.batch, self.steps = (int(found.about[key]) for key in ("epoch", "batch", "steps"))
        self.losses, self._sum = list(found.about["losses"]), float(found.about["sum"])
        tell_note(f"resumes from {self.folder}: {self.epoch} epochs and {self.batch} batches are done")


def restore(named: dict[str, Any], found: Checkpoint, where: str) -> None:
    """Put the weights of a checkpoint into a network's parameters; names and shapes must be the same."""
    torch = import_torch("training")
    weights = {name: found.tensors.get(f"model.{name}") for name in named}
    wrong = [name for name, value in weights.items() if value is None or value.shape != named[name].shape]
    if wrong:
        raise InputError(f"the checkpoint in {where} does not fit the model: {wrong[0]}")
    with torch.no_grad():
        for name, value in weights.items():
            named[name].copy_(value)


def train(training: Training, examples: Sequence[Ids], *, epochs: int) -> None:
    """Train until this many epochs are done, those of a checkpoint included."""
    if epochs < 1:
        raise InputError(f"at least 1 epoch is needed, not {epochs}")
    if training.epoch > epochs or (training.epoch == epochs and training.batch):
        raise InputError(f"the checkpoint has {training.epoch} epochs already, more than the {epochs} wanted")
    while training.epoch < epochs:
        training.run(examples)


def split_batches(examples: Sequence[Ids], size: int, seed: int, epoch: int) -> list[list[int]]:
    """Split the rows of an epoch: shuffled, texts of similar length together, batches shuffled."""
    rng = make_generator(seed, _ORDER, epoch)
    order = rng.permutation(len(examples))
    lengths = np.array([len(ids) for ids in examples])
    batches: list[list[int]] = []
    for start in range(0, len(order), size * _TOGETHER):
        part = order[start : start + size * _TOGETHER]
        part = part[np.argsort(lengths[part], kind="stable")]
        batches += [part[place : place + size].tolist() for place in range(0, len(part), size)]
    return [batches[place] for place in rng.permutation(len(batches)).tolist()]


def pad_rows(rows: Sequence[Ids], fill: int = 0) -> Any:
    """Return rows of ids as one tensor, filled up on the right."""
    torch = import_torch("training")
    width = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, and what is known about them: `about` is plain JSON."""

    about: dict[str, Any]
    tensors: dict[str, Any] = field(repr=False)


def save_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Write a checkpoint whole or not at all, over the one before."""
    from safetensors.torch import save_file

    header = {"textgauge": json.dumps({"format": _FORMAT, **checkpoint.about})}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replace_file(folder / FILE) as part:
            part.touch()  # a folder that cannot be written is an OSError here, another kind of error in safetensors
            save_file({key: tensor.contiguous() for key, tensor in checkpoint.tensors.items()}, part, metadata=header)
    except OSError as error:
        raise InputError(f"cannot write a checkpoint into {folder}: {error.strerror or error}") from None


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """Read the checkpoint of a folder; None where there is none."""
    from safetensors import SafetensorError, safe_open

    path = folder / FILE
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as opened:
            about = json.loads((opened.metadata() or {})["textgauge"])
            tensors = {key: opened.get_tensor(key) for key in opened.keys()}  # noqa: SIM118, it is no dictionary
    except (OSError, SafetensorError, KeyError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is no checkpoint of textgauge, or damaged ({type(error).__name__})") from None
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise InputError(f"{path} was written by another version of textgauge; train again in a new folder")
    return Checkpoint(about, tensors)
