"""What people are asked by all runs together."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from anew.runtime.question_inbox import QUESTIONS_MAX, inbox_of
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.request import ApiRequest

ENDPOINTS = Endpoints("actions")


class QuestionsQuery(Struct, forbid_unknown_fields=True):
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


@ENDPOINTS.get(
    "/questions",
    "List what people are asked by all runs",
    QuestionsAsked,
    query=QuestionsQuery,
)
async def list_all(request: ApiRequest) -> JsonResponse:
    """Each as `anew questions --json` prints it."""
    wanted = request.query(QuestionsQuery)
    async with request.service.reading:
        found = await inbox_of(request.engine.database, wanted.limit)
    return JsonResponse(found.row())
