"""`textgauge generate`: corpora made from a corpus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from textgauge.cli.output import ColumnOption, SeedOption, note
from textgauge.cli.progress import progress
from textgauge.data import load_texts
from textgauge.data.source import accepted
from textgauge.errors import InputError
from textgauge.files import check_table_path, write_table
from textgauge.generate import GptSettings, Sampling, VaeSettings
from textgauge.generate.settings import settings_of

app = typer.Typer(help="Make corpora: EDA, sentence VAE, language models, texts of a label.", no_args_is_help=True)

Train = Annotated[str, typer.Argument(metavar="TRAIN", help=f"The texts to learn from. {accepted()}")]
Out = Annotated[Path, typer.Option("--output", "-o", help="The file to write: .txt, .csv, .jsonl or .parquet.")]
Number = Annotated[int | None, typer.Option("--n", "-n", min=1, help="How many texts; as many as TRAIN has.")]
Epochs = Annotated[int, typer.Option(min=1, help="How often the texts are learned, those of a checkpoint included.")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="A folder that keeps the training; run the same command again to resume.")
]
Model = Annotated[str | None, typer.Option(help="A transformers model to train further: hub name or folder.")]
Settings = Annotated[
    list[str] | None, typer.Option("--param", "-p", help="A size or rate of the model, name=value; repeat for several.")
]
Temperature = Annotated[float, typer.Option(min=0, help="Lower is safer, 0 always takes the likeliest.")]
TopK = Annotated[int, typer.Option(min=0, help="Draw from this many likeliest tokens; 0: from all.")]
TopP = Annotated[float, typer.Option(help="Draw from the fewest tokens that have this much probability.")]


@app.command("eda")
def eda_command(
    train: Train,
    out: Out,
    n: Number = None,
    seed: SeedOption = 0,
    alpha_sr: Annotated[float, typer.Option(help="Share of words replaced by synonyms; 0: never.")] = 0.1,
    alpha_ri: Annotated[float, typer.Option(help="Share of words for which a synonym is put in.")] = 0.1,
    alpha_rs: Annotated[float, typer.Option(help="Share of words swapped.")] = 0.1,
    p_rd: Annotated[float, typer.Option(help="Probability that a word is deleted.")] = 0.1,
    compat: Annotated[str, typer.Option(help="`eda`: lower case, letters alone, as the authors' code.")] = "none",
    column: ColumnOption = None,
) -> None:
    """Change texts a little: synonyms, insertions, swaps, deletions. Needs no training.

    Example: textgauge generate eda train.txt -o eda.txt --n 5000
    """
    from textgauge.generate import eda

    _check_out(out)
    texts = load_texts(train, column=column).texts
    strengths = {"alpha_sr": alpha_sr, "alpha_ri": alpha_ri, "alpha_rs": alpha_rs, "p_rd": p_rd}
    made = eda(texts, n=n, seed=seed, compat=compat, **strengths)  # type: ignore[arg-type]
    _write(out, [{"text": text} for text in made])


@app.command("vae")
def vae_command(
    train: Train,
    out: Out,
    n: Number = None,
    seed: SeedOption = 0,
    epochs: Epochs = 15,
    checkpoint: Checkpoint = None,
    settings: Settings = None,
    temperature: Temperature = 0.3,
    top_k: TopK = 0,
    top_p: TopP = 1.0,
    column: ColumnOption = None,
) -> None:
    """Train a sentence VAE and write texts from noise (extra `generate`).

    Example: textgauge generate vae train.txt -o vae.txt --n 5000 --epochs 15 --checkpoint vae-model
    """
    from textgauge.generate import train_vae

    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
    learn = partial(train_vae, epochs=epochs, settings=settings_of(VaeSettings, settings or []), checkpoint=checkpoint)
    _learn_and_write(learn, train, column, out, n, seed, sampling)


@app.command("lm")
def lm_command(
    train: Train,
    out: Out,
    n: Number = None,
    seed: SeedOption = 0,
    epochs: Epochs = 10,
    checkpoint: Checkpoint = None,
    model: Model = None,
    settings: Settings = None,
    temperature: Temperature = 1.0,
    top_k: TopK = 100,
    top_p: TopP = 0.95,
    column: ColumnOption = None,
) -> None:
    """Train a causal language model, a small GPT unless one is named, and write texts (extra `generate`, `hf`).

    Example: textgauge generate lm train.txt -o lm.txt --n 5000 --epochs 10 --checkpoint lm-model
    """
    from textgauge.generate import train_language_model

    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
    how: dict[str, Any] = {"epochs": epochs, "settings": _gpt(model, settings), "checkpoint": checkpoint}
    learn = partial(train_language_model, model=model, **how)
    _learn_and_write(learn, train, column, out, n, seed, sampling)


@app.command("conditional")
def conditional_command(
    train: Train,
    out: Out,
    n: Annotated[int, typer.Option("--n", "-n", min=1, help="How many texts for each label.")],
    label: Annotated[str | None, typer.Option(help="The column of labels, for tables.")] = None,
    seed: SeedOption = 0,
    epochs: Epochs = 10,
    candidates: Annotated[float, typer.Option(min=1, help="How many texts are written for each one kept.")] = 5.0,
    embedder: Annotated[str, typer.Option(help="What the classifier sees of a text.")] = "minilm",
    checkpoint: Checkpoint = None,
    model: Model = None,
    settings: Settings = None,
    temperature: Temperature = 1.0,
    top_k: TopK = 100,
    top_p: TopP = 0.95,
    column: ColumnOption = None,
) -> None:
    """Write texts of every label, and keep those that a classifier finds right (LAMBADA; extra `generate`, `hf`).

    Example: textgauge generate conditional train.csv --label intent -o new.csv --n 50 --checkpoint model
    """
    from textgauge.generate import conditional

    _check_out(out)
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
    chosen = _gpt(model, settings)
    found = load_texts(train, column=column, labels=label)
    if found.labels is None:
        raise InputError(f"{train} has no labels: name their column with --label")
    with progress() as step:
        how: dict[str, Any] = {"on_step": step, "on_note": note, "checkpoint": checkpoint, "model": model}
        how |= {"candidates": candidates, "embedder": embedder, "settings": chosen, "sampling": sampling}
        made = conditional(found.texts, found.labels, n=n, epochs=epochs, seed=seed, **how)
    _write(out, [{"text": row.text, "label": row.label, "confidence": row.confidence} for row in made])


@app.command("steps")
def steps_command(
    train: Train,
    out: Annotated[Path, typer.Option("--folder", help="The folder to write step-001.txt, … into.")],
    steps: Annotated[int, typer.Option(min=1, help="How often the model writes.")] = 8,
    per_step: Annotated[int, typer.Option(min=1, help="How many texts it learns before it writes again.")] = 1_000,
    passes: Annotated[int, typer.Option(min=1, help="How often it learns them.")] = 1,
    n: Annotated[int | None, typer.Option("--n", "-n", min=1, help="How many texts it writes; as many.")] = None,
    labels: Annotated[
        str | None, typer.Option(help="A column of labels: texts of every label, filtered by a classifier (LAMBADA).")
    ] = None,
    candidates: Annotated[float, typer.Option(min=1, help="With --labels: texts written for each one kept.")] = 3.0,
    model: Annotated[str, typer.Option(help="gpt (small, from scratch), ngram, or hf:NAME.")] = "gpt",
    seed: SeedOption = 0,
    checkpoint: Checkpoint = None,
    settings: Settings = None,
    temperature: Temperature = 1.0,
    top_k: TopK = 100,
    top_p: TopP = 0.95,
    column: ColumnOption = None,
) -> None:
    """Write what a model writes after every step of its training: the data of `textgauge run ifc`.

    Examples: textgauge generate steps train.txt --folder steps --steps 8 --per-step 1000 --passes 5 ·
    textgauge generate steps train.csv --labels intent --folder steps --steps 20 --n 300
    """
    from textgauge.generate import ifc_corpora

    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
    chosen = settings_of(GptSettings, settings or [])
    found = load_texts(train, column=column, labels=labels)
    if labels is not None and found.labels is None:
        raise InputError(f"{train} has no labels: --labels names their column in a table")
    out.mkdir(parents=True, exist_ok=True)
    with progress() as step:
        how: dict[str, Any] = {"on_step": step, "on_note": note, "checkpoint": checkpoint, "sampling": sampling}
        how |= {"passes": passes, "n": n, "model": model, "seed": seed, "settings": chosen}
        how |= {"labels": found.labels if labels else None, "candidates": candidates}
        for number, corpus in ifc_corpora(found.texts, steps=steps, per_step=per_step, **how):
            _write(out / f"step-{number:03d}.txt", [{"text": text} for text in corpus])


def _learn_and_write(
    learn: Callable[..., Any],
    train: str,
    column: str | None,
    out: Path,
    n: int | None,
    seed: int,
    sampling: Sampling,
) -> None:
    _check_out(out)
    texts = load_texts(train, column=column).texts
    with progress() as step:
        model = learn(texts, seed=seed, on_step=step, on_note=note)
        step("writing texts")
        made = model.generate(n or len(texts), seed=seed, sampling=sampling)
    _write(out, [{"text": text} for text in made])


def _gpt(model: str | None, settings: list[str] | None) -> GptSettings | None:
    if model is not None and settings:
        raise InputError("--param is for the small GPT; a model that is named brings its own sizes")
    return None if model is not None else settings_of(GptSettings, settings or [])


def _check_out(out: Path) -> None:
    """Refuse a file that cannot be written, before a long training and not after it."""
    check_table_path(out)
    if not out.parent.is_dir():
        raise InputError(f"cannot write {out}: there is no folder {out.parent}")


def _write(out: Path, rows: list[dict[str, Any]]) -> None:
    write_table(out, rows, exact=True)
    note(f"wrote {len(rows)} texts to {out}")
