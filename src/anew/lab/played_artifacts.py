"""Values that tasks keep by name in a simulation: in memory, and gone with it."""

from __future__ import annotations

import msgspec

from anew.engine.artifacts import (
    BadArtifact,
    artifact_request,
    found,
    kept,
    missing,
    refused,
    too_large,
)
from anew.engine.next_actions import Invoke
from anew.engine.outcome import Outcome, outcome_of
from anew.program.artifacts import ArtifactAction, ArtifactScope


class PlayedArtifacts:
    """Of one simulation. Nobody knows what other runs of the program have kept."""

    def __init__(self) -> None:
        # By whose name it is, and the name; then by the visit that kept it, in order.
        self._versions: dict[tuple[str, str], dict[str, bytes]] = {}

    def outcome(self, ask: Invoke, run: str) -> Outcome:
        """What the real tool would give."""
        try:
            request = artifact_request(ask.inputs if isinstance(ask.inputs, dict) else {})
        except BadArtifact as problem:
            return refused(problem)
        owner = f"run {run}" if request.scope is ArtifactScope.RUN else "the program"
        versions = self._versions.setdefault((owner, request.name), {})
        if request.action is ArtifactAction.PUT:
            refusal = too_large(request)
            if refusal is None:
                versions[ask.idempotency_key] = request.data
                return kept(request, [*versions].index(ask.idempotency_key) + 1)
            return refusal
        number = len(versions) if request.version is None else request.version
        if 1 <= number <= len(versions):
            value = msgspec.json.decode([*versions.values()][number - 1])
            return found(request, number, value)
        if request.scope is ArtifactScope.PROGRAM:
            return outcome_of({})  # as any call that a script does not mention
        return missing(request, owner)
