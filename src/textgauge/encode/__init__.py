"""Text to arrays, row by row: resources, tokenizers, embedders, grounds."""
