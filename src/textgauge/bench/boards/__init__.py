"""Ranks, ties and tiers of metrics, and what verdicts look like as rows."""
