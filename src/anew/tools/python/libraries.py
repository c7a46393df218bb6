"""Import what a task's `libs` names, before its code runs.

Standard library only. Does not know the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from anew.tools.python.failures import InvalidCode


def imported(libs: Mapping[str, Any]) -> dict[str, Any]:
    """Modules, and things of modules, by the names they get; lets through what imports raise."""
    return {name: _imported(name, what) for name, what in libs.items()}


def _imported(name: str, what: Any) -> Any:
    match what:
        case str():
            return _module(what, name)
        case {"from": str(module), "import": str(part)}:
            return _part(_module(module, name), module, part, name)
        case _:
            raise InvalidCode(f"libs.{name} is neither a module nor {{from: module, import: name}}")


def _module(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{module}.".startswith(f"{missing.name}."):
            raise  # it is there, and what it imports itself is not
        raise ModuleNotFoundError(_absent(missing.name, name), name=missing.name) from None


def _part(found: Any, module: str, part: str, name: str) -> Any:
    if hasattr(found, part):
        return getattr(found, part)
    try:
        return import_module(f"{module}.{part}")
    except ModuleNotFoundError as missing:
        if missing.name != f"{module}.{part}":
            raise
        message = f"module {module!r} has no {part!r} (libs.{name})"
        raise ImportError(message, name=module) from None


def _absent(module: str, name: str) -> str:
    return f"no module {module!r} (libs.{name}): install it for the Python of the worker"
