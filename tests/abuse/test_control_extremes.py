"""Whatever is well-typed and extreme is refused or answered by the routes of workers: never a 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from anew.stores.remote import wire
from tests.abuse.one_server import Target, one_server
from tests.surfaces.api.served import CHAIN

PROTOCOL = {wire.PROTOCOL_HEADER: str(wire.PROTOCOL)}
NUMBERS = (-(2**63), -1, 0, 2**63 - 1, 2**64 - 1)
TEXTS = {"empty": "", "NUL": "a\0b", "huge": "x" * 100_000}
MANY = 50_000
PRESENCE = {
    "worker": "w", "host": "h", "process": 1, "kind": "worker", "pools": [], "slots": 1,
    "busy": 1, "leases": 1, "version": "1", "started_at": 1, "seen_at": 1, "jobs": [],
}  # fmt: skip
SEALED = {"name": "n", "kind": "k", "sealed": b"", "created_at": 1}
LISTS = ("archive.runs", "survey.counts", "survey.points")


def cases() -> Iterator[tuple[str, str, Any]]:
    for number in NUMBERS:
        for name in ("archive.run", "archive.jobs", "archive.remove"):
            yield f"{name} {number}", name, {"run": number}
        for field in ("process", "slots", "busy", "leases", "started_at", "seen_at"):
            yield f"beat {field} {number}", "roster.beat", PRESENCE | {field: number}
        yield f"seal {number}", "vault.seal", SEALED | {"created_at": number}
        yield f"loads {number}", "roster.loads", {"now": number}
        for field in ("since", "parent", "before", "until", "attempt_min", "due_before"):
            yield f"runs {field} {number}", "archive.runs", {field: number}
    for name, text in TEXTS.items():
        for operation in ("archive.run_of_key", "catalog.get", "vault.sealed", "roster.leave"):
            yield f"{operation} {name}", operation, {"text": text}
        for field in ("worker", "host", "version"):
            yield f"beat {field} {name}", "roster.beat", PRESENCE | {field: text}
        yield f"seal {name}", "vault.seal", SEALED | {"name": text}
        for operation in LISTS:
            yield f"{operation} text {name}", operation, {"text": text}
    texts = [str(number) for number in range(MANY)]
    yield "versions of many", "survey.versions", {"digests": texts}
    for operation in LISTS:
        yield f"{operation} many digests", operation, {"digests": texts}
        yield f"{operation} many runs", operation, {"runs": list(range(MANY))}
        yield f"{operation} many statuses", operation, {"statuses": ["done"] * MANY}
        yield f"{operation} many states", operation, {"states": ["done"] * MANY}
        yield f"{operation} many labels", operation, {"labels": dict.fromkeys(texts[:5_000], "")}
    lease = {"now": 1, "until": 2, "limit": 1, "ticket": "t"}
    yield "a lease of many pools", "store.lease", lease | {"pools": texts}
    yield "many pools of a worker", "roster.beat", PRESENCE | {"pools": texts}


CASES = {name: (operation, asked) for name, operation, asked in cases()}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with one_server(tmp_path_factory.mktemp("server"), works=False) as target:
        target.client.post("/api/v1/runs", json={"document": CHAIN})
        yield target


def status_of(target: Target, operation: str, body: bytes) -> int:
    answer = target.client.post(f"{wire.PATH}{operation}", content=body, headers=PROTOCOL)
    return int(answer.status_code)


@pytest.mark.parametrize("name", CASES)
def test_what_is_extreme_is_no_failure_of_the_server(target: Target, name: str) -> None:
    operation, asked = CASES[name]
    assert status_of(target, operation, msgspec.msgpack.encode(asked)) < 500


@pytest.mark.parametrize("text", [b"\xff\xfe", b"\xed\xa0\x80"])
def test_text_that_is_no_text_is_refused(target: Target, text: bytes) -> None:
    body = b"\x81\xa4text" + bytes([0xA0 + len(text)]) + text
    assert status_of(target, "catalog.get", body) == 400
    order = msgspec.msgpack.encode({"id": "x", "request": b'{"do":"' + text + b'"}'})
    assert status_of(target, "order", order) == 400
