"""The credentials of this process: resolved when they are needed, kept for a moment, never shown.

What a runtime asks: the secrets a run may read, the data behind an `auth`, and inputs with their
secrets put in. Everything that is resolved here is known to the redactor first, and so are the
secrets of the process itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, structs

from anew.credentials.credential import Credential, tool_data
from anew.credentials.entries import (
    KeychainEntry,
    auths_of_tasks,
    entry_of,
    may_hold_secrets,
    named_by_tasks,
    reference_in,
)
from anew.credentials.process_secrets import environment_secrets, given_secrets, listed_secrets
from anew.credentials.providers import (
    CredentialRef,
    CredentialSources,
    MissingCredential,
    parse_ref,
    provider_of,
)
from anew.credentials.redaction import Redactor
from anew.credentials.secret_forms import forms_of
from anew.credentials.seen_versions import SeenVersions
from anew.engine.secret_texts import SecretForm
from anew.engine.secrets import KnownSecrets, MissingSecret, Secrets, Unavailable, reference_to
from anew.environment import environment
from anew.errors import ConfigError
from anew.program.program import Program
from anew.store import Vault
from anew.values import Object, Value

# A credential that was replaced is used as it is now after this long.
RESOLVED_SECONDS_MAX = 30.0
# One that was missing may be added at any moment, by someone who is waiting for it to work.
_ABSENT_SECONDS = 1.0
_KEPT_COUNT = 1024

_HERE = Path()


_Key = TypeVar("_Key")
_Item = TypeVar("_Item")


class _Cache(dict[_Key, _Item]):
    """Forgets everything when it is full: what it held can be found out again."""

    def __setitem__(self, key: _Key, item: _Item) -> None:
        if len(self) >= _KEPT_COUNT and key not in self:
            self.clear()
        super().__setitem__(key, item)


class _Kept(Struct, frozen=True):
    """An answer, and until when it holds. A text says why there is no credential."""

    answer: Credential | str
    until: float


class _Built(Struct, frozen=True):
    secrets: Secrets
    answers: Mapping[CredentialRef, Credential | str]


class Keychain:
    """Resolves credentials by name. `vault` is None where there is no database."""

    def __init__(
        self,
        vault: Vault | None,
        *,
        environ: Mapping[str, str] | None = None,
        home: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        variables = environment() if environ is None else environ
        self._home = home or Path.home()
        self.seen = SeenVersions(self._home)
        self._sources = CredentialSources(vault, variables, self._home, self.seen)
        self._clock = clock
        self.redactor = Redactor()
        self.redactor.learn(environment_secrets(variables))
        self._kept: _Cache[CredentialRef, _Kept] = _Cache()
        self._built: _Cache[tuple[str, Path], _Built] = _Cache()
        self._learned: _Cache[str, set[CredentialRef]] = _Cache()
        self._holding: _Cache[str, bool] = _Cache()
        self._known_until: _Cache[tuple[str, Path], float] = _Cache()

    def hide(self, *, token: str | None = None, address: str | None = None) -> None:
        """Have the redactor know a token, and the password in the address of a database.

        Those in the environment it knows by itself.
        """
        self.redactor.learn(given_secrets(token=token, address=address))

    def hide_listed(self, where: str, values: Mapping[str, Value]) -> None:
        """Have the redactor know what a list of the operator's holds for a server."""
        self.redactor.learn(listed_secrets(where, values))

    def remember(self, place: str) -> None:
        """Notice old values also when another process of this user has seen newer ones."""
        self.seen = SeenVersions(self._home, place)
        self._sources = structs.replace(self._sources, seen=self.seen)

    # --- one credential

    async def credential(self, name: str, provider: object = None) -> Credential:
        """The credential of this name; MissingCredential or ConfigError when it cannot be had."""
        return await self._resolve(CredentialRef(name, provider_of(provider)))

    async def reference(self, name: str, provider: object = None) -> Object:
        """What the log may hold in place of a credential, once it is sure that there is one."""
        asked = CredentialRef(name, provider_of(provider))
        await self._resolve(asked)
        return reference_to(asked.ref)

    async def _resolve(self, asked: CredentialRef) -> Credential:
        kept = self._kept.get(asked)
        if kept is not None and kept.until > self._clock() and isinstance(kept.answer, Credential):
            return kept.answer
        found = await self._sources.find(asked)
        self.redactor.learn(found)
        self._keep(asked, found, RESOLVED_SECONDS_MAX)
        return found

    async def _answer(self, asked: CredentialRef) -> Credential | str:
        """The credential, or why there is none."""
        kept = self._kept.get(asked)
        if kept is not None and kept.until > self._clock():
            return kept.answer
        try:
            return await self._resolve(asked)
        except (MissingCredential, ConfigError) as error:
            self._keep(asked, str(error), _ABSENT_SECONDS)
            return str(error)

    def _keep(self, asked: CredentialRef, answer: Credential | str, seconds: float) -> None:
        self._kept[asked] = _Kept(answer, self._clock() + seconds)

    # --- the secrets of a run

    async def secrets_for(
        self, program: Program, *, folder: Path = _HERE, is_child: bool = False
    ) -> Secrets | None:
        """What a run of `program` may read; None when it cannot come across a secret.

        A credential that cannot be had is an error of the expression that reads it. The same
        object is given again while nothing has changed.
        """
        await self.know(program, folder=folder)
        if is_child:  # what it was given may hold references
            self._learned_of(program)
        learned = self._learned.get(program.digest)
        if learned is None and not self._may_hold(program):
            return None
        entries, unread = _entries(program, folder)
        wanted = {entry.asked for entry in entries} | _named(program) | (learned or set())
        answers = {asked: await self._answer(asked) for asked in sorted(wanted, key=str)}
        place = (program.digest, folder)
        built = self._built.get(place)
        if built is None or built.answers != answers:
            built = _Built(Secrets(_known(entries, unread, answers)), answers)
            self._built[place] = built
        return built.secrets

    def _may_hold(self, program: Program) -> bool:
        known = self._holding.get(program.digest)
        if known is None:
            known = self._holding[program.digest] = may_hold_secrets(program)
        return known

    def learn(self, program: Program, missing: MissingSecret) -> None:
        """From now on, `secrets_for` this program has these credentials too."""
        self._learned_of(program).update(parse_ref(name) for name in missing.names)

    def _learned_of(self, program: Program) -> set[CredentialRef]:
        if program.digest not in self._learned:
            self._learned[program.digest] = set()
        return self._learned[program.digest]

    async def know(self, program: Program, *, folder: Path = _HERE) -> None:
        """Have the redactor know every credential that an `auth` of this program names.

        Another process may have used one earlier in the run, and what that call gave can turn up
        in this one. One that cannot be had has not been used, so it is no error here.
        """
        place = (program.digest, folder)
        if self._known_until.get(place, float("-inf")) > self._clock():
            return
        for auth in auths_of_tasks(program):
            with suppress(MissingCredential, ConfigError):
                await self.auth_data(auth, program, folder=folder)
        self._known_until[place] = self._clock() + RESOLVED_SECONDS_MAX

    # --- what tools are given

    async def open(self, inputs: Value, program: Program, *, folder: Path = _HERE) -> Value:
        """A task's inputs with their secrets put in; MissingCredential when one cannot be had."""
        while True:
            secrets = await self.secrets_for(program, folder=folder)
            if secrets is None:
                return inputs
            try:
                return secrets.open(inputs)
            except MissingSecret as missing:
                self.learn(program, missing)  # then it is had or known to be absent
            except Unavailable as unavailable:
                raise MissingCredential(unavailable.message) from None

    async def auth_data(
        self, auth: Value, program: Program | None = None, *, folder: Path = _HERE
    ) -> Object:
        """The data behind `auth`: of the credential it names, or what it says itself.

        An object of several such, each under its own name, is resolved one by one.
        """
        named = reference_in(auth)
        if named is not None:
            data = await self._data_of(named.name, named.provider, program, folder)
            return {**data, **named.over}
        return {
            key: await self.auth_data(item, program, folder=folder) if _is_named(item) else item
            for key, item in auth.items()
        }

    async def _data_of(
        self, name: str, provider: object, program: Program | None, folder: Path
    ) -> Object:
        said = _declared(program, name) if provider is None else None
        if said is None:
            return tool_data(await self.credential(name, provider))
        entry = entry_of(said, folder)
        found = await self._resolve(entry.asked)
        return tool_data(Credential(found.ref, entry.type or found.type, entry.read(found.data)))


def _declared(program: Program | None, name: str) -> Object | None:
    entries = program.keychain if program else ()
    return next((said for said in entries if said.get("name") == name), None)


def _is_named(item: Value) -> bool:
    return isinstance(item, dict) and reference_in(item) is not None


def _entries(program: Program, folder: Path) -> tuple[list[KeychainEntry], dict[str, str]]:
    """The keychain of a program, and why some of it cannot be read."""
    entries: list[KeychainEntry] = []
    unread: dict[str, str] = {}
    for said in program.keychain:
        if not said.get("name"):
            continue
        try:
            entries.append(entry_of(said, folder))
        except ConfigError as error:
            unread[str(said["name"])] = str(error)
    return entries, unread


def _named(program: Program) -> set[CredentialRef]:
    try:
        return set(named_by_tasks(program))
    except ConfigError:  # the task itself will say so
        return set()


def _known(
    entries: Iterable[KeychainEntry],
    unread: dict[str, str],
    answers: Mapping[CredentialRef, Credential | str],
) -> KnownSecrets:
    keychain: dict[str, Value] = {}
    for entry in entries:
        answer = answers[entry.asked]
        try:
            if isinstance(answer, Credential):
                keychain[entry.name] = entry.read(answer.data)
            else:
                unread[entry.name] = answer
        except ConfigError as error:
            unread[entry.name] = str(error)
    found = [answer for answer in answers.values() if isinstance(answer, Credential)]
    return KnownSecrets(
        keychain=keychain,
        values={ref: value for credential in found for ref, value in credential.parts()},
        forms={
            SecretForm(ref, name): form
            for credential in found
            for ref, text in credential.secrets()
            for name, form in forms_of(text)
        },
        absent={asked.ref: why for asked, why in answers.items() if isinstance(why, str)},
        unread=unread,
    )
