"""The words a log can be told in: its own, those of actions, those of graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anew.engine.events import Event, to_row
from anew.values import Object
from anew.views.actions import actions
from anew.views.nodes import nodes


def event_rows(log: Iterable[Event]) -> list[Object]:
    """The log in its own words."""
    return [to_row(event) for event in log]


WORDS: dict[str, Callable[[list[Event]], list[Object]]] = {
    "events": event_rows,
    "actions": actions,
    "nodes": nodes,
}
