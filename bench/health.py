"""How soon a server answers `/healthz` while hostile documents are registered, checked and run."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from bench.figures import Row, percentile, row
from bench.hostile import documents

TOKEN = "a-token-for-the-benchmark"
SECONDS = 15.0
PAUSE_SECONDS = 0.05
MILLISECONDS_MAX = 1_000.0
_LOOP = "{% for a in range(300) %}{% for b in range(120) %}{% endfor %}{% endfor %}"


def _runs() -> list[str]:
    """Documents whose decisions take long, by their inputs and by their conditions."""
    inputs = "".join(f"        k{n}: '{_LOOP}'\n" for n in range(13))
    arcs = f"      - {{step: a, when: '{_LOOP}'}}\n" * 13
    head = "metadata: {name: hostile}\nworkflow:\n  - step: a\n    tool:\n      kind: noop\n"
    return [f"{head}      result:\n{inputs}", f"{head}    next:\n{arcs}"]


def attacks() -> list[tuple[str, str]]:
    """Routes, and the documents that are sent there."""
    hostile = [text.decode("utf-8", "replace") for text in documents().values()]
    checked = [(path, text) for path in ("/api/v1/check", "/api/v1/programs") for text in hostile]
    return [*checked, *(("/api/v1/runs", text) for text in _runs() * 8)]


def measure() -> list[Row]:
    """Two rows: the ninety-ninth hundredth of all answers, and the last of them."""
    with _server() as port:
        quiet = _asked(port, lambda: None)
        taken = _asked(port, lambda: _attack(port))
    calm = f"nobody else asks, p99 {percentile(quiet, 99):.1f} ms"
    return [
        _row("health.under_attack: p99", percentile(taken, 99), calm),
        _row("health.under_attack: longest", max(taken), calm),
    ]


def _row(name: str, value: float, peer: str) -> Row:
    met = value <= MILLISECONDS_MAX
    return row(name, [value], "ms", peer=peer, target=f"≤ {MILLISECONDS_MAX:g} ms", met=met)


def _asked(port: int, beside: Callable[[], None]) -> list[float]:
    """How long each answer took, while something else happens and for a while at least."""
    attack = threading.Thread(target=beside, daemon=True)
    attack.start()
    taken, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end:
        begun = time.perf_counter()
        _answer(port, "GET", "/healthz")
        taken.append(1000 * (time.perf_counter() - begun))
        time.sleep(PAUSE_SECONDS)
    return taken


def _attack(port: int) -> None:
    """Send everything, from two sides at once, until nobody listens any more."""

    def send(begin: int) -> None:
        todo = attacks()
        while True:
            for path, text in todo[begin:] + todo[:begin]:
                try:
                    _answer(port, "POST", path, {"document": text})
                except (OSError, http.client.HTTPException):
                    return

    others = [threading.Thread(target=send, args=(begin,), daemon=True) for begin in (0, 20)]
    for other in others:
        other.start()


def _answer(port: int, method: str, path: str, body: object = None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


@contextmanager
def _server() -> Iterator[int]:
    with TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "anew",
            "serve",
            "--port",
            "0",
            "--db",
            f"{folder}/anew.db",
        ]
        process = subprocess.Popen(
            [*command, "--token", TOKEN],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        try:
            line = next(line for line in process.stdout if "http://" in line)
            port = int(line.partition("http://127.0.0.1:")[2].split("/")[0].split()[0])
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield port
        finally:
            process.kill()
            process.wait()
