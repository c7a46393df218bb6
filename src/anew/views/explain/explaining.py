"""Explain a run: paragraphs from its log and its program, for one step or for all of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from anew.engine.events import Event, RunPaused, RunRequested
from anew.engine.state import RunState, RunStatus
from anew.program.findings import did_you_mean, listed
from anew.program.program import Program
from anew.store import JobRow, RunRow
from anew.views.activities import VerdictText
from anew.views.explain.paragraph import About, Paragraph
from anew.views.explain.sources import Sources
from anew.views.explain.story import Story
from anew.views.lost import LostWorker
from anew.views.progress import Progress, progress_of
from anew.views.verdict import verdict
from anew.views.wording import counted

# What a person reads at once; of a longer explanation the middle is left out.
PARAGRAPHS_SHOWN_MAX = 200


def explanation(
    log: Sequence[Event],
    program: Program | None = None,
    *,
    step: str | None = None,
    now: int | None = None,
    jobs: Sequence[JobRow] = (),
    children: Sequence[RunRow] = (),
    lost: Sequence[LostWorker] = (),
) -> list[Paragraph]:
    """Why a run did what it did, in the order it did it; with `step`, of that step alone.

    With `now` a run that has not ended also says what it waits for. `jobs` and `children` are those
    the store has of it, `lost` workers that hold some of the jobs and do not report.
    """
    stories = [_story(part, program) for part in _runs(log)]
    found = [told for story in stories for told in _in_order(story)]
    last = stories[-1] if stories else None
    if now is not None and last is not None and not last.state.is_final:
        told = verdict(
            progress_of(log, program), last.state, now=now, jobs=jobs, children=children, lost=lost
        )
        found.append(_state_now(last.state, told, now))
    if step is None or last is None:
        return found
    own = [told for told in found if told.step == step or _is_for_all(told)]
    if any(told.step == step for told in own):
        return own
    now_waiting = [told for told in own if told.about is About.WAIT]
    past = own[: len(own) - len(now_waiting)]
    return [*past, _not_entered(step, last, at=log[-1].at), *now_waiting]


def _runs(log: Sequence[Event]) -> list[Sequence[Event]]:
    """A simulation has the log of a run and of those that took its place in one."""
    starts = [n for n, event in enumerate(log) if isinstance(event, RunRequested)]
    bounds = [*(starts or [0]), len(log)]
    return [log[begin:end] for begin, end in pairwise(bounds) if begin < end]


def _story(log: Sequence[Event], program: Program | None) -> Story:
    own = _own_events(log, program)
    sources = Sources(program if own == 0 else None)
    story = Story(sources)
    for number, event in enumerate(log):
        if number == own:
            sources.program = program
        story.feed(event)
    story.close()
    return story


def _own_events(log: Sequence[Event], program: Program | None) -> int:
    """Where the events begin that this program decided: a run may share the log of another."""
    digest = program.digest if program is not None else None
    shared = [
        number
        for number, event in enumerate(log)
        if isinstance(event, RunPaused) and event.decided_by not in (None, digest)
    ]
    return shared[-1] if shared else 0


def _in_order(story: Story) -> list[Paragraph]:
    """By time; the paragraphs of a loop stay together, at the place of the first."""
    blocks = sorted([*([told] for told in story.paragraphs), *story.blocks], key=_order)
    return [told for block in blocks for told in block if told.sentences]


def _order(block: list[Paragraph]) -> int:
    first = block[0]
    return first.seq or (first.events[0] if first.events else 0)


def _is_for_all(told: Paragraph) -> bool:
    return told.about is About.WAIT or (told.about is About.RUN and bool(told.sentences))


def _state_now(state: RunState, told: VerdictText, now: int) -> Paragraph:
    """What the run does or waits for now."""
    first, *details = told.lines(now)
    is_working = state.status is RunStatus.RUNNING and told.until is None
    head = "now" if is_working else "it waits now"
    return Paragraph(
        about=About.WAIT, head=head, at=now, sentences=[f"{first}.", *details], until=told.until
    )


def _not_entered(step: str, story: Story, *, at: int) -> Paragraph:
    """Why a step of the program does not occur in the log."""
    reasons = list(dict.fromkeys(story.refusals.get(step, ())))
    word = story.sources.arc_word
    told = f"{step} was never entered." if story.state.is_final else f"{step} is not entered yet."
    none = f"No {word} that leads to it was looked at." if not reasons else ""
    sentences = [sentence for sentence in (told, *reasons, none) if sentence]
    return Paragraph(about=About.ROUTE, head=step, at=at, sentences=sentences, step=step)


def unknown_step(progress: Progress, step: str) -> str | None:
    """What to tell someone who names a step that the run cannot have; None when it can."""
    steps = progress.program.steps if progress.program else ()
    known = list(dict.fromkeys([*steps, *progress.steps]))
    if step in known:
        return None
    remedy = did_you_mean(step, known) or listed(known)
    return f"run {progress.run} has no step {step[:80]!r}. {remedy}"


def shortened(
    paragraphs: Sequence[Paragraph],
    most: int = PARAGRAPHS_SHOWN_MAX,
    *,
    step: str | None = None,
    remedy: str | None = None,
) -> list[Paragraph]:
    """The first and the last of many paragraphs, and one that stands for those between.

    `step` is the one they are about, when they are about one; `remedy` says how to see the others.
    """
    if len(paragraphs) <= most:
        return list(paragraphs)
    head, tail = most // 2, most - most // 2 - 1
    left = paragraphs[head : len(paragraphs) - tail]
    if remedy is None:
        remedy = "Name a step, or use --json." if step is None else "--json has them all."
    rest = Paragraph(
        about=About.REST,
        head="left out",
        at=left[0].at,
        sentences=[f"{counted(len(left), 'more paragraph')}. {remedy}"],
        events=[seq for told in left for seq in told.events],
    )
    return [*paragraphs[:head], rest, *paragraphs[len(paragraphs) - tail :]]
