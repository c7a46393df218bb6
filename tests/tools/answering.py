"""A real HTTP server on this machine that answers as a test says, and remembers what it heard."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct, field


class Heard(Struct):
    """One request."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class Answer(Struct):
    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@contextmanager
def answering(answer: Callable[[Heard], Answer]) -> Iterator[tuple[str, list[Heard]]]:
    """A real server on this machine that says what the function gives."""
    heard: list[Heard] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            parts = urlsplit(self.path)
            query = {key: said[0] for key, said in parse_qs(parts.query).items()}
            headers = {key.lower(): value for key, value in self.headers.items()}
            heard.append(Heard(parts.path, query, headers, body))
            found = answer(heard[-1])
            text = found.body if isinstance(found.body, str) else json.dumps(found.body)
            with suppress(ConnectionError):  # a client that was stopped does not wait
                self.answer(found, text)

        def answer(self, found: Answer, text: str) -> None:
            self.send_response(found.status)
            for name, value in {"Content-Type": "application/json", **found.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
