"""Renderers of stored results: leaderboards, figures."""

from textgauge.evaluate.leaderboard import Leaderboard, leaderboard

__all__ = ["Leaderboard", "leaderboard"]
