"""Properties of a generated corpus, as pure functions on arrays and tokens: what is new, copied, covered, repeated."""
