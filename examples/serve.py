"""Serve runs in every state, with the page to look at them, and leave nothing behind.

`make serve` calls this. A server that fails on purpose stands in for the world; the database is a
temporary one. Everything stops with Ctrl-C.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ROOT / "examples" / "page"
ANEW = [sys.executable, "-m", "anew"]
HOST, PORT = "127.0.0.1", 8700
PORTS_TRIED_MAX = 20
# A worker that is killed is missed after so long; the run that kills it is soon dead.
LEASE_SECONDS = "5"
INVOICES = 7
# The server that fails on purpose is on this machine, which a server calls only if told so.
ALLOWED = "loopback"
# Where the documents expect the server that fails on purpose.
NOWHERE = "http://127.0.0.1:8080"


def main(words: list[str]) -> int:
    parser = ArgumentParser(prog="make serve", description=__doc__)
    parser.add_argument("--port", type=int, default=None, help=f"{PORT}, or the next that is free")
    parser.add_argument("--no-auth", action="store_true", help="let in every user of this machine")
    asked = parser.parse_args(words)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="anew-serve-"))
        with suppress(_Stopped):
            port = free_port() if asked.port is None else asked.port
            show(stack, folder, port, has_token=not asked.no_auth)
    return 0


class _Stopped(BaseException):
    """Someone wants it to end."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped


def show(stack: ExitStack, folder: str, port: int, *, has_token: bool) -> None:
    world = stack.enter_context(process([*ANEW, "lab-server", "--for", "86400"], folder))
    flags = ["--port", str(port), "--db", f"{folder}/anew.db"]
    server = stack.enter_context(
        process([*ANEW, "serve", *flags, *([] if has_token else ["--no-auth"])], folder)
    )
    lab, line = first_line(world), first_line(server)
    url = next(word for word in line.split() if word.startswith("http://"))
    # The server has made a token, and keeps it beside the database.
    file = Path(f"{folder}/anew.db.token")
    token = file.read_text(encoding="ascii").strip() if has_token else None
    begin_runs(Api(url, token), lab)
    key = ["--token-file", str(file)] if has_token else []
    worker = [*ANEW, "worker", "--server", url, "--pool", "fragile", *key]
    stack.enter_context(process(worker, folder))
    address = f"{url}/" if token is None else f"{url}/#token={token}"
    print(f"Open {address} and look at the run that is retrying. Stop with Ctrl-C.", flush=True)
    server.wait()


@contextmanager
def process(command: list[str], folder: str) -> Iterator[subprocess.Popen[str]]:
    """One that ends with us. Ctrl-C is for us alone: the others are told in good order."""
    kept = {name: said for name, said in os.environ.items() if not name.startswith("ANEW_")}
    surroundings = kept | {
        "ANEW_HTTP_ALLOW": ALLOWED,
        "ANEW_LEASE_SECONDS": LEASE_SECONDS,
        "HOME": folder,
    }
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=surroundings,
        start_new_session=True,
    ) as started:
        try:
            yield started
        finally:
            started.terminate()


def first_line(started: subprocess.Popen[str]) -> str:
    """What it prints once it listens."""
    assert started.stdout is not None
    line = started.stdout.readline().strip()
    if not line:
        raise SystemExit(f"{started.args!r} ended with status {started.wait()}")
    return line


def free_port() -> int:
    """The usual one, or one of those after it."""
    for port in range(PORT, PORT + PORTS_TRIED_MAX):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    return 0


class Api(NamedTuple):
    """A server, and the token that lets in."""

    url: str
    token: str | None

    def ask(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        request = Request(f"{self.url}/api/v1/{path}", json.dumps(body).encode(), headers)
        with urlopen(request) as answer:  # on this machine only
            return json.load(answer)


def begin_runs(api: Api, lab: str) -> None:
    """One run at least in every state there is."""
    for path in sorted(DOCUMENTS.glob("*.*")):
        if path.suffix == ".dot" or (path.suffix == ".yaml" and ".script" not in path.name):
            document = path.read_text(encoding="utf-8").replace(NOWHERE, lab)
            api.ask("programs", {"document": document, "file": path.name})

    def start(program: str, labels: dict[str, str] | None = None, **workload: Any) -> str:
        body = {"program": program, "workload": workload, "labels": labels or {}}
        return str(api.ask("runs", body)["run"])

    for number in range(1, INVOICES + 1):
        start("invoices", {"customer": f"c{number % 3}"}, number=number)
    start("invoices", {"customer": "c9"}, number=99, answer=404)
    start("prices")
    start("market")
    start("orders", {"customer": "umber"}, refusals=2, pause=0)
    start("report", {"team": "finance"})
    start("shipment", {"customer": "acme"})
    start("release", {"team": "platform"})
    start("nightly")
    start("fragile")
    api.ask(f"runs/{start('nightly')}/pause", {"reason": "the disk is being changed"})
    api.ask(f"runs/{start('nightly')}/cancel", {"reason": "not tonight"})
    start("orders", {"customer": "acme"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
