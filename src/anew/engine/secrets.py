"""Secrets in a run: what templates read of them, and how they are kept out of the log.

A value that enters the log is sealed: wherever it holds a secret, the log holds a reference,
`{"$secret": …}`, and opening it again gives back exactly what was sealed. The values themselves
come with the moment, as data. Knows no provider, no key and no store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from anew.engine.secret_texts import HAS_SEALED_KEYS, KEY_PREFIX, PLAIN, SecretForm, SecretTexts
from anew.errors import AnewError
from anew.expressions import ExpressionError
from anew.values import Object, Value, json_text
from anew.weight import RESERVED_KEY

# Opened values with more parts than this are remembered, so that reading a large list in every
# iteration of a loop does not walk it every time. All are forgotten when they have too many
# parts together: what is remembered stays in memory after its run has ended.
_REMEMBERED_PARTS_MIN = 200
_REMEMBERED_PARTS = 1_000_000
_FIRST_PART = re.compile(r"(?:[^.\\]|\\.)*", re.DOTALL)


class MissingSecret(AnewError):
    """A decision needs credentials whose values were not given; nothing of it was written.

    Resolve `names`, fold the run again and decide again.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(names))
        super().__init__(f"these credentials are not resolved yet: {', '.join(self.names)}")


class Unavailable(ExpressionError):
    """An expression reads a credential that cannot be had; the message says why and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message, source="", offset=0)


class KeychainValues(dict[str, Value]):
    """What `keychain` reads. A credential that cannot be had is an error once it is read."""

    def __init__(self, known: Mapping[str, Value], absent: Mapping[str, str]) -> None:
        super().__init__(known)
        self._absent = absent

    def get(self, key: str, default: Value = None) -> Value:
        if key in self._absent:
            raise Unavailable(self._absent[key])
        return super().get(key, default)


class KnownSecrets(Struct, frozen=True):
    """What a caller knows of the secrets a run may use.

    `keychain` is what templates read by that name; `values` holds every credential and each of
    its parts by reference; `forms` the texts to look for, by what they are; `absent` says why a
    credential cannot be had; `unread` does so for the names of the keychain.
    """

    keychain: Mapping[str, Value] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    forms: Mapping[SecretForm, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"KnownSecrets({', '.join(self.keychain)})"


class Secrets:
    """The secrets of one run, resolved. Values that hold none cost one search each."""

    def __init__(self, known: KnownSecrets) -> None:
        self.known = known
        self.ring = KeychainValues(known.keychain, known.unread)
        self.texts = SecretTexts(known.forms)
        # By identity: the value itself is kept with what it opens to, so that no other can
        # come to have its id.
        self._opened: dict[int, tuple[Value, Value]] = {}
        self._opened_parts = 0
        self._walked = 0

    # --- into the log

    def seal(self, value: Value) -> Value:
        """`value` as the log may hold it; the same object when it holds no secret."""
        pattern = self.texts.found_in(value)
        return value if pattern is None else self._sealed(value, pattern)

    def _sealed(self, value: Value, pattern: re.Pattern[str]) -> Value:
        match value:
            case str():
                return self._sealed_text(value, pattern)
            case bool() | None:
                return value
            case int() | float():
                mark = self.texts.number(value)
                is_secret = mark is not None and self._is_whole(mark, value)
                return reference_to(mark.ref) if mark and is_secret else value
            case dict() if RESERVED_KEY in value:  # sealed before, by another run
                return value
            case dict():
                return self._sealed_object(value, pattern)
            case list():
                return [self._sealed(item, pattern) for item in value]
            case _:
                return value

    def _sealed_text(self, text: str, pattern: re.Pattern[str]) -> Value:
        pieces = self.texts.split(text, pattern)
        first = pieces[0]
        if len(pieces) == 1 and isinstance(first, SecretForm) and self._is_whole(first, text):
            return reference_to(first.ref)
        if any(isinstance(piece, SecretForm) for piece in pieces):
            return {RESERVED_KEY: [_written(piece) for piece in pieces]}
        return text

    def _is_whole(self, mark: SecretForm, value: Value) -> bool:
        """Whether the reference alone gives back this value; a number is not its own text."""
        leaf = self.known.values.get(mark.ref)
        return mark.form == PLAIN and leaf == value

    def _sealed_object(self, value: Object, pattern: re.Pattern[str]) -> Object:
        """A key that is sealed stays a key, so that objects can still be merged."""
        pieces = {key: self.texts.split(key, pattern) for key in value}
        if not any(isinstance(piece, SecretForm) for split in pieces.values() for piece in split):
            return {key: self._sealed(item, pattern) for key, item in value.items()}
        sealed = {_written_key(pieces[k]): self._sealed(v, pattern) for k, v in value.items()}
        return {RESERVED_KEY: HAS_SEALED_KEYS, **sealed}

    # --- out of the log

    def open(self, value: Value) -> Value:
        """What was sealed; the same object when nothing was.

        Raises MissingSecret for a credential that was not given, Unavailable for one that
        cannot be had.
        """
        kind = type(value)
        if kind is not dict and kind is not list:
            return value
        remembered = self._opened.get(id(value))
        if remembered is not None:
            return remembered[1]
        before = self._walked
        opened = self._open_object(value) if kind is dict else self._open_list(value)
        self._walked += len(value)
        parts = self._walked - before
        if parts > _REMEMBERED_PARTS_MIN:
            self._remember(value, opened, parts)
        return opened

    def _remember(self, value: Value, opened: Value, parts: int) -> None:
        if self._opened_parts > _REMEMBERED_PARTS:
            self._opened.clear()
            self._opened_parts = 0
        self._opened[id(value)] = (value, opened)
        self._opened_parts += parts

    def _open_list(self, value: list[Value]) -> list[Value]:
        opened = [self.open(item) for item in value]
        is_same = all(new is old for new, old in zip(opened, value, strict=True))
        return value if is_same else opened

    def _open_object(self, value: Object) -> Value:
        if RESERVED_KEY in value:
            sealed = value[RESERVED_KEY]
            return self._open_keys(value) if sealed is HAS_SEALED_KEYS else self._value(sealed)
        opened = {key: self.open(item) for key, item in value.items()}
        is_same = all(new is old for new, old in zip(opened.values(), value.values(), strict=True))
        return value if is_same else opened

    def _open_keys(self, value: Object) -> Object:
        sealed = {key: item for key, item in value.items() if key != RESERVED_KEY}
        return {self._open_key(key): self.open(item) for key, item in sealed.items()}

    def _open_key(self, key: str) -> str:
        is_sealed = key.startswith(KEY_PREFIX)
        return self._joined(json.loads(key.removeprefix(KEY_PREFIX))) if is_sealed else key

    def _value(self, sealed: Value) -> Value:
        """The value of one reference: a credential, a part of one, or a text made of pieces."""
        if isinstance(sealed, list):
            return self._joined(sealed)
        if sealed in self.known.values:
            return self.known.values[sealed]
        raise self._not_had(sealed)

    def _joined(self, pieces: list[Value]) -> str:
        return "".join(self._piece(piece) for piece in pieces)

    def _piece(self, piece: Value) -> str:
        if isinstance(piece, str):
            return piece
        mark = SecretForm(piece["ref"], piece.get("form", PLAIN))
        if mark in self.known.forms:
            return self.known.forms[mark]
        raise self._not_had(mark.ref)

    def _not_had(self, ref: str) -> Exception:
        name = credential_of(ref)
        if name in self.known.absent:
            return Unavailable(self.known.absent[name])
        if name in self.known.values:
            return Unavailable(f"the credential {name!r} has no {ref!r} any more")
        return MissingSecret([name])


def _written_key(pieces: list[str | SecretForm]) -> str:
    """A key of an object that has sealed ones; what merely looks like one is sealed too."""
    first = pieces[0]
    if len(pieces) == 1 and isinstance(first, str) and not first.startswith(KEY_PREFIX):
        return first
    return KEY_PREFIX + json_text([_written(piece) for piece in pieces])


def _written(piece: str | SecretForm) -> Value:
    if isinstance(piece, str):
        return piece
    return {"ref": piece.ref} if piece.form == PLAIN else {"ref": piece.ref, "form": piece.form}


def reference_to(ref: str) -> Object:
    """What stands for a credential, or a part of one, in the log."""
    return {RESERVED_KEY: ref}


def credential_ref(name: str) -> str:
    """How references name a credential: a dot that belongs to the name is written `\\.`."""
    return name.replace("\\", "\\\\").replace(".", "\\.")


def credential_of(ref: str) -> str:
    """The reference of the credential that `ref` is a part of."""
    found = _FIRST_PART.match(ref)
    return found.group() if found else ref
