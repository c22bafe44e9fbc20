"""Generators: corpora made from corpora. Nothing here loads torch before a model is trained."""

from textgauge.generate.conditional import Labelled, conditional
from textgauge.generate.eda import eda
from textgauge.generate.language_model import GeneratorModel, GptSettings, train_language_model
from textgauge.generate.sampling import Sampling
from textgauge.generate.steps import ifc_corpora
from textgauge.generate.vae import Vae, VaeSettings, train_vae
from textgauge.generate.word_level import NgramGenerator, ngram_corpora

__all__ = [
    "GeneratorModel",
    "GptSettings",
    "Labelled",
    "NgramGenerator",
    "Sampling",
    "Vae",
    "VaeSettings",
    "conditional",
    "eda",
    "ifc_corpora",
    "ngram_corpora",
    "train_language_model",
    "train_vae",
]
