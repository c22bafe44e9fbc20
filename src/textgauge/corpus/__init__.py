"""Texts and their views."""

from textgauge.corpus.pool import GIVEN, Pool
from textgauge.corpus.view import Comparison, Corpus, Draws, Pairs

__all__ = ["GIVEN", "Comparison", "Corpus", "Draws", "Pairs", "Pool"]
