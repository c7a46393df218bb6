"""What an operator does to guards: sets and unsets rules, pauses, trips, clears, and looks.

Each change names who made it, is kept with the settings, and holds for the next call that is asked.
Calls that it may let through are woken. Knows commands and states; decides about no call.
"""

from __future__ import annotations

from collections.abc import Callable
from secrets import token_hex

from anew.clock import Clock
from anew.engine.moments import moment_of, moment_text
from anew.engine.outcome import wait_seconds
from anew.errors import ConfigError
from anew.guards.changing import clear, trip
from anew.guards.holding import phase_of, tokens_of
from anew.guards.state import LOOKAHEAD, GuardState, decode_state, encode_state
from anew.program.guard_rules import read_rule, written
from anew.program.guards import NANOSECONDS, governing, matches
from anew.runtime.guard_settings import (
    GuardChange,
    OperatorSettings,
    decode_settings,
    encode_settings,
)
from anew.runtime.guards import SharedGuards, job_of
from anew.store import OPERATOR_SCOPE, Database, GuardWrite, StaleVersion, StoredGuard
from anew.values import Object, merge_deep

# How often a change is made again because others changed the same meanwhile.
CHANGE_ATTEMPTS_MAX = 100
SCOPES_LISTED_MAX = 1_000


class GuardOperator:
    """Of one engine."""

    def __init__(self, database: Database, shared: SharedGuards, clock: Clock) -> None:
        self._database = database
        self._shared = shared
        self._clock = clock

    async def set_rule(self, pattern: str, said: Object, by: str | None) -> Object:
        """Lay keys over what was set for a pattern; ConfigError for one that cannot be."""

        def change(settings: OperatorSettings) -> None:
            rule = merge_deep(settings.rules.get(pattern, {}), said)
            _, problems = read_rule(pattern, rule)
            if problems:
                first = problems[0]
                raise ConfigError(f"{'.'.join(first.path)}: {first.message}. {first.remedy}")
            settings.rules[pattern] = rule

        return await self._change("set", pattern, said, by, change)

    async def unset(self, pattern: str, keys: list[str], by: str | None) -> Object:
        """Take keys away again, or all of them."""

        def change(settings: OperatorSettings) -> None:
            known = settings.rules.get(pattern, {})
            left = {key: value for key, value in known.items() if keys and key not in keys}
            if left:
                settings.rules[pattern] = left
            else:
                settings.rules.pop(pattern, None)

        return await self._change("unset", pattern, {"keys": keys}, by, change)

    async def pause(self, pattern: str, until: str, by: str | None) -> Object:
        """Hold all calls until a moment, or for a time."""
        at = self._moment(until)

        def change(settings: OperatorSettings) -> None:
            settings.paused[pattern] = at

        return await self._change("pause", pattern, {"until": moment_text(at)}, by, change)

    async def trip(self, pattern: str, by: str | None) -> Object:
        """Open the breaker of every scope that the pattern names."""
        return await self._change_states("trip", pattern, by, trip)

    async def clear(self, pattern: str, by: str | None) -> Object:
        """Let calls through again: no pause, closed breakers, full buckets, no cooldown."""

        def change(settings: OperatorSettings) -> None:
            settings.paused.pop(pattern, None)

        await self._change("clear", pattern, {}, by, change)
        return await self._change_states(None, pattern, by, lambda state, _: clear(state))

    async def use_file(self, rules: Object) -> None:
        """Keep the rules of the server's file for all processes."""

        def change(settings: OperatorSettings) -> None:
            settings.file = rules

        if (await self._settings())[0].file != rules:
            await self._change("file", "**", {}, None, change)

    async def listed(self, pattern: str | None = None) -> Object:
        """What is set, and how every scope is that was ever called."""
        settings, _ = await self._settings()
        now = self._clock.now()
        found = [
            _row(kept, settings, now)
            for kept in await self._database.guards.listed(SCOPES_LISTED_MAX)
            if kept.scope != OPERATOR_SCOPE and (pattern is None or _names(pattern, kept.scope))
        ]
        changes = [
            {"at": moment_text(one.at), "do": one.do, "pattern": one.pattern, "by": one.by}
            | {"what": one.what}
            for one in settings.changes
            if pattern is None or one.pattern == pattern
        ]
        paused = {name: moment_text(at) for name, at in settings.paused.items() if at > now}
        rules = {"operator": settings.rules, "file": settings.file, "paused": paused}
        return {"dependencies": found, "rules": rules, "changes": changes}

    # --- changing ------------------------------------------------------------------------------

    async def _settings(self) -> tuple[OperatorSettings, str | None]:
        kept = await self._database.guards.read([OPERATOR_SCOPE])
        if not kept:
            return OperatorSettings(), None
        return decode_settings(kept[0].state), kept[0].token

    async def _change(
        self,
        do: str,
        pattern: str,
        what: Object,
        by: str | None,
        change: Callable[[OperatorSettings], None],
    ) -> Object:
        for _ in range(CHANGE_ATTEMPTS_MAX):
            settings, token = await self._settings()
            change(settings)
            settings.note(GuardChange(self._clock.now(), do, pattern, by, what))
            write = GuardWrite(OPERATOR_SCOPE, token, token_hex(8), encode_settings(settings))
            try:
                await self._database.guards.write([write])
            except StaleVersion:
                continue
            await self._shared.refresh()
            await self._wake(pattern)
            return await self.listed(pattern)
        raise ConfigError("others change the guards all the time. Try again.")

    async def _change_states(
        self,
        do: str | None,
        pattern: str,
        by: str | None,
        change: Callable[[GuardState, int], None],
    ) -> Object:
        if do is not None:
            await self._change(do, pattern, {}, by, lambda _: None)
        scopes = {kept.scope for kept in await self._named(pattern)}
        if do == "trip" and "*" not in pattern:
            scopes.add(pattern)  # one that nobody has called yet
        for scope in sorted(scopes):
            await self._change_state(scope, change)
        await self._wake(pattern)
        return await self.listed(pattern)

    async def _change_state(self, scope: str, change: Callable[[GuardState, int], None]) -> None:
        for _ in range(CHANGE_ATTEMPTS_MAX):
            kept = await self._database.guards.read([scope])
            state = decode_state(kept[0].state if kept else None)
            change(state, self._clock.now())
            token = kept[0].token if kept else None
            try:
                await self._database.guards.write(
                    [GuardWrite(scope, token, token_hex(8), encode_state(state))]
                )
            except StaleVersion:
                continue
            self._shared.want([scope])
            return
        raise ConfigError(f"the guards of {scope} change all the time. Try again.")

    async def _named(self, pattern: str) -> list[StoredGuard]:
        listed = await self._database.guards.listed(SCOPES_LISTED_MAX)
        return [one for one in listed if one.scope and _names(pattern, one.scope)]

    async def _wake(self, pattern: str) -> None:
        """Those who come first ask again; each that starts calls the next."""
        for kept in await self._named(pattern):
            for waiting in decode_state(kept.state).waiting[:LOOKAHEAD]:
                await self._database.store.wake(job_of(waiting.call))

    def _moment(self, until: str) -> int:
        now = self._clock.now()
        seconds = wait_seconds(until, now)
        at = moment_of(until) if seconds is None else now + round(seconds * NANOSECONDS)
        if at is None:
            raise ConfigError(
                f"{until[:80]!r} is not a moment. Write a duration (10m) or a time in ISO 8601."
            )
        return at


def _names(pattern: str, scope: str) -> bool:
    """Whether what is set for a pattern concerns the calls that a scope counts."""
    return matches(pattern, scope) or pattern.startswith(f"{scope}/")


def _row(kept: StoredGuard, settings: OperatorSettings, now: int) -> Object:
    """How one scope is. Rules of documents are not known here: each run brings its own."""
    state = decode_state(kept.state)
    known = governing([settings.operator_rules(), settings.file_rules()], kept.scope)
    limits = known.of(kept.scope)
    phase = state.phase if limits.breaker is None else phase_of(limits.breaker, state, now)
    tokens = state.tokens if limits.budget is None else tokens_of(limits.budget, state, now)
    return {
        "name": kept.scope,
        "running": len(state.running),
        "held": len(state.waiting),
        "breaker": phase.value,
        "tokens": tokens,
        "held_until": moment_text(state.held_until) if state.held_until > now else None,
        "waiting": [
            {"run": one.call.run, "step": one.call.step, "guard": one.guard.value}
            for one in state.waiting[:LOOKAHEAD]
        ],
    }


def file_rules(said: object, file: str) -> Object:
    """The rules of a dependency file; ConfigError says what is wrong with the first that is."""
    from anew.program.guard_rules import read_rules  # noqa: PLC0415 - only a server has a file

    rules, problems = read_rules(said)
    if problems:
        first = problems[0]
        where = ".".join(first.path)
        raise ConfigError(f"{file}: {where}: {first.message}. {first.remedy}")
    return written(rules)
