"""What an engine does with signals: checks them, makes them durable, tells who waits for which.

A signal is a boundary like any other. Whom it serves is the engine's to say (`engine.signals`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from anew.engine.boundaries import Signalled
from anew.engine.outcome import Outcome
from anew.engine.secrets import Secrets
from anew.engine.signals import (
    NAME_FORM,
    SIGNAL_CHARS_MAX,
    is_name,
    is_repeated,
    overflow,
    pending,
)
from anew.engine.state import FINAL, RunState, StepRunKey
from anew.errors import ConfigError
from anew.program.policy import OutcomeStatus
from anew.runtime.families import existing_run
from anew.runtime.payloads import check_size
from anew.store import Database, RunId
from anew.values import Value
from anew.weight import problem_of

if TYPE_CHECKING:
    from anew.runtime.ledger import Ledger

Redact = Callable[[Outcome, Secrets | None], Outcome]


class BadSignal(ConfigError):
    """Its name, its id or its payload cannot be a signal's."""


class RunEnded(ConfigError):
    """The run waits for nothing any more."""


class SignalsFull(ConfigError):
    """The run has had, or keeps, as many signals of this name as it may."""


class OpenSignal(Struct, frozen=True):
    """A signal that a step-run waits for, and until when."""

    run: RunId
    key: StepRunKey
    task: str
    signal: str
    deadline: int | None
    since: int


def signals_of(run: RunId, state: RunState) -> list[OpenSignal]:
    """What one run waits for, longest first."""
    return [
        OpenSignal(run, one.key, one.task, one.signal, one.deadline, one.since)
        for one in pending(state)
    ]


class Signals(Struct, frozen=True, eq=False):
    """Of one engine. `redact` takes secrets out of an outcome, as for the answers of tools."""

    database: Database
    ledger: Ledger
    redact: Redact

    async def signal(
        self,
        run: RunId,
        name: str,
        payload: Value = None,
        *,
        id: str | None = None,
        by: str | None = None,
    ) -> bool:
        """Make a signal durable; False when one of this name and id has come, which is no error.

        ConfigError says why it cannot be taken: one of the classes above.
        """
        _check_words(name, id, by)
        _check_payload(payload)
        row = await existing_run(self.database.archive, run)
        live = await self.ledger.live.newest(run)
        if row.status in FINAL or live.state.is_final:
            return _unheard(run, live.state, Signalled(name, payload, id))
        # Whoever sends it may send secrets, too; the log learns none that this process knows.
        said = Outcome(OutcomeStatus.OK, payload, logs={"by": by})
        kept = self.redact(said, live.secrets)
        came = Signalled(name, kept.result, id, kept.logs["by"])
        if (await self.ledger.apply(run, came)).has_moved:
            return True
        return _unheard(run, (await self.ledger.live.newest(run)).state, came)


def _check_payload(payload: Value) -> None:
    problem = problem_of(payload)
    if problem is not None:
        raise BadSignal(f"the payload {problem}")
    check_size(payload)


def _check_words(name: str, id: str | None, by: str | None) -> None:
    if not is_name(name):
        raise BadSignal(f"{name[:80]!r} cannot be the name of a signal: it has {NAME_FORM}.")
    for what, said in (("id", id), ("sender", by)):
        if said is None:
            continue
        if not said.strip() or len(said) > SIGNAL_CHARS_MAX or not said.isprintable():
            raise BadSignal(
                f"the {what} of a signal is a text of 1 to {SIGNAL_CHARS_MAX} characters, "
                f"not {said[:80]!r}."
            )


def _unheard(run: RunId, state: RunState, came: Signalled) -> bool:
    """Why a signal changed nothing: False when it came before, ConfigError otherwise.

    Senders that got no answer send again, and may do so after the run has ended.
    """
    if is_repeated(state, came.signal, id=came.id):
        return False
    if state.is_final:
        raise RunEnded(f"run {run} has ended ({state.status}): it does not wait for signals.")
    why = overflow(state, came.signal, id=came.id, payload=came.payload, is_kept=True)
    told = why or "it moved on"
    raise SignalsFull(f"run {run} takes no more signals called {came.signal!r}: {told}.")
