"""Run one piece of code in a namespace of its own and find what it gave.

Knows `main`, `result` and top-level `return`. Does not know processes, pipes or logs.
"""

from __future__ import annotations

import datetime
import inspect
import json
import linecache
import os
import sys
import uuid
from collections.abc import Callable, Mapping
from types import ModuleType, TracebackType
from typing import Any, TypedDict

from anew.tools.python.failures import InvalidCode
from anew.tools.python.libraries import imported
from anew.tools.python.source import BODY, CompiledCode, compiled

# Code that defines `main` is not also run as a script: its guarded last lines would call it twice.
_NAME_WITH_MAIN = "anew_task"
MODULE_NAMES = ("__main__", _NAME_WITH_MAIN)
_NOTHING: Mapping[str, Any] = {}
# Code of other runtimes expects these without an import.
_MODULES = {"os": os, "json": json, "datetime": datetime, "uuid": uuid}


class CodeFile(TypedDict):
    """A file with code: where it may be, how long it may be, what to tell when it is nowhere."""

    name: str
    places: list[str]
    bytes_max: int
    missing: str


def load(code: str | None, script: CodeFile | None, *, task: str) -> tuple[CompiledCode, str]:
    """The compiled code and its file name in tracebacks; InvalidCode when there is no such code.

    The script is the first that is there.
    """
    if script is not None:
        found, source = _text_of(script)
        return _compiled(source, found), found
    filename = f"<{task}>"
    text = code or ""
    # So that a traceback the code itself prints can show its lines.
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return _compiled(text, filename), filename


def _text_of(script: CodeFile) -> tuple[str, bytes]:
    """The file that is there, and what it holds."""
    for path in script["places"]:
        try:
            with open(path, "rb") as file:
                text = file.read(script["bytes_max"] + 1)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as problem:
            why = getattr(problem, "strerror", None) or problem
            raise InvalidCode(f"the script {path} cannot be read: {why}") from None
        if len(text) > script["bytes_max"]:
            message = f"the script {path} has more than {script['bytes_max']:,} bytes"
            raise InvalidCode(message, kind="limit_exceeded")
        return path, text
    raise InvalidCode(script["missing"], kind="reference")


def _compiled(source: str | bytes, filename: str) -> CompiledCode:
    try:
        return compiled(source, filename)
    except SyntaxError as problem:
        line = f"line {problem.lineno}" if problem.lineno else None
        shown = f" `{problem.text.strip()[:80]}`" if problem.text and problem.text.strip() else ""
        place = f" ({line}:{shown})" if line and shown else f" ({line})" if line else ""
        message = f"the code cannot be compiled: {problem.msg}{place}"
        raise InvalidCode(message, code=type(problem).__name__, where=line) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as problem:
        message = f"the code cannot be compiled: {problem}"
        raise InvalidCode(message, code=type(problem).__name__) from None


def run(
    program: CompiledCode,
    *,
    filename: str,
    args: Mapping[str, Any],
    given: Mapping[str, Any],
    libs: Mapping[str, Any] = _NOTHING,
) -> Any:
    """What the code gives; what it raises is let through.

    `args` are the author's inputs, `given` what every code can read besides, `libs` what is
    imported for it.
    """
    known = {"args": dict(args), "input_data": dict(args), **given, **args, **imported(libs)}
    module = ModuleType(_NAME_WITH_MAIN if program.defines_main else "__main__")
    names = vars(module)
    names |= _MODULES
    names |= {name: value for name, value in known.items() if not name.startswith("__")}
    if not filename.startswith("<"):
        names["__file__"] = filename
    before = sys.modules.get(module.__name__)
    # Pickle and dataclasses look a class up in the module it says it comes from.
    sys.modules[module.__name__] = module
    try:
        with _Loop() as loop:
            return _given(program, names, args=args, known=known, loop=loop)
    finally:
        _put_back(module.__name__, before)
        # Functions hold their namespace and it holds them: without this they stay for ever.
        names.clear()


def _put_back(name: str, module: ModuleType | None) -> None:
    if module is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = module


def _given(
    program: CompiledCode,
    names: dict[str, Any],
    *,
    args: Mapping[str, Any],
    known: Mapping[str, Any],
    loop: _Loop,
) -> Any:
    returned = None
    try:
        loop.finished(eval(program.code, names))
        if program.has_body:
            returned = loop.finished(names.pop(BODY)())
        if callable(main := names.get("main")):
            return loop.finished(_called(main, args, known))
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    return names.get("result") if returned is None else returned


def _called(main: Callable[..., Any], args: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    """Call `main` with what its parameters name; `**` gets the arguments that none of them does."""
    by_place: list[Any] = []
    by_name: dict[str, Any] = {}
    unnamed = dict(args)
    for name, parameter in inspect.signature(main).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            by_name |= unnamed
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            unnamed.pop(name, None)
            value = known.get(name, parameter.default)
            if value is parameter.empty:
                raise InvalidCode(_missing(name, args))
            if parameter.kind is parameter.POSITIONAL_ONLY:
                by_place.append(value)
            else:
                by_name[name] = value
    return main(*by_place, **by_name)


def _missing(name: str, args: Mapping[str, Any]) -> str:
    names = ", ".join(sorted(args)) if args else "none"
    return (
        f"main() needs the argument {name!r}, and args does not have it. Given: {names}. "
        f"Add it to args, or give the parameter a default."
    )


class _Loop:
    """An event loop for code that awaits; made when something does, and then only one."""

    def __init__(self) -> None:
        self._runner: Any = None

    def __enter__(self) -> _Loop:
        return self

    def finished(self, value: Any) -> Any:
        """What `value` gives once it is awaited; itself when there is nothing to await."""
        if not inspect.isawaitable(value):
            return value
        if self._runner is None:
            # Takes longer to import than most code takes to run.
            import asyncio  # noqa: PLC0415

            self._runner = asyncio.Runner()
        return self._runner.run(_awaited(value))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._runner is not None:
            self._runner.close()


async def _awaited(value: Any) -> Any:
    return await value
