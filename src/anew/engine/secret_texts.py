"""Find the texts of secrets in other texts and values: as they are, and in their encoded forms.

Which texts those are is given by the caller, who may have them masked or put something else in
their place: `split` says where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from anew.values import Value, json_text
from anew.weight import RESERVED_KEY

T = TypeVar("T")
S = TypeVar("S", str, bytes)

# What stands for a secret wherever one was taken out. The page has it too, and a test compares.
MASK_BEGIN = "[redacted"
MASK = f"{MASK_BEGIN}]"
PLAIN = "plain"
# Under the reserved key of an object: those of its keys that begin so are sealed.
HAS_SEALED_KEYS = True
KEY_PREFIX = f"{RESERVED_KEY}:"
# A text this short is in half of all texts; it is a secret only where it is the whole text.
PART_CHARS_MIN = 6

_PATTERN_COUNT = 64
# Where a sign does not stand, no form that has it does: one search spares those of all such forms.
_SIGNS = ("%", "\\u", "\\", "&")
_ANYWHERE = ""


class SecretForm(Struct, frozen=True):
    """Names one form of one secret: the leaf `ref`, as it is or encoded."""

    ref: str
    form: str = PLAIN


class Probes(Generic[T]):
    """Texts to look for in others, and what to give for each that is found."""

    def __init__(self, rows: Iterable[tuple[str, T]]) -> None:
        self._rows: dict[str, list[tuple[str, T]]] = {}
        for text, row in rows:
            sign = next((sign for sign in _SIGNS if sign in text), _ANYWHERE)
            self._rows.setdefault(sign, []).append((text, row))
        self._encoded = {
            _encoded(sign)[1:-1]: [(_encoded(text)[1:-1], row) for text, row in of_sign]
            for sign, of_sign in self._rows.items()
        }

    def in_text(self, text: str) -> list[T]:
        """The rows of those that stand in a text."""
        return _found(self._rows, text)

    def in_json(self, encoded: bytes) -> list[T]:
        """The same for a value that is written as JSON."""
        return _found(self._encoded, encoded)


def _found(rows: Mapping[S, list[tuple[S, T]]], where: S) -> list[T]:
    return [
        row for sign, some in rows.items() if sign in where for part, row in some if part in where
    ]


class SecretTexts:
    """The texts that must not be seen, and where they occur. Longest first, then leftmost."""

    def __init__(self, forms: Mapping[SecretForm, str]) -> None:
        self._parts: dict[str, SecretForm] = {}
        self._wholes: dict[str, SecretForm] = {}
        for mark, text in forms.items():
            if text:
                kind = self._wholes if len(text) < PART_CHARS_MIN else self._parts
                kind.setdefault(text, mark)
        self._probes = Probes((text, text) for text in self._parts)
        self._whole_probes = [_encoded(text) for text in self._wholes]
        self._patterns: dict[tuple[str, ...], re.Pattern[str]] = {}

    def found_in(self, value: Value) -> re.Pattern[str] | None:
        """What splits the texts of `value`, or None when nothing is to be found anywhere in it."""
        if isinstance(value, str):
            hits = self._probes.in_text(value)
            is_found = bool(hits) or value in self._wholes
        elif self._parts or self._wholes:
            encoded = _encoded(value)
            hits = self._probes.in_json(encoded)
            is_found = bool(hits) or any(probe in encoded for probe in self._whole_probes)
        else:
            return None
        return self._pattern(tuple(sorted(hits, key=len, reverse=True))) if is_found else None

    def _pattern(self, hits: tuple[str, ...]) -> re.Pattern[str]:
        known = self._patterns.get(hits)
        if known is None:
            if len(self._patterns) >= _PATTERN_COUNT:
                self._patterns.clear()
            # Without a hit it is a pattern that never matches.
            known = re.compile("|".join(map(re.escape, hits)) or r"(?!)")
            self._patterns[hits] = known
        return known

    def split(self, text: str, pattern: re.Pattern[str]) -> list[str | SecretForm]:
        """The text as literal pieces and marks; just itself when it holds nothing."""
        if text in self._wholes:
            return [self._wholes[text]]
        pieces: list[str | SecretForm] = []
        end = 0
        for match in pattern.finditer(text):
            if match.start() > end:
                pieces.append(text[end : match.start()])
            pieces.append(self._parts[match.group()])
            end = match.end()
        if end < len(text) or not pieces:
            pieces.append(text[end:])
        return pieces

    def number(self, value: float) -> SecretForm | None:
        """The mark of a number that is a secret."""
        return self._parts.get(json_text(value))

    def masked(self, value: T) -> T:
        """`value` with `[redacted]` for everything in it that must not be seen."""
        pattern = self.found_in(value)
        return value if pattern is None else self._masked(value, pattern)

    def _masked(self, value: Value, pattern: re.Pattern[str]) -> Value:
        match value:
            case str():
                return self._masked_text(value, pattern)
            case bool() | None:
                return value
            case int() | float():
                return value if self.number(value) is None else MASK
            case dict() if value.get(RESERVED_KEY, HAS_SEALED_KEYS) is not HAS_SEALED_KEYS:
                return value  # a reference names a secret and does not show it
            case dict():
                masked = self._masked_key
                return {masked(k, pattern): self._masked(v, pattern) for k, v in value.items()}
            case list():
                return [self._masked(item, pattern) for item in value]
            case _:
                return value

    def _masked_key(self, key: str, pattern: re.Pattern[str]) -> str:
        return key if key.startswith(RESERVED_KEY) else self._masked_text(key, pattern)

    def _masked_text(self, text: str, pattern: re.Pattern[str]) -> str:
        pieces = self.split(text, pattern)
        return "".join(MASK if isinstance(piece, SecretForm) else piece for piece in pieces)


def _encoded(value: Value) -> bytes:
    return msgspec.json.encode(value)
