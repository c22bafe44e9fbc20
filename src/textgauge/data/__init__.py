"""Texts: where they come from, and the pools and views that metrics see."""

from __future__ import annotations

from textgauge.data.card import Card, LabelledTexts, TextPairs
from textgauge.data.catalogue import fetch_dataset, is_here, list_published, published_pairs, published_texts
from textgauge.data.files import read_embeddings, read_pairs, read_table, read_texts
from textgauge.data.pool import GIVEN, Pool
from textgauge.data.samples import list_samples, sample, sample_pairs
from textgauge.data.source import load_aligned, load_pairs, load_texts
from textgauge.data.view import Comparison, Corpus, Draws, Pairs

__all__ = [
    "GIVEN",
    "Card",
    "Comparison",
    "Corpus",
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
