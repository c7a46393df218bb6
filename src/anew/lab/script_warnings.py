"""What a script says that probably means something else: sentences for its author.

Holds a script against the program that it is for. Changes nothing and refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from anew.engine.http_statuses import http_error_kind
from anew.engine.outcome import RETRYABLE
from anew.lab.script import Script, general_key, keys_of
from anew.program.findings import did_you_mean
from anew.program.kind import OutcomeSource
from anew.program.program import Program
from anew.values import Object

OK_STATUSES = range(200, 300)


def script_warnings(script: Script, program: Program) -> Iterator[str]:
    """A sentence for everything in `outcomes` that probably means something else."""
    steps = program.steps.values()
    short = {name for step in steps for name in (step.name, *step.index_of)}
    exact = {(step.name, label) for step in steps for label in step.index_of}
    known = short | {f"{step}.{label}" for step, label in exact}
    # Nobody writes `fetch.fetch`, though it is known.
    named = short | {f"{step}.{label}" for step, label in exact if step != label}
    what = "node" if program.language == "dot" else "task or step"
    silent, waiting = _silent(program), _waiting(program)
    for place in script.lags:
        if general_key(place) not in program.steps:
            yield f"lags.{place} names no {'node' if what == 'node' else 'step'}."
    for said, entries in script.outcomes.items():
        key = said if said in known else general_key(said)
        if key not in known:
            yield f"outcomes.{key} names no {what}. {did_you_mean(key, named) or ''}".rstrip()
        if key in silent:
            yield f"outcomes.{key} is never played: the step only passes on what came before it."
        for number, entry in enumerate(entries):
            warning = _warning(entry.said)
            if entry.is_signal and key in known and key not in waiting:
                warning = "is a signal, and nothing of that name waits for one."
            if warning is not None:
                yield f"outcomes.{said}[{number}] {warning}"


def _silent(program: Program) -> set[str]:
    """The keys that name nothing but steps which call no tool."""
    steps = program.steps.values()
    named = [
        (key, step) for step in steps for t in step.tasks for key in keys_of(step.name, t.label)
    ]
    return {key for key, step in named if step.is_relay} - {
        key for key, step in named if not step.is_relay
    }


def _waiting(program: Program) -> set[str]:
    """The keys that name tasks which wait for a signal."""
    return {
        key
        for step in program.steps.values()
        for task in step.tasks
        if task.outcome_from is OutcomeSource.SIGNAL
        for key in keys_of(step.name, task.label)
    }


def _warning(said: Object) -> str | None:
    error, http = said.get("error"), said.get("http")
    status = http.get("status") if isinstance(http, dict) else None
    if error is None and isinstance(status, int) and status not in OK_STATUSES:
        meant = http_error_kind(status)
        return f"counts as ok, whatever its http.status; add `error: {{kind: {meant}}}`."
    kind = error.get("kind") if isinstance(error, dict) else None
    near = did_you_mean(kind, RETRYABLE) if kind is not None and kind not in RETRYABLE else None
    return f"has an error of the unknown kind {kind!r}. {near}" if near else None
