"""Programs and credentials as a store keeps them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class StoredProgram(Struct, frozen=True):
    """A document as it was run or registered; `version` is 0 for one that was only run.

    With the `dialect` that was chosen for it and the texts of the `files` it names, by name, it can
    be compiled again wherever the catalog is. `path` is the `metadata.path` of a playbook. `tools`
    says of kinds that are Python code where that is, as `module:name`.
    """

    digest: str
    name: str
    version: int
    source: str
    file: str
    registered_at: int
    dialect: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    path: str | None = None
    tools: Mapping[str, str] = field(default_factory=dict)


class SealedCredential(Struct, frozen=True):
    """A credential as it lies at rest: `sealed` can be read with the key only."""

    name: str
    kind: str
    sealed: bytes
    created_at: int
