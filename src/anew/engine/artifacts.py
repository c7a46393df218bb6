"""What a task of kind `artifact` asks for, and what its outcomes are.

A name belongs to a run or to a program, and counts its versions. A reference is text that names one
version to whoever may read it: `artifact:run/report@2`. Knows values and names. Does not know where
they are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from hashlib import sha256
from typing import TypeVar

import msgspec
from msgspec import Struct

from anew.engine.events import Event, TaskProcessed, TaskStarted
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.program.artifacts import ArtifactAction, ArtifactScope
from anew.values import Object, Value

ARTIFACT_NAME_CHARACTERS_MAX = 200
# Of one value as JSON; a request to a server has room for it.
ARTIFACT_BYTES_MAX = 32 * 1024 * 1024
_REFERENCE = "artifact:"
_VERSION_DIGITS = 9

W = TypeVar("W", bound=StrEnum)


class BadArtifact(Exception):
    """The inputs ask for nothing that can be done; the text says why."""


class ArtifactRequest(Struct, frozen=True):
    """`version` is None for the newest. `data` is the value to keep, as JSON."""

    action: ArtifactAction
    scope: ArtifactScope
    name: str
    version: int | None = None
    data: bytes = b""

    @property
    def checksum(self) -> str:
        return sha256(self.data).hexdigest()


def artifact_request(inputs: Mapping[str, Value]) -> ArtifactRequest:
    """BadArtifact says what is wrong with the inputs."""
    action = _word(inputs.get("action"), ArtifactAction, "action")
    scope, name, version = _named(inputs)
    if action is ArtifactAction.GET:
        return ArtifactRequest(action, scope, name, version)
    if "value" not in inputs:
        raise BadArtifact("put needs value")
    if inputs.get("ref") is not None or version is not None:
        raise BadArtifact("put takes a name; versions count by themselves")
    data = msgspec.json.encode(inputs["value"])
    return ArtifactRequest(action, scope, name, None, data)


def _named(inputs: Mapping[str, Value]) -> tuple[ArtifactScope, str, int | None]:
    ref = inputs.get("ref")
    if isinstance(ref, Mapping):  # all that put gave
        ref = ref.get("ref")
    if ref is not None:
        return _referred(ref)
    scope = _word(inputs.get("scope") or ArtifactScope.RUN.value, ArtifactScope, "scope")
    return scope, _name(inputs.get("name")), _version(inputs.get("version"))


def _name(said: Value) -> str:
    if isinstance(said, str) and 0 < len(said) <= ARTIFACT_NAME_CHARACTERS_MAX and "\0" not in said:
        return said
    raise BadArtifact(f"name must be a text of 1 to {ARTIFACT_NAME_CHARACTERS_MAX} characters")


def _referred(ref: Value) -> tuple[ArtifactScope, str, int | None]:
    text = ref.removeprefix(_REFERENCE) if isinstance(ref, str) else ""
    scope, _, rest = text.partition("/")
    name, at, version = rest.rpartition("@")
    if text == ref or not at or not name:
        form = "such as artifact:run/report@2"
        raise BadArtifact(f"ref must be what put gave, {form}; found {ref!r}")
    return _word(scope, ArtifactScope, "the scope of ref"), _name(name), _version(version)


def _version(said: Value) -> int | None:
    if said is None or said == "latest":
        return None
    text = str(said)
    if isinstance(said, bool) or not text.isascii() or not text.isdigit() or int(text) < 1:
        raise BadArtifact(f"version must be a whole number of at least 1; found {said!r}")
    if len(text) > _VERSION_DIGITS:
        raise BadArtifact(f"version {text[:20]} is too large")
    return int(text)


def _word(said: Value, words: type[W], what: str) -> W:
    try:
        return words(said)
    except ValueError:
        known = " or ".join(word.value for word in words)
        raise BadArtifact(f"{what} must be {known}; found {said!r}") from None


def too_large(request: ArtifactRequest) -> Outcome | None:
    """The outcome of a value that is longer than may be kept."""
    size = len(request.data)
    if size <= ARTIFACT_BYTES_MAX:
        return None
    limit = f"at most {ARTIFACT_BYTES_MAX:,} (ARTIFACT_BYTES_MAX)"
    return outcome_of(error=error_of("limit_exceeded", f"the value has {size:,} bytes; {limit}"))


def kept(request: ArtifactRequest, version: int) -> Outcome:
    """The outcome of `put`: a reference, and nothing of the value."""
    about = _about(request, version)
    result = {
        "ref": f"{_REFERENCE}{request.scope.value}/{request.name}@{version}",
        **about,
        "size": len(request.data),
        "checksum": f"sha256:{request.checksum}",
    }
    return outcome_of(result, helpers={"artifact": about})


def found(request: ArtifactRequest, version: int, value: Value) -> Outcome:
    """The outcome of `get`. What was sealed when it was kept is sealed still."""
    helpers = {"artifact": _about(request, version)}
    return outcome_of(value, helpers=helpers, is_sealed=True)


def missing(request: ArtifactRequest, owner: str) -> Outcome:
    which = "" if request.version is None else f" version {request.version}"
    message = (
        f"{owner} has no artifact {request.name!r}{which}. It is there once a task has put it, and "
        "goes with the run that did unless it is the newest of its program"
    )
    return outcome_of(error=error_of("reference", message))


def refused(problem: BadArtifact) -> Outcome:
    return outcome_of(error=error_of("config", str(problem)))


def _about(request: ArtifactRequest, version: int) -> Object:
    return {"name": request.name, "version": version, "scope": request.scope.value}


class SharedArtifact(Struct, frozen=True):
    """A value that a run kept under a name of its own; `seq` is the event that says so."""

    request: ArtifactRequest
    version: int
    seq: int


def artifacts_in(events: Iterable[Event]) -> Iterable[SharedArtifact]:
    """What a run has kept under names of its own, as its log tells: each version once.

    Attempts of one visit keep one version, and the last of them counts.
    """
    return {(one.request.name, one.version): one for one in _puts_in(events)}.values()


def _puts_in(events: Iterable[Event]) -> Iterator[SharedArtifact]:
    asked: dict[tuple[object, ...], Value] = {}
    for event in events:
        place = (event.step, event.visit, event.iteration, event.task, event.attempt)
        if isinstance(event, TaskStarted):
            asked[place] = event.inputs
        elif isinstance(event, TaskProcessed):
            inputs, about = asked.pop(place, None), event.outcome.helpers.get("artifact")
            if not isinstance(about, dict) or not isinstance(inputs, dict):
                continue
            is_put = inputs.get("action") == ArtifactAction.PUT.value
            if is_put and about.get("scope") == ArtifactScope.RUN.value:
                yield SharedArtifact(artifact_request(inputs), about["version"], event.seq)
