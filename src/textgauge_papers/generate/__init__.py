"""Generators: corpora made from corpora. Nothing here loads torch before a model is trained."""

from textgauge_papers.generate.conditional import Labelled, conditional
from textgauge_papers.generate.eda import eda
from textgauge_papers.generate.language_model import (
    AdapterSettings,
    GeneratorModel,
    TunedSettings,
    train_language_model,
)
from textgauge_papers.generate.sampling import Sampling
from textgauge_papers.generate.steps import ifc_corpora
from textgauge_papers.generate.vae import Vae, VaeSettings, train_vae

__all__ = [
    "AdapterSettings",
    "GeneratorModel",
    "Labelled",
    "Sampling",
    "TunedSettings",
    "Vae",
    "VaeSettings",
    "conditional",
    "eda",
    "ifc_corpora",
    "train_language_model",
    "train_vae",
]
