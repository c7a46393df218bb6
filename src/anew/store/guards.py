"""The states of guards, as a store keeps them.

A state is JSON that only guards understand. Whoever changes one names the token it was read with,
and gives it a new one: of two who decided upon the same state, the second is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

# What operators set is kept like a state, under a name that no dependency has.
OPERATOR_SCOPE = ""


class StoredGuard(Struct, frozen=True):
    """The state of one scope, and the token that its next change has to name."""

    scope: str
    token: str
    state: str


class GuardWrite(Struct, frozen=True, gc=False):
    """A state that a decision was made from, `expected` (None: there was none), and what it became.

    Without a `token` it was only read, and must not have changed.
    """

    scope: str
    expected: str | None
    token: str | None = None
    state: str = ""


class GuardStates(Protocol):
    """The states of guards by scope. A commit changes them in its own transaction."""

    async def read(self, scopes: Collection[str]) -> list[StoredGuard]:
        """Those of them that there are."""

    async def listed(self, limit: int = 1000) -> list[StoredGuard]:
        """By scope."""

    async def write(self, writes: Sequence[GuardWrite]) -> None:
        """All or none, without a commit of a run; StaleVersion when one has changed meanwhile."""
