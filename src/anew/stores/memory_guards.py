"""The states of guards, in a dictionary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from anew.store import GuardWrite, StoredGuard
from anew.stores.refusals import stale_guard


class MemoryGuards:
    """Shared by the store, which checks and changes them with its commits."""

    def __init__(self) -> None:
        self._kept: dict[str, StoredGuard] = {}

    async def read(self, scopes: Collection[str]) -> list[StoredGuard]:
        return [self._kept[scope] for scope in scopes if scope in self._kept]

    async def listed(self, limit: int = 1000) -> list[StoredGuard]:
        return [self._kept[scope] for scope in sorted(self._kept)][:limit]

    async def write(self, writes: Sequence[GuardWrite]) -> None:
        self.check(writes)
        self.change(writes)

    def check(self, writes: Iterable[GuardWrite]) -> None:
        """Refuse what was decided upon a state that has changed."""
        for write in writes:
            kept = self._kept.get(write.scope)
            if (None if kept is None else kept.token) != write.expected:
                raise stale_guard(write.scope)

    def change(self, writes: Iterable[GuardWrite]) -> None:
        for write in writes:
            if write.token is not None:
                self._kept[write.scope] = StoredGuard(write.scope, write.token, write.state)
