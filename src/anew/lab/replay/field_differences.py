"""Tell where a log and what the engine derives differ: field by field, and where it is written.

Reads a `Difference` and the program. Says nothing about who is right.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from anew.engine import events as e
from anew.lab.replay.derivation import Difference
from anew.lab.replay.rounding import is_same_moment
from anew.program.program import Program, Step
from anew.program.span import NOWHERE, Span
from anew.values import Value

# What one message names of a list that is different all over.
FIELDS_SHOWN = 20
_NOTHING = object()


class Field(Struct, frozen=True):
    """One field of an event that is not the same; None also stands for one that is not there."""

    name: str
    log: Value
    engine: Value


class SourcePlace(Struct, frozen=True):
    """What of the document the event is about, and where that stands."""

    what: str
    span: Span


def fields_of(difference: Difference) -> list[Field]:
    """What the log has and what the engine derives; all of it where one of them has nothing."""
    ours = e.to_row(difference.recorded) if difference.recorded else None
    theirs = e.to_row(difference.derived) if difference.derived else None
    if ours is None or theirs is None:
        return []
    found = _unlike("", ours, theirs)
    return [field for field, _ in zip(found, range(FIELDS_SHOWN), strict=False)]


def _unlike(name: str, ours: Value, theirs: Value) -> Iterator[Field]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in dict.fromkeys([*ours, *theirs]):
            inner = key if name in ("", "data") else f"{name}.{key}"
            yield from _unlike(inner, ours.get(key, _NOTHING), theirs.get(key, _NOTHING))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _unlike(f"{name}[{index}]", one, other)
    elif ours != theirs and not is_same_moment(ours, theirs):
        yield Field(name, _value(ours), _value(theirs))


def _value(value: Value) -> Value:
    return None if value is _NOTHING else value


def spots_of(program: Program, difference: Difference) -> list[SourcePlace]:
    """The rules, arcs and gates that both events name, as far as the program has them."""
    told = [event for event in (difference.recorded, difference.derived) if event is not None]
    found = [spot for event in told for spot in _spots(program, event) if spot.span != NOWHERE]
    return list(dict.fromkeys(found))


def _spots(program: Program, event: e.Event) -> Iterator[SourcePlace]:
    step = program.steps.get(event.step or "")
    if step is None:
        return
    rule = getattr(event, "rule", None)
    match event:
        case e.NextEvaluated():
            yield from _arcs(step, event)
        case e.GateChecked() if event.visit is None and rule and 1 <= rule <= len(step.admit):
            yield SourcePlace(f"admission rule {rule} of {step.name}", step.admit[rule - 1].span)
        case _ if rule and event.task in step.index_of:
            rules = step.tasks[step.index_of[event.task or ""]].policy.rules
            if 1 <= rule <= len(rules):
                asked = rules[rule - 1].name or f"rule {rule}"
                yield SourcePlace(f"{asked} of {event.task}", rules[rule - 1].span)
        case _ if event.task in step.index_of:
            yield SourcePlace(
                f"task {event.task}", step.tasks[step.index_of[event.task or ""]].span
            )
        case _:
            yield SourcePlace(f"step {step.name}", step.span)


def _arcs(step: Step, event: e.NextEvaluated) -> Iterator[SourcePlace]:
    """The arcs that were taken, or the whole router."""
    numbers = [arc.get("arc") for arc in event.arcs if arc.get("verdict") is True]
    for number in numbers:
        if isinstance(number, int) and 1 <= number <= len(step.router.arcs):
            arc = step.router.arcs[number - 1]
            yield SourcePlace(f"arc {number} of {step.name}, to {arc.to}", arc.span)
    if not numbers:
        yield SourcePlace(f"the arcs of {step.name}", step.router.span)
