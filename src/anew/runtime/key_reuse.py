"""What to say when a start key is given again with another document or other input.

The key still names the one run it named before. Knows requests and the row of that run. Does not
know how a run is started.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from shlex import quote

from anew.engine.events import RunRequested
from anew.engine.state import FINAL
from anew.runtime.keys import KeyInUse
from anew.runtime.programs import Programs
from anew.runtime.run_starts import StartRequest
from anew.store import Database, RunId, RunRow
from anew.values import Object, merge_deep

# Of so many inputs that differ, the names are told.
INPUTS_NAMED = 3
# Values may be secret or long, so it is only told that they have to be given again.
_SET = " --set NAME=VALUE"


class Differs(StrEnum):
    """What a request has otherwise than the run that its key names."""

    DOCUMENT = "document"
    INPUT = "input"


async def differences(
    database: Database, programs: Programs, run: RunId, request: StartRequest
) -> tuple[Sequence[Differs], str | None]:
    """What is different, and the sentence that says so; KeyInUse for a run of another program."""
    row = await database.archive.run(run)
    if row is None:
        return (), None
    program = request.document.program
    if row.program != program.name:
        raise KeyInUse(
            f"the key {request.key!r} belongs to run {run} of program {row.program!r}. "
            f"Choose another key: {_new_run(request)} starts a new run."
        )
    found: list[Differs] = [Differs.DOCUMENT] if row.digest != program.digest else []
    names = await _other_inputs(database, programs, row, request)
    found += [Differs.INPUT] if names else []
    return found, _notice(row, request, found, names) if found else None


async def _other_inputs(
    database: Database, programs: Programs, row: RunRow, request: StartRequest
) -> list[str]:
    """The names of the workload that were given another value. What is left out asks for nothing:
    whoever only wants the run of a key need not repeat its input.
    """
    first = await database.archive.events(row.run, limit=1)
    if not first or not isinstance(first[0], RunRequested):
        return []
    known, document = first[0].workload, request.document
    wanted = merge_deep(known, request.workload)
    secrets = await programs.secrets(document.program, document.folder)
    sealed: Object = wanted if secrets is None else secrets.seal(wanted)
    return [name for name in request.workload if known.get(name) != sealed[name]]


def _notice(
    row: RunRow, request: StartRequest, found: Sequence[Differs], names: Sequence[str]
) -> str:
    what = []
    if Differs.DOCUMENT in found:
        what.append("another version of the document")
    if Differs.INPUT in found:
        more = f" and {len(names) - INPUTS_NAMED} more" if len(names) > INPUTS_NAMED else ""
        what.append(f"other input ({', '.join(names[:INPUTS_NAMED])}{more})")
    step = " --from STEP" if row.status in FINAL else ""
    with_file = f" --program {_file(request)}" if Differs.DOCUMENT in found else ""
    inputs = _SET if Differs.INPUT in found else ""
    fork = f"`anew fork {row.run}{step}{with_file}{inputs}`"
    other = " and ".join(what)
    return (
        f"the key {request.key!r} names run {row.run}, which was started with {other}; "
        f"what was given now has no effect on it. {_new_run(request)} starts a new run, {fork} "
        "continues that one with what is new."
    )


def _new_run(request: StartRequest) -> str:
    return f"`anew run {_file(request)}{_SET if request.workload else ''} --key OTHER`"


def _file(request: StartRequest) -> str:
    return quote(request.document.file or "FILE")
