"""Kinds of tasks that Python modules bring: found in them, and known to this process from then on.

`--tools MODULE` of the command line comes here. Programs that open an engine of their own give it
their tools, and nothing of those is kept here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from msgspec.structs import replace

from anew.errors import ConfigError
from anew.program.kind import Kind
from anew.program.kinds import KINDS, MODULE_KINDS
from anew.tool import KIND_ATTRIBUTE, Tool, ToolKind
from anew.tools.function import kind_of_function

# What programs may name as tools: modules, functions and kinds, one or many, or tools by kind.
Tools: TypeAlias = Any

# What was loaded, as it was named, for processes that this one starts.
_loaded: dict[str, None] = {}


def load_tools(named: str) -> str:
    """Let every document of this process use the tools of `module` or `module:name`.

    ConfigError says what is wrong with the module. To load it again changes nothing.
    """
    if named in _loaded:
        return named
    for found in _kinds_of(named):
        known = MODULE_KINDS.get(found.name)
        if known is not None and known.tool != found.place:
            raise ConfigError(
                f"--tools: {found.place} and {known.tool} both bring the kind {found.name!r}. "
                "Give one of them another name: @tool(name=…)."
            )
        MODULE_KINDS[found.name] = row_of(found)
    _loaded[named] = None
    return named


def loaded_tools() -> list[str]:
    """What `load_tools` was given, in order."""
    return list(_loaded)


def tool_kinds(tools: Tools) -> dict[str, ToolKind]:
    """The kinds among what a program gives as its tools, by name."""
    if isinstance(tools, Mapping):
        return {name: _given(name, made) for name, made in tools.items()}
    found: dict[str, ToolKind] = {}
    is_one = isinstance(tools, (str, ModuleType, ToolKind)) or not isinstance(tools, Iterable)
    many: Iterable[Any] = [tools] if is_one else tools
    for each in many:
        for kind in _kinds_among(each):
            found[kind.name] = kind
    return found


def tool_kind_at(place: str) -> ToolKind:
    """The kind at `module:name`, where one was found before."""
    return _kinds_of(place)[0]


def row_of(kind: ToolKind) -> Kind:
    """What a check of documents knows of it."""
    return Kind(
        kind.name,
        title=kind.title,
        inputs=kind.inputs or {},
        required=tuple((name,) for name in kind.required),
        is_open=kind.inputs is None,
        tool=kind.place,
        effect=(f"calls the Python code of {kind.name}",),
    )


def rows_of(tools: Tools) -> dict[str, Kind]:
    """What a check of documents knows of what a program gives as its tools."""
    return {name: row_of(kind) for name, kind in tool_kinds(tools).items()}


def _given(name: str, made: Any) -> ToolKind:
    """What a mapping has under a kind: a tool, or what makes one."""
    if isinstance(made, ToolKind):
        return replace(made, name=name)
    if hasattr(made, "call"):
        ready: Tool = made
        return ToolKind(name, lambda: ready)
    if callable(made):
        return kind_of_function(made, name)
    raise ConfigError(f"tools: {name!r} is {made!r}, which is neither a tool nor a function.")


def _kinds_among(given: Any) -> Iterator[ToolKind]:
    if isinstance(given, str):
        yield from _kinds_of(given)
    elif isinstance(given, ModuleType):
        yield from _kinds_in(given)
    elif isinstance(given, ToolKind):
        yield given
    elif callable(given):
        yield kind_of_function(given)
    else:
        raise ConfigError(
            f"tools: {given!r} is not a tool. Give functions, kinds, modules or their names."
        )


def _kinds_of(named: str) -> list[ToolKind]:
    """The kinds of `module` or `module:name`."""
    name, _, wanted = named.partition(":")
    module = _imported(name, named)
    if wanted:
        return [_wanted(module, wanted, named)]
    found = list(_kinds_in(module))
    if not found:
        raise ConfigError(
            f"--tools {named}: the module has no tool. Decorate a function with `@tool` "
            "(from anew import tool)."
        )
    return found


def _kinds_in(module: ModuleType) -> Iterator[ToolKind]:
    """Those of its variables that are kinds."""
    for name in _names_in(module):
        yield _kind(module, name)


def _names_in(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, ToolKind) or hasattr(value, KIND_ATTRIBUTE)
    ]


def _wanted(module: ModuleType, wanted: str, named: str) -> ToolKind:
    value = getattr(module, wanted, None)
    if isinstance(value, ToolKind) or callable(value):
        return _kind(module, wanted)
    known = _names_in(module)
    near = get_close_matches(wanted, known, n=1)
    remedy = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(known) or 'no tools'}."
    raise ConfigError(f"--tools {named}: the module has no tool {wanted!r}. {remedy}")


def _kind(module: ModuleType, name: str) -> ToolKind:
    """The kind that a variable of a module is; ConfigError names the module."""
    value = getattr(module, name)
    try:
        kind = value if isinstance(value, ToolKind) else kind_of_function(value)
    except ConfigError as error:
        raise ConfigError(f"--tools {module.__name__}: {error}") from error
    if kind.name in KINDS:
        raise ConfigError(
            f"--tools {module.__name__}: {kind.name!r} is a kind of Anew's own. "
            "Give the tool another name: @tool(name=…)."
        )
    return replace(kind, place=f"{module.__name__}:{name}")


def _imported(name: str, named: str) -> ModuleType:
    """The module, also one in the folder this process was started in."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise ConfigError(
                f"--tools {named}: the module needs {error.name!r}, which is not installed here."
            ) from error
        raise ConfigError(
            f"--tools {named}: there is no module {error.name!r} in {here} or among the installed "
            "packages. Change to the folder that has it, or set PYTHONPATH."
        ) from error
    except Exception as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(f"--tools {named}: the module cannot be imported: {told}") from error
