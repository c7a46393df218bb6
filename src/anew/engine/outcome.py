"""What one execution of a task gave, and how errors are classified.

The tables of kinds are the contract between tools and rules: a tool names the kind, the tables say
whether trying again can help, and which word every message of that kind has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite

from msgspec import Struct

from anew.engine.http_statuses import http_error_kind, http_status_text
from anew.engine.verdicts import RETRYABLE_TYPES, type_of
from anew.program.policy import OutcomeStatus, Verdict
from anew.values import Object, Value, as_text, parse_seconds
from anew.weight import RESERVED_KEY, problem_of

# None means: it depends on the author's code, so a rule has to know.
RETRYABLE: dict[str, bool | None] = {
    "rate_limit": True,
    "server_error": True,
    "timeout": True,
    "connection": True,
    "auth": False,
    "not_found": False,
    "client_error": False,
    "db_deadlock": True,
    "db_connection": True,
    "db_timeout": True,
    "db_constraint": False,
    "db_error": False,
    "python_error": None,
    "exit_code": None,
    "tool_error": False,
    "failed": False,
    "config": False,
    "expression": False,
    "reference": False,
    "retry_exhausted": False,
    "limit_exceeded": False,
    "no_route": False,
    "gate_unsatisfied": False,
    "cancelled": False,
    "worker_lost": False,
}
# What conditions look for in a message (`'timeout' in error`); a library's own text may lack it.
MESSAGE_WORDS: dict[str, str] = {
    "timeout": "timeout",
    "db_timeout": "timeout",
    "connection": "connection",
    "db_connection": "connection",
    "rate_limit": "rate limit",
    "db_deadlock": "deadlock",
}
# An HTTP error's message starts with the status.
_STATUS_LINE = "HTTP "

# The preferred form of RFC 9110 and the two that servers of old still send.
_HTTP_DATES = ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y")
# Asked for with every outcome, and Python 3.11 is slow to find a member in its enum.
_ERROR = OutcomeStatus.ERROR


class Outcome(Struct, frozen=True, omit_defaults=True, gc=False):
    """`error` is set exactly when `status` is error; an error may still carry a result.

    `logs` is what the execution printed, by stream; no rule reads it. A tool may say more than ok
    or error: a `verdict` of its own (partial, skipped), the very `word` it used, the `label` of the
    arc it would take, the steps it would go to (`suggested`), and what to write to ctx (`updates`).
    """

    status: OutcomeStatus
    result: Value = None
    error: Object | None = None
    helpers: Object = {}
    logs: Object = {}
    verdict: Verdict | None = None
    word: str | None = None
    label: str | None = None
    suggested: tuple[str, ...] = ()
    updates: Object | None = None

    @property
    def is_error(self) -> bool:
        return self.status is _ERROR

    @property
    def amounts_to(self) -> Verdict:
        """Its verdict: its own where it has one, else what its status says."""
        if self.is_error:
            return Verdict.FAILURE
        return self.verdict or Verdict.SUCCESS


class Advice(Struct, frozen=True):
    """What a tool says beside ok or error; see `Outcome`."""

    verdict: Verdict | None = None
    word: str | None = None
    label: str | None = None
    suggested: Sequence[str] = ()
    updates: Object | None = None

    @property
    def parts(
        self,
    ) -> tuple[Verdict | None, str | None, str | None, tuple[str, ...], Object | None]:
        # A verdict that the status says already is not written twice.
        verdict = self.verdict if self.verdict in (Verdict.PARTIAL, Verdict.SKIPPED) else None
        return verdict, self.word, self.label, tuple(self.suggested), self.updates or None


NO_ADVICE = Advice()


def error_of(kind: str, message: str, **more: Value) -> Object:
    """An error object as rules see it: kind, retryable, message, and what else is known.

    The message has the word of its kind, whoever wrote it.
    """
    told = with_word(kind, message)
    return {"kind": kind, "retryable": RETRYABLE.get(kind), "message": told, **more}


def with_word(kind: str, message: str) -> str:
    """A message with the word that every one of its kind has."""
    word = MESSAGE_WORDS.get(kind)
    if word is None or word in message:
        return message
    return f"{message} ({word})" if message.startswith(_STATUS_LINE) else f"{word}: {message}"


def outcome_of(
    result: Value = None,
    *,
    error: Mapping[str, Value] | str | None = None,
    helpers: Mapping[str, Value] | None = None,
    logs: Mapping[str, Value] | None = None,
    now: int = 0,
    is_sealed: bool = False,
    is_verbatim: bool = False,
    advice: Advice = NO_ADVICE,
) -> Outcome:
    """The outcome a tool's answer amounts to.

    An error is completed from the table of kinds; a result that says `status: error` is one.
    `is_sealed`: it comes out of a log, so references to secrets in it are ours, and an error has
    the words it had. `is_verbatim`: its message is what a script's author wrote.
    """
    seen = _with_lower_case_headers(helpers) if helpers else {}
    printed = dict(logs) if logs else {}
    told = [part for part in (result, error, seen, printed, advice.updates) if part]
    problem = problem_of(told, is_sealed=is_sealed) if told else None
    if problem is not None:
        kind = "config" if RESERVED_KEY in problem else "limit_exceeded"
        return Outcome(OutcomeStatus.ERROR, error=error_of(kind, f"the result {problem}"))
    if error is None and not _says_error(result):
        if advice is NO_ADVICE:
            return Outcome(OutcomeStatus.OK, result, None, seen, printed)
        return Outcome(OutcomeStatus.OK, result, None, seen, printed, *advice.parts)
    found = _completed(error, result, seen)
    if not (is_sealed or is_verbatim):
        found["message"] = with_word(found["kind"], found["message"])
    retry_after = retry_after_seconds(found, seen, now)
    if retry_after is not None and "retry_after" not in found:
        found["retry_after"] = retry_after
    return Outcome(OutcomeStatus.ERROR, result, found, seen, printed, *advice.parts)


def retry_after_seconds(
    error: Mapping[str, Value] | None, helpers: Mapping[str, Value], now: int
) -> float | None:
    """How long the other side asked to wait; 0 when that moment has passed, None when silent."""
    stated = (error or {}).get("retry_after")
    if stated is not None:
        return max(0.0, wait_seconds(stated, now) or 0.0)
    http = helpers.get("http")
    headers = http.get("headers") if isinstance(http, Mapping) else None
    header = headers.get("retry-after") if isinstance(headers, Mapping) else None
    seconds = wait_seconds(header, now)
    return None if seconds is None else max(0.0, seconds)


def wait_seconds(value: Value, now: int) -> float | None:
    """Seconds meant by a number, a duration or an HTTP date; None when it is none of them."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return _finite(value)
    if not isinstance(value, str):
        return None
    seconds = parse_seconds(value)
    return _seconds_until(value, now) if seconds is None else _finite(seconds)


def _finite(value: float) -> float | None:
    """As a float; None for what is endless or does not fit one."""
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None


def _seconds_until(http_date: str, now: int) -> float | None:
    for form in _HTTP_DATES:
        try:
            moment = datetime.strptime(http_date, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return max(0.0, moment.timestamp() - now / 1e9)
    return None


def _says_error(result: Value) -> bool:
    return isinstance(result, dict) and result.get("status") == "error"


def _completed(
    error: Mapping[str, Value] | str | None, result: Value, helpers: Mapping[str, Value]
) -> Object:
    """The error with what the tables know of it, in its own words."""
    if error is None:
        said = result.get("message") or result.get("error") or "the tool reported an error"
        return error_of("tool_error", as_text(said))
    found: Object = {"message": error} if isinstance(error, str) else dict(error)
    status = _http_status(helpers)
    kind = str(found.get("kind") or (http_error_kind(status) if status else "tool_error"))
    message = found.get("message") or _silent(kind, status)
    if found.get("retryable") is None:
        found["retryable"] = RETRYABLE.get(kind)
        if "type" in found:
            # The error says of which type it is; what that leaves open, a rule has to know.
            found["retryable"] = RETRYABLE_TYPES.get(type_of(found))
    told = as_text(message)
    order = {"kind": kind, "retryable": None, "message": told}
    return {**order, **found, "kind": kind, "message": told}


def _silent(kind: str, http_status: int | None) -> str:
    """The message of an error that has none."""
    if http_status is not None:
        return with_word(kind, http_status_text(http_status))
    return MESSAGE_WORDS.get(kind, kind)


def _http_status(helpers: Mapping[str, Value]) -> int | None:
    """The status of a response that says it failed."""
    http = helpers.get("http")
    status = http.get("status") if isinstance(http, Mapping) else None
    return status if isinstance(status, int) and status >= 400 else None


def _with_lower_case_headers(helpers: Mapping[str, Value]) -> Object:
    http = helpers.get("http")
    headers = http.get("headers") if isinstance(http, Mapping) else None
    if not isinstance(headers, Mapping):
        return dict(helpers)
    lowered = {str(name).lower(): value for name, value in headers.items()}
    return {**helpers, "http": {**http, "headers": lowered}}  # type: ignore[dict-item]
