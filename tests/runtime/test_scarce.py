"""What a worker or its machine lacks for a moment: no fault of the author's, and worth a retry."""

import asyncio
import errno
import os
import resource

import pytest

from anew.engine.state import RunStatus
from anew.runtime.engine import Engine
from anew.runtime.programs import read_document
from anew.runtime.run_starts import StartRequest
from anew.runtime.toolbox import Toolbox
from anew.stores.memory import MemoryDatabase
from anew.tools.shell import ShellTool

RETRIES = """
workflow:
  - step: only
    tool:
      kind: gate
      command: echo hello
      spec:
        policy:
          rules:
            - when: "{{ outcome.status == 'error' and outcome.error.retryable }}"
              then: {do: retry, attempts: 2, delay: 0}
            - when: "{{ outcome.status == 'error' }}"
              then: {do: fail}
"""


class Failing:
    """Fails with the error the first `times` it is called."""

    def __init__(self, error, times):
        self.error, self.times, self.calls = error, times, 0

    async def call(self, call):
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return await ShellTool().call(call)

    async def close(self):
        pass


class ShortOfFiles(Failing):
    """A real command in a process that may open no more files, the first time."""

    async def call(self, call):
        self.calls += 1
        if self.calls > self.times:
            return await ShellTool().call(call)
        limits, free = resource.getrlimit(resource.RLIMIT_NOFILE), os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
        try:
            return await ShellTool().call(call)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.fixture(autouse=True)
def _gate_is_a_kind(monkeypatch):
    monkeypatch.setattr("anew.program.kinds.installed_kinds", lambda: frozenset({"gate"}))


def ended_with(tool, folder):
    async def work():
        engine = Engine(MemoryDatabase(), folder / "scratch", toolbox=Toolbox({"gate": tool}))
        try:
            document = read_document(RETRIES, str(folder / "test.yaml"))
            started = await engine.start(StartRequest(document, {}))
            return await asyncio.wait_for(engine.wait(started.run), 20)
        finally:
            await engine.stop(0)

    return asyncio.run(work())


def test_a_process_that_may_open_no_more_files_does_not_fail_a_run_that_retries(tmp_path):
    tool = ShortOfFiles(None, times=1)
    state = ended_with(tool, tmp_path)
    assert (state.status, tool.calls) == (RunStatus.DONE, 2)
    assert state.last_result["stdout"] == "hello\n"


def test_its_error_says_which_limit_to_raise(tmp_path):
    state = ended_with(ShortOfFiles(None, times=2), tmp_path)
    assert state.status is RunStatus.FAILED
    assert state.failure["message"].endswith(
        "the tool gate lacked what it needs: too many open files; raise the worker's limit of open "
        "files (`ulimit -n`), or give it fewer slots"
    )


@pytest.mark.parametrize(
    ("number", "calls"),
    [
        (errno.EMFILE, 2),
        (errno.ENFILE, 2),
        (errno.ENOMEM, 2),
        (errno.EAGAIN, 2),
        (errno.ENOSPC, 2),
        (errno.EDQUOT, 2),
        (errno.EIO, 1),
        (errno.ENOENT, 1),
        (None, 1),
    ],
)
def test_only_what_is_scarce_is_worth_a_retry(number, calls, tmp_path):
    error = OSError("no number") if number is None else OSError(number, os.strerror(number))
    tool = Failing(error, times=1)
    state = ended_with(tool, tmp_path)
    assert tool.calls == calls
    assert (state.status is RunStatus.DONE) == (calls == 2)
