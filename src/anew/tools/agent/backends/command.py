"""The backend that runs a program: the prompt goes in, its standard output is the reply.

The program leads a process group of its own, which is dead when the call has ended. It may write a
status file; what that says counts, unless the program itself failed.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from anew.engine.outcome import error_of
from anew.engine.verdicts import ErrorType
from anew.tools.agent.backend import AgentReply, AgentRequest
from anew.tools.agent.backends.invocation import (
    arguments,
    environment,
    placeholder_values,
    wants_stdin,
)
from anew.tools.agent.backends.shared_files import CommandFiles, check_status, prepare
from anew.tools.agent.reply import bad_status
from anew.tools.agent.request import switch_in, text_in
from anew.tools.agent.status import BadStatus, agent_status, read_status, status_in
from anew.tools.captured import output_bytes_max
from anew.tools.commands import TaskCommand, exit_message, exit_status, finished, working_folder
from anew.tools.inputs import BadInput
from anew.tools.processes import Process
from anew.tools.sandbox import NO_SANDBOX, Sandbox, folder_of_tasks, room_in
from anew.values import Object

# How long a program may take to clean up when its task is cancelled.
AGENT_GRACE_SECONDS_MAX = 5


class CommandBackend:
    """Runs the input `command` for each request, else the operator's ANEW_AGENT_COMMAND."""

    def __init__(self, sandbox: Sandbox = NO_SANDBOX) -> None:
        self._output_bytes_max = output_bytes_max()
        self._sandbox = sandbox

    async def run(self, request: AgentRequest) -> AgentReply:
        cwd = working_folder(text_in(request.settings, "cwd"), request.folder)
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
        command = self._command(request, files, prompt=prompt, cwd=cwd)
        grace = AGENT_GRACE_SECONDS_MAX
        process = await finished(command, request.printed, grace_seconds=grace)
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

    def _command(
        self, request: AgentRequest, files: CommandFiles, *, prompt: str, cwd: Path
    ) -> TaskCommand:
        command = request.settings.get("command") or os.environ.get("ANEW_AGENT_COMMAND")
        about = placeholder_values(request, files)
        env = environment(request, about)
        words = arguments(command, about, path=env.get("PATH", ""), cwd=cwd)
        stdin = prompt.encode() if wants_stdin(command) else None
        given = files.prompt_file.parent
        room = room_in(self._sandbox, request.folder, request.scratch, given)
        return TaskCommand(words, env, cwd, stdin, room, self._output_bytes_max)


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
    text = process.stdout.text()
    error, status = _exit_error(process), None
    data: bytes | None = b""
    try:
        data = files.read_status()
        status = read_status(data) if data is not None else status_in(text)
        failed = agent_status(status or {}).error
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
        more={"exit_code": exit_status(process)},
    )


def _exit_error(process: Process) -> Object | None:
    status = exit_status(process)
    if status == 0:
        return None
    message = exit_message(process, "the agent's command", process.stderr)
    return error_of("exit_code", message, code=status, type=ErrorType.UNKNOWN.value)
