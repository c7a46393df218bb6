"""The types that JSON of several endpoints is made of; those of one stand beside its handler.

They read requests and describe answers. Answers are made of the rows that the command line prints
too (`runtime/json_rows.py`, `views`): their types only say what is in them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from anew.engine.state import RunStatus

# Names, keys and labels are columns that people search by, not places for data.
KEY_CHARACTERS_MAX = 512
LABELS_MAX = 64
LABEL_CHARACTERS_MAX = 256
# Each costs the database a look into every run it considers.
LABEL_FILTERS_MAX = 16
NAME_CHARACTERS_MAX = 512
RUNS_PAGE_MAX = 1_000
EVENTS_PAGE_MAX = 5_000
SEQUENCE_MAX = 2**63 - 1
_VERSION_MAX = 2**31 - 1

# No control characters: they are of no use in a name, and not every database can keep them.
Name = Annotated[
    str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX, pattern=r"^[^\u0000-\u001f\u007f]+$")
]
KeyText = Annotated[
    str, Meta(min_length=1, max_length=KEY_CHARACTERS_MAX, pattern=r"^[^\u0000-\u001f\u007f]+$")
]
LabelText = Annotated[
    str, Meta(max_length=LABEL_CHARACTERS_MAX, pattern=r"^[^\u0000-\u001f\u007f]*$")
]
# `name=value`
LabelFilter = Annotated[
    str, Meta(max_length=2 * LABEL_CHARACTERS_MAX + 1, pattern=r"^[^\u0000-\u001f\u007f]*$")
]
Labels = Annotated[dict[LabelText, LabelText], Meta(max_length=LABELS_MAX)]
RunText = Annotated[str, Meta(pattern=r"^[0-9]{1,19}$", examples=["7351204873256960"])]
Version = Annotated[int, Meta(ge=1, le=_VERSION_MAX)]
Sequence = Annotated[int, Meta(ge=0, le=SEQUENCE_MAX)]
Dialect = Literal["docs", "spec"]
Json = dict[str, Any]


class Problem(Struct):
    """RFC 9457; `findings` where a document has errors, `misfits` where a run does not fit it."""

    type: str
    title: str
    status: int
    detail: str
    findings: list[DocumentFinding] | UnsetType = UNSET
    misfits: list[MisfitRow] | UnsetType = UNSET


class DocumentFinding(Struct):
    severity: Literal["error", "warning", "info"]
    rule: str
    message: str
    file: str
    line: int
    column: int
    suggestion: str | None


class StartedRun(Struct):
    """`differs` and `notice` are there if the key names a run that was started otherwise."""

    run: RunText
    status: RunStatus
    differs: list[Literal["document", "input"]] | UnsetType = UNSET
    notice: str | UnsetType = UNSET


class AwaitedRow(Struct):
    """A signal that a run waits for."""

    run: RunText
    step: str
    task: str
    signal: str
    deadline: str | None


class QuestionRow(Struct):
    """`run` and `asked` together name it: an answer that has both is for no other question."""

    run: RunText
    step: str
    task: str
    question: str
    choices: list[str]
    deadline: str | None
    asked: int


class DamageShown(Struct):
    """From which event on a run cannot be read, and why; without an event it is its row."""

    event: int | None
    reason: str


class EventsAsked(Struct, forbid_unknown_fields=True):
    after: Sequence = 0
    limit: Annotated[int, Meta(ge=1, le=EVENTS_PAGE_MAX)] = 1_000


class StreamQuery(Struct, forbid_unknown_fields=True):
    after: Sequence = 0


class EventRow(Struct):
    """`text` is what `anew timeline` says of the event, on one line."""

    seq: int
    at: str
    name: str
    step: str | None
    visit: int | None
    iteration: int | None
    task: str | None
    attempt: int | None
    data: Json
    text: str


class EventPage(Struct):
    """`next` is the `after` of the next page, null when this was all there is."""

    events: list[EventRow]
    next: int | None


class Empty(Struct, forbid_unknown_fields=True):
    """Nothing can be said."""


class MisfitRow(Struct):
    """Why a run does not fit a document, and where in it."""

    message: str
    step: str | None
    task: str | None
    file: str | None
    line: int | None
    column: int | None
