"""Execute a command: which part of the engine does it, and what is answered.

The one place where a command of the socket, of the control route or of the REST API turns into
calls of the engine. An answer is a JSON object.
"""

from __future__ import annotations

from functools import partial
from typing import assert_never

from anew.errors import AnewError, ConfigError
from anew.runtime import commands as c
from anew.runtime.bulk import BULK_RUNS_MAX, ActionRefused, BulkOperation, act_on_all, unknown
from anew.runtime.commands import Command, run_id
from anew.runtime.engine import Engine
from anew.runtime.forks import ForkPoint, ForkRequest
from anew.runtime.program_moves import moves_row, moves_to
from anew.runtime.programs import Document, compiled_beside, read_document
from anew.runtime.run_starts import Started, StartRequest
from anew.runtime.wait_skips import skipped_row
from anew.runtime.webhooks import open_webhooks
from anew.store import RunFilter, RunId
from anew.values import Object


async def execute(engine: Engine, command: Command) -> Object:
    """Do it; AnewError when it cannot be done."""
    match command:
        case c.StartRun():
            return await _start(engine, command)
        case c.ForkRun():
            return await _fork(engine, command)
        case c.RegisterProgram():
            return await _register(engine, command)
        case c.CancelRun(run=run, reason=reason):
            return {"changed": await engine.cancel(run_id(run), reason)}
        case c.PauseRun(run=run, reason=reason):
            return {"changed": await engine.pause(run_id(run), reason)}
        case c.ResumeRun(run=run):
            return {"changed": await engine.resume(run_id(run))}
        case c.AdoptRun(run=run):
            await engine.adopt([run_id(run)])
            return {"run": run}
        case c.ResumeAll():
            problems = await engine.adopt_all()
            return {"problems": {str(run): str(error) for run, error in problems.items()}}
        case c.SkipWaits():
            return await _skip(engine, command)
        case c.AnswerQuestion():
            return await _answer(engine, command)
        case c.SendSignal():
            return await _signal(engine, command)
        case c.SignWebhook(run=run, name=name):
            return {"run": run, "path": open_webhooks().path_for(run_id(run), name)}
        case c.RetryRun(run=run, step=step, at=at, key=key):
            return started_row(await engine.retry(run_id(run), step, at=at, key=key))
        case c.ChangeRuns():
            return await _change(engine, command)
        case c.PruneRuns(before=before, statuses=statuses):
            return {"removed": await engine.removal.prune(before, statuses)}
        case c.DropRun(run=run):
            await engine.removal.drop(run_id(run))
            return {"removed": 1}
        case c.ChangeGuard():
            return await _guard(engine, command)
        case c.SealCredential(sealed=sealed):
            await engine.database.vault.seal(sealed)
            return {}
        case c.ForgetCredential(name=name):
            known = [row.name for row in await engine.database.vault.names()]
            return {"changed": await engine.database.vault.forget(name), "known": known}
        case _:
            assert_never(command)


def started_row(started: Started) -> Object:
    """What whoever asked for a run is told; `notice` only where its key names another's."""
    row: Object = {"run": str(started.run), "is_new": started.is_new}
    return row if started.notice is None else row | {"notice": started.notice}


async def _start(engine: Engine, command: c.StartRun) -> Object:
    document = await _program(engine, command) or await _document(command)
    request = StartRequest(
        document, command.workload, command.key, command.labels, singleton=command.singleton
    )
    return started_row(await engine.start(request))


async def _fork(engine: Engine, command: c.ForkRun) -> Object:
    request = ForkRequest(
        run_id(command.run),
        ForkPoint(command.at, command.step, command.visit, seen=command.seen),
        await _program(engine, command),
        command.workload,
        command.key,
        command.labels,
        cancels=command.is_cancelling,
    )
    return started_row(await engine.fork(request))


async def _register(engine: Engine, command: c.RegisterProgram) -> Object:
    document = await _document(command)
    version = await engine.programs.register(document)
    moves = await moves_to(engine.database, engine.programs, document)
    return {"name": document.program.name, "version": version, "runs": moves_row(moves)}


async def _program(engine: Engine, command: c.DocumentCommand) -> Document | None:
    """The program that is named, or sent along; None where neither is."""
    if command.name is not None:
        return await engine.programs.find(command.name, command.version)
    return None if command.source is None else await _document(command)


async def _document(command: c.DocumentCommand) -> Document:
    """What whoever asks has compiled: with nothing that only code here knows."""
    source, file = command.source or "", command.file or ""
    read = partial(read_document, source, file, dialect=command.dialect, files=command.files)
    return await compiled_beside(read, len(source))


async def _skip(engine: Engine, command: c.SkipWaits) -> Object:
    """End waits; whoever works on the run continues with it."""
    run = run_id(command.run)
    ended = await engine.waits.skip(
        run, command.step, visit=command.visit, iteration=command.iteration, by=command.by
    )
    live = await engine.ledger.live.newest(run)
    rows = [skipped_row(event) for event in ended]
    return {"run": str(run), "status": live.state.status.value, "skipped": rows}


async def _answer(engine: Engine, command: c.AnswerQuestion) -> Object:
    run = run_id(command.run)
    asking = None if command.asking is None else run_id(command.asking)
    await engine.people.answer(
        run,
        command.answer,
        step=command.step,
        by=command.by,
        asked=command.asked,
        asking=asking,
    )
    if not command.is_kept_only:
        await engine.adopt([run])
    return {"run": str(run)}


async def _signal(engine: Engine, command: c.SendSignal) -> Object:
    run = run_id(command.run)
    is_new = await engine.signals.signal(
        run, command.name, command.payload, id=command.id, by=command.by
    )
    if not command.is_kept_only:
        await engine.adopt([run])
    return {"run": str(run), "is_new": is_new}


async def _guard(engine: Engine, command: c.ChangeGuard) -> Object:
    """Every answer shows how the guards are then."""
    operator, pattern, by = engine.guard_operator, command.pattern, command.by
    if command.action == "list":
        return await operator.listed(pattern)
    if pattern is None:
        raise ConfigError(f"`guard {command.action}` needs the name of a dependency, or a pattern.")
    match command.action:
        case "set":
            return await operator.set_rule(pattern, command.rule, by)
        case "unset":
            return await operator.unset(pattern, command.keys, by)
        case "pause":
            return await operator.pause(pattern, command.until, by)
        case "trip":
            return await operator.trip(pattern, by)
        case "clear":
            return await operator.clear(pattern, by)
        case _:
            assert_never(command.action)


async def _change(engine: Engine, command: c.ChangeRuns) -> Object:
    operation = BulkOperation(command.name, command.reason, command.by)
    operation.check()
    named = [run_id(run) for run in command.runs[:BULK_RUNS_MAX]]
    rows = await engine.database.archive.runs(RunFilter(runs=named, limit=len(named)))
    result = await act_on_all(engine, operation, rows)
    refused = [*unknown(named, {row.run for row in rows}), *result.refused]
    return {
        "changed": [str(run) for run in result.changed],
        "refused": [_refused_row(run, error) for run, error in refused],
    }


def _refused_row(run: RunId, error: AnewError) -> Object:
    retried_as = error.retried_as if isinstance(error, ActionRefused) else None
    return {
        "run": str(run),
        "detail": str(error),
        "retried_as": None if retried_as is None else str(retried_as),
    }
