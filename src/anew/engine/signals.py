"""Signals from outside: what a task waits for, whom a signal serves, and what silence means.

A signal that comes before anyone waits for it is kept, and serves the next wait of its name. One
signal serves one wait: the oldest. The engine waits by itself, and no worker is held meanwhile.
"""

from __future__ import annotations

import re

from msgspec import Struct

from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import Outcome, error_of, outcome_of, wait_seconds
from anew.engine.retry import due_at
from anew.engine.state import (
    AwaitedSignal,
    KeptSignal,
    RunState,
    SignalBuffer,
    StepRun,
    StepRunKey,
    StepRunStatus,
)
from anew.engine.timeouts import deadline_of
from anew.program.program import Program
from anew.values import Object, Value, json_text
from anew.weight import VALUE_CHARS_MAX

# The first three count for each name of a run by itself: whoever may send one signal, by a webhook
# for example, can neither use up the room of the others nor take their ids.
# Signals that nobody has waited for yet. They are part of the run's state.
SIGNALS_KEPT_MAX = 10_000
# What their payloads may amount to: as much as one value of a log.
SIGNALS_KEPT_CHARS_MAX = VALUE_CHARS_MAX
# Ids that are remembered, so that a signal that is sent again is known.
SIGNAL_IDS_MAX = 10_000
# Names of one run under which something is kept or remembered. A loop may wait for one name for
# each of its items.
SIGNAL_NAMES_MAX = 10_000
SIGNAL_CHARS_MAX = 200

# A name is a part of a web address.
_NAME = re.compile(rf"[\w.:@-]{{1,{SIGNAL_CHARS_MAX}}}")
NAME_FORM = f"letters, digits and _ . : @ -, {SIGNAL_CHARS_MAX} characters at the most"


class PendingSignal(Struct, frozen=True):
    """What a step-run waits for."""

    key: StepRunKey
    task: str
    signal: str
    deadline: int | None
    since: int


def is_name(text: str) -> bool:
    """Whether a signal can be called so. Two dots alone would be another address."""
    return _NAME.fullmatch(text) is not None and text.strip(".") != ""


def pending(state: RunState) -> list[PendingSignal]:
    """The signals a run waits for, those it has waited for longest first."""
    return [
        PendingSignal(
            run.key, run.task or "", run.awaited.signal, run.awaited.deadline, run.asked_at
        )
        for run in _waiting(state)
        if run.awaited is not None
    ]


def next_served(program: Program, state: RunState, signal: str, now: int) -> StepRun | None:
    """The step-run that a signal serves which comes now; None when it is to be kept.

    One whose time is over already waits no more, though nobody has told it yet.
    """
    for run in _waiting(state):
        step_ends = deadline_of(program.steps[run.key.step], run)
        ends = [at for at in (run.resume_at, step_ends) if at is not None]
        is_meant = run.awaited is not None and run.awaited.signal == signal
        if is_meant and min(ends, default=now) >= now:
            return run
    return None


def _waiting(state: RunState) -> list[StepRun]:
    if not state.asking:
        return []
    runs = [run for run in state.live_step_runs() if run.status is StepRunStatus.AWAITING]
    return sorted(runs, key=lambda run: run.started_seq)


def oldest_kept(state: RunState, signal: str) -> KeptSignal | None:
    """The signal of this name that came first and has served nobody."""
    buffer = state.signal_buffers.get(signal)
    return buffer.kept[0] if buffer is not None and buffer.kept else None


def is_repeated(state: RunState, signal: str, *, id: str | None) -> bool:
    """Whether the run has had this very signal. Another name may have the same id."""
    buffer = state.signal_buffers.get(signal)
    return buffer is not None and id is not None and id in buffer.ids


def overflow(
    state: RunState, signal: str, *, id: str | None, payload: Value = None, is_kept: bool
) -> str | None:
    """Why the run can take no such signal, in words; None when it can."""
    buffer = state.signal_buffers.get(signal)
    if buffer is None:
        if len(state.signal_buffers) >= SIGNAL_NAMES_MAX and (is_kept or id is not None):
            return f"it knows {SIGNAL_NAMES_MAX:,} other names, its limit (SIGNAL_NAMES_MAX)"
        buffer = SignalBuffer()
    if id is not None and len(buffer.ids) >= SIGNAL_IDS_MAX:
        return f"it has had {SIGNAL_IDS_MAX:,} of them with ids, its limit (SIGNAL_IDS_MAX)"
    if is_kept and len(buffer.kept) >= SIGNALS_KEPT_MAX:
        return (
            f"it keeps {SIGNALS_KEPT_MAX:,} that nobody has waited for, its limit "
            "(SIGNALS_KEPT_MAX)"
        )
    if is_kept and buffer.chars + len(json_text(payload)) > SIGNALS_KEPT_CHARS_MAX:
        return (
            f"those it keeps would have more than {SIGNALS_KEPT_CHARS_MAX:,} characters, "
            "its limit (SIGNALS_KEPT_CHARS_MAX)"
        )
    return None


def awaited_by(inputs: Value, now: int) -> AwaitedSignal | Object:
    """The signal a task's inputs amount to; an error object when they are none."""
    said = inputs if isinstance(inputs, dict) else {}
    signal, timeout = said.get("signal"), said.get("timeout")
    if isinstance(signal, int) and not isinstance(signal, bool):
        signal = str(signal)  # a template that is only a number keeps its type
    if not isinstance(signal, str) or not is_name(signal):
        return error_of("config", f"signal must be a name ({NAME_FORM}), not {signal!r:.80}")
    seconds = None if timeout is None else wait_seconds(timeout, now)
    if timeout is not None and (seconds is None or seconds < 0):
        return error_of("config", f"timeout must be seconds or a duration, not {timeout!r:.80}")
    return AwaitedSignal(signal, None if seconds is None else due_at(now, seconds))


def outcome_of_signal(payload: Value) -> Outcome:
    """What a signal gives the task that waited for it."""
    return outcome_of(payload, is_sealed=True)


def outcome_of_no_signal(awaited: AwaitedSignal, since: int) -> Outcome:
    """What the task gets whose signal did not come in time."""
    seconds = ((awaited.deadline or since) - since) / NANOSECONDS
    return outcome_of(
        error=error_of("timeout", f"the signal {awaited.signal!r} did not come in {seconds:g} s")
    )
