"""Algorithms on arrays of numbers: held-out splits, moments, neighbours, n-grams, passages, search."""
