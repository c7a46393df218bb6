"""What is told about one thing that happened: plain sentences, and the facts they are made of.

The command line prints the sentences; a page can show the facts in its own way.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field, to_builtins

from anew.engine.events import Event
from anew.engine.moments import moment_text
from anew.program.retry import BackoffKind, JitterKind
from anew.program.span import Span
from anew.values import Object
from anew.views.event_text import event_sentence


class About(StrEnum):
    """What a paragraph explains."""

    RUN = "run"  # how it began, paused, went on, ended
    ATTEMPT = "attempt"  # why one execution was made, and what followed from its outcome
    ROUTE = "route"  # which way was taken after a visit, and why
    GATE = "gate"  # who was let in, and whether the run may end
    LOOP = "loop"
    TOKEN = "token"  # one that was dropped
    SIGNAL = "signal"
    WAIT = "wait"  # what is waited for now
    REST = "rest"  # what was left out


class DelayParts(Struct, frozen=True, kw_only=True):
    """The numbers of one delay, in the order they are applied.

    `first`, `factor` and `k` make `base`, where the program tells them; `previous` is the delay
    before, which decorrelated jitter reads. `cap` bounds `base` and, once more, the end; `draw` is
    the random number in [0, 1) that made `spread` of it; `retry_after` is what the server asked.
    `row` is the kind of error for which the task's `backoff` says so, `entry` counts in its list.
    """

    backoff: BackoffKind
    base: float
    jitter: JitterKind | float
    draw: float | None
    cap: float | None
    spread: float
    retry_after: float | None
    seconds: float
    first: float | None = None
    factor: float | None = None
    k: int
    row: str | None = None
    entry: int | None = None
    previous: float | None = None


class Paragraph(Struct, kw_only=True):
    """`head` names what is explained, `relation` when that was beside what came before it.

    `events` are the sequence numbers of the events the sentences account for, `seq` is that of the
    first that has a sentence; `until` is a moment that is waited for.
    """

    about: About
    head: str
    at: int
    seq: int = 0
    sentences: list[str] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    relation: str = ""
    step: str | None = None
    visit: int | None = None
    iteration: int | None = None
    task: str | None = None
    attempt: int | None = None
    span: Span | None = None
    delay: DelayParts | None = None
    until: int | None = None

    def add_sentence(self, sentence: str) -> None:
        """One more sentence about what has been told, unless it says nothing."""
        self.sentences += [sentence] if sentence else []

    def says(self, text: str) -> bool:
        return any(text in sentence for sentence in self.sentences)

    def add(self, event: Event, *sentences: str) -> None:
        """Account for an event; a sentence that says nothing is left out."""
        self.events.append(event.seq)
        told = [sentence for sentence in sentences if sentence]
        if told and not self.sentences:
            self.seq = event.seq
        self.sentences += told


def paragraph_for(about: About, head: str, event: Event, **more: object) -> Paragraph:
    """A paragraph at the place and time of an event, which it does not account for yet."""
    return Paragraph(
        about=about,
        head=head,
        at=event.at,
        step=event.step,
        visit=event.visit,
        iteration=event.iteration,
        task=event.task,
        attempt=event.attempt,
        **more,  # type: ignore[arg-type]
    )


def paragraph_row(paragraph: Paragraph) -> Object:
    """The JSON of a paragraph: moments as texts."""
    row: Object = to_builtins(paragraph)
    for key in ("at", "until"):
        if row[key] is not None:
            row[key] = moment_text(row[key])
    return row


def sentence_of(event: Event) -> str:
    """The text of an event, where a story has no more to say about it."""
    return as_sentence(event_sentence(event))


def as_sentence(text: str) -> str:
    """With a capital letter and a full stop; nothing of nothing."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""
