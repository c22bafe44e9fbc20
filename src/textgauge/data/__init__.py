"""Texts: where they come from, and the pools and views that metrics see."""

from __future__ import annotations

from textgauge.data.arrays import read_embeddings
from textgauge.data.card import DatasetCard, LabelledTexts, TextPairs
from textgauge.data.catalogue import (
    fetch_dataset,
    is_here,
    list_published,
    published_pairs,
    published_texts,
    register_dataset,
)
from textgauge.data.pool import GIVEN, Pool
from textgauge.data.samples import list_samples, sample, sample_pairs
from textgauge.data.source import load_aligned, load_corpus, load_pairs, load_texts
from textgauge.data.view import Comparison, Corpus, Draws, Pairs

__all__ = [
    "GIVEN",
    "Comparison",
    "Corpus",
    "DatasetCard",
    "Draws",
    "LabelledTexts",
    "Pairs",
    "Pool",
    "TextPairs",
    "fetch_dataset",
    "is_here",
    "list_published",
    "list_samples",
    "load_aligned",
    "load_corpus",
    "load_pairs",
    "load_texts",
    "published_pairs",
    "published_texts",
    "read_embeddings",
    "register_dataset",
    "sample",
    "sample_pairs",
]
