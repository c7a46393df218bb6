"""Take out of values what looks like a secret, so that a scenario can be shown and kept.

What the engine knows to be secret is a reference in the log already and becomes a plain text. On
top of that, values under names that secrets go by are taken out, and wherever else their texts
occur. Equal values stay equal, so that what compares them decides alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import pairwise

from anew.engine.secret_texts import KEY_PREFIX, MASK
from anew.values import Object, Value
from anew.weight import RESERVED_KEY

# A text this short is in half of all texts: it is taken out only where it stands alone.
PART_CHARS_MIN = 6

_HEADERS = frozenset(
    "authorization proxy-authorization cookie set-cookie x-api-key x-auth-token x-csrf-token "
    "x-amz-security-token x-vault-token".split()
)
_WORDS = frozenset(
    "password passwd passphrase pwd secret token apikey credential credentials bearer".split()
)
_PAIRS = frozenset(("api key", "access key", "private key", "secret key", "client key"))
_PART_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# What a text says by itself: `Bearer …`, `user:password@host`, `?token=…`.
_SPOKEN = re.compile(
    r"(?P<before>\b(?:bearer|basic)\s+)(?P<credential>[\w.~+/=-]{6,})"
    r"|(?P<user>://[^\s:@/?]*:)(?P<password>[^\s@/]+)(?=@)"
    r"|(?P<name>[?&;](?:[\w-]*(?:token|password|secret|signature|api_?key|sig))=)(?P<value>[^&\s]+)",
    re.IGNORECASE,
)


def looks_secret(name: str) -> bool:
    """Whether a header or key of this name usually holds a secret."""
    if name.lower() in _HEADERS:
        return True
    parts = [part.lower() for part in _PART_OF_NAME.findall(name)]
    pairs = {f"{one} {other}" for one, other in pairwise(parts)}
    return bool(_WORDS & set(parts) or _PAIRS & pairs)


class Redaction:
    """Learns what is to be taken out, then takes it out of any value."""

    def __init__(self, values: Iterable[Value]) -> None:
        self.marks: dict[str, str] = {}
        for value in values:
            self._learn(value, is_secret=False)
        parts = sorted((text for text in self.marks if len(text) >= PART_CHARS_MIN), key=len)
        self._parts = re.compile("|".join(map(re.escape, reversed(parts)))) if parts else None

    @property
    def count(self) -> int:
        """How many different texts are taken out."""
        return len(self.marks)

    def _learn(self, value: Value, *, is_secret: bool) -> None:
        match value:
            case str() if value and is_secret:
                self._mark(value)
            case str():
                for found in _SPOKEN.finditer(value):
                    self._mark(found["credential"] or found["password"] or found["value"])
            case list():
                for item in value:
                    self._learn(item, is_secret=is_secret)
            case dict() if RESERVED_KEY not in value:
                for key, item in value.items():
                    self._learn(item, is_secret=is_secret or looks_secret(key))
            case _:
                pass

    def _mark(self, text: str) -> None:
        if MASK not in text and text not in self.marks:
            number = len(self.marks) + 1
            self.marks[text] = MASK if number == 1 else f"{MASK[:-1]} {number}]"

    def clean(self, value: Value) -> Value:
        """`value` as anybody may see it."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.clean(item) for item in value]
            case dict() if RESERVED_KEY in value and not isinstance(value[RESERVED_KEY], bool):
                return self.text(_named(value[RESERVED_KEY]))
            case dict():
                return self._clean_object(value)
            case _:
                return value

    def _clean_object(self, value: Object) -> Object:
        return {
            self._key(key): self.clean(item) for key, item in value.items() if key != RESERVED_KEY
        }

    def _key(self, key: str) -> str:
        if key.startswith(KEY_PREFIX):
            return self.text(_named(json.loads(key.removeprefix(KEY_PREFIX))))
        return self.text(key)

    def text(self, text: str) -> str:
        if text in self.marks:
            return self.marks[text]
        if self._parts is None:
            return text
        return self._parts.sub(lambda found: self.marks[found.group()], text)


def _named(sealed: Value) -> str:
    """A reference in words: the secret's name in the place of the secret."""
    if isinstance(sealed, list):
        return "".join(piece if isinstance(piece, str) else _named(piece) for piece in sealed)
    name = sealed.get("ref") if isinstance(sealed, dict) else sealed
    return f"[secret {name}]"


def has_reference(value: Value) -> bool:
    """Whether a value of the log holds a reference to a secret."""
    if isinstance(value, dict):
        return RESERVED_KEY in value or any(map(has_reference, value.values()))
    return isinstance(value, list) and any(map(has_reference, value))
