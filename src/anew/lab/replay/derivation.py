"""Derive every decision of a log again from what came from outside, and compare.

From outside come the request, the outcomes, the moments and the random numbers. Everything else
must follow from them and the program, event for event. Whatever is wrong with a log is a
`Difference`; nothing is raised. Knows no secret: see `lab.replay.secret_placeholders`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

from msgspec import Struct
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.boundaries import Boundary
from anew.engine.decide import Transition, decide
from anew.engine.fold import evolve
from anew.engine.record import Moment
from anew.engine.secrets import MissingSecret
from anew.engine.state import RunState
from anew.lab.replay.log_turns import Draws, LogTurn, happened, recorded_turns
from anew.lab.replay.logged_guards import LoggedGuards, is_guarded
from anew.lab.replay.older_words import in_common_words
from anew.lab.replay.rounding import is_near, not_early
from anew.lab.replay.sealed import is_sealed
from anew.lab.replay.secret_placeholders import (
    Placeholders,
    other_stand_ins,
    stand_ins,
    watched_stand_ins,
)
from anew.program.program import Program
from anew.values import Object

_ENDS = (e.RunDone, e.RunFailed, e.RunCancelled)


class Difference(Struct, frozen=True):
    """The first place where the log and the engine disagree.

    `problem` is what kept the engine from deriving anything there.
    """

    seq: int
    recorded: e.Event | None
    derived: e.Event | None
    problem: str | None = None

    def report(self) -> Object:
        """Both events, and the fields in which they differ."""
        from anew.lab.replay.field_differences import fields_of  # noqa: PLC0415 - it reads differences

        return {
            "seq": self.seq,
            "problem": self.problem,
            "fields": [
                {"field": one.name, "log": one.log, "engine": one.engine} for one in fields_of(self)
            ],
            "log": None if self.recorded is None else e.to_row(self.recorded),
            "engine": None if self.derived is None else e.to_row(self.derived),
        }


class Replayed(Struct, frozen=True):
    """How much of a log was derived again.

    `events` and `decisions` are those found equal. `shared` events belong to a log whose beginning
    this one shares, and were decided by another program. `trusted` decisions depend on the text of
    a credential, which nobody has here: they are taken as the log has them. `ended`: the log has
    the end of its run; where it has not, more events may have followed.
    """

    events: int
    decisions: int
    shared: int = 0
    trusted: int = 0
    difference: Difference | None = None
    ended: bool = False

    def report(self) -> Object:
        """What `anew replay --json` says of a log."""
        return {
            "is_equal": self.difference is None,
            "ended": self.ended,
            "events": self.events,
            "decisions": self.decisions,
            "shared": self.shared,
            "trusted": self.trusted,
            "difference": self.difference and self.difference.report(),
        }


def replay(program: Program, log: Sequence[e.Event]) -> Difference | None:
    """None when the engine derives exactly this log."""
    return replayed(program, log).difference


def replayed(program: Program, log: Sequence[e.Event], *, is_rounded: bool = False) -> Replayed:
    """`is_rounded`: the moments of this log were cut to microseconds, as rows have them."""
    derivation = Derivation(program, log, is_rounded=is_rounded)
    for _ in derivation.turns():
        pass
    return derivation.report()


def posing_as(program: Program, first: e.Event) -> Program:
    """`program` under the name of the one that decided a log, with the workload that run had."""
    if not isinstance(first, e.RunRequested):
        return program
    return replace(
        program,
        name=first.program,
        digest=first.digest,
        dialect=first.dialect or program.dialect,
        workload={},
        workload_templates={},
    )


class Derivation:
    """Goes through a log decision by decision. `position` counts the events behind it."""

    def __init__(
        self, program: Program, log: Sequence[e.Event], *, is_rounded: bool = False
    ) -> None:
        self.position = 0
        self.difference: Difference | None = None
        self._program = program
        self._log = log
        self._is_rounded = is_rounded
        self._secrets = stand_ins(program, log)
        self._state = RunState()
        self._folded = _Folded(log)
        self._owners = _owners(log)
        self._is_guarded = is_guarded(log)
        self._decisions = self._shared = self._trusted = 0
        self._trusted_events = 0
        self._is_reworded = False

    def report(self) -> Replayed:
        derived = self.position - self._shared - self._trusted_events
        ended = bool(self._log) and isinstance(self._log[-1], _ENDS)
        return Replayed(
            derived, self._decisions, self._shared, self._trusted, self.difference, ended
        )

    def turns(self) -> Iterator[LogTurn]:
        """Every decision up to the end, or to the first difference."""
        foreign = _foreign(self._log)
        if foreign:
            yield from self._passed_over(foreign)
        while self.difference is None and self.position < len(self._log):
            turn = self._turn()
            if turn is not None:
                yield turn

    def _turn(self) -> LogTurn | None:
        first = self._log[self.position]
        if len(self._owners) > 1 and self.position:
            self._state.run = next(run for end, run in self._owners if self.position < end)
        # A damaged log can lead the engine anywhere, and to every exception it has.
        try:
            return self._derived(first)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            return self._differs(first, None, f"the engine cannot follow ({problem})")

    def _derived(self, first: e.Event) -> LogTurn | None:
        boundary = happened(self._state, first)
        if boundary is None:
            return self._differs(first, None, "nothing that can happen here starts with this event")
        if self._secrets is not None:
            self._secrets.was_read = False
        try:
            transition = self._decided(self._state, boundary, self._secrets)
        except MissingSecret:
            return self._trust(boundary)
        return self._compared(LogTurn(boundary, first.at, transition))

    def _decided(
        self, state: RunState, boundary: Boundary, secrets: Placeholders | None
    ) -> Transition:
        at = self._log[self.position].at
        now = not_early(state, boundary, at) if self._is_rounded else at
        moment = Moment(now, Draws(self._log, self.position), secrets, guards=self._guards())
        return decide(self._program, state, boundary, moment)

    def _guards(self) -> LoggedGuards | None:
        if not self._is_guarded:
            return None
        return LoggedGuards(self._program.dependencies, self._log, self.position)

    def _compared(self, turn: LogTurn) -> LogTurn | None:
        derived = turn.transition.events
        for offset, event in enumerate(derived):
            place = self.position + offset
            recorded = self._log[place] if place < len(self._log) else None
            if self._is_same(recorded, event):
                continue
            if _is_cut(recorded):
                # The beginning of another log may end in the middle of a transition.
                self._resume_at(place)
                return LogTurn(turn.boundary, turn.at, Transition(derived[:offset], [], None))
            return self._doubted(turn, recorded, event)
        if not derived:
            return self._doubted(turn, self._log[self.position], None)
        self._decisions += 1
        self._advance(self.position + len(derived))
        return turn

    def _advance(self, position: int) -> None:
        """Continue from the derived state; where the log has other words, from its own."""
        if self._is_reworded:
            self._is_reworded = False
            self._resume_at(position)
        self.position = position

    def _doubted(
        self, turn: LogTurn, recorded: e.Event | None, derived: e.Event | None
    ) -> LogTurn | None:
        """A difference, unless it may be that of a secret and its stand-in."""
        if self._secrets is None:
            return self._differs(recorded, derived)
        is_hidden = recorded is not None and derived is not None and is_sealed(recorded, derived)
        if is_hidden or (self._secrets.was_read and self._depends_on_texts(turn)):
            return self._trust(turn.boundary)
        return self._differs(recorded, derived)

    def _depends_on_texts(self, turn: LogTurn) -> bool:
        """Whether with other stand-ins something else would have been decided."""
        for others in other_stand_ins(self._program, self._log):
            found = self._otherwise(turn.boundary, others)
            if found is None or found.events != turn.transition.events:
                return True
        watched = watched_stand_ins(self._program, self._log)
        self._otherwise(turn.boundary, watched)
        return watched.watch.was_compared

    def _otherwise(self, boundary: Boundary, secrets: Placeholders) -> Transition | None:
        """What is decided with these secrets; None where they lead to no decision at all."""
        try:
            return self._decided(self._folded.upto(self.position), boundary, secrets)
        except Exception:
            return None

    def _is_same(self, recorded: e.Event | None, derived: e.Event) -> bool:
        if recorded == derived:
            return True
        if recorded is None:
            return False
        told = _completed(recorded, derived)
        if self._is_alike(told, derived):
            return True
        if type(told) is not type(derived):
            return False
        self._is_reworded = self._is_alike(in_common_words(told), in_common_words(derived))
        return self._is_reworded

    def _is_alike(self, recorded: e.Event, derived: e.Event) -> bool:
        return recorded == derived or (self._is_rounded and is_near(recorded, derived))

    def _trust(self, boundary: Boundary) -> LogTurn | None:
        """Take what the log has for this instant as it is: a credential was read."""
        begin, at = self.position, self._log[self.position].at
        end = begin
        while end < len(self._log) and self._log[end].at == at:
            end += 1
        self._trusted += 1
        self._trusted_events += end - begin
        self._resume_at(end)
        return LogTurn(boundary, at, Transition(list(self._log[begin:end]), [], None))

    def _passed_over(self, count: int) -> Iterator[LogTurn]:
        """Events that another program decided are only folded, and told as what they answer to."""
        self._resume_at(count)
        if self.difference is None:
            self._shared = count
            yield from recorded_turns(self._log[:count])

    def _resume_at(self, position: int) -> None:
        """Fold the log itself up to `position`, and derive from there."""
        try:
            self._state = self._folded.upto(position)
        except Exception as error:
            seq = self._folded.position
            broken = self._log[seq]
            self._differs(broken, None, f"it cannot follow what is before it ({error})")
            return
        self.position = position

    def _differs(
        self, recorded: e.Event | None, derived: e.Event | None, problem: str | None = None
    ) -> LogTurn | None:
        """That was the last turn."""
        known = recorded or derived
        self.difference = Difference(known.seq if known else 0, recorded, derived, problem)
        return None


class _Folded:
    """The state of a log itself, a little behind; each event is folded once."""

    def __init__(self, log: Sequence[e.Event]) -> None:
        self._log = log
        self._state = RunState()
        self.position = 0

    def upto(self, position: int) -> RunState:
        """The state after so many events, for the caller to keep and change."""
        while self.position < position:
            evolve(self._state, self._log[self.position])
            self.position += 1
        return deepcopy(self._state)


def _completed(recorded: e.Event, derived: e.Event) -> e.Event:
    """An event of an earlier version, with what that version did not write.

    What follows from it is compared all the same, when something does.
    """
    match recorded, derived:
        case e.RunRequested(dialect=None), e.RunRequested():
            return replace(recorded, dialect=derived.dialect)
        case e.TaskProcessed(rule=None, rule_name=None), e.TaskProcessed():
            return replace(recorded, rule_name=derived.rule_name)
        case e.TaskProcessed(rule_name="retry_when"), e.TaskProcessed(rule_name="retry"):
            return replace(recorded, rule_name=derived.rule_name)
        case e.NextEvaluated(tokens=[_, *_]), e.NextEvaluated() if _are_as_many(recorded, derived):
            pairs = zip(recorded.tokens, derived.tokens, strict=True)
            return replace(recorded, tokens=[_with_outcome(*pair) for pair in pairs])
        case _:
            return recorded


def _are_as_many(recorded: e.NextEvaluated, derived: e.NextEvaluated) -> bool:
    return len(recorded.tokens) == len(derived.tokens)


def _with_outcome(recorded: Object, derived: Object) -> Object:
    """A token of a failure that was handled once did not tell of what."""
    if "outcome" in recorded or "outcome" not in derived:
        return recorded
    return {**recorded, "outcome": derived["outcome"]}


def _is_cut(event: e.Event | None) -> bool:
    """Whether this is where a log that shares another's beginning goes its own way."""
    return isinstance(event, e.RunPaused) and event.shared_with is not None


def _foreign(log: Sequence[e.Event]) -> int:
    """How many events at the beginning another program decided, or another workload."""
    cuts = (
        index
        for index, event in enumerate(log)
        if isinstance(event, e.RunPaused) and event.shared_with and event.decided_by
    )
    return max(cuts, default=0)


def _owners(log: Sequence[e.Event]) -> list[tuple[int, str]]:
    """Up to which position the events are of which run: templates read its id."""
    own = log[0].run if log and isinstance(log[0], e.RunRequested) else ""
    shared = [
        (index, event.shared_with)
        for index, event in enumerate(log)
        if isinstance(event, e.RunPaused) and event.shared_with
    ]
    return [*shared, (len(log), own)]
