"""Requests as no client library would send them, to one real server."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from tests.surfaces.api.processes import PATIENCE_SECONDS, server
from tests.surfaces.api.served import TOKEN


class Answer(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Site(Struct, frozen=True):
    """A server in a process of its own."""

    url: str

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        *,
        token: str | None = TOKEN,
        **headers: str,
    ) -> Answer:
        """Send the path and the body as they are; `content_type` is the header Content-Type."""
        all_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            all_headers["Authorization"] = f"Bearer {token}"
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(
            place.hostname or "", place.port, timeout=PATIENCE_SECONDS
        )
        # What is wrong with a path is for the server to find out.
        connection._validate_path = lambda url: None  # type: ignore[attr-defined]
        try:
            data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
            connection.request(method, path, data, all_headers)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def post(self, path: str, value: Any, **more: Any) -> Answer:
        return self.ask("POST", path, json.dumps(value), content_type="application/json", **more)

    def refuses(self, answer: Answer, *statuses: int) -> None:
        """One of these, as a problem in our form, without a word of our insides; and it lives."""
        assert answer.status in statuses, (answer.status, answer.body[:500])
        problem = answer.json
        assert problem["status"] == answer.status
        assert problem["type"].startswith("urn:anew:problem:")
        for inside in (b"Traceback", b"site-packages", b"/src/anew"):
            assert inside not in answer.body
        self.lives()

    def lives(self) -> None:
        assert self.ask("GET", "/readyz", token=None).status == 200

    def started(self, document: str) -> str:
        answer = self.post("/api/v1/runs", {"document": document})
        assert answer.status == 201, answer.text
        return str(answer.json["run"])

    def ended(self, run: str) -> None:
        self.ask("GET", f"/api/v1/runs/{run}/events/stream")


@contextmanager
def site(folder: Path, **env: str) -> Iterator[Site]:
    with server(folder, ANEW_TOKEN=TOKEN, HOME=str(folder), **env) as served:
        yield Site(served.url)
