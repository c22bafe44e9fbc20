"""Answers about texts: compare, score, describe, check."""
