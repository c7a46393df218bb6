"""The words a log can be told in: its own, those of actions, those of graphs, plain ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anew.engine.events import Event, to_row
from anew.program.program import Program
from anew.values import Object
from anew.views.actions import actions
from anew.views.event_text import event_text
from anew.views.nodes import nodes
from anew.views.wording import one_line

# Of one event: a row of a table holds no more.
EVENT_TEXT_CHARS_MAX = 300


def event_rows(log: Iterable[Event]) -> list[Object]:
    """The log in its own words."""
    return [to_row(event) for event in log]


def rows_with_text(log: Iterable[Event]) -> list[Object]:
    """The log in its own words, each event with its text for people."""
    return [
        {
            **to_row(event),
            "text": one_line(event_text(event).line, characters_max=EVENT_TEXT_CHARS_MAX),
        }
        for event in log
    ]


# Each is given the log and, where it is known, the program that decided it.
WORDS: dict[str, Callable[[list[Event], Program | None], list[Object]]] = {
    "events": lambda log, _program: event_rows(log),
    "actions": actions,
    "nodes": lambda log, _program: nodes(log),
}
