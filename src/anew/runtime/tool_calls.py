"""Make one call of a tool: what it is given, how long it may take, what its answer amounts to.

Whatever a tool does, an answer comes out of here; only a cancellation passes through.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from anew.clock import Clock
from anew.credentials import Keychain, MissingCredential
from anew.engine.code_names import context_of
from anew.engine.late_texts import late_text
from anew.engine.moments import NANOSECONDS
from anew.engine.next_actions import Invoke
from anew.engine.outcome import Outcome, outcome_of
from anew.engine.render import Rejected
from anew.engine.secrets import MissingSecret, Secrets
from anew.engine.state import RunState
from anew.engine.timeouts import timed_out
from anew.errors import ConfigError, EngineBug
from anew.expressions import holds_template
from anew.program.kinds import kind_named
from anew.program.program import Program
from anew.runtime.damage import folded
from anew.runtime.run_logs import read_log
from anew.runtime.toolbox import Toolbox
from anew.store import Archive, RunId, StoreError
from anew.tool import Answer, AttemptRef, Call, Parked, RefusedText, Timeout, Tool
from anew.values import Object, as_text

# What the machine or the worker lacks at the moment, by what helps. It is no fault of the author's,
# and another worker, or this one a little later, may well have it.
_SCARCE = {
    errno.EMFILE: "raise the worker's limit of open files (`ulimit -n`), or give it fewer slots",
    errno.ENFILE: "raise the machine's limit of open files (`fs.file-max`)",
    errno.ENOMEM: "give the worker more memory, or fewer slots",
    errno.EAGAIN: "raise the worker's limit of processes (`ulimit -u`), or give it fewer slots",
    errno.ENOSPC: "free space on the disk",
    errno.EDQUOT: "free space on the disk, or raise the quota",
}


class CallSite(Struct, frozen=True):
    """Where a run's calls happen: its name, and the folders its tools may use."""

    run: str
    program: Program
    folder: Path
    scratch: Path
    secrets: Secrets | None = None


class _Limit(Struct):
    """When a call must have ended, and whether its own limit says so or its step's deadline."""

    end: int
    deadline: int | None
    is_own: bool = False

    def shorten(self, timer: asyncio.Timeout, seconds: float) -> None:
        """Let the timer end so long from now, unless it ends sooner anyway."""
        end, known = asyncio.get_running_loop().time() + seconds, timer.when()
        if not timer.expired() and (known is None or end < known):
            timer.reschedule(end)
            self.is_own = True


class ToolCaller(Struct, frozen=True, eq=False):
    """Calls tools for the runner."""

    toolbox: Toolbox
    keychain: Keychain
    clock: Clock
    archive: Archive

    async def answer(self, ask: Invoke, site: CallSite) -> Answer:
        """The tool's answer, cleaned of secrets."""
        try:
            answer = await self._call(ask, site)
        except (StoreError, EngineBug):
            raise  # not the tool's doing: the call is made again when this is fixed
        except MissingCredential as missing:
            answer = outcome_of(error={"kind": "reference", "message": str(missing)})
        except ConfigError as refused:
            answer = outcome_of(error={"kind": "config", "message": str(refused)})
        except RefusedText as refused:
            answer = outcome_of(error=refused.error)
        except Exception as error:
            answer = outcome_of(error=_failure(ask.tool.kind, error))
        if not isinstance(answer, Outcome):
            return answer
        return self.keychain.redactor.redact_outcome(answer, site.secrets)

    async def _call(self, ask: Invoke, site: CallSite) -> Answer:
        tool = self.toolbox.get(ask.tool.kind)
        timeout = _timeout(ask)
        call = Call(
            kind=ask.tool.kind,
            inputs=await self._inputs(ask, site),
            place=AttemptRef(
                run=site.run,
                step=ask.key.step,
                visit=ask.key.visit,
                iteration=ask.key.iteration,
                task=ask.task.label,
                attempt=ask.attempt,
            ),
            idempotency_key=ask.idempotency_key,
            asked_at=ask.asked_at,
            timeout=timeout,
            folder=site.folder,
            scratch=site.scratch,
            skipped_at=ask.skipped_at,
            exactly_once=ask.task.exactly_once or ask.tool.exactly_once,
            names=await self._names(ask, site),
            context=partial(self._context, ask, site),
            hide=self.keychain.hide_listed,
        )
        if ask.script_at is not None:
            call = replace(call, render=partial(self._rendered, ask, site, ask.script_at))
        end = self._end(ask, timeout)
        if end is None:
            return await tool.call(call)
        limit = _Limit(end, ask.deadline)
        answer = await self._timed(tool, call, limit)
        if answer is None:
            seconds = timeout.seconds if limit.is_own else None
            error = timed_out(call.kind, site.program.steps[ask.key.step], own_seconds=seconds)
            return outcome_of(error=error, logs=call.printed)
        if isinstance(answer, Parked):
            return Parked(end if answer.until is None else min(answer.until, end), answer.reason)
        return answer

    async def _timed(self, tool: Tool, call: Call, limit: _Limit) -> Answer | None:
        """The answer, if there is one in time."""
        queues = getattr(tool, "queues", False)
        first = limit.deadline if queues else limit.end
        timer = asyncio.timeout(None if first is None else self._seconds_until(first))
        is_over = limit.end <= self.clock.now()
        limit.is_own = limit.end != limit.deadline and (is_over or not queues)
        if queues:
            # Its own time begins when its turn comes.
            length = self._seconds_until(limit.end)
            call = replace(call, begins=lambda: limit.shorten(timer, length))
        try:
            async with timer:
                if not is_over:
                    return await tool.call(call)
        except TimeoutError:
            if not timer.expired():
                raise
        give_up = getattr(tool, "give_up", None)
        if give_up is not None:
            await give_up(call)
        return None

    def _seconds_until(self, moment: int) -> float:
        return max(0.0, (moment - self.clock.now()) / NANOSECONDS)

    async def _inputs(self, ask: Invoke, site: CallSite) -> Object:
        given: Object = ask.inputs if isinstance(ask.inputs, dict) else {}
        if kind_named(ask.tool.kind).keeps_references:
            return given
        if site.secrets is not None:
            given = await self.keychain.open(given, site.program, folder=site.folder)
        for name in kind_named(ask.tool.kind).sides:
            side = given.get(name)
            if isinstance(side, dict):
                given = {**given, name: await self._with_auth(side, site)}
        given = await self._with_auth(given, site)
        script = given.get("script")
        return given if not isinstance(script, dict) else await self._with_source(given, site)

    async def _with_auth(self, given: Object, site: CallSite) -> Object:
        """Inputs with the data of the credential that they name."""
        auth = given.get("auth")
        if auth is None:
            return given
        data = await self.keychain.auth_data(auth, site.program, folder=site.folder)
        return {**given, "auth": data}

    async def _with_source(self, given: Object, site: CallSite) -> Object:
        """The inputs with the credential that the source of their script names."""
        script: Object = given["script"]
        source = script.get("source")
        if not isinstance(source, dict):
            return given
        named = source.get("auth") or source.get("credential")
        if not named:
            return given
        data = await self.keychain.auth_data(named, site.program, folder=site.folder)
        return {**given, "script": {**script, "source": {**source, "auth": data}}}

    async def _rendered(self, ask: Invoke, site: CallSite, seq: int, text: str) -> str:
        """A text that was not known when the inputs were rendered; RefusedText if it cannot be."""
        if not holds_template(text):
            return text
        state, secrets = ask.script_state or await self._state_at(seq, site), site.secrets
        while True:
            try:
                sealed = late_text(site.program, state, ask, text, secrets)
            except MissingSecret as missing:
                self.keychain.learn(site.program, missing)  # then it is had or known to be absent
                secrets = await self.keychain.secrets_for(site.program, folder=site.folder)
            except Rejected as rejected:
                raise RefusedText(rejected.error) from None
            else:
                opened = await self.keychain.open(sealed, site.program, folder=site.folder)
                return as_text(opened)

    async def _names(self, ask: Invoke, site: CallSite) -> Object:
        """What code is given beside its inputs, with the secrets that are in it."""
        if site.secrets is None or not ask.names:
            return ask.names
        opened: Object = await self.keychain.open(ask.names, site.program, folder=site.folder)
        return opened

    async def _context(self, ask: Invoke, site: CallSite) -> Object | None:
        """What code reads of its run; whether a script does is known when it has been read."""
        context = ask.context
        if ask.context_at is not None and context is None:
            context = await self._context_at(ask.context_at, ask, site)
        if site.secrets is not None and context is not None:
            context = await self.keychain.open(context, site.program, folder=site.folder)
        return context

    async def _context_at(self, seq: int, ask: Invoke, site: CallSite) -> Object:
        state = await self._state_at(seq, site)
        step_run = state.step_run(ask.key)
        if step_run is None:
            raise EngineBug(f"{ask.key} was not live at event {seq}")
        return context_of(state, step_run)

    async def _state_at(self, seq: int, site: CallSite) -> RunState:
        """As the worker that was lost was given it: the run may have moved on since."""
        run = RunId(int(site.run))
        return folded(run, await read_log(self.archive, run, until=seq))

    def _end(self, ask: Invoke, timeout: Timeout) -> int | None:
        """When the call must have ended: by the attempt's own limit, or by the step's deadline."""
        if timeout.seconds is None:
            return ask.deadline
        # A call that is made again and again waits for one thing all the time.
        is_again = kind_named(ask.tool.kind).is_called_again
        begun = ask.asked_at if is_again else self.clock.now()
        end = begun + int(timeout.seconds * NANOSECONDS)
        return end if ask.deadline is None else min(end, ask.deadline)


def _failure(kind: str, error: Exception) -> Object:
    """What an exception that a tool let through amounts to."""
    number = error.errno if isinstance(error, OSError) else None
    remedy = None if number is None else _SCARCE.get(number)
    if number is None or remedy is None:
        told = f"the tool {kind} failed: {type(error).__name__}: {error}"
        return {"kind": "tool_error", "message": told}
    told = f"the tool {kind} lacked what it needs: {os.strerror(number).lower()}; {remedy}"
    return {"kind": "tool_error", "retryable": True, "message": told}


def _timeout(ask: Invoke) -> Timeout:
    """What the author said, of the task or of the workbook's; else the default of the kind."""
    said = ask.task.timeout if ask.task.timeout is not None else ask.tool.timeout
    if isinstance(said, (int, float)):
        return Timeout(float(said))
    if said is not None and isinstance(said, Mapping):
        return Timeout(None, said.get("connect"), said.get("read"))
    return Timeout(kind_named(ask.tool.kind).timeout_seconds)
