"""What tasks of kind `artifact` may ask for, and what is told of what they may not."""

from __future__ import annotations

from typing import Any

import pytest

from anew.engine import artifacts
from anew.engine import events as e
from anew.engine.artifacts import (
    ArtifactRequest,
    BadArtifact,
    artifact_request,
    artifacts_in,
    found,
    kept,
    too_large,
)
from anew.engine.events import Event
from anew.engine.outcome import Outcome
from anew.program.artifacts import ArtifactAction, ArtifactScope

PUT, GET = ArtifactAction.PUT, ArtifactAction.GET
OWN, ALL = ArtifactScope.RUN, ArtifactScope.PROGRAM


@pytest.mark.parametrize(
    ("inputs", "request_"),
    [
        (
            {"action": "put", "name": "a", "value": None},
            ArtifactRequest(PUT, OWN, "a", None, b"null"),
        ),
        ({"action": "get", "name": "a"}, ArtifactRequest(GET, OWN, "a")),
        ({"action": "get", "name": "a", "version": "latest"}, ArtifactRequest(GET, OWN, "a")),
        ({"action": "get", "name": "a", "version": "3"}, ArtifactRequest(GET, OWN, "a", 3)),
        ({"action": "get", "name": "a", "scope": "program"}, ArtifactRequest(GET, ALL, "a")),
        ({"action": "get", "ref": "artifact:program/x@y@2"}, ArtifactRequest(GET, ALL, "x@y", 2)),
        ({"action": "get", "ref": {"ref": "artifact:run/x@1"}}, ArtifactRequest(GET, OWN, "x", 1)),
    ],
)
def test_inputs_of_every_form_are_read(inputs: dict[str, Any], request_: ArtifactRequest) -> None:
    assert artifact_request(inputs) == request_


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"name": "a"}, "action must be put or get; found None"),
        ({"action": "keep", "name": "a"}, "action must be put or get; found 'keep'"),
        ({"action": "get"}, "name must be a text of 1 to 200 characters"),
        ({"action": "get", "name": ""}, "name must be a text"),
        ({"action": "get", "name": "x" * 201}, "name must be a text"),
        ({"action": "get", "name": "a\0"}, "name must be a text"),
        ({"action": "get", "name": ["a"]}, "name must be a text"),
        ({"action": "put", "name": "a"}, "put needs value"),
        ({"action": "put", "name": "a", "value": 1, "version": 2}, "versions count by themselves"),
        ({"action": "put", "ref": "artifact:run/x@1", "value": 1}, "put takes a name"),
        ({"action": "get", "name": "a", "scope": "team"}, "scope must be run or program"),
        ({"action": "get", "name": "a", "version": 0}, "at least 1; found 0"),
        ({"action": "get", "name": "a", "version": True}, "at least 1; found True"),
        ({"action": "get", "name": "a", "version": "9" * 30}, "is too large"),
        ({"action": "get", "ref": "x"}, "such as artifact:run/report@2; found 'x'"),
        ({"action": "get", "ref": "artifact:run/x"}, "found 'artifact:run/x'"),
        ({"action": "get", "ref": "artifact:team/x@1"}, "the scope of ref must be run or program"),
        ({"action": "get", "ref": 7}, "found 7"),
        ({"action": "get", "ref": {}}, "name must be a text"),
    ],
)
def test_what_cannot_be_done_is_told(inputs: dict[str, Any], told: str) -> None:
    with pytest.raises(BadArtifact) as refused:
        artifact_request(inputs)
    assert told in str(refused.value)


def test_a_reference_reads_what_was_put() -> None:
    put = artifact_request({"action": "put", "name": "a/b@c", "scope": "program", "value": [1]})
    outcome = kept(put, 7)
    assert outcome.result == {
        "ref": "artifact:program/a/b@c@7",
        "name": "a/b@c",
        "version": 7,
        "scope": "program",
        "size": 3,
        "checksum": f"sha256:{put.checksum}",
    }
    assert artifact_request({"action": "get", "ref": outcome.result}) == ArtifactRequest(
        GET, ALL, "a/b@c", 7
    )


def test_a_value_that_is_too_large_is_refused_with_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(artifacts, "ARTIFACT_BYTES_MAX", 4)
    assert too_large(ArtifactRequest(PUT, OWN, "a", None, b"1234")) is None
    refused = too_large(ArtifactRequest(PUT, OWN, "a", None, b"12345"))
    assert refused is not None
    assert refused.error is not None
    assert refused.error["kind"] == "limit_exceeded"
    assert "5 bytes; at most 4 (ARTIFACT_BYTES_MAX)" in refused.error["message"]


def called(seq: int, outcome: Outcome, attempt: int = 1, **inputs: Any) -> list[Event]:
    place: dict[str, Any] = {"at": seq, "step": "s", "visit": 1, "task": "t", "attempt": attempt}
    return [
        e.TaskStarted(seq=seq, task_visit=1, inputs=inputs, **place),
        e.TaskProcessed(seq=seq + 1, outcome=outcome, directive="continue", **place),
    ]


def test_a_version_is_shared_once_with_what_the_last_attempt_gave() -> None:
    first = {"action": "put", "name": "a", "value": 1}
    last = {"action": "put", "name": "a", "value": 2}
    log = called(1, kept(artifact_request(first), 1), 1, **first)
    log += called(3, kept(artifact_request(last), 1), 2, **last)
    (shared,) = artifacts_in(log)
    assert (shared.request, shared.version, shared.seq) == (artifact_request(last), 1, 4)


def test_only_what_was_put_is_shared() -> None:
    read = {"action": "get", "name": "a", "value": None}
    wide = {"action": "put", "name": "a", "value": 1, "scope": "program"}
    log = called(1, found(artifact_request(read), 1, "text"), **read)
    log += called(3, kept(artifact_request(wide), 1), **wide)
    assert not [*artifacts_in(log)]
