"""Pair metrics, one family a file."""
