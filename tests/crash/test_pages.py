"""A process is killed while it reads the third page of a real server, and goes on with that page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.crash.kit import Forkers, World

DOCUMENT = """metadata: {name: pages}
workflow:
  - step: copy
    tool:
      - page:
          kind: http
          url: "http://127.0.0.1:%s/orders"
          paginate:
            next: "{{ outcome.result.data.next }}"
            param: cursor
            sink: {kind: effect, result: "{{ page.data.rows }}"}
"""
LAST = 4


class Orders(ThreadingHTTPServer):
    """Four pages. The third one is not given before `free` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Page)
        self.asked: list[str | None] = []
        self.reached, self.free = Event(), Event()


class _Page(BaseHTTPRequestHandler):
    server: Orders

    def do_GET(self) -> None:
        cursor = parse_qs(urlsplit(self.path).query).get("cursor", [None])[0]
        self.server.asked.append(cursor)
        number = int(cursor or 1)
        if number == LAST - 1:
            self.server.reached.set()
            self.server.free.wait(60)
        following = str(number + 1) if number < LAST else None
        body = json.dumps({"rows": [number], "next": following}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def orders() -> Iterator[Orders]:
    with Orders() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.free.set()
        server.shutdown()


@pytest.mark.daily
def test_a_killed_process_resumes_at_the_page_it_was_at(
    tmp_path: Path, forkers: Forkers, orders: Orders
) -> None:
    world = World(tmp_path, forkers)
    document = world.write("pages.yaml", DOCUMENT % orders.server_port)
    going = world.begin("run", document)
    assert orders.reached.wait(60), going.err()
    going.kill()
    orders.free.set()
    assert world.anew("resume").status == 0
    assert orders.asked == [None, "2", "3", "3", "4"]
    sinks = [one for one in world.effects() if one["task"] == "page_sink"]
    assert len(sinks) == LAST
    found = world.read()
    assert [row["status"] for row in found["runs"]] == ["done"]
    (log,) = found["logs"].values()
    kept = [row for row in log if row["name"] == "task.processed" and row["task"] == "page_sink"]
    assert [row["data"]["outcome"]["result"] for row in kept] == [[1], [2], [3], [4]]
