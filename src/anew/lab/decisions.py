"""What the engine decided in a run, and where two runs were decided differently.

Decisions are compared by step-run, in order: which of two step-runs came first at a moment, and
when that was, is no decision. `first_difference` compares all of a decision, `departure` only the
way the run took. Knows logs only; values are compared by whoever calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TypeAlias

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.state import key_of
from anew.lab.script import place_of
from anew.values import Object, Value

# Two numbers of seconds that differ by less are one.
SECONDS_TOLERANCE = 1e-6

_SHOWN_CHARACTERS = 200
# How a departure names the place of what is decided for the run as a whole.
_RUN = "run"
_TASK = ("task", "attempt")
_RESOLVED = ("directive", "to", "verdict", "error.kind", "patches", "delay_seconds", "draws")
# What of each event is a decision. An error is compared by its kind: messages name run ids.
_FIELDS: dict[type[e.Fact], tuple[str, ...]] = {
    e.RunStarted: ("entry", "ctx", "error.kind", "draws"),
    e.RunDone: (),
    e.RunFailed: ("error.kind", "unsatisfied"),
    e.RunCancelled: (),
    e.StepScheduled: ("args",),
    e.StepRefused: (),
    e.StepStarted: (),
    e.StepDone: ("verdict",),
    e.StepFailed: ("error.kind", "handled", "failure_mode", "verdict"),
    e.StepSkipped: ("reason",),
    e.TaskStarted: (*_TASK, "task_visit", "workbook"),
    e.TaskProcessed: (
        *(*_TASK, "outcome.status", "outcome.error.kind", "rule", "rule_name"),
        *_RESOLVED,
    ),
    e.TaskRetryScheduled: (
        *(*_TASK, "rule", "backoff", "draw", "delay_seconds", "attempts", "count", "to"),
    ),
    e.TaskRetryExhausted: (*_TASK, "rule", "attempts", "reason", *_RESOLVED),
    e.LoopStarted: ("items", "iterator", "mode", "max_in_flight", "draws"),
    e.LoopIterationDone: (),
    e.LoopIterationFailed: ("error.kind",),
    e.LoopDone: ("total", "done", "failed"),
    e.NextEvaluated: (
        *("event", "mode", "arcs", "tokens.to", "tokens.args", "handled", "reason", "fails_run"),
        *("error.kind", "patches", "draws"),
    ),
    e.GateChecked: (
        *("allow", "rule", "goals", "unsatisfied", "gate", "to", "redirects", "count"),
        *("error.kind", "draws"),
    ),
    e.BranchForked: ("join", "width", "branches.name"),
    e.BranchJoined: ("policy", "verdict", "cancelled", "error.kind", "written"),
    e.HumanWaiting: (*_TASK, "choices", "action", "default"),
    e.HumanAnswered: ("label",),
    e.HumanTimedOut: ("action", "label"),
    e.SignalWaiting: (*_TASK, "signal"),
    e.SignalReceived: ("signal",),
    e.SignalTimedOut: ("signal",),
}
# These hold what the author's data amounts to; the rest are words and numbers of the engine.
_VALUES = frozenset({"patches", "ctx", "args", "tokens.args", "items", "written"})

Alike: TypeAlias = Callable[[Value, Value], bool]


class Decision(Struct, frozen=True):
    """One event as far as it was decided. `place` names its step-run, step, or nothing: the run.

    `words` say which way the run takes by it; empty where it takes none.
    """

    place: str
    name: str
    seq: int
    fields: Object
    words: str = ""


class Differing(Struct, frozen=True):
    """The first decision that is another one. `field` is None where one of them is not there."""

    place: str
    field: str | None
    recorded: Decision | None
    played: Decision | None

    def cleaned(self, clean: Callable[[Value], Value]) -> Differing:
        """The same without secrets, for people to see."""
        pair = [
            one and replace(one, fields={key: clean(value) for key, value in one.fields.items()})
            for one in (self.recorded, self.played)
        ]
        return replace(self, recorded=pair[0], played=pair[1])

    def __str__(self) -> str:
        where = self.place or "the run"
        if self.recorded is None or self.played is None:
            found, who = (self.played, "play") if self.recorded is None else (self.recorded, "log")
            assert found is not None
            return f"{where}: only the {who} has {found.name}{_task_of(found)}"
        recorded, played = self.recorded, self.played
        if self.field is None:
            return (
                f"{where}: the log has {recorded.name}{_task_of(recorded)}, the play {played.name}"
            )
        ours, theirs = recorded.fields[self.field], played.fields[self.field]
        what = f"{recorded.name}{_task_of(recorded)}: {self.field}"
        return f"{where}: {what} is {_short(ours)} in the log and {_short(theirs)} in the play"


class Departure(Struct, frozen=True):
    """The first decision by which a run takes another way; `seq` is that of the past run's event.

    `was` and `becomes` are None where one of the two decides nothing any more.
    """

    place: str
    seq: int
    was: str | None
    becomes: str | None


def same_values(one: Value, other: Value) -> bool:
    """As `==`, but for seconds that differ by less than anybody measures."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return bool(abs(one - other) <= SECONDS_TOLERANCE)
    return bool(one == other)


def decisions_of(log: Sequence[e.Event]) -> dict[str, list[Decision]]:
    """Everything decided, by place. What lost workers and pauses leave is not among it."""
    found: dict[str, list[Decision]] = {}
    lost: set[str] = set()
    for event in log:
        fields = _FIELDS.get(type(event))
        place = _place(event)
        if isinstance(event, e.StepRedelivered):
            lost.add(place)
        elif isinstance(event, e.TaskStarted) and place in lost:
            lost.discard(place)
        elif fields is not None and not _is_kept_signal(event):
            told = to_builtins(event)
            read = {name: _read(told, name.split(".")) for name in fields}
            found.setdefault(place, []).append(
                Decision(place, event.name, event.seq, read, _words(event))
            )
    return found


def first_difference(
    recorded: Sequence[e.Event],
    played: Sequence[e.Event],
    *,
    alike: Alike = same_values,
    is_part: bool = False,
) -> Differing | None:
    """None when both were decided alike. `is_part`: `played` may go on where the other ends."""
    ours, theirs = decisions_of(recorded), decisions_of(played)
    differing = (
        found
        for place in ours.keys() | theirs.keys()
        if (found := _first(place, ours.get(place, []), theirs.get(place, []), alike, is_part))
    )
    return min(differing, key=_order, default=None)


def departure(past: Sequence[e.Event], played: Sequence[e.Event]) -> Departure | None:
    """Where the run that was played leaves the past one; None when it never does."""
    before, after = _ways(past), _ways(played)
    apart = [
        Departure(place, (was or decided[-1]).seq, _words_of(was), _words_of(now))
        for place, decided in before.items()
        for was, now in zip_longest(decided, after.get(place, []))
        if _words_of(was) != _words_of(now)
    ]
    if apart:
        return min(apart, key=lambda one: one.seq)
    added = [(decided[0].seq, place) for place, decided in after.items() if place not in before]
    if not added:
        return None
    _, place = min(added)
    return Departure(place, past[-1].seq, None, after[place][0].words)


def _words_of(decision: Decision | None) -> str | None:
    return None if decision is None else decision.words


def _ways(log: Sequence[e.Event]) -> dict[str, list[Decision]]:
    """The decisions about where the run goes, by place."""
    found = ([one for one in there if one.words] for there in decisions_of(log).values())
    return {ways[0].place or _RUN: ways for ways in found if ways}


def _order(found: Differing) -> tuple[int, int]:
    ours = found.recorded.seq if found.recorded else found.played.seq if found.played else 0
    return ours, found.played.seq if found.played else 0


def _first(
    place: str, ours: list[Decision], theirs: list[Decision], alike: Alike, is_part: bool
) -> Differing | None:
    for one, other in zip_longest(ours, theirs):
        if is_part and (one is None or one.name == e.RunCancelled.name):
            return None
        if one is None or other is None or one.name != other.name:
            return Differing(place, None, one, other)
        for field, value in one.fields.items():
            same = alike if field in _VALUES else same_values
            if not same(value, other.fields[field]):
                return Differing(place, field, one, other)
    return None


def _place(event: e.Event) -> str:
    if event.step is None:
        return ""
    if event.visit is None:
        return event.step
    return place_of(key_of(event))


def _is_kept_signal(event: e.Event) -> bool:
    """A signal nobody waits for yet comes from outside, and decides nothing."""
    return isinstance(event, e.SignalReceived) and event.step is None


def _read(told: Value, path: list[str]) -> Value:
    """The value at a path; of a list, that of each of its items."""
    if not path:
        return told
    if isinstance(told, list):
        return [_read(item, path) for item in told]
    return _read(told.get(path[0]) if isinstance(told, dict) else None, path[1:])


def _task_of(decision: Decision) -> str:
    task, attempt = decision.fields.get("task"), decision.fields.get("attempt")
    return f" of {task}, attempt {attempt}" if task else ""


def _short(value: Value) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def _words(event: e.Event) -> str:
    """Which way a run takes by this decision; empty where it takes none."""
    match event:
        case e.TaskProcessed():
            number = "no rule" if event.rule is None else f"rule {event.rule}"
            rule = event.rule_name or number
            to = "" if event.to is None else f" to {event.to}"
            return f"{event.task} attempt {event.attempt}: {rule}, {event.directive}{to}"
        case e.TaskRetryScheduled():
            to = "" if event.to is None else f" by way of {event.to}"
            told = f"retry in {round(event.delay_seconds, 6)} s{to}"
            return f"{event.task} attempt {event.attempt}: {told}"
        case e.TaskRetryExhausted():
            told = f"retries exhausted ({event.reason}), {event.directive}"
            return f"{event.task} attempt {event.attempt}: {told}"
        case e.NextEvaluated():
            ways = ", ".join(str(token["to"]) for token in event.tokens)
            return f"{event.event}: to {ways}" if ways else f"{event.event}: no way on"
        case e.LoopStarted():
            return f"a loop over {len(event.items)}"
        case e.StepFailed() | e.LoopIterationFailed() | e.RunFailed():
            return f"failed ({event.error.get('kind')})"
        case e.StepDone() | e.LoopIterationDone() | e.RunDone():
            return "done"
        case e.StepSkipped() | e.StepRefused():
            return event.name.removeprefix("step.")
        case _:
            return ""
