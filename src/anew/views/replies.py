"""What an agent replied, as people want to read it next to its step.

Which field of a result is a reply is a column of the table of kinds. Does not know agents.
"""

from __future__ import annotations

from anew.engine.events import TaskProcessed
from anew.program.kinds import kind_named
from anew.program.program import Program
from anew.views.wording import one_line

REPLY_CHARACTERS_MAX = 300


def reply_of(event: TaskProcessed, program: Program | None) -> str:
    """The reply in one line; nothing where the task is no agent, or said nothing."""
    task = program.task_of(event.step, event.task) if program else None
    field = kind_named(task.kind).reply if task else None
    result = event.outcome.result
    found = result.get(field) if field and isinstance(result, dict) else None
    if not isinstance(found, str) or not found.strip():
        return ""
    return one_line(found, characters_max=REPLY_CHARACTERS_MAX)
