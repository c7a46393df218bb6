"""Anew runs workflows that survive failure."""

__version__ = "0.1.0"
