"""What a Python program imports that brings an engine of its own. The names here may be relied on.

>>> with open_engine("runs.db", tools=[greet]) as engine:
...     print(engine.run("flow.dot", {"name": "Ada"}).result())

In a coroutine it is `async with`, and every method is awaited. `anew` has all of these names.
"""

from __future__ import annotations

from anew.api.blocking import SyncEngine
from anew.api.engine import EmbeddedEngine, KeyReuseWarning
from anew.api.opening import open_engine
from anew.api.runs import (
    Ending,
    Run,
    RunCancelledError,
    RunError,
    RunFailedError,
    RunWaitingError,
    SyncRun,
)
from anew.engine.events import Event
from anew.engine.outcome import Advice, Outcome, error_of, outcome_of
from anew.engine.state import RunStatus
from anew.errors import AnewError, ConfigError, ProgramError
from anew.languages.dot.extensions import Extensions, NodeType, Role, Work, calling
from anew.languages.dot.graph import Attribute, Graph, Node
from anew.program.findings import Finding, Severity
from anew.runtime.interviewers import (
    AutoApprove,
    Console,
    FromCallback,
    FromQueue,
    Interviewer,
    RecordedAnswer,
    Recording,
)
from anew.runtime.programs import Document
from anew.runtime.questions import OpenQuestion
from anew.runtime.signals import OpenSignal
from anew.store import RunId, RunRow
from anew.tool import Call, Tool, ToolKind, tool
from anew.tools.function import function_tool

# How annotations in programs name it.
Engine = EmbeddedEngine

__all__ = [
    "Advice",
    "AnewError",
    "Attribute",
    "AutoApprove",
    "Call",
    "ConfigError",
    "Console",
    "Document",
    "EmbeddedEngine",
    "Ending",
    "Engine",
    "Event",
    "Extensions",
    "Finding",
    "FromCallback",
    "FromQueue",
    "Graph",
    "Interviewer",
    "KeyReuseWarning",
    "Node",
    "NodeType",
    "OpenQuestion",
    "OpenSignal",
    "Outcome",
    "ProgramError",
    "RecordedAnswer",
    "Recording",
    "Role",
    "Run",
    "RunCancelledError",
    "RunError",
    "RunFailedError",
    "RunId",
    "RunRow",
    "RunStatus",
    "RunWaitingError",
    "Severity",
    "SyncEngine",
    "SyncRun",
    "Tool",
    "ToolKind",
    "Work",
    "calling",
    "error_of",
    "function_tool",
    "open_engine",
    "outcome_of",
    "tool",
]
