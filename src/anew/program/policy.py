"""What to do with a task's outcome: ordered rules that map it to a directive."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar, Self, TypeAlias

from msgspec import Struct

from anew.expressions import Condition, Template
from anew.program.retry import ANY_ERROR, ATTEMPTS_DEFAULT, Backoff, Delay
from anew.program.span import NOWHERE, Span


class OutcomeStatus(StrEnum):
    OK = "ok"
    ERROR = "error"


class Verdict(StrEnum):
    """How well something went, in one of four words; both statuses above have one."""

    SUCCESS = "success"
    PARTIAL = "partial"
    SKIPPED = "skipped"
    FAILURE = "failure"


class Budget(StrEnum):
    """What a retry rule's counter belongs to."""

    VISIT = "visit"  # this visit of the task
    STEP = "step"  # the step, over all its visits, until it succeeds and is entered by an arc again


class DirectiveKind(StrEnum):
    """How documents and events name a directive, and what is true of it.

    `meaning` is for people: the schema and the reference show it. A directive that `accepts` lets
    an error count as a success.
    """

    _value_: str
    meaning: str
    accepts: bool

    def __new__(cls, word: str, meaning: str, accepts: bool) -> Self:
        made = str.__new__(cls, word)
        made._value_, made.meaning, made.accepts = word, meaning, accepts
        return made

    CONTINUE = "continue", "go to the next task; past the last one the step is done", True
    RETRY = "retry", "execute this task again, after a delay", False
    JUMP = "jump", "go to the label `to` of the same step, also backwards", True
    BREAK = "break", "end the step at once, done", True
    FAIL = "fail", "end the step, failed", False


class TimeoutAction(StrEnum):
    """What happens at the deadline of a question to a person."""

    FIRST = "first"
    FAIL = "fail"
    SKIP = "skip"
    RETRY = "retry"


class PatchTarget(StrEnum):
    """What a patch writes to. `LOCAL` ends with the step-run, which reads it by bare names."""

    CTX = "ctx"
    ITER = "iter"
    LOCAL = "local"


class Patch(Struct, frozen=True):
    """`value` is rendered where the patch is written, and written to `path` below its target."""

    target: PatchTarget
    path: tuple[str, ...]
    value: Template
    span: Span = NOWHERE


class Continue(Struct, frozen=True):
    """Go on with the next task; past the last one the step is done.

    `verdict` takes the place of the outcome's own: a failure may so count as a partial success.
    """

    kind: ClassVar[DirectiveKind] = DirectiveKind.CONTINUE

    verdict: Verdict | None = None
    span: Span = NOWHERE


class Break(Struct, frozen=True):
    """End the step-run at once, done."""

    kind: ClassVar[DirectiveKind] = DirectiveKind.BREAK

    span: Span = NOWHERE


class Fail(Struct, frozen=True):
    """End the step-run, failed. The message is used on ok outcomes."""

    kind: ClassVar[DirectiveKind] = DirectiveKind.FAIL

    message: Template | None = None
    span: Span = NOWHERE


class Jump(Struct, frozen=True):
    """Go to another label of the same step, after a durable wait if there is a delay.

    A rule that has jumped `most` times in a step-run, or whose jump would be made later than
    `max_elapsed` after its first, does not match.
    """

    kind: ClassVar[DirectiveKind] = DirectiveKind.JUMP

    to: str
    delay: Delay | None = None
    most: int | None = None
    max_elapsed: Delay | None = None
    span: Span = NOWHERE

    @property
    def is_limited(self) -> bool:
        return self.most is not None or self.max_elapsed is not None


class Exhausted(Struct, frozen=True):
    """What to do instead of failing when the attempts of a retry rule are spent."""

    then: Continue | Break | Fail | Jump
    patches: tuple[Patch, ...] = ()


class Retry(Struct, frozen=True):
    """Execute the task again. `attempts` is the total number of executions.

    `by_error` has other delays for kinds of errors, and one for all that it does not name.
    With `to` the next execution comes by way of that step: after the delay this visit ends failed,
    and the run goes on there.
    """

    kind: ClassVar[DirectiveKind] = DirectiveKind.RETRY

    attempts: int | Template = ATTEMPTS_DEFAULT
    backoff: Backoff = Backoff()
    max_elapsed: Delay | None = None
    on_exhausted: Exhausted | None = None
    budget: Budget = Budget.VISIT
    to: str | None = None
    by_error: tuple[tuple[str, Backoff], ...] = ()
    span: Span = NOWHERE

    def backoff_for(self, kind: str | None) -> tuple[str | None, Backoff]:
        """The delays after an error of this kind (None: no error), and which row has them."""
        rows = dict(self.by_error)
        for row in (kind, ANY_ERROR):
            if row is not None and row in rows:
                return row, rows[row]
        return None, self.backoff

    @property
    def backoffs(self) -> tuple[Backoff, ...]:
        """Every one it may wait by."""
        rows = dict(self.by_error)
        return (*rows.values(), *(() if ANY_ERROR in rows else (self.backoff,)))


Directive: TypeAlias = Continue | Retry | Jump | Break | Fail


class Rule(Struct, frozen=True):
    """Matches when the outcome has the status `on` (None: any) and `when` holds (None: else)."""

    then: Directive
    when: Condition | None = None
    on: OutcomeStatus | None = None
    patches: tuple[Patch, ...] = ()
    name: str = ""
    span: Span = NOWHERE


class GraphRule(StrEnum):
    """The names of the rules that nodes of a graph stand for; an author knows of the first two."""

    RETRY = "retry"  # its attributes say how often
    ASKED = "asked"  # its outcome asks for a retry
    DONE = "done"
    PASSED_ON = "passed on"  # a failure that another node has dealt with
    BRANCHES = "branches"  # all of them have failed


class Policy(Struct, frozen=True):
    """Rules are tried in order. Unmatched ok outcomes continue; unmatched errors fail if asked.

    `patches` (the task's own `set`) are applied with every outcome: rules, and what they write, see
    them.
    `unmatched` is what an error that meets no rule is told of, in the author's words.
    """

    rules: tuple[Rule, ...] = ()
    fail_unmatched_errors: bool = True
    patches: tuple[Patch, ...] = ()
    span: Span = NOWHERE
    unmatched: str = ""

    @property
    def all_patches(self) -> Iterator[Patch]:
        """Those of every outcome, then of each rule, with what it writes when attempts run out."""
        yield from self.patches
        for rule in self.rules:
            yield from rule.patches
            if isinstance(rule.then, Retry) and rule.then.on_exhausted is not None:
                yield from rule.then.on_exhausted.patches


NO_POLICY = Policy()
