"""What a run waits for that only others can bring: answers of people, and signals."""

from __future__ import annotations

from msgspec import Struct

from anew.runtime.families import families
from anew.runtime.questions import OpenQuestion, questions_of, readable_state
from anew.runtime.signals import OpenSignal, signals_of
from anew.store import Database, RunId


class BlockedOn(Struct, frozen=True):
    """Of a run, and of the children it waits for."""

    questions: list[OpenQuestion]
    signals: list[OpenSignal]


async def blocked_on(
    database: Database, run: RunId, *, with_children: bool = True
) -> BlockedOn | None:
    """What a run and its children wait to hear; None when that is nothing."""
    blocked = BlockedOn([], [])
    for member in await families(database.archive, [run]) if with_children else [run]:
        state = await readable_state(database.store, member)
        if state is None:
            continue
        blocked.questions.extend(questions_of(member, state))
        blocked.signals.extend(signals_of(member, state))
    return blocked if blocked.questions or blocked.signals else None
