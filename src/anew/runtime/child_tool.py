"""`playbook`: a task that is a run of its own.

The child is started once per attempt, by a key made of the attempt's, so that a worker that dies
here finds it again. While it runs, its parent's job is parked and holds no slot; the commit that
ends the child wakes it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import Struct

from anew.engine import events as e
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.engine.state import FINAL, RunStatus, StepRunKey
from anew.errors import ConfigError, ProgramError
from anew.runtime.child_files import mistakes_of_child, read_child
from anew.runtime.ledger import Ledger
from anew.runtime.programs import Document, NotRegistered, Programs, compiled_beside
from anew.runtime.run_logs import last_of_chain
from anew.runtime.run_starts import Started, StartRequest
from anew.store import Archive, JobRef, RunId, RunRow
from anew.tool import Answer, Call, Parked
from anew.values import Object, Value

DEPTH_MAX = 16
# A `path` that ends like this is a file where no program is registered under it.
FILE_ENDINGS = (".yaml", ".yml", ".dot")


class ChildTool(Struct, frozen=True, eq=False):
    """Needs to start runs and to read how they ended."""

    archive: Archive
    ledger: Ledger
    programs: Programs
    start: Callable[[StartRequest], Awaitable[Started]]
    cancel: Callable[[RunId, str], Awaitable[bool]]

    async def call(self, call: Call) -> Answer:
        key = _key(call)
        run = await self.archive.run_of_key(key)
        is_waited_for = not call.inputs.get("async", False)
        if run is None:
            begun = await self._begin(call, key, is_waited_for=is_waited_for)
            if isinstance(begun, Outcome):
                return begun
            run = begun
        if not is_waited_for:
            return outcome_of({"run_id": str(run)})
        # The child may have been begun anew, as another run of its line.
        row = await self.archive.run(await last_of_chain(self.archive, run))
        if row is None or row.status not in FINAL:
            return Parked(None, "child")
        return await self._outcome(row, call.inputs.get("return_step"))

    async def give_up(self, call: Call) -> None:
        """The call's time is over, and with it the child's."""
        run = await self.archive.run_of_key(_key(call))
        if run is not None:
            run = await last_of_chain(self.archive, run)
            await self.cancel(run, f"its parent run {call.place.run} waited no longer")

    async def close(self) -> None:
        """Nothing was opened."""

    async def _begin(self, call: Call, key: str, *, is_waited_for: bool) -> RunId | Outcome:
        parent = JobRef(
            RunId(int(call.place.run)),
            StepRunKey(call.place.step, call.place.visit, call.place.iteration),
        )
        depth = (await self.ledger.live.get(parent.run)).depth + 1
        if depth > DEPTH_MAX:
            message = f"child runs are nested {depth} deep; the limit (child depth) is {DEPTH_MAX}"
            return outcome_of(error=error_of("limit_exceeded", message))
        workload = call.inputs.get("args") or {}
        if not isinstance(workload, dict):
            return outcome_of(error=error_of("config", "args of a playbook must be a mapping"))
        try:
            document = await self._document(call)
        except ProgramError as refused:
            return outcome_of(error=error_of("reference", mistakes_of_child(refused)))
        except ConfigError as missing:
            return outcome_of(error=error_of("reference", str(missing)))
        started = await self.start(
            StartRequest(
                document,
                workload,
                key,
                {} if is_waited_for else {"parent": call.place.run},
                parent if is_waited_for else None,
                depth,
            )
        )
        return started.run

    async def _document(self, call: Call) -> Document:
        file = call.inputs.get("file")
        if file is not None:
            return await self._read(call, str(file))
        path = str(call.inputs.get("path"))
        try:
            return await self.programs.find(path, _version(call.inputs.get("version")))
        except NotRegistered:
            if not path.endswith(FILE_ENDINGS):
                raise
        try:
            return await self._read(call, path)
        except ConfigError as missing:
            raise ConfigError(f"no program {path} is registered, and {missing}") from None

    async def _read(self, call: Call, file: str) -> Document:
        parent = await self.ledger.live.get(RunId(int(call.place.run)))
        is_graph = parent.program.language == "dot"
        data = await asyncio.to_thread(read_child, call.folder, file, is_confined=is_graph)
        read = partial(self.programs.read, data, os.path.join(call.folder, file))
        return await compiled_beside(read, len(data))

    async def _outcome(self, row: RunRow, return_step: Value) -> Outcome:
        if row.status is RunStatus.DONE and return_step is not None:
            return await self._step_outcome(row, str(return_step))
        if row.status is RunStatus.DONE:
            return outcome_of(await self._result(row), is_sealed=True)
        if row.status is RunStatus.CANCELLED:
            message = f"the child run {row.run} was cancelled"
            return outcome_of(error=error_of("cancelled", message, child=str(row.run)))
        error: Object = row.error or {}
        message = f"the child run {row.run} failed: {error.get('message', 'no reason is known')}"
        failed = {**error, "message": message, "child": str(row.run)}
        return outcome_of(error=failed, is_sealed=True)

    async def _step_outcome(self, row: RunRow, step: str) -> Outcome:
        named = (await self.ledger.live.newest(row.run)).state.results.get(step)
        if named is not None:
            return outcome_of(named.result, is_sealed=True)
        message = f"return_step {step!r} has no result in the child run {row.run}"
        return outcome_of(error=error_of("reference", message, child=str(row.run)))

    async def _result(self, row: RunRow) -> Value:
        last = await self.archive.events(row.run, after=row.version - 1, limit=1)
        return last[0].result if last and isinstance(last[0], e.RunDone) else None


def _key(call: Call) -> str:
    """Each attempt has a child of its own, and a repeated delivery the same one."""
    return f"child:{call.idempotency_key}:{call.place.attempt}"


def _version(value: Value) -> int | None:
    """A version asked for; `latest` is the same as none."""
    if value is None or value == "latest":
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ConfigError(f"version must be a whole number or `latest`; found {value!r}") from None
