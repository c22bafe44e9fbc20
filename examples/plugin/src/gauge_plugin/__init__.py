"""A metric and an embedder for textgauge, as an example."""
