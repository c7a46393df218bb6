"""The backend that runs a program: the prompt goes in, its standard output is the reply.

The program leads a process group of its own, which is dead when the call has ended. It may write a
status file; what that says counts, unless the program itself failed.
"""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

from anew.engine.outcome import error_of
from anew.engine.verdicts import ErrorType
from anew.tools.agent.backend import AgentReply, AgentRequest, BadInput
from anew.tools.agent.backends.invocation import (
    arguments,
    environment,
    folder,
    told,
    wants_stdin,
)
from anew.tools.agent.backends.shared_files import CommandFiles, check_status, prepare
from anew.tools.agent.reply import bad_status
from anew.tools.agent.request import switch_in, text_in
from anew.tools.agent.status import BadStatus, read_status, said_of, status_in
from anew.tools.captured import output_bytes_max
from anew.tools.processes import Process, signal_name
from anew.tools.sandbox import NO_SANDBOX, NotInSandbox, Sandbox, folder_of_tasks, room_in
from anew.tools.task_process import start_task
from anew.values import Object

# How long a program may take to clean up when its task is cancelled.
AGENT_GRACE_SECONDS_MAX = 5
# Of the line of standard error that an error message quotes.
_QUOTE_CHARS = 500
# Reasons not to start that lie in the inputs; others are the machine's.
_AUTHORS_TURN = {errno.E2BIG, errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.ENOEXEC}


class CommandBackend:
    """Runs the input `command` for each request, else the operator's ANEW_AGENT_COMMAND."""

    def __init__(self, sandbox: Sandbox = NO_SANDBOX) -> None:
        self._output_bytes_max = output_bytes_max()
        self._sandbox = sandbox

    async def run(self, request: AgentRequest) -> AgentReply:
        try:
            return await self._run(request)
        except NotInSandbox as problem:
            raise BadInput(str(problem)) from None

    async def _run(self, request: AgentRequest) -> AgentReply:
        cwd = folder(request)
        prompt = _spoken(request)
        status_file = _status_file(request, cwd)
        if status_file is not None:  # before we remove what is there
            self._check(status_file, request)
        files = await asyncio.to_thread(
            prepare,
            request.place,
            request.scratch,
            prompt=prompt,
            status_file=status_file,
        )
        given = files.prompt_file.parent
        await asyncio.to_thread(self._sandbox.give, given, below=request.scratch)
        needs_status = switch_in(request.settings, "auto_status") is False
        process = self._started(request, files, prompt=prompt, cwd=cwd)
        await _finished(process, request.printed)
        self._check(files.status_file, request, given)
        return await asyncio.to_thread(_reply, process, files, needs_status=needs_status)

    def _check(self, status_file: Path, request: AgentRequest, *given: Path) -> None:
        """In a sandbox, a status comes from where the program may write."""
        if self._sandbox.has_mounts:
            tasks = folder_of_tasks(request.scratch)
            check_status(status_file, within=(tasks, *given, *self._sandbox.writable))
        elif self._sandbox.is_on:
            check_status(status_file, within=(request.folder, request.scratch))

    async def close(self) -> None:
        """Nothing to give back: every process ends with its call."""

    def _started(
        self, request: AgentRequest, files: CommandFiles, *, prompt: str, cwd: Path
    ) -> Process:
        command = request.settings.get("command") or os.environ.get("ANEW_AGENT_COMMAND")
        about = told(request, files)
        env = environment(request, about)
        words = arguments(command, about, path=env.get("PATH", ""), cwd=cwd)
        try:
            return start_task(
                words,
                env=env,
                cwd=cwd,
                stdin=prompt.encode() if wants_stdin(command) else None,
                is_gated=True,
                output_bytes_max=self._output_bytes_max,
                room=room_in(
                    self._sandbox,
                    request.folder,
                    request.scratch,
                    files.prompt_file.parent,
                ),
            )
        except OSError as problem:
            if problem.errno not in _AUTHORS_TURN:
                raise
            raise BadInput(f"the command cannot be started: {problem.strerror}") from None


async def _finished(process: Process, printed: Object) -> None:
    try:
        await asyncio.shield(process.exited)
    except asyncio.CancelledError:
        await process.stop(grace_seconds=AGENT_GRACE_SECONDS_MAX)
        texts = {"stdout": process.stdout.text(), "stderr": process.stderr.text()}
        printed.update((name, text) for name, text in texts.items() if text)
        raise


def _spoken(request: AgentRequest) -> str:
    """The prompt as one text: a program has no earlier messages, so they stand before it."""
    parts = [request.system] if request.system else []
    parts += [f"[{said.role}]\n{said.text}" for said in request.history]
    parts.append(f"[user]\n{request.message}" if request.history else request.message)
    return "\n\n".join(parts)


def _status_file(request: AgentRequest, cwd: Path) -> Path | None:
    said = text_in(request.settings, "status_file")
    if said is None:
        return None
    if "\0" in said or (cwd / said).is_dir():
        raise BadInput("status_file must be the path of a file")
    return cwd / said


def _reply(process: Process, files: CommandFiles, *, needs_status: bool) -> AgentReply:
    code = process.exited.result()
    text = process.stdout.text()
    error, status = _exit_error(process, code), None
    data: bytes | None = b""
    try:
        data = files.read_status()
        status = read_status(data) if data is not None else status_in(text)
        failed = said_of(status or {}).error
    except BadStatus as problem:
        status, failed = {}, None
        where = "" if data is None else f" (in {files.status_file})"
        error = error or bad_status(f"the agent's status {problem}{where}")
    if error is not None and failed is not None:
        # Why it failed is in its status; that it failed, both say.
        error = failed | {"code": error.get("code")}
    elif error is None and status is None and needs_status:
        error = bad_status("the agent wrote no status file, and `auto_status` is false")
    stderr = process.stderr.text()
    return AgentReply(
        text=text,
        status=status or {},
        error=error,
        logs={"stderr": stderr} if stderr else {},
        more={"exit_code": _exit_status(code)},
    )


def _exit_status(code: int) -> int:
    return 128 - code if code < 0 else code


def _exit_error(process: Process, code: int) -> Object | None:
    if code == 0:
        return None
    ended = f"was killed by {signal_name(-code)}" if code < 0 else f"ended with exit status {code}"
    said = process.stderr.last_line(_QUOTE_CHARS)
    message = f"the agent's command {ended}" + (f": {said}" if said else "")
    kind = ErrorType.UNKNOWN.value
    return error_of("exit_code", message, code=_exit_status(code), type=kind)
