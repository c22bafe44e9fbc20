"""`textgauge generate`: corpora made from a corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App

from textgauge.cli import ColumnOption, SeedOption, argument, command, note, option, show_progress
from textgauge.core import InputError, begin_step, check_table_path, write_table
from textgauge.data import describe_accepted, load_texts
from textgauge_papers.generate import (
    Sampling,
    VaeSettings,
    conditional,
    eda,
    ifc_corpora,
    train_language_model,
    train_vae,
)
from textgauge_papers.generate.language_model import ADAPTED, get_settings_class
from textgauge_papers.generate.settings import parse_settings
from textgauge_papers.generate.steps import NGRAM

app = App(name="generate", help="Generate texts from a corpus: by EDA, a sentence VAE or a language model.")

Train = Annotated[str, argument(metavar="TRAIN", help=f"The texts to learn from. {describe_accepted()}")]
Out = Annotated[Path, option("--output", "-o", help="The file to write: .txt, .csv, .jsonl or .parquet.")]
Number = Annotated[int | None, option("--n", "-n", min=1, help="How many texts; default: as many as TRAIN has.")]
Epochs = Annotated[int, option(min=1, help="Number of training epochs, including those of a checkpoint.")]
Model = Annotated[
    str,
    option(
        help="The model to train further: smollm2 (by adapters), or hf:NAME, of transformers, by hub name or folder."
    ),
]
Temperature = Annotated[float, option(min=0, help="Sampling temperature; 0 always takes the most likely token.")]
TopK = Annotated[int, option(min=0, help="Sample from this many most likely tokens; 0: from all.")]
TopP = Annotated[float, option(help="Sample from the most likely tokens that together have this probability.")]


@dataclass(frozen=True)
class _Training:
    """How a model is trained, and how it draws words."""

    seed: SeedOption = 0
    checkpoint: Annotated[
        Path | None, option(help="A folder that keeps the state of training; run the same command again to resume.")
    ] = None
    settings: Annotated[
        list[str] | None, option("--param", "-p", help="A setting of the model, as name=value; repeat for several.")
    ] = None
    temperature: Temperature = 1.0
    top_k: TopK = 100
    top_p: TopP = 0.95
    column: ColumnOption = None

    def __post_init__(self) -> None:
        _ = self.sampling  # refuses numbers that no word can be drawn by, before a long training

    @property
    def sampling(self) -> Sampling:
        """How words are drawn."""
        return Sampling(temperature=self.temperature, top_k=self.top_k, top_p=self.top_p)

    def choose(self, model: str) -> dict[str, Any]:
        """Return a model and its settings."""
        return {"model": model, "settings": parse_settings(get_settings_class(model), self.settings or [])}

    def given(self) -> dict[str, Any]:
        """Return what functions that train take of it."""
        return {"seed": self.seed, "checkpoint": self.checkpoint, "sampling": self.sampling}

    def learn_and_write(self, learn: Callable[..., Any], train: str, out: Path, n: int | None) -> None:
        """Train a model and write texts of it."""
        check_table_path(out)
        texts = load_texts(train, column=self.column).texts
        with show_progress():
            model = learn(texts, checkpoint=self.checkpoint, seed=self.seed)
            begin_step("writing texts")
            made = model.generate(n or len(texts), seed=self.seed, sampling=self.sampling)
        _write(out, [{"text": text} for text in made])


@dataclass(frozen=True)
class _VaeTraining(_Training):
    temperature: Temperature = 0.3
    top_k: TopK = 0
    top_p: TopP = 1.0


@app.command(name="eda")
@command
def eda_command(
    train: Train,
    out: Out,
    n: Number = None,
    seed: SeedOption = 0,
    alpha_sr: Annotated[float, option(help="Share of words that are replaced by synonyms.")] = 0.1,
    alpha_ri: Annotated[float, option(help="Number of synonyms that are inserted, as a share of the words.")] = 0.1,
    alpha_rs: Annotated[float, option(help="Number of swaps of two words, as a share of the words.")] = 0.1,
    p_rd: Annotated[float, option(help="Probability that a word is deleted.")] = 0.1,
    compat: Annotated[
        str, option(help="`eda`: as the authors' code does, in lower case and letters only; or `none`.")
    ] = "none",
    column: ColumnOption = None,
) -> None:
    """Change texts a little: synonyms, insertions, swaps, deletions. Needs no training.

    Example: textgauge generate eda train.txt -o eda.txt --n 5000
    """
    check_table_path(out)
    texts = load_texts(train, column=column).texts
    strengths = {"alpha_sr": alpha_sr, "alpha_ri": alpha_ri, "alpha_rs": alpha_rs, "p_rd": p_rd}
    made = eda(texts, n=n, seed=seed, compat=compat, **strengths)  # type: ignore[arg-type]
    _write(out, [{"text": text} for text in made])


@app.command(name="vae")
@command
def vae_command(train: Train, out: Out, n: Number = None, epochs: Epochs = 15, *, how: _VaeTraining) -> None:
    """Train a sentence VAE and write texts from noise (extra `generate`).

    Example: textgauge generate vae train.txt -o vae.txt --n 5000 --epochs 15 --checkpoint vae-model
    """
    learn = partial(train_vae, epochs=epochs, settings=parse_settings(VaeSettings, how.settings or []))
    how.learn_and_write(learn, train, out, n)


@app.command(name="lm")
@command
def lm_command(
    train: Train, out: Out, n: Number = None, epochs: Epochs = 3, model: Model = ADAPTED, *, how: _Training
) -> None:
    """Train a language model further, and write texts with it (extra `generate`; `hf` for models of transformers).

    Example: textgauge generate lm train.txt -o lm.txt --n 5000 --epochs 3 --checkpoint lm-model
    """
    learn = partial(train_language_model, epochs=epochs, **how.choose(model))
    how.learn_and_write(learn, train, out, n)


@app.command(name="conditional")
@command
def conditional_command(
    train: Train,
    out: Out,
    n: Annotated[int, option("--n", "-n", min=1, help="How many texts for each label.")],
    label: Annotated[str | None, option(help="The column of labels, for tables.")] = None,
    epochs: Epochs = 3,
    candidates: Annotated[float, option(min=1, help="How many texts are written for each one that is kept.")] = 5.0,
    embedder: Annotated[str, option(help="The embedder whose vectors the classifier sees.")] = "minilm",
    model: Model = ADAPTED,
    *,
    how: _Training,
) -> None:
    """Write texts for every label, and keep those that a classifier assigns to it (LAMBADA; extras `generate`, `hf`).

    Example: textgauge generate conditional train.csv --label intent -o new.csv --n 50 --checkpoint model
    """
    check_table_path(out)
    chosen = how.choose(model)
    found = load_texts(train, column=how.column, labels=label)
    if found.labels is None:
        raise InputError(f"{train} has no labels: name their column with --label")
    with show_progress():
        given: dict[str, Any] = {"candidates": candidates, "embedder": embedder, **chosen}
        made = conditional(found.texts, found.labels, n=n, epochs=epochs, **given, **how.given())
    _write(out, [{"text": row.text, "label": row.label, "confidence": row.confidence} for row in made])


@app.command(name="steps")
@command
def steps_command(
    train: Train,
    out: Annotated[Path, option("--folder", help="The folder to write step-001.txt, … into.")],
    steps: Annotated[int, option(min=1, help="Number of steps: the model writes texts after each.")] = 8,
    per_step: Annotated[int, option(min=1, help="Number of texts that the model learns from in each step.")] = 1_000,
    passes: Annotated[int, option(min=1, help="Number of passes over these texts.")] = 1,
    n: Annotated[
        int | None,
        option(
            "--n",
            "-n",
            min=1,
            help="How many texts the model writes after each step; default: as many as it learned from.",
        ),
    ] = None,
    labels: Annotated[
        str | None, option(help="A column of labels: texts of every label, filtered by a classifier (LAMBADA).")
    ] = None,
    candidates: Annotated[
        float, option(min=1, help="With --labels: how many texts are written for each one that is kept.")
    ] = 3.0,
    model: Annotated[
        str, option(help="The model: smollm2 or hf:NAME, which are trained further, or ngram, which counts.")
    ] = ADAPTED,
    *,
    how: _Training,
) -> None:
    """Train a model step by step, and write texts with it after each step: the data of `textgauge run ifc`.

    Examples: textgauge generate steps train.txt --folder steps --steps 8 --per-step 1000 --passes 5 ·
    textgauge generate steps train.csv --labels intent --folder steps --steps 20 --n 300
    """
    chosen = {"model": model} if model == NGRAM else how.choose(model)
    found = load_texts(train, column=how.column, labels=labels)
    if labels is not None and found.labels is None:
        raise InputError(f"{train} has no labels: --labels names their column in a table")
    out.mkdir(parents=True, exist_ok=True)
    with show_progress():
        given: dict[str, Any] = {"passes": passes, "n": n, "candidates": candidates, **chosen}
        given |= {"labels": found.labels if labels else None, **how.given()}
        for number, corpus in ifc_corpora(found.texts, steps=steps, per_step=per_step, **given):
            _write(out / f"step-{number:03d}.txt", [{"text": text} for text in corpus])


def _write(out: Path, rows: list[dict[str, Any]]) -> None:
    write_table(out, rows, exact=True)
    note(f"wrote {len(rows)} texts to {out}")
