"""Read what a document says about credentials: its keychain, and the `auth` of a task.

Decides which credential is meant and how its fields are called. Asks nobody for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from anew.credentials.providers import CredentialRef, Provider, provider_of
from anew.errors import ConfigError
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.program import Program, Task
from anew.values import Object, Value

# Words of `auth` that say which credential is meant; whatever else stands there is laid over it.
_REFERENCE_WORDS = frozenset({"credential", "key", "source", "provider"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
# `{type: api_key, key: …}` holds the key itself.
_KEY_TYPES = frozenset({"api_key", "apikey", "api-key", "header"})


class KeychainEntry(Struct, frozen=True):
    """One credential of a keychain: what templates call it, and how to get it."""

    name: str
    asked: CredentialRef
    renamed: Mapping[str, str]
    # What tools take a plain text for.
    type: str | None = None

    def read(self, data: Value) -> Value:
        """The credential's data with its fields called as the document wants them."""
        if not self.renamed:
            return data
        if not isinstance(data, dict) or not data.keys() >= set(self.renamed.values()):
            lacking = sorted(
                set(self.renamed.values()) - set(data if isinstance(data, dict) else ())
            )
            raise ConfigError(
                f"the credential {self.asked.name!r} has no field {', '.join(lacking)}, "
                f"which `map` of the keychain entry {self.name!r} names"
            )
        kept = {key: value for key, value in data.items() if key not in self.renamed.values()}
        return kept | {new: data[old] for new, old in self.renamed.items()}


def entry_of(said: Object, folder: Path) -> KeychainEntry:
    """What a keychain entry asks for; ConfigError when it cannot be asked."""
    name = str(said["name"])
    auth = said.get("auth")
    inner = auth if isinstance(auth, Mapping) else {"credential": auth or name}
    wanted = str(inner.get("credential") or inner.get("key") or name)
    provider = provider_of(said.get("provider") or inner.get("provider"))
    path, var = said.get("path") or said.get("file"), said.get("var")
    if provider is Provider.FILE or (provider is None and path):
        provider, wanted = Provider.FILE, _absolute(str(path or wanted), folder)
    if var is not None:
        provider, wanted = Provider.VAR, _variable(name, provider, var)
    if "{{" in wanted:
        raise ConfigError(
            f"the keychain entry {name!r} has a template; its `auth` and `path` are fixed texts"
        )
    renamed = said.get("map")
    fields = {str(new): str(old) for new, old in (renamed or {}).items()}
    kind = str(said["type"]) if var is not None and said.get("type") else None
    return KeychainEntry(name, CredentialRef(wanted, provider), fields, kind)


def _variable(name: str, provider: Provider | None, said: Value) -> str:
    """The environment variable that a keychain entry names."""
    if provider not in (None, Provider.ENV):
        raise ConfigError(
            f"the keychain entry {name!r} has `var`, which is for the provider `env`, and the "
            f"provider {provider}; leave one of them out"
        )
    if not isinstance(said, str) or not _VARIABLE.fullmatch(said):
        raise ConfigError(
            f"`var` of the keychain entry {name!r} is the fixed name of an environment variable, "
            "such as API_TOKEN"
        )
    return said


def _absolute(path: str, folder: Path) -> str:
    return os.path.normpath(folder / Path(path).expanduser())


class Reference(Struct, frozen=True):
    """A credential that `auth` names; `over` is laid over its data."""

    name: str
    provider: Provider | None
    over: Object


def reference_in(auth: Value) -> Reference | None:
    """What `auth` names; None when it holds the values themselves."""
    if isinstance(auth, str):
        return Reference(auth, None, {})
    if not isinstance(auth, dict):
        raise ConfigError("`auth` is the name of a credential or an object")
    name = auth.get("credential") or (auth.get("key") if _names_by_key(auth) else None)
    if name is None:
        return None
    # The type is the credential's own; what is said here is for readers.
    over = {key: value for key, value in auth.items() if key not in {*_REFERENCE_WORDS, "type"}}
    return Reference(str(name), provider_of(_provider_word(auth)), over)


def _names_by_key(auth: Object) -> bool:
    if "source" in auth:
        return True
    is_key = str(auth.get("type", "")).lower() in _KEY_TYPES
    return auth.keys() <= {"type", "key", "provider"} and not is_key


def _provider_word(auth: Object) -> Value:
    return auth.get("provider") or auth.get("source")


def named_by_tasks(program: Program) -> Iterator[CredentialRef]:
    """The credentials that tasks of kind `secrets` name outright."""
    for task in program.tasks:
        yield from named_by(task)


def named_by(task: Task) -> Iterator[CredentialRef]:
    """The one that a task of kind `secrets` names outright; none where it is another kind."""
    said = task.inputs.source
    if task.outcome_from is not OutcomeSource.SECRET or not isinstance(said, Mapping):
        return
    name = said.get("name")
    if isinstance(name, str) and "{" not in name + str(said.get("provider", "")):
        yield CredentialRef(name, provider_of(said.get("provider")))


def auths_of_tasks(program: Program) -> Iterator[Value]:
    """Each `auth` that says outright which credential it means; templates are not known yet."""
    for task in program.tasks:
        yield from auths_of(task)


def auths_of(task: Task) -> Iterator[Value]:
    """The same of one task."""
    for auth in _auths_in(task.inputs.source, kind_named(task.kind).sides):
        if isinstance(auth, (str, dict)) and auth:
            yield from (each for each in _alone(auth) if "{{" not in str(each))


def _auths_in(inputs: object, sides: Iterable[str]) -> Iterator[Value]:
    """Of a task, of its sides, and of the source of its script."""
    if isinstance(inputs, Mapping):
        for each in (inputs, *map(inputs.get, sides)):
            yield each.get("auth") if isinstance(each, Mapping) else None
        script = inputs.get("script")
        source = script.get("source") if isinstance(script, Mapping) else None
        if isinstance(source, Mapping):
            yield source.get("auth") or source.get("credential")


def _alone(auth: Value) -> list[Value]:
    """The parts of an `auth` that has several, so that a template in one does not hide others."""
    if isinstance(auth, str) or "credential" in auth or "key" in auth:
        return [auth]
    return [item for item in auth.values() if isinstance(item, dict)]


def may_hold_secrets(program: Program) -> bool:
    """Whether anything in a run of it can be a secret, or come from another run that has some."""
    return bool(program.keychain) or any(
        kind_named(task.kind).may_give_secrets for task in program.tasks
    )
