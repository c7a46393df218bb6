"""Whether the answers of a log are answers to the same questions, asked at the same moments.

Compares what a run's own program asked of the world with what another one asks. Plays nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from anew.engine.moments import NANOSECONDS
from anew.lab.log_world import (
    Execution,
    Executions,
    execution_at,
)
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.values import Value
from anew.views.wording import duration

# Moments closer than this, or than this share of the time between, count as the same.
SAME_MOMENT_SECONDS = 0.1
SAME_MOMENT_SHARE = 0.1
_OWN_INPUTS = ("timeout", "timeout_action")


class Doubts(Struct):
    """How many answers were taken although something about the question is different.

    `sooner` and `later`: asked at another moment, counted from the latest outcome of the step.
    `borrowed`: results of the model that came of other inputs.
    """

    inputs: int = 0
    kind: int = 0
    timeout: int = 0
    sooner: int = 0
    later: int = 0
    borrowed: int = 0

    @property
    def total(self) -> int:
        return sum(getattr(self, name) for name in self.__struct_fields__)


def doubts_of(
    before: Executions, after: Executions, *, longer: Collection[tuple[str, str]]
) -> Doubts:
    """What makes the log's answers less apt. `longer` are tasks with more time for a call now."""
    found = Doubts()
    for place, executions in after.items():
        for number, now in enumerate(executions):
            was = execution_at(before, place, number)
            if was is not None:
                _compare(found, was, now, longer)
    return found


def _compare(
    found: Doubts, was: Execution, now: Execution, longer: Collection[tuple[str, str]]
) -> None:
    is_by_itself = kind_named(now.kind).is_known_by_inputs
    if was.kind != now.kind and not is_by_itself:
        found.kind += 1
    elif _question(was) != _question(now) and not is_by_itself:
        found.inputs += 1
    elif was.amounts_to == "timeout" and now.named in longer:
        found.timeout += 1
    # What follows a sleep is asked at another moment when the sleep is another.
    is_sleep = kind_named(now.kind).outcome_from is OutcomeSource.CLOCK
    then, after = (was.took, now.took) if is_sleep else (was.gap, now.gap)
    if then is not None and after is not None and are_apart(then, after):
        if after < then:
            found.sooner += 1
        else:
            found.later += 1


def _question(one: Execution) -> Value:
    """What is asked of the world: people and senders of signals do not see how long one waits."""
    if one.is_call or not isinstance(one.inputs, dict):
        return one.inputs
    return {key: value for key, value in one.inputs.items() if key not in _OWN_INPUTS}


def silence_passed(before: Executions, after: Executions) -> str | None:
    """Why nobody knows what others would have said, where they are waited for longer than once."""
    for place, executions in after.items():
        for number, now in enumerate(executions):
            was = execution_at(before, place, number)
            if was is None or was.is_call or was.entry is not None:
                continue
            if now.took > was.took and are_apart(was.took, now.took):
                who = f"a {kind_named(was.kind).outcome_from}"
                waited = duration(was.took / NANOSECONDS)
                return f"{place.key.step} waits longer for {who} than the {waited} the log has"
    return None


def are_apart(then: int, now: int) -> bool:
    """Whether two spans of time (nanoseconds) are notably different."""
    slack = max(SAME_MOMENT_SECONDS * NANOSECONDS, SAME_MOMENT_SHARE * then)
    return abs(now - then) > slack
