"""Tell whether an event of a log is a derived one in which the text of a secret was sealed.

An author may write plainly into a document what a credential holds as well. Whoever wrote the log
knew the credential and sealed that text; deriving it again gives the text. Knows no secret.
"""

from __future__ import annotations

import re

from msgspec import to_builtins

from anew.engine.events import Event
from anew.values import Value
from anew.weight import RESERVED_KEY


def is_sealed(recorded: Event, derived: Event) -> bool:
    """Whether they are the same but for texts that only the log has as references."""
    return type(recorded) is type(derived) and _alike(to_builtins(recorded), to_builtins(derived))


def _alike(recorded: Value, derived: Value) -> bool:
    if isinstance(recorded, dict) and isinstance(derived, str):
        return recorded.keys() == {RESERVED_KEY} and _hides(recorded[RESERVED_KEY], derived)
    if isinstance(recorded, dict) and isinstance(derived, dict):
        is_same = recorded.keys() == derived.keys()
        return is_same and all(_alike(recorded[key], derived[key]) for key in recorded)
    if isinstance(recorded, list) and isinstance(derived, list):
        is_same = len(recorded) == len(derived)
        return is_same and all(map(_alike, recorded, derived))
    return bool(recorded == derived)


def _hides(sealed: Value, text: str) -> bool:
    """Whether `text` has what is not secret of a sealed one, in its order."""
    if not isinstance(sealed, list):
        return isinstance(sealed, str)  # the reference is the whole of it
    pieces = (re.escape(piece) if isinstance(piece, str) else ".+" for piece in sealed)
    return re.fullmatch("".join(pieces), text, re.DOTALL) is not None
