"""Pair metrics that are learned from ratings, and whether they agree better than the best of their parts."""
