"""The process that runs the author's code: reads a call, runs it, answers, and waits for the next.

Forked with its channel from the fork server, or started as a program with the number of it. Imports
the standard library only, so that it starts quickly; nothing of the engine.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import threading
import time
from typing import Any

from anew.environment import is_private
from anew.kernel import become_subreaper, make_undumpable
from anew.tools.python.failures import failure_of
from anew.tools.python.frames import FRAME_BYTES_MAX, LOST_STATUS, Frames, framed
from anew.tools.python.handed import context_of, parsed
from anew.tools.python.json_forms import NotPlain, plain
from anew.tools.python.process_state import ProcessState
from anew.tools.python.records import Sender, attach
from anew.tools.python.running import load, run

_READ_BYTES = 1 << 16
_LOOK_SECONDS = 0.5


class Channel:
    """Our end of the socket to the worker."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._frames = Frames()
        self._lock = threading.Lock()
        self._number = 0
        os.set_inheritable(fd, False)

    def receive(self) -> dict[str, Any] | None:
        """The next call; None when the worker is gone. What is sent from now on belongs to it."""
        while data := os.read(self._fd, _READ_BYTES):
            for number, body in self._frames.add(data):
                self._number = number
                call: dict[str, Any] = parsed(body)
                return call
        return None

    def send(self, message: dict[str, Any]) -> None:
        self.write(_encoded(message))

    def write(self, body: bytes) -> None:
        left = memoryview(framed(body, self._number))
        with self._lock:
            while left:
                left = left[os.write(self._fd, left) :]


def main(arguments: list[str]) -> None:
    """`arguments`: the channel, the most memory the process may use (0: no limit), and on systems
    that do not kill it with its worker the worker's process id.
    """
    fd, memory_bytes_max, *worker = map(int, arguments)
    if worker:
        threading.Thread(target=_end_with, args=worker, daemon=True).start()
    serve(fd, memory_bytes_max)


def serve(fd: int, memory_bytes_max: int, *, is_spare: bool = False) -> None:
    """Run call after call, until the worker is gone."""
    _prepare(memory_bytes_max)
    if is_spare:
        prime()  # so that this process has pages of its own before its first call comes
    channel = Channel(fd)
    pid = os.getpid()
    sender = Sender(channel.send)
    while (call := channel.receive()) is not None:
        answer = _answer(call, sender)
        if os.getpid() != pid:
            os._exit(0)  # the code forked; only the process that was asked answers
        try:
            channel.write(answer)
        except OSError:
            os._exit(LOST_STATUS)
    _end()


def prime() -> None:
    """Run a call of our own: what Python makes at first use is there then, in forks as well."""
    call = {"code": "return 1", "args": {}, "given": {"_task": "prime"}, "folder": "/"}
    _answer(json.loads(_encoded(call)), Sender(lambda _: None))


def _prepare(memory_bytes_max: int) -> None:
    # What code leaves behind becomes a child of this process, which can then be seen to have some.
    become_subreaper()
    if is_private():
        make_undumpable()
    faulthandler.enable()
    if memory_bytes_max:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes_max, memory_bytes_max))
    for stream in (sys.stdout, sys.stderr):
        # By lines, so that what a crashing process printed before is not lost in a buffer.
        stream.reconfigure(  # type: ignore[union-attr]
            encoding="utf-8", errors="backslashreplace", line_buffering=True
        )


def _answer(call: dict[str, Any], sender: Sender) -> bytes:
    """The whole answer, in bytes: making them can fail because of what the code returned."""
    surroundings = ProcessState()
    attach(sender)
    answer = _ran(call, surroundings)
    is_broken = answer.pop("is_broken", False)
    try:
        is_spent = not surroundings.put_back() or is_broken
    except BaseException:  # what code can break, it will; the answer is true all the same
        is_spent = True
    answer["is_spent"] = is_spent
    body = _encoded(answer)
    if len(body) > FRAME_BYTES_MAX:
        answer["result"] = None
        answer["error"] = {
            "kind": "limit_exceeded",
            "message": f"the result has {len(body):,} bytes as JSON; at most {FRAME_BYTES_MAX:,}",
        }
        body = _encoded(answer)
    return body


def _ran(call: dict[str, Any], surroundings: ProcessState) -> dict[str, Any]:
    folder, filename = call["folder"], ""
    code, script = call.get("code"), call.get("script")
    try:
        surroundings.enter(folder, script["name"] if script else "")
        program, filename = load(code, script, task=call["given"]["_task"])
        result = run(
            program,
            filename=filename,
            args=call["args"],
            given=_given(call),
            libs=call.get("libs") or {},
        )
        return {"result": plain(result)}
    except NotPlain as problem:
        unusable = TypeError(f"{problem}. Return dicts, lists, texts, numbers, booleans or None.")
        return failure_of(unusable, filename=filename, folder=folder)
    except BaseException as problem:
        failure = failure_of(problem, filename=filename, folder=folder)
        return {**failure, "is_broken": isinstance(problem, MemoryError)}


def _given(call: dict[str, Any]) -> dict[str, Any]:
    """What the code can read beside its inputs."""
    context = call.get("context")
    own = {} if context is None else {"context": context_of(context)}
    return {**own, **call.get("names", {}), **call["given"]}


def _encoded(message: dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def _end_with(worker: int) -> None:
    while os.getppid() == worker:
        time.sleep(_LOOK_SECONDS)
    _end()


def _end() -> None:
    """The worker is gone: leave nothing of ours behind."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
