"""How often each way between two steps was taken, and by which event last.

Feeding an event costs the same however long the run is. Knows no program: an arc is known by its
step, its number and where it leads, so that a way of another document is not taken for one of this.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.events.words import RouteReason
from anew.views.graph import GraphEdge, Way

# Its step, where it leads, and the number of the arc; None for a way that no arc describes.
WayKey: TypeAlias = tuple[str, str, int | None]


class TimesTaken(Struct):
    """`last` is the sequence number of the event that took it last."""

    times: int = 0
    last: int | None = None


NEVER = TimesTaken()


class WaysTaken(Struct):
    """`fallbacks` are the ways to the step that takes what nothing else does."""

    _taken: dict[WayKey, TimesTaken] = field(default_factory=dict)
    fallbacks: dict[tuple[str, str], TimesTaken] = field(default_factory=dict)

    def feed(self, event: e.Event) -> None:
        """Take one more event of the log, in order."""
        if not isinstance(event, e.NextEvaluated):
            return
        step = event.step or ""
        sent = [token for token in event.tokens if token.get("via")]
        for token in sent:
            self._note_way(step, str(token["to"]), str(token["via"]), event.seq)
        if len(sent) == len(event.tokens):
            return  # no arc was taken, whatever held
        for arc in event.arcs:
            if arc["verdict"] and "dropped" not in arc:
                _count(
                    self._taken.setdefault((step, arc["to"], arc["arc"]), TimesTaken()), event.seq
                )

    def _note_way(self, step: str, to: str, via: str, seq: int) -> None:
        if via == RouteReason.FALLBACK:
            _count(self.fallbacks.setdefault((step, to), TimesTaken()), seq)
        else:
            _count(self._taken.setdefault((step, to, None), TimesTaken()), seq)

    def along(self, edge: GraphEdge) -> TimesTaken:
        """How often an edge of the graph was taken.

        Of two gates that send the run to the same step, the log's tokens do not tell which: both
        edges are the same way.
        """
        number = edge.number if edge.way is Way.ARC else None
        return self._taken.get((edge.source, edge.target, number), NEVER)


def _count(taken: TimesTaken, seq: int) -> None:
    taken.times += 1
    taken.last = seq
