"""The guards of one process: states as they were read, and what becomes of them with each commit.

A turn decides on the states in memory and changes them; its commit names the tokens they were read
with. When the store refuses it, what it changed is read again. Operators' rules are a state too.
Knows no rule and no guard.
"""

from __future__ import annotations

from collections.abc import Iterable
from secrets import token_hex

from msgspec import Struct

from anew.engine.state import StepRunKey
from anew.guards.keeper import Guards, States
from anew.guards.state import CallId, decode_state, encode_state
from anew.program.guards import Governing, GuardRule
from anew.program.program import Program
from anew.runtime.guard_settings import decode_settings
from anew.store import OPERATOR_SCOPE, GuardStates, GuardWrite, JobRef, RunId

# States in memory; when there are more, all are read again as they are asked for.
GUARD_STATES_MAX = 10_000
_TOKEN_BYTES = 8


class TurnGuards(Struct):
    """The guards of one turn. `tokens` are those of the states it may change."""

    guards: Guards
    states: States
    tokens: dict[str, str | None]
    checks_operator: bool
    is_apart: bool = False

    def writes(self) -> tuple[GuardWrite, ...]:
        """What the commit has to check and to change; the states have new tokens then."""
        asked, guards = self.guards.asked, self.guards
        if not (asked or (self.checks_operator and guards.was_asked)):
            return ()
        found = [self._write(scope, has_changed=scope in guards.changed) for scope in sorted(asked)]
        if self.checks_operator:
            found.insert(0, GuardWrite(OPERATOR_SCOPE, self.tokens.get(OPERATOR_SCOPE)))
        return tuple(found)

    def _write(self, scope: str, *, has_changed: bool) -> GuardWrite:
        expected = self.tokens.get(scope)
        if not has_changed:
            return GuardWrite(scope, expected)
        token = self.tokens[scope] = token_hex(_TOKEN_BYTES)
        return GuardWrite(scope, expected, token, encode_state(self.states[scope]))

    def wakes(self) -> list[JobRef]:
        return [job_of(call) for call in dict.fromkeys(self.guards.woken)]


class SharedGuards:
    """States, tokens, and the rules of operators and of the server's file."""

    def __init__(self, kept: GuardStates, *, is_shared: bool) -> None:
        self._kept = kept
        self._is_shared = is_shared
        self._file_rules: tuple[GuardRule, ...] = ()
        self._operator_rules: tuple[GuardRule, ...] = ()
        self._states: States = {}
        self._tokens: dict[str, str | None] = {}
        self._wanted: set[str] = {OPERATOR_SCOPE}
        self._governing: dict[str, dict[str, Governing]] = {}

    @property
    def are_wanted(self) -> bool:
        """Whether states have to be read before a turn is taken."""
        return bool(self._wanted)

    async def read(self) -> None:
        """Read what turns have asked for."""
        wanted, self._wanted = self._wanted, set()
        try:
            found = {one.scope: one for one in await self._kept.read(wanted)}
        except BaseException:
            self._wanted |= wanted
            raise
        if len(self._states) > GUARD_STATES_MAX:
            self._states.clear()
            self._tokens = {OPERATOR_SCOPE: self._tokens.get(OPERATOR_SCOPE)}
        for scope in wanted:
            stored = found.get(scope)
            state = None if stored is None else stored.state
            self._tokens[scope] = None if stored is None else stored.token
            if scope == OPERATOR_SCOPE:
                self._set_rules(state)
            else:
                self._states[scope] = decode_state(state)

    async def refresh(self) -> None:
        """See what operators have set elsewhere."""
        self._wanted.add(OPERATOR_SCOPE)
        await self.read()

    def _set_rules(self, state: str | None) -> None:
        settings = decode_settings(state)
        self._operator_rules = settings.operator_rules()
        self._file_rules = settings.file_rules()
        self._governing.clear()

    def want(self, scopes: Iterable[str]) -> None:
        """To be read before the next turn; what is known of them is forgotten."""
        for scope in scopes:
            self._wanted.add(scope)
            self._states.pop(scope, None)

    def of(self, program: Program, *, is_apart: bool = False) -> TurnGuards | None:
        """For one turn; None where nothing can hold a call. `is_apart`: on states of its own."""
        rules = self._operator_rules or self._file_rules
        if not rules and not program.is_guarded:
            return None
        states, tokens = self._states, self._tokens
        if is_apart:
            states = {scope: decode_state(encode_state(one)) for scope, one in states.items()}
            tokens = dict(tokens)
        sources = (self._operator_rules, self._file_rules, program.dependencies)
        known = self._governing.setdefault(program.digest, {})
        guards = Guards(sources, states, known=known)
        return TurnGuards(guards, states, tokens, self._is_shared, is_apart)

    def dropped(self, turn: TurnGuards | None) -> None:
        """It was not taken: what it has changed in memory never happened."""
        if turn is not None and not turn.is_apart:
            self.want(turn.guards.changed)

    def refused(self, writes: Iterable[GuardWrite]) -> None:
        """Its commit did not happen, or nobody knows."""
        self.want(write.scope for write in writes)

    def committed(self, turn: TurnGuards | None) -> None:
        """It has happened: states of its own are everybody's now."""
        if turn is None or not turn.is_apart:
            return
        for scope in turn.guards.changed:
            self._states[scope], self._tokens[scope] = turn.states[scope], turn.tokens[scope]


def job_of(call: CallId) -> JobRef:
    return JobRef(RunId(int(call.run)), StepRunKey(call.step, call.visit, call.iteration))
