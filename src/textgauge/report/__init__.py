"""Renderers of stored results: figures and the HTML page."""
