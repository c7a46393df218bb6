"""Say what went wrong in the author's code: kind, message, and the lines that led there.

Must not raise, whatever the exception does when it is asked for its text.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

# Of an exception's text; some carry a whole document.
MESSAGE_CHARS_MAX = 10_000
# Of the author's own functions between the top and the line that failed.
_WHERE_FRAMES = 5

# Errors that do not descend from Python's own two, by package and name.
_KINDS = {
    "builtins.TimeoutError": "timeout",
    "subprocess.TimeoutExpired": "timeout",
    "multiprocessing.TimeoutError": "timeout",
    "requests.Timeout": "timeout",
    "urllib3.TimeoutError": "timeout",
    "httpx.TimeoutException": "timeout",
    "httpx2.TimeoutException": "timeout",
    "builtins.ConnectionError": "connection",
    "socket.gaierror": "connection",
    "requests.ConnectionError": "connection",
    "urllib3.NewConnectionError": "connection",
    "urllib3.ProtocolError": "connection",
    "httpx.NetworkError": "connection",
    "httpx2.NetworkError": "connection",
    "aiohttp.ClientConnectionError": "connection",
}


class InvalidCode(Exception):
    """The task cannot be run as it is written; the text is for its author."""

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        where: str | None = None,
        kind: str = "config",
    ) -> None:
        super().__init__(message)
        self.code, self.where, self.kind = code, where, kind


def failure_of(problem: BaseException, *, filename: str, folder: str) -> dict[str, Any]:
    """The `error` and the `py` helper for an exception that left the author's code."""
    if isinstance(problem, InvalidCode):
        name, kind, where = problem.code, problem.kind, problem.where
    else:
        name, kind = type(problem).__name__, kind_of(problem)
        where = _where(problem.__traceback__, filename, folder)
    message = _message(problem)
    error: dict[str, Any] = {"kind": kind, "message": message, "code": name, "where": where}
    delay = getattr(problem, "retry_after", None)
    if isinstance(delay, int | float | str) and not isinstance(delay, bool):
        error["retry_after"] = delay
    return {
        "error": {key: value for key, value in error.items() if value is not None},
        "py": {"exception": message, "exception_type": name} if name else {},
    }


def kind_of(problem: BaseException) -> str:
    kinds = {_KINDS.get(name) for name in _names(problem)}
    # urllib wraps what really happened.
    reason = getattr(problem, "reason", None)
    if isinstance(reason, BaseException) and reason is not problem:
        kinds |= {_KINDS.get(name) for name in _names(reason)}
    return next((kind for kind in ("timeout", "connection") if kind in kinds), "python_error")


def _names(problem: BaseException) -> list[str]:
    ancestors = type(problem).__mro__
    return [f"{each.__module__.partition('.')[0]}.{each.__name__}" for each in ancestors]


def _message(problem: BaseException) -> str:
    if isinstance(problem, SystemExit):
        return f"the code called sys.exit({problem.code!r:.200})"
    try:
        text = str(problem) or type(problem).__name__
    except BaseException:
        text = type(problem).__name__
    text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= MESSAGE_CHARS_MAX else f"{text[:MESSAGE_CHARS_MAX]}…"


def _where(trace: TracebackType | None, filename: str, folder: str) -> str | None:
    """The author's lines, the one that failed first."""
    lines: list[str] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == filename or Path(code.co_filename).parent == Path(folder):
            place = f"line {trace.tb_lineno}"
            place += "" if code.co_name == "<module>" else f" in {code.co_name}"
            place += "" if code.co_filename == filename else f" of {Path(code.co_filename).name}"
            # Recursion repeats itself until it says nothing else.
            if place not in lines[-1:]:
                lines.append(place)
        trace = trace.tb_next
    return ", from ".join(reversed(lines[-_WHERE_FRAMES:])) or None
