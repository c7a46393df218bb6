"""Strangers at the addresses of webhooks: only the very address works, for what it was made for."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterator
from hashlib import sha256
from urllib.parse import quote

import pytest
from msgspec import Struct

from tests.abuse.raw import Answer, Site, site
from tests.surfaces.api.served import NOOP, WAITS

TWO = """\
metadata: {name: two}
workflow:
  - step: first
    tool: {kind: wait, signal: paid}
    next: [{step: second}]
  - step: second
    tool: {kind: wait, signal: sent}
"""


class Hook(Struct, frozen=True):
    """A run that waits, its address in parts, and another run that waits for the same."""

    site: Site
    run: str
    other: str
    over: str
    signature: str

    def path(self, run: str = "", name: str = "paid", signature: str | None = None) -> str:
        return (
            f"/hooks/{run or self.run}/{name}/{self.signature if signature is None else signature}"
        )

    def send(self, path: str, body: bytes | str = "{}", **headers: str) -> Answer:
        headers.setdefault("content_type", "application/json")
        return self.site.ask("POST", path, body, token=None, **headers)

    def heard(self) -> list[object]:
        """The payloads of the signals the run has."""
        answer = self.site.ask("GET", f"/api/v1/runs/{self.run}/events?limit=1000")
        events = answer.json["events"]
        return [event for event in events if event["name"] == "signal.received"]


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hook]:
    with site(tmp_path_factory.mktemp("hooks"), ANEW_PAYLOAD_BYTES_MAX="2000") as found:
        run, other, over = found.started(TWO), found.started(WAITS), found.started(NOOP)
        found.ended(over)
        path = found.ask("GET", f"/api/v1/runs/{run}/signals/paid/url").json["path"]
        yield Hook(found, run, other, over, path.rpartition("/")[2])


def flipped(text: str) -> str:
    first = "A" if text[0] != "A" else "B"
    return first + text[1:]


def padded(text: str) -> str:
    """The same bytes for a decoder that does not look at the last bits."""
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
    return text[:-1] + letters[letters.index(text[-1]) ^ 1]


FORGED: dict[str, Callable[[Hook], str]] = {
    "no signature": lambda hook: hook.path(signature=""),
    "one letter changed": lambda hook: hook.path(signature=flipped(hook.signature)),
    "bits nobody decodes changed": lambda hook: hook.path(signature=padded(hook.signature)),
    "cut by one": lambda hook: hook.path(signature=hook.signature[:-1]),
    "longer by one": lambda hook: hook.path(signature=hook.signature + "A"),
    "with padding": lambda hook: hook.path(signature=hook.signature + "="),
    "in capitals": lambda hook: hook.path(signature=hook.signature.upper()),
    "twice": lambda hook: hook.path(signature=hook.signature * 2),
    "very long": lambda hook: hook.path(signature="A" * 30_000),
    "not ASCII": lambda hook: hook.path(signature=quote("ſ" * 43)),
    "not UTF-8": lambda hook: hook.path(signature="%ff" * 43),
    "a NUL after it": lambda hook: hook.path(signature=hook.signature + "%00"),
    "a line end after it": lambda hook: hook.path(signature=hook.signature + "%0a"),
    "a space after it": lambda hook: hook.path(signature=hook.signature + "%20"),
    "a hash without a key": lambda hook: hook.path(
        signature=sha256(f"{hook.run}\npaid".encode()).hexdigest()
    ),
    "null": lambda hook: hook.path(signature="null"),
    "of another run": lambda hook: hook.path(run=hook.other),
    "of a run that is over": lambda hook: hook.path(run=hook.over),
    "of no run": lambda hook: hook.path(run="9" * 18),
    "a run beyond numbers": lambda hook: hook.path(run="9" * 400),
    "a run below zero": lambda hook: hook.path(run=f"-{hook.run}"),
    "a run with a plus": lambda hook: hook.path(run=f"%2B{hook.run}"),
    "a run with a point": lambda hook: hook.path(run=f"{hook.run}.0"),
    "a run with an underscore": lambda hook: hook.path(run=f"{hook.run[:1]}_{hook.run[1:]}"),
    "a run in other digits": lambda hook: hook.path(
        run=quote("".join(chr(0xFF10 + int(digit)) for digit in hook.run))
    ),
    "a run with a space": lambda hook: hook.path(run=f"%20{hook.run}"),
    "a run with a line end": lambda hook: hook.path(run=f"{hook.run}%0apaid"),
    "another signal": lambda hook: hook.path(name="sent"),
    "a signal in capitals": lambda hook: hook.path(name="PAID"),
    "a signal with a space": lambda hook: hook.path(name="paid%20"),
    "a signal with a line end": lambda hook: hook.path(name="paid%0a"),
    "a signal of look-alikes": lambda hook: hook.path(name=quote("pаid")),
    "a signal with a NUL": lambda hook: hook.path(name="paid%00"),
    "no signal": lambda hook: hook.path(name="%20"),
    "a way around": lambda hook: f"/hooks/{hook.other}/../{hook.run}/sent/{hook.signature}",
    "a hidden way around": lambda hook: hook.path(name="..%2fpaid"),
    "a slash in the signal": lambda hook: hook.path(name="paid%2f..%2fsent"),
}  # fmt: skip


@pytest.mark.parametrize("attack", FORGED)
def test_a_forged_address_leads_nowhere(hook: Hook, attack: str) -> None:
    before = hook.heard()
    answer = hook.send(FORGED[attack](hook))
    hook.site.refuses(answer, 401, 404)
    assert hook.run not in answer.json.get("detail", "")
    assert hook.heard() == before


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"])
def test_an_address_is_for_posting_only(hook: Hook, method: str) -> None:
    before = hook.heard()
    answer = hook.site.ask(method, hook.path(), token=None)
    assert answer.status in (400, 401, 403, 404, 405, 501)
    assert hook.heard() == before


def test_an_address_opens_nothing_else(hook: Hook) -> None:
    for path in (f"/api/v1/runs/{hook.run}", f"/api/v1/runs/{hook.run}/events", "/api/v1/runs"):
        for token in (hook.signature, f"{hook.run}:{hook.signature}"):
            hook.site.refuses(hook.site.ask("GET", path, token=token), 401)


BODIES = {
    "brackets": b"[" * 1500,
    "objects": b'{"a":' * 300,
    "no number": b"NaN",
    "an endless number": b"-Infinity",
    "half a pair": b'"\\ud800"',
    "not UTF-8": b'"\xff\xfe"',
    "two values": b"{}{}",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "too much": b'"' + b"x" * 3000 + b'"',
    "single quotes": b"{'a': 1}",
    "a comma too many": b"[1,]",
}


@pytest.mark.parametrize("attack", BODIES)
def test_a_payload_that_is_none_is_refused(hook: Hook, attack: str) -> None:
    before = hook.heard()
    answer = hook.send(hook.path(), BODIES[attack])
    hook.site.refuses(answer, 400, 413, 415, 422)
    assert hook.heard() == before


def test_the_same_delivery_counts_once(hook: Hook) -> None:
    """A replay is taken for what it is, in whichever header it names itself."""
    for header in ("idempotency_key", "webhook_id", "x_request_id"):
        sent = [
            hook.send(hook.path(), json.dumps(header), **{header: f"same {header}"}) for _ in "ab"
        ]
        assert [answer.json["accepted"] for answer in sent] == [True, False]
