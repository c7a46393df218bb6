"""Decide at an exit whether the run may end: every gate must have gone well."""

from __future__ import annotations

from msgspec import Struct

from anew.engine.events import GateChecked
from anew.engine.outcome import error_of
from anew.engine.record import Recorder
from anew.engine.state import RunState, StepRunKey
from anew.program.program import Gate, Program, Step
from anew.values import Object

PENDING = "pending"


class Verdicts(Struct, frozen=True):
    """How each gate stands, and those that are not satisfied, in file order."""

    goals: dict[str, str]
    unsatisfied: list[Step]


def asked(program: Program, state: RunState) -> Verdicts:
    """The verdict of every gate of the program."""
    goals = {step.name: state.verdicts.get(step.name, PENDING) for step in program.gates}
    unmet = [
        step
        for step in program.gates
        if step.name in state.unmet_gates or not _is_met(step.gate, goals[step.name])
    ]
    return Verdicts(goals, unmet)


def _is_met(gate: Gate | None, verdict: str) -> bool:
    if gate is None or (verdict == PENDING and not gate.is_owed):
        return True
    return verdict in gate.accepts


def unsatisfied(program: Program, state: RunState) -> list[str]:
    """The gates that are not met, by name."""
    return [step.name for step in asked(program, state).unsatisfied] if program.gates else []


def check(recorder: Recorder, key: StepRunKey) -> str | None:
    """Ask the gates at the end of an exit's visit; where they send the run, if anywhere.

    A gate that has no way left fails the run.
    """
    state = recorder.state
    verdicts = asked(recorder.program, state)
    event = GateChecked(
        step=key.step,
        visit=key.visit,
        tokens=[],
        allow=not verdicts.unsatisfied,
        goals=verdicts.goals,
        unsatisfied=[step.name for step in verdicts.unsatisfied],
    )
    if verdicts.unsatisfied:
        _redirect(event, verdicts.unsatisfied[0], state)
    recorder.emit(event)
    return event.to


def _redirect(event: GateChecked, step: Step, state: RunState) -> None:
    gate = step.gate
    assert gate is not None
    event.gate = step.name
    redirects = state.redirects.get(step.name, 0)
    used = state.retries.get(step.name, 0) if gate.shares_budget else redirects
    if gate.to is None or used >= gate.most:
        event.error = error_of_gates(event.unsatisfied, event.goals, used=used)
        return
    event.to, event.redirects = gate.to, redirects + 1
    event.count = used + 1 if gate.shares_budget else None


def error_of_gates(names: list[str], goals: dict[str, str], *, used: int = 0) -> Object:
    """The error of a run whose gates are not met."""
    stand = ", ".join(f"{name} ({goals.get(name, PENDING)})" for name in names)
    spent = f" after {used} more {'try' if used == 1 else 'tries'}" if used else ""
    return error_of("gate_unsatisfied", f"goal gates are not satisfied{spent}: {stand}")
