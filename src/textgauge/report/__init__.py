"""Renderers of stored results: leaderboards, figures."""

from textgauge.report.leaderboard import Leaderboard, leaderboard

__all__ = ["Leaderboard", "leaderboard"]
