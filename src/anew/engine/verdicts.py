"""The words tools and scripts say about an outcome, and what they amount to.

Several vocabularies meet here (`SUCCESS`, `success`, `partial_success`, `fail`, …); the engine
knows four verdicts. A word nobody knows is a success whose word is kept: authors route on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from anew.program.policy import Verdict
from anew.values import Value

RETRY_WORD = "retry"
# Words of one vocabulary or the other: the verdict says all there is to them.
_PLAIN = {
    "success": Verdict.SUCCESS,
    "partial": Verdict.PARTIAL,
    "partial_success": Verdict.PARTIAL,
    "skipped": Verdict.SKIPPED,
    "failure": Verdict.FAILURE,
    "fail": Verdict.FAILURE,
    "failed": Verdict.FAILURE,
    "error": Verdict.FAILURE,
}


class ErrorType(StrEnum):
    """Whether trying again can help, in the words of graphs."""

    TRANSIENT = "TRANSIENT"
    TIMEOUT = "TIMEOUT"
    TERMINAL = "TERMINAL"
    UNKNOWN = "UNKNOWN"


# None: somebody else has to know, the author's settings or the default.
RETRYABLE_TYPES: dict[str, bool | None] = {
    ErrorType.TRANSIENT: True,
    ErrorType.TERMINAL: False,
    ErrorType.TIMEOUT: None,
    ErrorType.UNKNOWN: None,
}


class StatusWord(Struct, frozen=True):
    """`word` is kept where the verdict alone does not say it: `retry`, `done`, `needs_work`."""

    verdict: Verdict
    word: str | None = None

    @property
    def wants_retry(self) -> bool:
        return self.word == RETRY_WORD


def parse_status(status: str) -> StatusWord:
    """What a status word means, in whatever case it is written."""
    plain = status.strip().lower()
    if plain in _PLAIN:
        return StatusWord(_PLAIN[plain])
    if plain == RETRY_WORD:
        return StatusWord(Verdict.FAILURE, RETRY_WORD)
    return StatusWord(Verdict.SUCCESS, status.strip() or None)


def type_of(error: Mapping[str, Value] | None) -> ErrorType:
    """The type an error names, else the one its kind and its retryability amount to."""
    told = error or {}
    named = told.get("type")
    if isinstance(named, str):
        known = named.strip().upper()
        return ErrorType(known) if known in RETRYABLE_TYPES else ErrorType.UNKNOWN
    if told.get("kind") in ("timeout", "db_timeout"):
        return ErrorType.TIMEOUT
    match told.get("retryable"):
        case True:
            return ErrorType.TRANSIENT
        case False:
            return ErrorType.TERMINAL
        case _:
            return ErrorType.UNKNOWN
