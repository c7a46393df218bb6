"""The tool `secrets`: its result is a reference, which later tasks read as the credential."""

from __future__ import annotations

from anew.credentials.keychain import Keychain
from anew.credentials.providers import MissingCredential
from anew.engine.outcome import Outcome, outcome_of
from anew.errors import ConfigError
from anew.program.policy import OutcomeStatus
from anew.tool import Call


class SecretsTool:
    """Makes sure there is such a credential, and never gives its value away."""

    def __init__(self, keychain: Keychain) -> None:
        self._keychain = keychain

    async def call(self, call: Call) -> Outcome:
        name, provider = str(call.inputs["name"]), call.inputs.get("provider")
        try:
            reference = await self._keychain.reference(name, provider)
        except MissingCredential as missing:
            return outcome_of(error={"kind": "reference", "message": str(missing)})
        except ConfigError as error:
            return outcome_of(error={"kind": "config", "message": str(error)})
        # Made by hand: what comes from outside may not look like a reference, this one is.
        return Outcome(OutcomeStatus.OK, reference)

    async def close(self) -> None:
        """There is nothing to give back."""
