"""The JSON that goes over the wire, as types: they read requests and describe answers.

Answers are made of the rows that the command line prints too (`runtime/json_rows.py`, `views`);
their types here only say what is in them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

# Names, keys and labels are columns that people search by, not places for data.
KEY_CHARACTERS_MAX = 512
LABELS_MAX = 64
LABEL_CHARACTERS_MAX = 256
# Each costs the database a look into every run it considers.
LABEL_FILTERS_MAX = 16
NAME_CHARACTERS_MAX = 512
RUNS_PAGE_MAX = 1_000
EVENTS_PAGE_MAX = 5_000
VERSIONS_PAGE_MAX = 200
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
LabelAsked = Annotated[
    str, Meta(max_length=2 * LABEL_CHARACTERS_MAX + 1, pattern=r"^[^\u0000-\u001f\u007f]*$")
]
Labels = Annotated[dict[LabelText, LabelText], Meta(max_length=LABELS_MAX)]
RunText = Annotated[str, Meta(pattern=r"^[0-9]{1,19}$", examples=["7351204873256960"])]
Version = Annotated[int, Meta(ge=1, le=_VERSION_MAX)]
Sequence = Annotated[int, Meta(ge=0, le=SEQUENCE_MAX)]
Dialect = Literal["docs", "spec"]
Status = Literal["new", "queued", "running", "waiting", "paused", "done", "failed", "cancelled"]
Json = dict[str, Any]


class Problem(Struct):
    """RFC 9457; `findings` where a document has errors, `misfits` where a run does not fit it."""

    type: str
    title: str
    status: int
    detail: str
    findings: list[Finding] | UnsetType = UNSET
    misfits: list[MisfitRow] | UnsetType = UNSET


class Finding(Struct):
    severity: Literal["error", "warning", "info"]
    rule: str
    message: str
    file: str
    line: int
    column: int
    suggestion: str | None


class DocumentSent(Struct, forbid_unknown_fields=True):
    """A document, the name it is told by, and the texts of the files it names."""

    document: str
    file: Name | None = None
    dialect: Dialect | None = None
    files: dict[str, str] = {}


class CheckSent(Struct, forbid_unknown_fields=True):
    document: str
    file: Name | None = None
    dialect: Dialect | None = None
    files: dict[str, str] = {}
    strict: bool = False


class RunWanted(Struct, forbid_unknown_fields=True):
    """Either a registered `program` or a `document`. The same `key` names the same run."""

    program: Name | None = None
    version: Version | None = None
    document: str | None = None
    file: Name | None = None
    dialect: Dialect | None = None
    files: dict[str, str] = {}
    workload: Json = {}
    key: KeyText | None = None
    labels: Labels = {}


class RunStarted(Struct):
    run: RunText
    status: Status


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


class StepShown(Struct):
    status: str
    visits: int
    attempts: int
    result: Any
    verdict: str | UnsetType = UNSET


class LostWorkerRow(Struct):
    """A worker that has not reported for a while, and steps of the run that it has.

    They are handed out again at `handed_out_at` at the soonest. Without a name: nobody knows whose
    lease ran out.
    """

    worker: str | None
    host: str | None
    process: int | None
    seen_at: str | None
    steps: list[str]
    handed_out_at: str


class DamageShown(Struct):
    """From which event on a run cannot be read, and why; without an event it is its row."""

    event: int | None
    reason: str


class RunShown(Struct):
    """What `anew run --json` prints; with a `damage`, what can be read before it."""

    run: RunText
    program: str
    status: Status
    error: Json | None
    result: Any
    ctx: Json
    seconds: float
    events: int
    steps: dict[str, StepShown]
    unsatisfied: list[Any] | UnsetType = UNSET
    continued_as: str | UnsetType = UNSET
    continues: str | UnsetType = UNSET
    questions: list[QuestionRow] | UnsetType = UNSET
    signals: list[AwaitedRow] | UnsetType = UNSET
    lost_workers: list[LostWorkerRow] | UnsetType = UNSET
    damage: DamageShown | UnsetType = UNSET


class EventsAsked(Struct, forbid_unknown_fields=True):
    after: Sequence = 0
    limit: Annotated[int, Meta(ge=1, le=EVENTS_PAGE_MAX)] = 1_000


class StreamAsked(Struct, forbid_unknown_fields=True):
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


class Reason(Struct, forbid_unknown_fields=True):
    reason: LabelText | None = None


class Nothing(Struct, forbid_unknown_fields=True):
    pass


class RetryWanted(Struct, forbid_unknown_fields=True):
    step: Name | None = None
    key: KeyText | None = None
    dry_run: bool = False


class ForkWanted(Struct, forbid_unknown_fields=True):
    """Share the events up to `at`, or those before a `visit` of `step`; by default all.

    `program` (registered) or `document` to go on under, the run's own by default. `workload` is
    laid over the run's. `cancel` ends the old run once the new one is there.
    """

    at: Sequence | None = None
    step: Name | None = None
    visit: Sequence | None = None
    program: Name | None = None
    version: Version | None = None
    document: str | None = None
    file: Name | None = None
    dialect: Dialect | None = None
    files: dict[str, str] = {}
    workload: Json = {}
    key: KeyText | None = None
    labels: Labels = {}
    cancel: bool = False
    dry_run: bool = False


class MisfitRow(Struct):
    """Why a run does not fit a document, and where in it."""

    message: str
    step: str | None
    task: str | None
    file: str | None
    line: int | None
    column: int | None


class ReusedRow(Struct):
    step: str
    visits: int
    executions: int


class AgainRow(Struct):
    step: str
    visit: int | None
    iteration: int | None
    task: str | None
    does: str


class UndoneRow(Struct):
    step: str
    task: str
    executions: int


class EffectRow(Struct):
    """`key`: whether the call has no idempotency key, the document's own, or a new one."""

    step: str
    task: str
    kind: str
    what: str
    times: int
    key: Literal["none", "own", "new"]
    is_certain: bool


class PreviewShown(Struct):
    """What a fork or a retry keeps and does again; as `anew fork --dry-run --json` prints it."""

    run: RunText
    at: int
    asked: int
    reused: list[ReusedRow]
    again: list[AgainRow]
    undone: list[UndoneRow]
    effects: list[EffectRow]
    more_effects: int
    notes: list[str]
    misfits: list[MisfitRow]
    differs_at: int | None


class RunForked(Struct):
    """The run of this key, which was there already; with `dry_run` only the `preview`."""

    run: RunText | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    preview: PreviewShown | UnsetType = UNSET


class AnswerGiven(Struct, forbid_unknown_fields=True):
    """`asked` is that of the question's row, at the run of that row."""

    answer: str
    step: Name | None = None
    by: LabelText | None = None
    asked: Sequence | None = None


class Changed(Struct):
    """`changed` is false when there was nothing left to change."""

    run: RunText
    status: Status
    changed: bool


class AnswerTaken(Struct):
    run: RunText
    status: Status
    question: QuestionRow


class SignalTaken(Struct):
    """`accepted` is false for a signal that had come before."""

    run: RunText
    signal: str
    accepted: bool


class SignalAsked(Struct, forbid_unknown_fields=True):
    id: KeyText | None = None


class SignalAddress(Struct):
    """`path` is to be put after the server's own address."""

    run: RunText
    signal: str
    path: str


class Questions(Struct):
    questions: list[QuestionRow]


class Registered(Struct):
    name: str
    version: int
    digest: str
    findings: list[Finding]
    runs: RunMoves


class StuckRun(Struct):
    run: RunText
    reasons: list[MisfitRow]


class RunMoves(Struct):
    """Which unfinished runs of the name could go on under this version, newest first."""

    movable: list[RunText]
    stuck: list[StuckRun]
    has_more: bool


class ProgramRow(Struct):
    name: str
    version: int
    digest: str
    file: str
    registered_at: str


class ProgramShown(ProgramRow):
    document: str
    dialect: str | None
    files: dict[str, str]


class ProgramList(Struct):
    programs: list[ProgramRow]


class ProgramAsked(Struct, forbid_unknown_fields=True):
    version: Version | None = None


class VersionsAsked(Struct, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=VERSIONS_PAGE_MAX)] = 50
    before: Version | None = None


class VersionPage(Struct):
    """The newest first; `next` is the `before` of the next page."""

    versions: list[ProgramRow]
    next: int | None


class CredentialSent(Struct, forbid_unknown_fields=True):
    name: Name
    type: Annotated[str, Meta(min_length=1)]
    data: Any
    description: str | None = None
    tags: Any = None


class CredentialRow(Struct, rename={"origin": "from"}):
    """Never a value."""

    name: str
    type: str
    origin: str


class CredentialList(Struct):
    credentials: list[CredentialRow]


class CredentialTaken(Struct):
    """`short` names the secrets that are too short to be hidden everywhere."""

    name: str
    type: str
    short: list[str]


class TimelineShown(Struct):
    run: RunText
    lines: list[str]


class GraphAsked(Struct, forbid_unknown_fields=True):
    format: Literal["mermaid", "dot", "svg"] = "mermaid"


class Health(Struct):
    status: str
