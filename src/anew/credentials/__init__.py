"""Credentials: where they come from, how they lie at rest, and how they are kept from view.

Beside stores and tools; knows the engine's `Secrets` and the store's `Vault`, and no runtime.
"""

from __future__ import annotations

from anew.credentials.credential import Credential
from anew.credentials.keychain import Keychain
from anew.credentials.logs import redacted_logs
from anew.credentials.providers import MissingCredential
from anew.credentials.redaction import Redactor

__all__ = ["Credential", "Keychain", "MissingCredential", "Redactor", "redacted_logs"]
