"""Commands that people are told to type: with the place they are for, when this command had one.

Sentences everywhere name such commands in backquotes. Only the command line knows which database or
server was meant, so the option is put in here and nowhere else.
"""

from __future__ import annotations

import re

from anew.surfaces.cli.place import is_usual, option_for

# Those that have the options; the rest of a sentence in backquotes is left alone.
_COMMANDS = (
    "answer|cancel|events|explain|export|fork|pause|programs|prune|record|register|replay|resume|"
    "retry|run|runs|show|signal|skip|start|timeline|watch|whatif|worker"
)
_HINT = re.compile(rf"`(anew (?:{_COMMANDS})\b[^`]*)`")


def hinted(text: str, place: str | None) -> str:
    """The text, its commands with the place they are for."""
    if place is None or "`anew " not in text or is_usual(place):
        return text
    option = option_for(place)
    return _HINT.sub(lambda found: f"`{found[1]} {option}`", text)
