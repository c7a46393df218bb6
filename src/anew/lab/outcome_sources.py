"""Where the outcomes of a simulation come from: calls, answers of people and signals alike.

A script is one source (`ScriptedOutcomes`); a log, or chance, are others. Knows nothing of the
engine's decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from anew.engine.state import StepRunKey
from anew.lab.script import OutcomeQueue, Script, ScriptEntry, exact_key, keys_of, place_of
from anew.values import Value


class ExecutionStart(Struct, frozen=True):
    """One execution that begins at `now`: a call, a question to a person, a wait for a signal.

    `kind` is that of the tool as the author wrote it. `inputs` are what a call is given; a question
    or a wait has none here.
    """

    key: StepRunKey
    label: str
    kind: str
    attempt: int
    now: int
    inputs: Value = None


class PlayedEntry(Struct, frozen=True):
    """What the world gives. `place` names where that is said; `is_last`: what follows repeats."""

    entry: ScriptEntry
    place: str = ""
    is_last: bool = False


class OutcomeProvider(Protocol):
    """Asked once for each execution, in the order in which they begin."""

    def next(self, asking: ExecutionStart) -> PlayedEntry | None:
        """None: nothing is said of it. A call then succeeds with {}, and a sleep takes its time;
        nobody answers, none comes.

        A person is asked again while the answer fits no choice.
        """

    def lag(self, key: StepRunKey) -> int:
        """How many nanoseconds it takes until a worker comes for a step-run that needs one."""


class ScriptedOutcomes:
    """Plays a script: each list in the order in which executions begin, its last entry for ever."""

    def __init__(self, script: Script) -> None:
        self._tapes = {key: OutcomeQueue(entries, key) for key, entries in script.outcomes.items()}
        self._lags: Mapping[str, Iterator[int]] = {
            place: iter(lags) for place, lags in script.lags.items()
        }

    def next(self, asking: ExecutionStart) -> PlayedEntry | None:
        tape = self._tape(asking.key, asking.label)
        if tape is None:
            return None
        entry = tape.next()
        return PlayedEntry(entry, tape.place, tape.is_spent)

    def lag(self, key: StepRunKey) -> int:
        return next(self._lags[place], 0) if (place := place_of(key)) in self._lags else 0

    def _tape(self, key: StepRunKey, label: str) -> OutcomeQueue | None:
        for name in (exact_key(key, label), *keys_of(key.step, label)):
            tape = self._tapes.get(name)
            if tape is not None:
                return tape
        return None
