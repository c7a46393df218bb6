"""What a run waits for that only others can bring: answers of people, and signals."""

from __future__ import annotations

from msgspec import Struct

from anew.runtime.questions import OpenQuestion, open_questions
from anew.runtime.signals import OpenSignal, open_signals
from anew.store import Database, RunId


class Still(Struct, frozen=True):
    """Of a run, and of the children it waits for."""

    questions: list[OpenQuestion]
    signals: list[OpenSignal]


async def what_is_open(database: Database, run: RunId) -> Still | None:
    """What a run and its children wait to hear; None when that is nothing."""
    questions, signals = await open_questions(database, run), await open_signals(database, run)
    return Still(questions, signals) if questions or signals else None
