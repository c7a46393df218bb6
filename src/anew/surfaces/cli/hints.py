"""Commands that people are told to type: with the place they are for, when this command had one.

Sentences everywhere name such commands in backquotes. Only the command line knows which database or
server was meant, and where its token came from, so the options are put in here and nowhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from anew.surfaces.cli.location import SERVER_VARIABLE, is_address, is_usual, option_for
from anew.surfaces.cli.tokens import token_option

# Those that have the options; the rest of a sentence in backquotes is left alone.
_COMMANDS = (
    "answer|attempts|cancel|credential|events|explain|export|failures|fork|pause|programs|prune|"
    "questions|record|register|replay|resume|retry|run|runs|show|signal|skip|start|timeline|watch|"
    "whatif|worker"
)
_HINT = re.compile(rf"`(anew (?:{_COMMANDS})\b[^`]*)`")


def hinted(text: str, place: str | None) -> str:
    """The text, its commands with the place they are for, and with the token file for it."""
    if "`anew " not in text:
        return text
    options = "".join(f" {option}" for option in _options(place))
    return _HINT.sub(lambda found: f"`{found[1]}{options}`", text) if options else text


def _options(place: str | None) -> Iterator[str]:
    if place is not None and not is_usual(place):
        yield option_for(place)
    if is_address(place or os.environ.get(SERVER_VARIABLE, "")):
        yield from token_option()
