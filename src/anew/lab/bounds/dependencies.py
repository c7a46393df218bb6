"""How often a program can call each thing outside it: hosts, databases, commands, agents."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from anew.lab.bounds.amounts import ZERO, Bound
from anew.lab.bounds.calling import child_name
from anew.lab.bounds.given import Given
from anew.lab.bounds.known import UNKNOWN, inputs_known, part_known
from anew.lab.patience import patiently
from anew.program.program import Step, Task
from anew.values import Object, Value

if TYPE_CHECKING:
    from anew.lab.bounds.report import Bounds, Dependency, TaskBounds

_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
# `host=h password=p`, as PostgreSQL has it.
_PAIR = re.compile(r"(\w+)\s*=\s*('[^']*'|\S+)")
_WORD_CHARS_MAX = 60
# The engine does these itself, or they are waits.
_NOTHING_OUTSIDE = frozenset({"noop", "relay", "sleep", "restart", "human", "wait", "workbook"})
_SQL = frozenset({"postgres", "duckdb", "sqlite"})


def dependencies_of(
    given: Given,
    steps: Iterable[Step],
    tasks: Iterable[TaskBounds],
    children: Mapping[str, Bounds | str],
) -> tuple[Dependency, ...]:
    """The sum over all tasks that call a thing, those of child runs included; most calls first."""
    from anew.lab.bounds.report import Dependency  # noqa: PLC0415 - it names this module's types

    amounts: dict[tuple[str, str], Bound] = {}
    callers: dict[tuple[str, str], dict[str, None]] = {}
    rows = {(row.step, row.task): row for row in tasks}
    for step in patiently(steps, given.patience):
        for task in step.tasks:
            row = rows[step.name, task.label]
            for kind, name, times in _called(given, task, children):
                key = (kind, name)
                amounts[key] = amounts.get(key, ZERO) + row.in_run * times
                callers.setdefault(key, {})[f"{step.name}.{task.label}"] = None
    found = [Dependency(*key, amounts[key], tuple(callers[key])) for key in amounts]
    return tuple(sorted(found, key=lambda one: (-one.executions.at_most, one.kind, one.name)))


def _called(
    given: Given, task: Task, children: Mapping[str, Bounds | str]
) -> Iterator[tuple[str, str, Bound]]:
    """What one execution of a task calls, and how often."""
    for tool in tools_of(given, task):
        if tool.kind not in _NOTHING_OUTSIDE:
            for name in _names(given, tool):
                yield tool.kind, name, Bound(1.0)
        found = children.get(str(tool.span)) if tool.kind == "playbook" else None
        if found is not None and not isinstance(found, str):
            for one in found.dependencies:
                yield one.kind, one.name, one.executions


def tools_of(given: Given, task: Task) -> list[Task]:
    """The task itself, or those of the workbook that it may name."""
    if task.kind != "workbook":
        return [task]
    book, name = given.program.workbook, inputs_known(task.inputs, given.workload).get("name")
    return [book[name]] if isinstance(name, str) and name in book else list(book.values())


def _names(given: Given, tool: Task) -> list[str]:
    inputs = inputs_known(tool.inputs, given.workload)
    match tool.kind:
        case "http":
            return [_host(_text(given, tool, inputs, "url"))]
        case kind if kind in _SQL:
            default = "a file of the run" if kind != "postgres" else "unknown"
            said = inputs.get("auth") if inputs.get("auth") is not None else inputs.get("database")
            return [default if said is None else _database(said)]
        case "shell":
            return _commands(given, tool, inputs)
        case "playbook":
            return [child_name(inputs)]
        case "agent":
            said = [inputs.get(key) for key in ("backend", "provider", "model")]
            return [" ".join(_short(one) for one in said if one is not None) or "the default"]
        case "secrets":
            return [_short(inputs.get("name"))]
        case kind:
            return [kind]


def _text(given: Given, tool: Task, inputs: Object, key: str) -> str:
    """An input as text, with what is known of its expressions put in."""
    if isinstance(inputs.get(key), str):
        return str(inputs[key])
    source = tool.inputs.source.get(key) if isinstance(tool.inputs.source, Mapping) else None
    if not isinstance(source, str):
        return ""

    def known(found: re.Match[str]) -> str:
        value = part_known(found.group(), given.workload)
        return found.group() if value is UNKNOWN or value is None else str(value)

    return _EXPRESSION.sub(known, source)


def _host(url: str) -> str:
    """The host of an address, with its port; never the rest, which may hold a secret."""
    scheme, _, rest = url.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    if not rest or "{" in scheme:
        return "unknown host"
    if "{" in authority or not authority:
        return f"unknown host ({_EXPRESSION.sub('…', authority)})" if authority else "unknown host"
    try:
        parts = urlsplit(f"{scheme}://{authority}")
        # What is no port may be a part of a password.
        return parts.netloc if parts.port is None or parts.port else "unknown host"
    except ValueError:
        return "unknown host"


def _database(said: Value) -> str:
    """The place of a database, or the name of its credential; never what opens it."""
    if not isinstance(said, str):
        return "unknown"
    place = re.split(r"[?#]", said, maxsplit=1)[0]
    if "@" in said and "@" not in place:
        return "unknown"  # the mark may be one of a password
    scheme, mark, rest = place.partition("://")
    if mark:
        return _short(f"{scheme}://{rest.rpartition('@')[2]}")
    pairs = dict(_PAIR.findall(place))
    if pairs:
        return _short("/".join(pairs[key] for key in ("host", "dbname") if key in pairs) or None)
    return _short(place)


def _commands(given: Given, tool: Task, inputs: Object) -> list[str]:
    said = inputs.get("command")
    if said is UNKNOWN:
        said = _text(given, tool, inputs, "command")
    listed = said if isinstance(said, list) else [said]
    return list(dict.fromkeys(_first_word(one) for one in listed))


def _first_word(command: Value) -> str:
    if isinstance(command, list):
        command = command[0] if command else ""
    text = command if isinstance(command, str) else ""
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        words = text.split()
    # `A=1 make` calls make.
    called = [word for word in words if not re.match(r"[A-Za-z_]\w*=", word)]
    return _short(called[0]) if called and "{" not in called[0] else "unknown command"


def _short(value: Value) -> str:
    if not isinstance(value, str):
        return "unknown"
    return value if len(value) <= _WORD_CHARS_MAX else f"{value[: _WORD_CHARS_MAX - 1]}…"
