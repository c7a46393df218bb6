"""Where credentials come from: the credential store, the environment, a file.

Each place is asked by name and answers with a credential or with nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from anew.credentials.credential import CREDENTIAL_BYTES_MAX, Credential, read_credential
from anew.credentials.key import find_key
from anew.credentials.sealing import open_credential, version_of
from anew.credentials.seen_versions import SeenVersions
from anew.engine.secrets import credential_ref
from anew.environment import CREDENTIAL_PREFIX, is_secret_of_anew
from anew.errors import AnewError, ConfigError
from anew.store import Vault

# What tools take a plain text for, unless the document says another type.
TEXT_TYPE = "bearer"
_OTHER_THAN_WORD = re.compile(r"[^A-Za-z0-9]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Provider(StrEnum):
    STORE = "store"
    ENV = "env"
    FILE = "file"
    # One variable, whose whole text is the secret. Documents write it as `env` with `var`.
    VAR = "var"


_SPOKEN = (Provider.STORE, Provider.ENV, Provider.FILE)
_SPELLINGS = {word.value: word for word in _SPOKEN} | {
    "environment": Provider.ENV,
    "credential": Provider.STORE,
    "local": Provider.STORE,
}


class MissingCredential(AnewError):
    """Nobody has the credential; the text says where it was looked for and how to add it."""


class CredentialRef(Struct, frozen=True):
    """One credential someone wants. For a file `name` is its path, for a variable its name."""

    name: str
    provider: Provider | None = None

    @property
    def ref(self) -> str:
        """How the log names it, so that any process can ask for it again."""
        return credential_ref(f"{self.provider}:{self.name}" if self.provider else self.name)


def parse_ref(ref: str) -> CredentialRef:
    """What a reference asks for."""
    said = _ESCAPED.sub(r"\1", ref)
    provider, _, name = said.partition(":")
    return (
        CredentialRef(name, Provider(provider))
        if name and provider in set(Provider)
        else CredentialRef(said)
    )


def provider_of(word: object) -> Provider | None:
    """The provider an author names; None when none is named."""
    if word is None:
        return None
    text = str(word).lower()
    if text in _SPELLINGS:
        return _SPELLINGS[text]
    known = ", ".join(_SPOKEN)
    raise ConfigError(f"the provider {text!r} of credentials is not known; known are {known}")


def variable_of(name: str) -> str:
    """The environment variable that may hold a credential."""
    return CREDENTIAL_PREFIX + _OTHER_THAN_WORD.sub("_", name).upper()


class CredentialSources(Struct, frozen=True):
    """Everything that can be asked. `vault` is None where there is no database."""

    vault: Vault | None
    environ: Mapping[str, str]
    home: Path
    seen: SeenVersions

    async def find(self, asked: CredentialRef) -> Credential:
        """The credential: from the place it names, else the store, else the environment."""
        if asked.provider is Provider.FILE:
            return self._from_file(asked)
        if asked.provider is Provider.VAR:
            return self._from_variable(asked)
        found = None
        if asked.provider is not Provider.ENV:
            found = await self._from_store(asked)
        if found is None and asked.provider is not Provider.STORE:
            found = self._from_environment(asked)
        if found is None:
            raise MissingCredential(self._not_found(asked))
        return found

    async def _from_store(self, asked: CredentialRef) -> Credential | None:
        row = await self.vault.sealed(asked.name) if self.vault else None
        if self.vault and row is not None and version_of(row) < self.seen.newest(row.name):
            # Another process may have replaced or removed it after the row was read.
            row = await self.vault.sealed(asked.name)
        if row is None:
            return None
        found = open_credential(row, find_key(self.environ, self.home), ref=asked.ref)
        self.seen.check(row.name, version_of(row))
        return found

    def _from_environment(self, asked: CredentialRef) -> Credential | None:
        variable = variable_of(asked.name)
        text = self.environ.get(variable)
        return None if not text else read_credential(text, f"${variable}", ref=asked.ref)

    def _from_variable(self, asked: CredentialRef) -> Credential:
        """The text of a variable as it is, which tools take for a token."""
        if is_secret_of_anew(asked.name):
            raise ConfigError(f"${asked.name} is for Anew itself: no document can read it")
        text = self.environ.get(asked.name)
        if not text:
            raise MissingCredential(
                f"there is no secret in ${asked.name}: the variable is not set. Set it where the "
                "task is executed, and start that process again."
            )
        if len(text) > CREDENTIAL_BYTES_MAX:
            raise ConfigError(f"${asked.name} is larger than {CREDENTIAL_BYTES_MAX:,} bytes")
        return Credential(asked.ref, TEXT_TYPE, text)

    def _from_file(self, asked: CredentialRef) -> Credential:
        try:
            with open(asked.name, "rb") as file:
                data = file.read(CREDENTIAL_BYTES_MAX + 1)
        except FileNotFoundError:
            raise MissingCredential(
                f"there is no credential in {asked.name}: there is no such file"
            ) from None
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise ConfigError(f"cannot read the credential {asked.name}: {reason}") from error
        return read_credential(data, asked.name, ref=asked.ref)

    def _not_found(self, asked: CredentialRef) -> str:
        name, variable = asked.name, variable_of(asked.name)
        if asked.provider is Provider.ENV:
            return f"there is no credential {name!r}: ${variable} is not set"
        remedy = f"Add it with `anew credential add {name} --file FILE`."
        if asked.provider is Provider.STORE:
            return f"there is no credential {name!r} in the credential store. {remedy}"
        places = f"it is not in the credential store, and ${variable} is not set"
        return f"there is no credential {name!r}: {places}. {remedy}"
