"""What only one test knows: runs that carry such a word are its own."""

from __future__ import annotations

from random import SystemRandom

# Letters that no id or number is made of: where errors are compared without those, it stays.
_LETTERS = "ghjklmnpqrstuvwxyz"
_LENGTH = 12


def own_word() -> str:
    return "".join(SystemRandom().choices(_LETTERS, k=_LENGTH))
