"""Where contests are played: how many rounds there are, and the peers, each made ready once.

A peer is installed and, where it needs a server, started when the first contest asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from bench.contest import ROUNDS, Entry, Side
from bench.peers.environments import peer, started


class Stage:
    """Peers stay ready until the stack ends."""

    def __init__(self, stack: ExitStack, rounds: int = ROUNDS) -> None:
        self.rounds = rounds
        self._stack = stack
        self._peers: dict[str, Side] = {}

    def peer(self, key: str) -> Side:
        if key not in self._peers:
            self._peers[key] = self._stack.enter_context(started(peer(key)))
        return self._peers[key]

    def entry(self, side: Side | str, workload: str, size: int, **more: Any) -> Entry:
        """A side's part in a contest; a peer by its key."""
        who = self.peer(side) if isinstance(side, str) else side
        return Entry(who, workload, size, rounds=self.rounds, **more)

    def entries(self, workload: str, sizes: Mapping[str, int]) -> dict[str, Entry]:
        """The parts of several peers, by their keys."""
        return {key: self.entry(key, workload, size) for key, size in sizes.items()}
