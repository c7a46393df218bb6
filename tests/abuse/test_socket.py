"""Orders on the socket beside a database file: junk is answered in words, and others are served."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from anew.runtime.commands import COMMANDS, REQUEST_BYTES_MAX
from anew.runtime.ownership import socket_path
from tests.abuse.raw import Site, site
from tests.surfaces.api.served import CHAIN

PATIENCE_SECONDS = 60


class Door(Struct, frozen=True):
    """The socket of a server on a file, and its run."""

    site: Site
    path: Path
    run: str

    def connected(self) -> socket.socket:
        found = socket.socket(socket.AF_UNIX)
        found.settimeout(PATIENCE_SECONDS)
        found.connect(str(self.path))
        return found

    def send(self, data: bytes) -> bytes:
        """All that is answered to these bytes; nothing when it hangs up."""
        with self.connected() as found:
            try:
                found.sendall(data)
                found.shutdown(socket.SHUT_WR)
                return found.makefile("rb").read()
            except ConnectionError:
                return b""

    def ask(self, **order: Any) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.send(json.dumps(order).encode() + b"\n"))
        return answer

    def refuses(self, answer: bytes) -> None:
        """In one line of words, or by hanging up; and the next is served as ever."""
        if answer:
            assert answer.count(b"\n") == 1
            said = json.loads(answer)
            assert set(said) <= {"error", "is_store"}
            assert "Traceback" not in said["error"]
            assert len(said["error"]) < 2000
        assert self.ask(do="cancel", run=self.run) == {"ok": {"changed": False}}


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    folder = tmp_path_factory.mktemp("socket")
    with site(folder) as found:
        run = found.started(CHAIN)
        found.ended(run)
        yield Door(found, socket_path(folder / "anew.db"), run)


JUNK = {
    "nothing": b"",
    "an empty line": b"\n",
    "no line end": b'{"do": "cancel"',
    "no JSON": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "bytes": bytes(range(1, 10)) + b"\xff\xfe\n",
    "NULs": b"\0" * 10_000 + b"\n",
    "a list": b"[]\n",
    "a text": b'"cancel"\n',
    "null": b"null\n",
    "a number": b"1e999\n",
    "NaN": b"NaN\n",
    "brackets": b"[" * 1_000_000 + b"\n",
    "objects": b'{"workload":' * 100_000 + b"\n",
    "half a surrogate pair": b'{"do": "\\ud800"}\n',
    "no order": b"{}\n",
    "an unknown order": b'{"do": "shutdown"}\n',
    "an order of Python's": b'{"do": "__init__"}\n',
    "an order that is a list": b'{"do": ["cancel"]}\n',
    "an order with a NUL": b'{"do": "cancel\\u0000"}\n',
    "an order in capitals": b'{"do": "CANCEL"}\n',
    "a wrong type for each field": b'{"do": "start", "run": 1, "workload": [], "labels": 1}\n',
    "a version beyond 64 bits": b'{"do": "start", "name": "x", "version": 1e40}\n',
    "no document": b'{"do": "start"}\n',
    "a document that is none": b'{"do": "start", "source": "[[[", "file": "x.yaml"}\n',
    "a document of brackets": b'{"do": "start", "source": "' + b"[" * 60_000 + b'"}\n',
    "files with ways up": b'{"do": "start", "source": "x", "files": {"../../x": "y"}}\n',
    "a credential that is none": b'{"do": "seal", "sealed": {"name": "x"}}\n',
    "a credential without seal": b'{"do": "seal"}\n',
    "a bulk of nonsense": b'{"do": "bulk", "name": "destroy", "runs": ["1"]}\n',
    "a bulk of no runs": b'{"do": "bulk", "name": "cancel", "runs": ["x", "-1", ""]}\n',
    "a fork of nothing": b'{"do": "fork", "run": "1", "at": -5}\n',
    "a signal without a name": b'{"do": "signal", "run": "1"}\n',
    "a signal with a bad name": b'{"do": "signal", "run": "1", "name": "../x\\n"}\n',
    "a webhook with a bad name": b'{"do": "webhook", "run": "1", "name": "\\u001b[2J"}\n',
    "longer than a request may be": b'{"do": "' + b"x" * (REQUEST_BYTES_MAX + 10) + b'"}\n',
    "longer, without a line end": b"x" * (REQUEST_BYTES_MAX + 10),
}


@pytest.mark.parametrize("attack", JUNK)
def test_junk_is_refused(door: Door, attack: str) -> None:
    door.refuses(door.send(JUNK[attack]))


RUNS = ["", "0", "-1", "x", "9" * 400, "1 OR 1=1", "../1", "١", "1\0", "1.0", "null"]


@pytest.mark.parametrize("run", RUNS)
def test_a_run_that_is_none_is_refused_by_every_order(door: Door, run: str) -> None:
    """But by those that name no run."""
    for order in set(COMMANDS) - {
        "start",
        "register",
        "prune",
        "seal",
        "forget",
        "resume_all",
        "bulk",
    }:
        if order in {"webhook", "adopt"} and run.isascii() and run.isdigit():
            continue  # one only signs an address, the other looks for work; neither finds a run
        said = door.ask(do=order, run=run, name="x", answer="x")
        assert "error" in said or not said["ok"].get("changed", True), (order, said)


def test_one_that_says_nothing_keeps_nobody_waiting(door: Door) -> None:
    with door.connected(), door.connected() as half:
        half.sendall(b'{"do": "canc')
        door.refuses(door.send(b"\n"))


def test_many_that_say_nothing_keep_nobody_waiting(door: Door) -> None:
    silent = [door.connected() for _ in range(100)]
    try:
        door.refuses(door.send(b"\n"))
    finally:
        for one in silent:
            one.close()


def test_only_the_first_line_is_an_order(door: Door) -> None:
    order = json.dumps({"do": "cancel", "run": door.run}).encode() + b"\n"
    assert door.send(order * 1000).count(b"\n") == 1


def test_one_that_does_not_listen_does_no_harm(door: Door) -> None:
    for _ in range(20):
        with door.connected() as deaf:
            deaf.sendall(b'{"do": "resume_all"}\n')
    door.refuses(b"")


def test_the_socket_is_closed_to_others(door: Door) -> None:
    assert stat.S_IMODE(door.path.stat().st_mode) & 0o077 == 0


def test_another_user_gets_no_answer(door: Door) -> None:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("becoming another user needs root")
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    code = f"import socket; socket.socket(socket.AF_UNIX).connect({str(door.path)!r})"
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("there is no Python that every user may start")
    done = subprocess.run([*nobody, python, "-c", code], capture_output=True, check=False)
    assert done.returncode != 0
    assert b"Permission denied" in done.stderr
