"""The HTTP API as a client of the tests speaks it: one request, one answer, nothing clever.

Knows the words of HTTP and the token. Does not retry: what a lost answer means is the test's to say.
"""

from __future__ import annotations

import http.client
import json
from typing import Any, NamedTuple
from urllib.parse import urlsplit

TOKEN = "a-token-for-tests"
ANSWER_SECONDS_MAX = 5.0
# What a server that is killed, restarted or cut off looks like from here.
UNREACHED = (OSError, http.client.HTTPException)


class Answer(NamedTuple):
    """`body` is what was sent, read as JSON where it is that."""

    status: int
    body: Any


def ask(
    url: str,
    path: str,
    *,
    method: str = "GET",
    body: object = None,
    headers: dict[str, str] | None = None,
    seconds: float = ANSWER_SECONDS_MAX,
) -> Answer:
    """`body` is sent as JSON, or as it is when it is bytes."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=seconds)
    sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    told = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, sent, told | (headers or {}))
        response = connection.getresponse()
        text = response.read()
        is_json = "json" in (response.getheader("Content-Type") or "")
        return Answer(response.status, json.loads(text) if is_json and text else text)
    finally:
        connection.close()
