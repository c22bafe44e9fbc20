"""Algorithms on arrays: clusters, classifiers, eigenvalues, neighbours, matching. They know nothing of text."""
