"""Commands that people are told to type: with `--db`, when this command was given one of its own.

Sentences everywhere name such commands in backquotes. Only the command line knows which database
was meant, so the option is put in here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote

_OPTION = "--db"
# Those that have the option; the rest of a sentence in backquotes is left alone.
_COMMANDS = "answer|cancel|events|export|pause|programs|resume|retry|run|runs|show|start|timeline"
_HINT = re.compile(rf"`(anew (?:{_COMMANDS})\b[^`]*)`")


def hinted(text: str, url: str | None) -> str:
    """The text, its commands with the database they are for."""
    if url is None or "`anew " not in text or _is_usual(url):
        return text
    option = f"{_OPTION} {quote(url)}"
    return _HINT.sub(lambda found: f"`{found[1]} {option}`", text)


def database_said(words: Sequence[str]) -> str | None:
    """What the words of a command give for `--db`."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == _OPTION:
            return following or None
        if word.startswith(f"{_OPTION}="):
            return word.partition("=")[2] or None
    return None


def _is_usual(url: str) -> bool:
    """Whether the commands would find this database by themselves."""
    from anew.errors import ConfigError
    from anew.runtime.wiring import database_file

    try:
        return database_file(url).absolute() == database_file().absolute()
    except ConfigError:  # one of them is none; the other is then not the usual one
        return False
