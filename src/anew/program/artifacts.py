"""The words of tasks of kind `artifact`."""

from __future__ import annotations

from enum import StrEnum


class ArtifactAction(StrEnum):
    """What is done with a value."""

    PUT = "put"
    GET = "get"


class ArtifactScope(StrEnum):
    """Whose name it is."""

    RUN = "run"
    PROGRAM = "program"
