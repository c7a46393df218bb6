"""Texts that stand for the secrets a log refers to, so that its decisions can be derived again.

A log holds references and no secret. What a run only passes on (a header, a password) gives the
same references again whatever the secret's text is. What it compares or measures does not: whether
anything was read is noted, and whoever derives then trusts the log. Knows no real credential.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import json as msgspec_json

from anew.credentials.entries import Entry, entry_of, may_hold_secrets
from anew.credentials.forms import forms_of
from anew.engine.events import Event
from anew.engine.secret_texts import KEY_PREFIX, Mark
from anew.engine.secrets import Known, Ring, Secrets, credential_of
from anew.errors import ConfigError
from anew.program.program import Program
from anew.values import Object, Value
from anew.weight import RESERVED_KEY

_REFERENCE = f'"{RESERVED_KEY}'.encode()


class StandIns(Secrets):
    """Secrets made up for the references of one log; `was_read` once a decision opened one."""

    def __init__(self, known: Known) -> None:
        super().__init__(known)
        self.was_read = False
        self.ring = _NotedRing(known.keychain, self)

    def open(self, value: Value) -> Value:
        opened = super().open(value)
        if opened is not value:
            self.was_read = True
        return opened


class _NotedRing(Ring):
    """What `keychain` reads here; that it was read is noted, whether or not there is anything."""

    def __init__(self, known: Mapping[str, Value], of: StandIns) -> None:
        super().__init__(known, {})
        self._of = of

    def get(self, key: str, default: Value = None) -> Value:
        self._of.was_read = True
        return super().get(key, default)


def stand_ins(program: Program, log: Iterable[Event]) -> StandIns | None:
    """None where neither the program nor the log has to do with secrets."""
    refs = set(_references(log))
    if not refs and not may_hold_secrets(program):
        return None
    return StandIns(_known(program, refs))


def _references(log: Iterable[Event]) -> Iterator[str]:
    encode = msgspec_json.Encoder().encode
    for event in log:
        text = encode(event)
        if _REFERENCE in text:
            yield from _named_in(msgspec_json.decode(text))


def _named_in(value: Value) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _named_in(item)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key == RESERVED_KEY:
            yield from _of_reference(item)
        elif key.startswith(KEY_PREFIX):
            yield from _of_reference(json.loads(key.removeprefix(KEY_PREFIX)))
        yield from _named_in(item)


def _of_reference(sealed: Value) -> Iterator[str]:
    """One reference, or the pieces of a text some of which are."""
    if isinstance(sealed, str):
        yield sealed
    elif isinstance(sealed, list):
        for piece in sealed:
            if isinstance(piece, dict) and isinstance(piece.get("ref"), str):
                yield piece["ref"]


def _known(program: Program, refs: Iterable[str]) -> Known:
    ordered = sorted(refs)
    texts = {ref: f"stand-in {number} for {ref}" for number, ref in enumerate(ordered, 1)}
    values: dict[str, Value] = {}
    # A credential comes before its parts, and has those of them that the log names.
    for ref in ordered:
        inner = [other for other in ordered if other.startswith(f"{ref}.")]
        values[ref] = _assembled(ref, inner, texts) if inner else texts[ref]
    for name in {credential_of(ref) for ref in ordered} - values.keys():
        inner = [other for other in ordered if other.startswith(f"{name}.")]
        values[name] = _assembled(name, inner, texts)
    return Known(
        keychain=_keychain(program, values),
        values=values,
        forms={
            Mark(ref, form): text
            for ref, whole in texts.items()
            if isinstance(values[ref], str)
            for form, text in forms_of(whole)
        },
    )


def _assembled(ref: str, inner: Iterable[str], texts: Mapping[str, str]) -> Object:
    """The data of a credential as far as references tell: an object of its named parts."""
    data: Object = {}
    for other in inner:
        path = other.removeprefix(f"{ref}.").split(".")
        place = data
        for name in path[:-1]:
            found = place.setdefault(name, {})
            place = found if isinstance(found, dict) else {}
        place.setdefault(path[-1], texts[other])
    return data


def _keychain(program: Program, values: Mapping[str, Value]) -> dict[str, Value]:
    """What a template calls each credential, where the log has a reference to it."""
    found: dict[str, Value] = {}
    for said in program.keychain:
        entry = _entry(said)
        if entry is not None and entry.asked.ref in values:
            found[entry.name] = _read(entry, values[entry.asked.ref])
    return found


def _entry(said: Object) -> Entry | None:
    try:
        return entry_of(said, Path()) if said.get("name") else None
    except ConfigError:
        return None


def _read(entry: Entry, data: Value) -> Value:
    try:
        return entry.read(data)
    except ConfigError:  # the log does not name every field that the document renames
        return data
