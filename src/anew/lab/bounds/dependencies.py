"""How often a program can call each thing outside it: hosts, databases, commands, agents."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, assert_never
from urllib.parse import urlsplit

from anew.lab.bounds.amounts import ZERO, Bound
from anew.lab.bounds.analysis_inputs import AnalysisInput, child_of, tools_of
from anew.lab.bounds.calls import child_name
from anew.lab.bounds.static_values import UNKNOWN, inputs_known, part_known
from anew.lab.cancellation import until_cancelled
from anew.program.kind import OutcomeSource, TargetForm
from anew.program.kinds import kind_named
from anew.program.program import Step, Task
from anew.values import Object, Value

if TYPE_CHECKING:
    from anew.lab.bounds.report import Bounds, Dependency, TaskBounds

_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
# `host=h password=p`, as PostgreSQL has it.
_PAIR = re.compile(r"(\w+)\s*=\s*('[^']*'|\S+)")
_WORD_CHARS_MAX = 60


def dependencies_of(
    given: AnalysisInput,
    steps: Iterable[Step],
    tasks: Iterable[TaskBounds],
    children: Mapping[str, Bounds | str],
) -> tuple[Dependency, ...]:
    """The sum over all tasks that call a thing, those of child runs included; most calls first."""
    from anew.lab.bounds.report import Dependency  # noqa: PLC0415 - it names this module's types

    amounts: dict[tuple[str, str], Bound] = {}
    callers: dict[tuple[str, str], dict[str, None]] = {}
    rows = {(row.step, row.task): row for row in tasks}
    for step in until_cancelled(steps, given.cancel_check):
        for task in step.tasks:
            row = rows[step.name, task.label]
            for kind, name, times in _called(given, task, children):
                key = (kind, name)
                amounts[key] = amounts.get(key, ZERO) + row.in_run * times
                callers.setdefault(key, {})[f"{step.name}.{task.label}"] = None
    found = [Dependency(*key, amounts[key], tuple(callers[key])) for key in amounts]
    return tuple(sorted(found, key=lambda one: (-one.executions.at_most, one.kind, one.name)))


def _called(
    given: AnalysisInput, task: Task, children: Mapping[str, Bounds | str]
) -> Iterator[tuple[str, str, Bound]]:
    """What one execution of a task calls, and how often."""
    for tool in tools_of(given, task):
        for name in _names(given, tool):
            yield tool.kind, name, Bound(1.0)
        child = child_of(children, tool)
        for one in child.dependencies if child is not None else ():
            yield one.kind, one.name, one.executions


def _names(given: AnalysisInput, tool: Task) -> list[str]:
    """Whom a call of a tool goes to; nobody when it calls nothing outside."""
    kind, inputs = kind_named(tool.kind), inputs_known(tool.inputs, given.workload)
    target = kind.target
    if target is None:
        return [kind.name] if kind.outcome_from is OutcomeSource.WORLD else []
    said = [inputs[name] for name in target.inputs if inputs.get(name) is not None]
    match target.form:
        case TargetForm.HOST:
            return [_host(_text(given, tool, inputs, target.inputs[0]))]
        case TargetForm.DATABASE:
            return [_database(said[0])] if said else [str(target.default)]
        case TargetForm.COMMAND:
            return _commands(given, tool, inputs, target.inputs[0])
        case TargetForm.DOCUMENT:
            return [child_name(inputs)]
        case TargetForm.WORDS:
            return [" ".join(map(_short, said)) or str(target.default)]
        case _:
            assert_never(target.form)


def _text(given: AnalysisInput, tool: Task, inputs: Object, key: str) -> str:
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


def _commands(given: AnalysisInput, tool: Task, inputs: Object, name: str) -> list[str]:
    said = inputs.get(name)
    if said is UNKNOWN:
        said = _text(given, tool, inputs, name)
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
