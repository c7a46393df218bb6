"""What a run waits to hear from outside, as the command line tells it in words.

It may be a child that waits: then it is told of the run that waits for the child.
"""

from __future__ import annotations

from collections.abc import Iterator

from anew.runtime.blocked_on import BlockedOn
from anew.runtime.questions import OpenQuestion
from anew.runtime.signals import OpenSignal
from anew.store import RunId
from anew.views.routing_words import choices_text
from anew.views.verdict import answer_command, signal_command
from anew.views.wording import joined, one_line


def asking_lines(run: RunId, still: BlockedOn | None) -> Iterator[str]:
    """What the children of a run wait to hear, and how to tell them; nothing when they do not."""
    if still is None:
        return
    asking = [question for question in still.questions if question.run != run]
    for question in asking:
        choices = choices_text(question.choices)
        asked = joined(one_line(question.question), f"choices: {choices}" if choices else "")
        yield f"Waiting for a person in {_where(question)}: {asked}"
    if asking:
        yield f"`{command_for(run, still)}` answers."
    for awaited in (one for one in still.signals if one.run != run):
        command = signal_command(str(awaited.run), awaited.signal)
        yield f"Waiting for the signal {awaited.signal} in {_where(awaited)}: `{command}` sends it."


def _where(one: OpenQuestion | OpenSignal) -> str:
    return f"its child run {one.run}, step {one.key.step}"


def command_for(run: RunId, still: BlockedOn) -> str:
    """The command that brings what is waited for: an answer before a signal."""
    if still.questions:
        return answer_command(str(run), [question.choices for question in still.questions])
    awaited = still.signals[0]
    return signal_command(str(awaited.run), awaited.signal)
