"""What others ask of the engine that owns a database: one type for each command.

The socket beside a file, the control route of a server and its REST API carry the same ones; which
fields a command has is said here alone. In JSON `do` names the command, and runs are texts. Knows
nothing of how a command arrives, and does nothing itself: that is `command_executor.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, assert_never, get_args

import msgspec
from msgspec import Meta, Struct

from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.runtime.bulk import BulkAction
from anew.runtime.ids import RUN_ID_DIGITS_MAX, RUN_ID_MAX
from anew.runtime.programs import Document
from anew.store import RunId, SealedCredential
from anew.values import Object

# A request holds a document (1 MiB), the files it names (4 MiB) and a payload (10 MiB).
REQUEST_BYTES_MAX = 16 * 1024 * 1024
# What an operator can do to guards.
GuardAction: TypeAlias = Literal["list", "set", "unset", "pause", "trip", "clear"]
# What a database can hold.
Number: TypeAlias = Annotated[int, Meta(le=2**63 - 1)]


class _Command(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="do"):
    """One thing to do."""


class RunCommand(_Command, frozen=True, kw_only=True):
    """One thing to do with one run."""

    run: str


class DocumentCommand(_Command, frozen=True, kw_only=True):
    """What is done with a program: one that is registered, by `name`, or a document sent along."""

    name: str | None = None
    version: Number | None = None
    source: str | None = None
    file: str | None = None
    dialect: str | None = None
    files: dict[str, str] = {}


class StartRun(DocumentCommand, frozen=True, tag="start"):
    """The same key gives the same run, the same singleton its unfinished one."""

    workload: dict[str, Any] = {}
    key: str | None = None
    labels: dict[str, str] = {}
    singleton: str | None = None


class ForkRun(DocumentCommand, frozen=True, tag="fork"):
    """For `at`, `step`, `visit` and `seen` see `ForkPoint`; without a program, under the run's."""

    run: str
    at: Number | None = None
    step: str | None = None
    visit: Number | None = None
    seen: Number | None = None
    workload: dict[str, Any] = {}
    key: str | None = None
    labels: dict[str, str] = {}
    is_cancelling: bool = False


class RegisterProgram(DocumentCommand, frozen=True, tag="register"):
    """Make a document the newest version of its name."""


class CancelRun(RunCommand, frozen=True, tag="cancel"):
    reason: str | None = None


class PauseRun(RunCommand, frozen=True, tag="pause"):
    reason: str | None = None


class ResumeRun(RunCommand, frozen=True, tag="resume"):
    """Un-pause it, and work on it."""


class AdoptRun(RunCommand, frozen=True, tag="adopt"):
    """Work on it, paused or not."""


class ResumeAll(_Command, frozen=True, tag="resume_all"):
    """Work on every unfinished run that is not paused."""


class SkipWaits(RunCommand, frozen=True, tag="skip"):
    """End the waits of a run for a moment, or those of one step, visit or iteration."""

    step: str | None = None
    visit: Number | None = None
    iteration: Number | None = None
    by: str | None = None


class AnswerQuestion(RunCommand, frozen=True, tag="answer"):
    """`asked` names the question that was seen, and `asking` the run that asks it.

    `is_kept_only`: the run is not worked on for that.
    """

    answer: str = ""
    step: str | None = None
    by: str | None = None
    asked: Number | None = None
    asking: str | None = None
    is_kept_only: bool = False


class SendSignal(RunCommand, frozen=True, tag="signal"):
    """One of a `name` and `id` counts once. `is_kept_only`: the run is not worked on for that."""

    name: str = ""
    payload: Any = None
    id: str | None = None
    by: str | None = None
    is_kept_only: bool = False


class SignWebhook(RunCommand, frozen=True, tag="webhook"):
    """Where a signal can be sent to by someone who has no token."""

    name: str = ""


class RetryRun(RunCommand, frozen=True, tag="retry"):
    """`at` is where the step began when whoever asks has seen it."""

    step: str | None = None
    at: Number | None = None
    key: str | None = None


class ChangeRuns(_Command, frozen=True, tag="bulk"):
    """Do one thing, `name`, to many runs. With an `id` that is done once."""

    name: BulkAction
    runs: list[str] = []
    reason: str | None = None
    by: str | None = None
    id: str | None = None


class PruneRuns(_Command, frozen=True, tag="prune"):
    """Remove the runs that ended before a moment; with `statuses`, only those that ended so."""

    before: Number = 0
    statuses: list[RunStatus] = []


class DropRun(RunCommand, frozen=True, tag="drop"):
    """Remove one run."""


class ChangeGuard(_Command, frozen=True, tag="guard"):
    """Do one `action` to the guards of what a `pattern` names, or only look.

    `rule` is as a document writes it, `keys` are those to unset. `until` is a moment or a duration.
    """

    action: GuardAction
    pattern: str | None = None
    rule: dict[str, Any] = {}
    keys: list[str] = []
    until: str = ""
    by: str | None = None


class SealCredential(_Command, frozen=True, tag="seal"):
    sealed: SealedCredential


class ForgetCredential(_Command, frozen=True, tag="forget"):
    name: str = ""


Command: TypeAlias = (
    StartRun
    | ForkRun
    | RegisterProgram
    | CancelRun
    | PauseRun
    | ResumeRun
    | AdoptRun
    | ResumeAll
    | SkipWaits
    | AnswerQuestion
    | SendSignal
    | SignWebhook
    | RetryRun
    | ChangeRuns
    | PruneRuns
    | DropRun
    | ChangeGuard
    | SealCredential
    | ForgetCredential
)
COMMANDS: dict[str, type[Command]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(Command)
}
_DECODER: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)


def document_fields(document: Document) -> Object:
    """What a `DocumentCommand` says of a document that is sent along."""
    return {
        "source": document.source,
        "file": document.file,
        "dialect": document.dialect,
        "files": dict(document.files),
    }


class _Named(Struct):
    do: str


def read_command(data: bytes) -> Command:
    """A command as it was sent; ConfigError says what is wrong with it."""
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ConfigError(_unknown(data) or f"the command cannot be read: {error}") from error


def _unknown(data: bytes) -> str | None:
    try:
        name = msgspec.json.decode(data, type=_Named).do
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if name in COMMANDS:
        return None
    return f"there is no command {name[:80]!r}. Are both sides of the same version of Anew?"


def run_id(text: str) -> RunId:
    """ConfigError when that is none."""
    if not (text.isascii() and text.isdigit() and len(text) <= RUN_ID_DIGITS_MAX):
        raise ConfigError(f"{text[:80]!r} is not a run id. `anew runs` lists the runs.")
    return RunId(min(int(text), RUN_ID_MAX))


def is_repeatable(command: Command) -> bool:
    """Whether executing it twice is the same as executing it once."""
    match command:
        case StartRun() | ForkRun() | RetryRun():
            return command.key is not None
        case SendSignal() | ChangeRuns():
            return command.id is not None
        case AnswerQuestion() | SignWebhook() | DropRun() | ForgetCredential():
            return False
        case CancelRun() | PauseRun() | ResumeRun() | AdoptRun() | ResumeAll() | SkipWaits():
            return True
        case RegisterProgram() | PruneRuns() | SealCredential() | ChangeGuard():
            return True
        case _:
            assert_never(command)
