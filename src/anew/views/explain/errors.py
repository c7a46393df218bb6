"""Errors at the length that holds their cause: an explanation is where someone looks for it."""

from __future__ import annotations

from anew.values import Object
from anew.views.wording import ERROR_CHARACTERS_MAX, error_text


def whole_error(error: Object | None) -> str:
    """The kind and the message, without the full stop that the sentence around it has."""
    return error_text(error or {}, characters_max=ERROR_CHARACTERS_MAX).rstrip(".")
