"""Choose by name: `-k EXPR`, in the words of pytest.

An expression is made of parts of names with `not`, `and`, `or` and parentheses; upper and lower
case are alike.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import TypeAlias

Choice: TypeAlias = Callable[[str], bool]

_TOKEN = re.compile(r"\s*(?:([()])|([^\s()]+))")
_WORDS = ("and", "or", "not", "(", ")")
# Deeper ones are not written by hand.
_DEPTH_MAX = 50


def choice_of(text: str) -> Choice:
    """Whether a name fits the expression, for argparse."""
    tokens = [bracket or word for bracket, word in _TOKEN.findall(text)]
    if not tokens:
        raise ArgumentTypeError("an expression needs at least a part of a name")
    reader = _Reader(tokens)
    chosen = reader.any_of(0)
    if reader.tokens:
        raise ArgumentTypeError(f"{reader.tokens[0]!r} is not expected there in {text!r}")
    return lambda name: chosen(name.lower())


class _Reader:
    """Reads from the left; `tokens` are those still to come."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def any_of(self, depth: int) -> Choice:
        parts = [self._all_of(depth)]
        while self._takes("or"):
            parts.append(self._all_of(depth))
        return lambda name: any(part(name) for part in parts)

    def _all_of(self, depth: int) -> Choice:
        parts = [self._one(depth)]
        while self._takes("and"):
            parts.append(self._one(depth))
        return lambda name: all(part(name) for part in parts)

    def _one(self, depth: int) -> Choice:
        if depth > _DEPTH_MAX:
            raise ArgumentTypeError(f"the expression is nested more than {_DEPTH_MAX} deep")
        if self._takes("not"):
            refused = self._one(depth + 1)
            return lambda name: not refused(name)
        if self._takes("("):
            inner = self.any_of(depth + 1)
            if not self._takes(")"):
                raise ArgumentTypeError("a `)` is missing")
            return inner
        if not self.tokens or self.tokens[0] in _WORDS:
            found = f"before {self.tokens[0]!r}" if self.tokens else "at the end"
            raise ArgumentTypeError(f"a part of a name is missing {found}")
        part = self.tokens.pop(0).lower()
        return lambda name: part in name

    def _takes(self, word: str) -> bool:
        if self.tokens and self.tokens[0] == word:
            del self.tokens[0]
            return True
        return False
