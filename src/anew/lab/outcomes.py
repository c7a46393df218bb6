"""What the world gives in a scenario that is written in code: the entries of a script's `outcomes`.

Each function gives the very mapping that one would write in a script. What a script would refuse is
refused here, where the mistake is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, UnsetType

from anew.errors import ConfigError
from anew.lab import script
from anew.program.findings import did_you_mean
from anew.program.kinds import HELPERS
from anew.values import Object, Value

HTTP_STATUSES = range(100, 600)


def ok(
    result: Value | UnsetType = UNSET,
    *,
    label: str | None = None,
    suggested: Sequence[str] | None = None,
    context: Mapping[str, Value] | None = None,
    times: int = 1,
    takes: float | str = 0,
    **helpers: Value,
) -> Object:
    """An execution that goes well, with this result; {} unless given.

    `times` executions do, and each `takes` so many seconds. `label`, `suggested` and `context` are
    what an outcome may prefer and write. Helpers are those of the tool: `http=201`,
    `shell={"exit_code": 0}`.
    """
    said: Object = {"result": {} if result is UNSET else result}
    advice = {"label": label, "suggested": _listed(suggested), "context": _mapped(context)}
    return _entry("lab.ok", {**said, **_given(advice)}, times, takes, helpers)


def error(
    kind: str,
    message: str | None = None,
    *,
    retryable: bool | None = None,
    code: str | int | None = None,
    retry_after: float | str | None = None,
    result: Value | UnsetType = UNSET,
    times: int = 1,
    takes: float | str = 0,
    **helpers: Value,
) -> Object:
    """An execution that fails with an error of this kind: `server_error`, `timeout`, …

    `retryable` is as the kind has it unless given. `error("server_error", http=503, times=2)` fails
    twice; whatever the last entry says repeats for ever.
    """
    more = {"message": message, "retryable": retryable, "code": code, "retry_after": retry_after}
    said: Object = {"error": {"kind": kind, **_given(more)}}
    if result is not UNSET:
        said["result"] = result
    return _entry("lab.error", said, times, takes, helpers)


def answer(text: str, *, times: int = 1, takes: float | str = 0) -> Object:
    """What a person answers, after so many seconds."""
    said = {"answer": _text("lab.answer: an answer is a text", text)}
    return _entry("lab.answer", said, times, takes, {})


def signal(payload: Value = None, *, times: int = 1, takes: float | str = 0) -> Object:
    """The signal that a task of kind `wait` waits for, after so many seconds."""
    return _entry("lab.signal", {"signal": payload}, times, takes, {})


def status(
    word: str,
    *,
    label: str | None = None,
    suggested: Sequence[str] | None = None,
    context: Mapping[str, Value] | None = None,
    error: str | Mapping[str, Value] | None = None,
    notes: Value = None,
    times: int = 1,
    takes: float | str = 0,
) -> Object:
    """How a node of a graph went, in its own words: `SUCCESS`, `FAILURE`, `RETRY`, …"""
    said = {"status": _text("lab.status: a status is a word like SUCCESS", word)}
    more = {
        "label": label,
        "suggested": _listed(suggested),
        "context": _mapped(context),
        "error": _mapped(error),
        "notes": notes,
    }
    return _entry("lab.status", {**said, **_given(more)}, times, takes, {})


def _entry(
    where: str, said: Object, times: int, takes: float | str, helpers: Mapping[str, Value]
) -> Object:
    for name in helpers:
        if name not in HELPERS:
            hint = did_you_mean(name, HELPERS) or f"Tools have {', '.join(HELPERS)}."
            raise ConfigError(f"{where}: there is no {name!r}. {hint}")
    entry = {**said, **{name: _helper(where, name, value) for name, value in helpers.items()}}
    if times != 1:
        entry["times"] = times
    if takes != 0:
        entry["takes"] = takes
    script._entry(entry, where)
    return entry


def _helper(where: str, name: str, value: Value) -> Object:
    """`http=503` is short for `http={"status": 503}`."""
    if isinstance(value, Mapping):
        return dict(value)
    is_status = isinstance(value, int) and not isinstance(value, bool) and value in HTTP_STATUSES
    if name == "http" and is_status:
        return {"status": value}
    forms = "a status from 100 to 599, or a mapping" if name == "http" else "a mapping"
    raise ConfigError(f"{where}: {name} must be {forms}, not {value!r}")


def _text(wanted: str, value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ConfigError(f"{wanted}, not {value!r}")


def _given(said: Mapping[str, Value]) -> Object:
    return {key: value for key, value in said.items() if value is not None}


def _listed(value: Sequence[str] | None) -> Value:
    """A list as a script has it; anything else is refused by the script's own words."""
    return list(value) if isinstance(value, tuple) else value


def _mapped(value: Value) -> Value:
    return dict(value) if isinstance(value, Mapping) else value
