"""Whole numbers an operator may set for tools, each read from the environment under `ANEW_`.

Knows names and defaults only; what a number bounds is said where it is used.
"""

from __future__ import annotations

import os

from anew.errors import ConfigError

_NUMBER_BOUND = 1 << 40


def whole_setting(name: str, default: int) -> int:
    """`$ANEW_<name>` when it is set, else `default`; a ConfigError when it is no such number."""
    said = os.environ.get(f"ANEW_{name}")
    if said is None:
        return default
    if said.isascii() and said.isdigit() and len(said) < len(str(_NUMBER_BOUND)) and int(said) > 0:
        return int(said)
    raise ConfigError(f"ANEW_{name} is {said!r}; it must be a whole number of at least 1")
