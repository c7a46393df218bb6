"""What the outside world saw: how often each key was called, and what took effect.

State is per route and key, so that runs with keys of their own do not disturb each other.
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct, field

from anew.values import Object

# A server that is left running forgets the keys used longest ago.
LAB_KEYS_MAX = 10_000


class CallEntry(Struct):
    """`calls` by route; `effects` counts what was really done, `lost` answers never sent."""

    calls: dict[str, int] = field(default_factory=dict)
    effects: int = 0
    lost: int = 0


class CallLedger:
    """The entries of all keys, bounded."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, CallEntry] = OrderedDict()

    def call(self, route: str, key: str) -> int:
        """Count one call; how many there have been of this route with this key."""
        entry = self.entry(key)
        entry.calls[route] = entry.calls.get(route, 0) + 1
        return entry.calls[route]

    def entry(self, key: str) -> CallEntry:
        """The entry of `key`, made when there is none."""
        entry = self._entries.setdefault(key, CallEntry())
        self._entries.move_to_end(key)
        if len(self._entries) > LAB_KEYS_MAX:
            self._entries.popitem(last=False)
        return entry

    def called(self, route: str) -> list[CallEntry]:
        """The entries of all keys that a route was called with; the one used last comes last."""
        return [entry for entry in self._entries.values() if route in entry.calls]

    def shown(self, key: str) -> Object:
        """One key as a client sees it; looking does not make an entry."""
        entry = self._entries.get(key, CallEntry())
        calls = sum(entry.calls.values())
        by_route = dict(entry.calls)
        return {"key": key, "calls": calls, "by_route": by_route, "effects": entry.effects}

    def all_shown(self) -> list[Object]:
        return [self.shown(key) for key in self._entries]
