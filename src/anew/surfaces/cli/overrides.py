"""What `--payload` and `--set` lay over a document's workload."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable

from anew.errors import ConfigError
from anew.surfaces.cli.documents import read_document
from anew.values import Object, Value, put_in
from anew.weight import VALUE_DEPTH_MAX, problem_of


def add_workload_options(parser: ArgumentParser) -> None:
    """`--set` and `--payload`."""
    parser.add_argument(
        "--set", action="append", default=[], metavar="K=V", help="set one input value (a.b=1)"
    )
    parser.add_argument("--payload", metavar="JSON|@FILE", help="a JSON object laid over the input")


def add_preflight_option(parser: ArgumentParser) -> None:
    """`--no-preflight`, for commands that start a run from a document."""
    parser.add_argument(
        "--no-preflight",
        action="store_true",
        help="start it without looking whether its credentials and inputs are there",
    )


def set_names(settings: Iterable[str]) -> set[str]:
    """The inputs that `--set` names. A payload may have more than a document reads."""
    return {setting.partition("=")[0].partition(".")[0] for setting in settings}


def workload_overrides(payload: str | None, settings: Iterable[str]) -> Object:
    """The payload's object with each `a.b=value` put into it; the last setting wins."""
    overrides = _read_payload(payload) if payload is not None else {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        path = tuple(name.split("."))
        if not equals or not all(path) or len(path) > VALUE_DEPTH_MAX:
            raise ConfigError(f"--set {setting[:80]!r} is not of the form name=value")
        overrides = put_in(overrides, path, _value(text))
    problem = problem_of(overrides)
    if problem is not None:
        raise ConfigError(f"the input {problem}")
    return overrides


def _read_payload(payload: str) -> Object:
    text: str | bytes = read_document(payload[1:]) if payload.startswith("@") else payload
    try:
        value = _read_json(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"--payload is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f"--payload must be a JSON object, and this is {_kind(value)}")
    return value


def _value(text: str) -> Value:
    """Numbers, true, false, null, lists and objects as JSON has them; anything else is text."""
    try:
        return _read_json(text)
    except (ValueError, RecursionError):
        return text


def _read_json(text: str | bytes) -> Value:
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(word: str) -> Value:
    """Python would read NaN and Infinity, which no log could hold as JSON."""
    raise ValueError(f"{word} is not a JSON number")


def _kind(value: Value) -> str:
    names = {list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
