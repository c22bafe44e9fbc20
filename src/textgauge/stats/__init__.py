"""Arithmetic on numbers: knows nothing of text."""
