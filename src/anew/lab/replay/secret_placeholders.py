"""Texts that stand for the secrets a log refers to, so that its decisions can be derived again.

A log holds references and no secret. What a run only passes on (a header, a password) gives the
same references again whatever the secret's text is. What it compares or measures does not: whether
anything was read is noted, and other stand-ins show whether it mattered. Knows no real credential.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import DecodeError, Struct
from msgspec import json as msgspec_json

from anew.credentials.entries import KeychainEntry, entry_of, may_hold_secrets
from anew.credentials.secret_forms import forms_of
from anew.engine.events import Event, RunRequested
from anew.engine.secret_texts import KEY_PREFIX, SecretForm
from anew.engine.secrets import KeychainValues, KnownSecrets, Secrets, credential_of
from anew.errors import ConfigError
from anew.program.program import Program
from anew.values import Object, Value
from anew.weight import RESERVED_KEY

_REFERENCE = f'"{RESERVED_KEY}'.encode()


class _Watch(Struct):
    """Whether a text was compared, or something looked for in it."""

    was_compared: bool = False

    def note(self) -> bool:
        self.was_compared = True
        return True


class _Watched(str):
    """A text that is whatever it is compared with, and says so to its watch."""

    __slots__ = ("_watch",)
    _watch: _Watch
    __hash__ = str.__hash__

    def __new__(cls, text: str, watch: _Watch) -> _Watched:
        made = super().__new__(cls, text)
        made._watch = watch
        return made

    def __eq__(self, _: object) -> bool:
        return self._watch.note()

    def __ne__(self, _: object) -> bool:
        return not self._watch.note()

    def __contains__(self, _: object) -> bool:
        return self._watch.note()

    def startswith(self, *_: object) -> bool:
        return self._watch.note()

    def endswith(self, *_: object) -> bool:
        return self._watch.note()


class Placeholders(Secrets):
    """Secrets made up for the references of one log; `was_read` once a decision opened one."""

    def __init__(self, known: KnownSecrets, watch: _Watch | None = None) -> None:
        super().__init__(known)
        self.was_read = False
        self.watch = watch or _Watch()
        self.ring = _NotedRing(known.keychain, self)

    def seal(self, value: Value) -> Value:
        """To write a text down is not to look at it."""
        before = self.watch.was_compared
        try:
            return super().seal(value)
        finally:
            self.watch.was_compared = before

    def open(self, value: Value) -> Value:
        opened = super().open(value)
        if opened is not value:
            self.was_read = True
        return opened


class _NotedRing(KeychainValues):
    """What `keychain` reads here; that it was read is noted, whether or not there is anything."""

    def __init__(self, known: Mapping[str, Value], of: Placeholders) -> None:
        super().__init__(known, {})
        self._of = of

    def get(self, key: str, default: Value = None) -> Value:
        self._of.was_read = True
        return super().get(key, default)


def _plain(number: int, ref: str) -> str:
    return f"stand-in {number} for {ref}"


# Short and of digits, and long: what measures a text decides otherwise by one of these.
_OTHER_TEXTS: tuple[Callable[[int, str], str], ...] = (
    lambda number, _: str(730_000 + number),
    lambda number, ref: f"{_plain(number, ref)} " * 100,
)


def stand_ins(program: Program, log: Sequence[Event]) -> Placeholders | None:
    """None where neither the program nor the log has to do with secrets."""
    if not any(_references(log)) and not may_hold_secrets(program):
        return None
    return Placeholders(_known(program, log, _plain))


def other_stand_ins(program: Program, log: Sequence[Event]) -> Iterator[Placeholders]:
    """Stand-ins of other texts for the same references."""
    for text in _OTHER_TEXTS:
        yield Placeholders(_known(program, log, text))


def watched_stand_ins(program: Program, log: Sequence[Event]) -> Placeholders:
    """The same stand-ins, which note in `was_compared` that someone looks at what they say."""
    watch = _Watch()
    known = _known(program, log, lambda number, ref: _Watched(_plain(number, ref), watch))
    return Placeholders(known, watch)


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
            yield from _of_reference(_decoded(key.removeprefix(KEY_PREFIX)))
        yield from _named_in(item)


def _decoded(text: str) -> Value:
    """None for what somebody's own key has in the place of a reference."""
    try:
        return msgspec_json.decode(text)
    except (DecodeError, UnicodeError):
        return None


def _of_reference(sealed: Value) -> Iterator[str]:
    """One reference, or the pieces of a text some of which are."""
    if isinstance(sealed, str):
        yield sealed
    elif isinstance(sealed, list):
        for piece in sealed:
            if isinstance(piece, dict) and isinstance(piece.get("ref"), str):
                yield piece["ref"]


def _known(program: Program, log: Sequence[Event], text: Callable[[int, str], str]) -> KnownSecrets:
    ordered = sorted(set(_references(log)))
    texts = {ref: text(number, ref) for number, ref in enumerate(ordered, 1)}
    values: dict[str, Value] = {}
    # A credential comes before its parts, and has those of them that the log names.
    for ref in ordered:
        inner = [other for other in ordered if other.startswith(f"{ref}.")]
        values[ref] = _assembled(ref, inner, texts) if inner else texts[ref]
    for name in {credential_of(ref) for ref in ordered} - values.keys():
        inner = [other for other in ordered if other.startswith(f"{name}.")]
        values[name] = _assembled(name, inner, texts)
    return KnownSecrets(
        keychain=_keychain(program, values, _folder_of(log)),
        values=values,
        forms={
            SecretForm(ref, form): told
            for ref, whole in texts.items()
            if isinstance(values[ref], str)
            for form, told in forms_of(str(whole))
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


def _folder_of(log: Sequence[Event]) -> Path:
    """Where the run's relative files were: a reference names a file by its whole path."""
    first = log[0] if log else None
    file = first.file if isinstance(first, RunRequested) else None
    return Path() if file is None else Path(file).parent


def _keychain(program: Program, values: Mapping[str, Value], folder: Path) -> dict[str, Value]:
    """What a template calls each credential, where the log has a reference to it."""
    found: dict[str, Value] = {}
    for said in program.keychain:
        entry = _entry(said, folder)
        if entry is not None and entry.asked.ref in values:
            found[entry.name] = _read(entry, values[entry.asked.ref])
    return found


def _entry(said: Object, folder: Path) -> KeychainEntry | None:
    try:
        return entry_of(said, folder) if said.get("name") else None
    except ConfigError:
        return None


def _read(entry: KeychainEntry, data: Value) -> Value:
    try:
        return entry.read(data)
    except ConfigError:  # the log does not name every field that the document renames
        return data
