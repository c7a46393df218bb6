"""Tell what a run that shares another's log will do, before it is begun.

Reads the place it is told of and changes nothing; the same plan is then ordered.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from anew.errors import ConfigError
from anew.runtime.forking import Plan, Where, plan_of
from anew.runtime.programs import Document, compiled_again
from anew.runtime.records import read_log
from anew.runtime.retrying import failed_step
from anew.store import Database, RunRow
from anew.surfaces.cli.excerpts import visible
from anew.views.effects import CallKey
from anew.views.forking import Again, Effect, Preview
from anew.views.wording import counted

_KEYS = {
    CallKey.NONE: "",
    CallKey.OWN: ", with the idempotency key of the document",
    CallKey.NEW: ", with another idempotency key",
}


async def planned(
    database: Database, row: RunRow, where: Where, *, new: Document | None = None
) -> Plan:
    """Where a fork of the run would be cut; ConfigError when it cannot be."""
    return plan_of(
        await read_log(database.archive, row.run),
        row.run,
        await _document_of(database, row),
        where,
        new,
    )


async def planned_retry(database: Database, row: RunRow, step: str | None) -> Plan:
    """Where a retry of the run would be cut: before `step`, or the step that failed it."""
    old, log = await _document_of(database, row), await read_log(database.archive, row.run)
    name = step or failed_step(log, row.run, old.program)
    return plan_of(log, row.run, old, Where(step=name))


async def _document_of(database: Database, row: RunRow) -> Document:
    stored = await database.catalog.get(row.digest)
    if stored is None:
        raise ConfigError(f"the catalog has no program with the digest {row.digest}")
    return compiled_again(stored)


def print_preview(preview: Preview, notes: list[str]) -> None:
    """On standard error: standard output is for what becomes of the run."""
    for line in preview_lines(preview, notes):
        print(visible(line), file=sys.stderr)


def preview_lines(preview: Preview, notes: list[str]) -> Iterator[str]:
    """One group of lines for each thing there is to tell; `notes` are of the command's own."""
    yield f"run {preview.run} up to event {preview.at}"
    yield from _group(
        "kept", [_kept(one.step, one.visits, one.executions) for one in preview.reused]
    )
    yield from _group("goes on", [_goes_on(one) for one in preview.again])
    undone = [
        f"{one.step}.{one.task}: {counted(one.executions, 'execution')}" for one in preview.undone
    ]
    yield from _group("did later", undone)
    yield from _group("effects", [*map(_effect, preview.effects), *_more(preview.more_effects)])
    yield from _group("note", [*preview.notes, *notes])


def _group(word: str, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"  {'' if number else word:<11}{line}"


def _kept(step: str, visits: int, executions: int) -> str:
    ended = [counted(visits, "visit")] if visits else []
    return f"{step}: {', '.join([*ended, counted(executions, 'execution')])}"


def _goes_on(one: Again) -> str:
    place = one.step if one.iteration is None else f"{one.step}[{one.iteration}]"
    return f"{place} {one.does}"


def _effect(effect: Effect) -> str:
    sure = "again" if effect.is_certain else "probably again"
    times = "" if effect.times == 1 else f", {effect.times:,} times"
    what = f"{effect.step}.{effect.task} ({effect.kind}) {effect.what}"
    return f"{sure}: {what}{times}{_KEYS[effect.key]}"


def _more(count: int) -> list[str]:
    return [f"and {counted(count, 'effect')} more"] if count else []
