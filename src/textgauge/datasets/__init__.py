"""Datasets: the users' files, built-in samples, the catalogue of published data."""

from __future__ import annotations

from textgauge.datasets.card import Card, LabelledTexts, TextPairs
from textgauge.datasets.catalog import fetch_dataset, is_here, list_published, published_pairs, published_texts
from textgauge.datasets.files import read_embeddings, read_pairs, read_table, read_texts
from textgauge.datasets.load import load_aligned, load_pairs, load_texts
from textgauge.datasets.sample import list_samples, sample, sample_pairs

__all__ = [
    "Card",
    "LabelledTexts",
    "TextPairs",
    "fetch_dataset",
    "is_here",
    "list_published",
    "list_samples",
    "load_aligned",
    "load_pairs",
    "load_texts",
    "published_pairs",
    "published_texts",
    "read_embeddings",
    "read_pairs",
    "read_table",
    "read_texts",
    "sample",
    "sample_pairs",
]
