"""What people are asked by all runs together."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from anew.runtime.question_inbox import QUESTIONS_MAX, inbox_of
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Asked, Endpoint, Reply


class QuestionsWanted(Struct, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=QUESTIONS_MAX)] = QUESTIONS_MAX


class QuestionAsked(shapes.QuestionRow):
    """`silence` says what follows at the deadline when nobody answers."""

    program: str
    asked_at: str
    silence: str | None
    labels: dict[str, str]


class QuestionsAsked(Struct):
    """The soonest deadline first; `is_cut`: there are more."""

    questions: list[QuestionAsked]
    is_cut: bool


async def list_all(asked: Asked) -> Reply:
    """Each as `anew questions --json` prints it."""
    wanted = asked.query(QuestionsWanted)
    async with asked.service.reading:
        found = await inbox_of(asked.engine.database, wanted.limit)
    return Reply(found.row())


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/v1/questions",
        list_all,
        "List what people are asked by all runs",
        "actions",
        {200: QuestionsAsked},
        query=QuestionsWanted,
    ),
)
