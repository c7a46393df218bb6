"""Anew runs workflows that survive failure.

What Python programs need is imported from here, and documented in docs/how-to/python.md:

>>> from anew import open_engine, tool

Each name is imported when it is first used, so that `import anew` costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

# As `anew.api` has them, which is too much to import for `from anew import lab`.
_NAMES = frozenset(
    """
    Advice AnewError Attribute AutoApprove Call ConfigError Console Document EmbeddedEngine
    Ending Engine Event Extensions Finding FromCallback FromQueue Graph Interviewer
    KeyReuseWarning Node NodeType OpenQuestion OpenSignal Outcome ProgramError RecordedAnswer
    Recording Role Run RunCancelledError RunError RunFailedError RunId RunRow RunStatus
    RunWaitingError Severity SyncEngine SyncRun Tool ToolKind Work calling error_of
    function_tool open_engine outcome_of tool
    """.split()
)

# What type checkers take for true. To import `typing` for it would cost every command.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from anew.api import *  # noqa: F403
else:  # a type checker knows the names above, and that there are no others
    # Those that modules of tools need; whatever opens an engine comes with all of it.
    _HOMES = {"tool": "anew.tool", "ToolKind": "anew.tool", "Call": "anew.tool"}

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415

        if name not in _NAMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES.get(name, "anew.api")), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *_NAMES})
