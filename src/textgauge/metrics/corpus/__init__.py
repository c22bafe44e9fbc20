"""Corpus metrics, one file per family."""
