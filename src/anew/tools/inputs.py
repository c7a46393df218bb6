"""Inputs of a call that cannot be used. What is said of them is the same for every tool."""

from __future__ import annotations


class BadInput(Exception):
    """An input cannot be used; the text is for the author and holds no secret."""
