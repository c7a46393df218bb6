"""Tell what a run that shares another's log will do, before it is begun.

Reads the place it is told of and changes nothing; the same plan is then ordered.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator

from msgspec import Struct

from anew.errors import ConfigError
from anew.lab.fork_preview import fork_preview
from anew.runtime.forks import UNFIT_REMEDY, Documents, ForkPlan, told_misfit
from anew.runtime.programs import Document, compiled_again
from anew.store import Database, RunId
from anew.surfaces.cli import status
from anew.surfaces.cli.excerpts import visible
from anew.values import Object
from anew.views.effects import CallKey
from anew.views.forking import AgainRow, Effect, Preview, preview_row
from anew.views.wording import counted

_KEYS = {
    CallKey.NONE: "",
    CallKey.OWN: ", with the idempotency key of the document",
    CallKey.NEW: ", with another idempotency key",
}


class PreparedFork(Struct, frozen=True):
    """A fork or a retry of `run` that is planned; `notes` are of the command's own."""

    run: RunId
    plan: ForkPlan
    preview: Preview
    notes: list[str]


def prepared_fork(
    run: RunId, plan: ForkPlan, *, workload: Object | None = None, notes: list[str] | None = None
) -> PreparedFork:
    """A plan, and what it will do."""
    return PreparedFork(run, plan, fork_preview(plan, workload), notes or [])


def documents_of(database: Database) -> Documents:
    """How the programs of its runs are found."""

    async def find(digest: str) -> Document:
        stored = await database.catalog.get(digest)
        if stored is None:
            raise ConfigError(f"the catalog has no program with the digest {digest}")
        return compiled_again(stored)

    return find


def tell(found: PreparedFork, asked: Namespace) -> int | None:
    """Say what will happen; the exit status where that was all, or where it cannot."""
    misfits = found.plan.misfits
    if asked.json and (asked.dry_run or misfits):
        print(json.dumps({"preview": preview_row(found.preview)}))
    elif not asked.json and not asked.quiet:
        # Standard output is for what becomes of the run.
        for line in preview_lines(found.preview, found.notes):
            print(visible(line), file=sys.stderr)
    for misfit in misfits:
        print(f"anew: {visible(told_misfit(misfit))}", file=sys.stderr)
    if misfits:
        told = f"run {found.run} cannot continue there from event {found.plan.at}"
        print(f"anew: {told}. {UNFIT_REMEDY}", file=sys.stderr)
        return status.BAD
    return status.DONE if asked.dry_run else None


def preview_lines(preview: Preview, notes: list[str]) -> Iterator[str]:
    """One group of lines for each thing there is to tell; `notes` are of the command's own."""
    yield f"run {preview.run} up to event {preview.at}"
    yield from _group(
        "kept", [_kept(one.step, one.visits, one.executions) for one in preview.reused]
    )
    yield from _group("continues", [_goes_on(one) for one in preview.again])
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


def _goes_on(one: AgainRow) -> str:
    place = one.step if one.iteration is None else f"{one.step}[{one.iteration}]"
    return f"{place} {one.does}"


def _effect(effect: Effect) -> str:
    sure = "again" if effect.is_certain else "probably again"
    times = "" if effect.times == 1 else f", {effect.times:,} times"
    what = f"{effect.step}.{effect.task} ({effect.kind}) {effect.what}"
    return f"{sure}: {what}{times}{_KEYS[effect.key]}"


def _more(count: int) -> list[str]:
    return [f"and {counted(count, 'effect')} more"] if count else []
