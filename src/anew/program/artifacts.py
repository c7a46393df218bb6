"""The kind `artifact`: its row of the table, and its words."""

from __future__ import annotations

from enum import StrEnum

from anew.program.kind import Helper, Kind, OutcomeSource


class ArtifactAction(StrEnum):
    """What is done with a value."""

    PUT = "put"
    GET = "get"


class ArtifactScope(StrEnum):
    """Whose name it is."""

    RUN = "run"
    PROGRAM = "program"


ARTIFACT = Kind(
    "artifact",
    title="Keeps a value under a name, or reads one that was kept.",
    outcome_from=OutcomeSource.STORE,
    inputs={
        "action": "put keeps `value`, get reads it.",
        "name": "What it is called.",
        "value": "What to keep, of any type.",
        "scope": "Whose name it is: run (default), or program, for all runs of the program.",
        "version": "Which version to read; the newest unless given.",
        "ref": "Instead of name, scope and version: what put gave.",
    },
    aliases={"data": "value", "result_ref": "ref"},
    required=(("action",), ("name", "ref")),
    texts=frozenset({"action", "name", "scope"}),
    word_inputs={
        "action": {word.value: word.value for word in ArtifactAction},
        "scope": {word.value: word.value for word in ArtifactScope},
    },
    takes_args_apart=True,
    reading=("action", ArtifactAction.GET.value),
    effect=("keeps the artifact {name}", "keeps an artifact"),
    helper=Helper("artifact", "`name`, `version` and `scope`", ("name", "version", "scope")),
)
