"""Find the step at which parallel branches meet.

Works on names alone: which step leads to which, which ones fork and which ones may join. Knows no
language, so that every one of them matches branches and joins in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, field

from anew.program.graph_walks import backwards, reached

# Asks how to get past another fork and is told; ends with the join that was looked for.
_Search: TypeAlias = Generator[str, Sequence[str] | None, str | None]


def match_joins(
    leads: Mapping[str, Sequence[str]], forks: Collection[str], joins: Collection[str]
) -> dict[str, str | None]:
    """The nearest join that every branch of a fork can reach, for each fork; None without one.

    A fork inside a branch is passed by way of its own join, which therefore is not its outer
    fork's: branches meet at the depth at which they parted.
    """
    found = _Matching(leads, frozenset(forks), frozenset(joins), _before(leads, joins))
    for fork in forks:
        found.resolve(fork)
    return found.joins_found


def _before(leads: Mapping[str, Sequence[str]], joins: Collection[str]) -> set[str]:
    """The steps from which a join can be reached; a search that leaves them is in vain."""
    return reached(backwards(leads), joins)


class _Matching(Struct):
    leads: Mapping[str, Sequence[str]]
    forks: frozenset[str]
    joins: frozenset[str]
    hopeful: set[str]
    joins_found: dict[str, str | None] = field(default_factory=dict)

    def resolve(self, first: str) -> None:
        """Search for one join and those it depends on; a stack of our own allows any depth."""
        if first in self.joins_found:
            return
        searches = [(first, self._search(first))]
        at_work = {first}
        answer: Sequence[str] | None = None
        while searches:
            fork, search = searches[-1]
            try:
                asked = search.send(answer)
            except StopIteration as ended:
                self.joins_found[fork] = ended.value
                at_work.remove(fork)
                searches.pop()
                answer = self._past(fork)
                continue
            if asked in self.joins_found:
                answer = self._past(asked)
            elif asked in at_work:
                answer = ()  # back to a fork it is part of: this way never leads to the join
            else:
                at_work.add(asked)
                searches.append((asked, self._search(asked)))
                answer = None

    def _past(self, fork: str) -> Sequence[str]:
        """Where it goes on behind a fork: after its join, or along its arcs when it has none."""
        return self.leads[self.joins_found[fork] or fork]

    def _search(self, fork: str) -> _Search:
        """All branches go one step at a time, so that the first join all have seen is nearest."""
        branches = [_Branch([start]) for start in dict.fromkeys(self.leads[fork])]
        arrived: dict[str, int] = {}
        while any(branch.front for branch in branches):
            for branch in branches:
                ahead: list[str] = []
                for name in branch.front:
                    if name in branch.seen or name == fork or name not in self.hopeful:
                        continue
                    branch.seen.add(name)
                    if name in self.joins:
                        branch.has_arrived = True
                        arrived[name] = arrived.get(name, 0) + 1
                        if arrived[name] == len(branches):
                            return name
                    ahead += ((yield name) if name in self.forks else self.leads[name]) or ()
                branch.front = ahead
                if not ahead and not branch.has_arrived:
                    return None  # it ends before any join, so the others need not look further
        return None


class _Branch(Struct):
    """How far a search has come along one branch."""

    front: list[str]
    seen: set[str] = field(default_factory=set)
    has_arrived: bool = False
