"""What protocols are given: corpora, steps, pairs and tasks, by name or as they are."""
